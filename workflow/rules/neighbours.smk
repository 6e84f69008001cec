# What the neighbours of a run's experiments say of its verdicts; see core/evidence/neighbours.py.

if NEIGHBOURS or "neighbours" in sys.argv:
    checked(neighbours.unreached(NEIGHBOURS, REACHED if NEIGHBOURS else {}))

NEIGHBOURED = list(dict.fromkeys(one.experiment for one in NEIGHBOURS))

for experiment in NEIGHBOURED:
    those = [one for one in NEIGHBOURS if one.experiment == experiment]

    rule:
        name:
            "neighbours_of_" + re.sub(r"\W", "_", experiment)
        input:
            neighbours=[PLAN.ledger(one.point, experiment) for one in those],
            run=PUBLISHED.ledger(*experiment.split("/")),
        output:
            ledger=f"{RESULTS}/neighbours/{experiment}.parquet",
            page=f"{RESULTS}/neighbours/{experiment}.md",
        resources:
            **SHORT,
        params:
            code=code("core.publishing.neighbours"),
            about=[{"name": one.name, "towards": one.towards} for one in those],
        script:
            str(ROOT / "scripts" / "neighbours.py")


rule neighbours:
    input:
        expand(f"{RESULTS}/neighbours/{{experiment}}.parquet", experiment=NEIGHBOURED),
