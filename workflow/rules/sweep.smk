# What becomes of verdicts as keys change: a table, and a figure a claim.

WATCHED = in_words(
    sweeps.watched,
    SWEEP,
    REACHED,
    {
        f"{one.paper}/{one.name}": {"module": one.claims, "config": one.judged}
        for one in PUBLISHED.experiments
    },
    ROOT,
)
SWEPT = f"{RESULTS}/sweeps/{SWEEP.name}"


rule sweep:
    input:
        **{
            f"at_{number}": [PLAN.ledger(one, name) for name in WATCHED]
            for number, one in enumerate(SWEEP.points)
        },
    output:
        table=f"{SWEPT}/table.parquet",
        shown=f"{SWEPT}/table.md",
        figures=[
            f"{SWEPT}/{claim}.{end}"
            for claims in WATCHED.values()
            for claim in claims
            for end in ("svg", "png")
        ],
    group:
        "sweep"
    resources:
        **SHORT,
    params:
        code=code("core.publishing.sweeps"),
        claims=[claim for claims in WATCHED.values() for claim in claims],
        swept=[
            {"key": key, "means": meaning(config, key, ROOT), "setting": value_of(config, key)}
            for key in SWEEP.keys
        ],
        points=[list(one.changes.values()) for one in SWEEP.points],
        jobs=[PLAN.count(one, WATCHED) for one in SWEEP.points],
        run=config["run"],
    script:
        str(ROOT / "scripts" / "sweep.py")
