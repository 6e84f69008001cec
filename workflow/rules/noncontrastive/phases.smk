# The four phases along the population flow, over the dimension.
NONCONTRASTIVE_FILES += publish(
    "noncontrastive",
    figures=["four-phases", "exponents", "invariants"],
    tables=["phase-times"],
    ledgers=["phases"],
    artefacts=[
        f"{NONCONTRASTIVE}/measurements/phases/times.parquet",
        f"{NONCONTRASTIVE}/measurements/phases/curves.parquet",
    ],
)


rule noncontrastive_phases:
    output:
        times=f"{NONCONTRASTIVE}/measurements/phases/times.parquet",
        curves=f"{NONCONTRASTIVE}/measurements/phases/curves.parquet",
    log:
        f"{RESULTS}/logs/noncontrastive/phases.log",
    cache: SHARED
    conda:
        "../../../environment.yml"
    threads: config["threads"]
    resources:
        **request(mem_mb=2000, runtime=30, gpu=GPU),
    params:
        code=code("noncontrastive/phases.py"),
        config=config["noncontrastive"]["phases"],
        seed=config["seed"],
        device=config["device"],
        threads=config["threads"],
    script:
        "../../../scripts/noncontrastive/phases.py"


rule noncontrastive_table_phases:
    input:
        times=rules.noncontrastive_phases.output.times,
        curves=rules.noncontrastive_phases.output.curves,
    output:
        **table("noncontrastive", "{name}"),
    log:
        f"{RESULTS}/logs/noncontrastive/table-{{name}}.log",
    wildcard_constraints:
        name="phase-times",
    group:
        "noncontrastive-phases"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("noncontrastive/table_phases.py"),
    script:
        "../../../scripts/noncontrastive/table_phases.py"


rule noncontrastive_figure_phases:
    input:
        times=rules.noncontrastive_phases.output.times,
        curves=rules.noncontrastive_phases.output.curves,
    output:
        **figure("noncontrastive", "{name}"),
    log:
        f"{RESULTS}/logs/noncontrastive/figure-{{name}}.log",
    wildcard_constraints:
        name="four-phases|exponents|invariants",
    group:
        "noncontrastive-phases"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("noncontrastive/figure_phases.py"),
        config=config["noncontrastive"]["phases"],
    script:
        "../../../scripts/noncontrastive/figure_phases.py"


rule noncontrastive_claims_phases:
    input:
        times=rules.noncontrastive_phases.output.times,
        curves=rules.noncontrastive_phases.output.curves,
    output:
        ledger("noncontrastive", "phases"),
    log:
        f"{RESULTS}/logs/noncontrastive/claims-phases.log",
    group:
        "noncontrastive-phases"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("noncontrastive/claims_phases.py"),
        config=config["noncontrastive"],
    script:
        "../../../scripts/noncontrastive/claims_phases.py"
