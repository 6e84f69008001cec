# Footnote 4: thresholds by gradient descent rise with RandomMask and fall without.

CONTRASTIVE_FILES += publish(
    "contrastive",
    figures=["trained-thresholds"],
    ledgers=["trained-thresholds"],
    artefacts=[
        f"{CONTRASTIVE}/measurements/trained-thresholds/history.parquet",
        f"{CONTRASTIVE}/measurements/trained-thresholds/evaluation.parquet",
    ],
)


rule contrastive_trained_thresholds:
    output:
        history=f"{CONTRASTIVE}/measurements/trained-thresholds/history.parquet",
        evaluation=f"{CONTRASTIVE}/measurements/trained-thresholds/evaluation.parquet",
    log:
        f"{RESULTS}/logs/contrastive/trained-thresholds.log",
    cache: SHARED
    conda:
        "../../../environment.yml"
    threads: config["threads"]
    resources:
        **request(mem_mb=2000, runtime=30, gpu=GPU),
    params:
        code=code("contrastive/trained_thresholds.py"),
        config=config["contrastive"]["trained_thresholds"],
        seed=config["seed"],
        device=config["device"],
        threads=config["threads"],
    script:
        "../../../scripts/contrastive/trained_thresholds.py"


rule contrastive_figure_trained_thresholds:
    input:
        history=rules.contrastive_trained_thresholds.output.history,
        evaluation=rules.contrastive_trained_thresholds.output.evaluation,
    output:
        **figure("contrastive", "trained-thresholds"),
    log:
        f"{RESULTS}/logs/contrastive/figure-trained-thresholds.log",
    group:
        "contrastive-trained_thresholds"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("contrastive/figure_trained_thresholds.py"),
    script:
        "../../../scripts/contrastive/figure_trained_thresholds.py"


rule contrastive_claims_trained_thresholds:
    input:
        evaluation=rules.contrastive_trained_thresholds.output.evaluation,
    output:
        ledger("contrastive", "trained-thresholds"),
    log:
        f"{RESULTS}/logs/contrastive/claims-trained-thresholds.log",
    group:
        "contrastive-trained_thresholds"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("contrastive/claims_trained_thresholds.py"),
        config=config["contrastive"],
    script:
        "../../../scripts/contrastive/claims_trained_thresholds.py"
