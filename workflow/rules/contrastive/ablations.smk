# One change at a time: masks, thresholds, decay, noise, width, dictionary, the printed gradient.

CONTRASTIVE_FILES += publish(
    "contrastive",
    figures=["ablations", "threshold-growth"],
    tables=["ablations"],
    ledgers=["ablations"],
    artefacts=[
        f"{CONTRASTIVE}/measurements/ablations/history.parquet",
        f"{CONTRASTIVE}/measurements/ablations/evaluation.parquet",
    ],
)


rule contrastive_ablations:
    output:
        history=f"{CONTRASTIVE}/measurements/ablations/history.parquet",
        evaluation=f"{CONTRASTIVE}/measurements/ablations/evaluation.parquet",
    log:
        f"{RESULTS}/logs/contrastive/ablations.log",
    cache: SHARED
    conda:
        "../../../environment.yml"
    threads: config["threads"]
    resources:
        **request(mem_mb=2000, runtime=60, gpu=GPU),
    params:
        code=code("contrastive/ablations.py"),
        config=config["contrastive"]["ablations"],
        seed=config["seed"],
        device=config["device"],
        threads=config["threads"],
    script:
        "../../../scripts/contrastive/ablations.py"


rule contrastive_figure_ablations:
    input:
        evaluation=rules.contrastive_ablations.output.evaluation,
    output:
        **figure("contrastive", "ablations"),
    log:
        f"{RESULTS}/logs/contrastive/figure-ablations.log",
    group:
        "contrastive-ablations"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("contrastive/figure_ablations.py"),
    script:
        "../../../scripts/contrastive/figure_ablations.py"


rule contrastive_figure_threshold_growth:
    input:
        history=rules.contrastive_ablations.output.history,
        evaluation=rules.contrastive_ablations.output.evaluation,
    output:
        **figure("contrastive", "threshold-growth"),
    log:
        f"{RESULTS}/logs/contrastive/figure-threshold-growth.log",
    group:
        "contrastive-ablations"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("contrastive/figure_threshold_growth.py"),
        config=config["contrastive"]["ablations"],
    script:
        "../../../scripts/contrastive/figure_threshold_growth.py"


rule contrastive_table_ablations:
    input:
        evaluation=rules.contrastive_ablations.output.evaluation,
    output:
        **table("contrastive", "ablations"),
    log:
        f"{RESULTS}/logs/contrastive/table-ablations.log",
    group:
        "contrastive-ablations"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("contrastive/table_ablations.py"),
    script:
        "../../../scripts/contrastive/table_ablations.py"


rule contrastive_claims_ablations:
    input:
        evaluation=rules.contrastive_ablations.output.evaluation,
    output:
        ledger("contrastive", "ablations"),
    log:
        f"{RESULTS}/logs/contrastive/claims-ablations.log",
    group:
        "contrastive-ablations"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("contrastive/claims_ablations.py"),
        config=config["contrastive"],
    script:
        "../../../scripts/contrastive/claims_ablations.py"
