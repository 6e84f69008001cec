# What the neurons take from many random starts; the phase diagram of collapse.
NONCONTRASTIVE_FILES += publish(
    "noncontrastive",
    figures=["outcomes", "winner-rule", "phase-diagram"],
    tables=["outcomes"],
    ledgers=["starts"],
    artefacts=[
        f"{NONCONTRASTIVE}/measurements/starts/outcomes.parquet",
        f"{NONCONTRASTIVE}/measurements/starts/diagram.parquet",
    ],
)


rule noncontrastive_starts:
    output:
        outcomes=f"{NONCONTRASTIVE}/measurements/starts/outcomes.parquet",
        diagram=f"{NONCONTRASTIVE}/measurements/starts/diagram.parquet",
    log:
        f"{RESULTS}/logs/noncontrastive/starts.log",
    cache: SHARED
    conda:
        "../../../environment.yml"
    threads: config["threads"]
    resources:
        **request(mem_mb=2000, runtime=30, gpu=GPU),
    params:
        code=code("noncontrastive/starts.py"),
        config=config["noncontrastive"]["starts"],
        seed=config["seed"],
        device=config["device"],
        threads=config["threads"],
    script:
        "../../../scripts/noncontrastive/starts.py"


rule noncontrastive_table_starts:
    input:
        outcomes=rules.noncontrastive_starts.output.outcomes,
        diagram=rules.noncontrastive_starts.output.diagram,
    output:
        **table("noncontrastive", "{name}"),
    log:
        f"{RESULTS}/logs/noncontrastive/table-{{name}}.log",
    wildcard_constraints:
        name="outcomes",
    group:
        "noncontrastive-starts"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("noncontrastive/table_starts.py"),
    script:
        "../../../scripts/noncontrastive/table_starts.py"


rule noncontrastive_figure_starts:
    input:
        outcomes=rules.noncontrastive_starts.output.outcomes,
        diagram=rules.noncontrastive_starts.output.diagram,
    output:
        **figure("noncontrastive", "{name}"),
    log:
        f"{RESULTS}/logs/noncontrastive/figure-{{name}}.log",
    wildcard_constraints:
        name="outcomes|winner-rule|phase-diagram",
    group:
        "noncontrastive-starts"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("noncontrastive/figure_starts.py"),
        config=config["noncontrastive"]["starts"],
    script:
        "../../../scripts/noncontrastive/figure_starts.py"


rule noncontrastive_claims_starts:
    input:
        outcomes=rules.noncontrastive_starts.output.outcomes,
        diagram=rules.noncontrastive_starts.output.diagram,
    output:
        ledger("noncontrastive", "starts"),
    log:
        f"{RESULTS}/logs/noncontrastive/claims-starts.log",
    group:
        "noncontrastive-starts"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("noncontrastive/claims_starts.py"),
        config=config["noncontrastive"],
    script:
        "../../../scripts/noncontrastive/claims_starts.py"
