# The three stages of training: with and without RandomMask, with and without thresholds.

STAGES = config["contrastive"]["stages"]
STAGE_ARMS = ["masked", "zero-thresholds", "unmasked"]

CONTRASTIVE_FILES += publish(
    "contrastive",
    figures=["stages", "singletons", "downstream", "decoupling", "labels"],
    tables=["downstream", "moments"],
    ledgers=["stages"],
    artefacts=[
        *expand(f"{CONTRASTIVE}/weights/stages/{{arm}}.safetensors", arm=STAGE_ARMS),
        *expand(f"{CONTRASTIVE}/measurements/stages/{{arm}}-history.parquet", arm=STAGE_ARMS),
        f"{CONTRASTIVE}/measurements/stages/moments.parquet",
        f"{CONTRASTIVE}/measurements/stages/alignment.parquet",
        f"{CONTRASTIVE}/measurements/stages/evaluation.parquet",
        f"{CONTRASTIVE}/measurements/stages/labels.parquet",
        f"{CONTRASTIVE}/measurements/stages/decoupling.parquet",
    ],
)


rule contrastive_train:
    output:
        weights=f"{CONTRASTIVE}/weights/stages/{{arm}}.safetensors",
        history=f"{CONTRASTIVE}/measurements/stages/{{arm}}-history.parquet",
    log:
        f"{RESULTS}/logs/contrastive/train-{{arm}}.log",
    wildcard_constraints:
        arm="|".join(STAGE_ARMS),
    cache: SHARED
    conda:
        "../../../environment.yml"
    threads: config["threads"]
    resources:
        **request(mem_mb=2000, runtime=30, gpu=GPU),
    params:
        code=code("contrastive/train.py"),
        config=parts(
            STAGES,
            "replicates",
            "data",
            "network",
            "training",
            "thresholds",
            "steps_without_thresholds",
            "record_every",
        ),
        seed=config["seed"],
        device=config["device"],
        threads=config["threads"],
    script:
        "../../../scripts/contrastive/train.py"


rule contrastive_evaluate:
    input:
        weights=expand(rules.contrastive_train.output.weights, arm=STAGE_ARMS),
    output:
        moments=f"{CONTRASTIVE}/measurements/stages/moments.parquet",
        alignment=f"{CONTRASTIVE}/measurements/stages/alignment.parquet",
        evaluation=f"{CONTRASTIVE}/measurements/stages/evaluation.parquet",
        labels=f"{CONTRASTIVE}/measurements/stages/labels.parquet",
        decoupling=f"{CONTRASTIVE}/measurements/stages/decoupling.parquet",
    log:
        f"{RESULTS}/logs/contrastive/evaluate.log",
    cache: SHARED
    conda:
        "../../../environment.yml"
    threads: config["threads"]
    resources:
        **request(mem_mb=3000, runtime=30, gpu=GPU),
    params:
        code=code("contrastive/evaluate.py"),
        config=STAGES,
        seed=config["seed"],
        device=config["device"],
        threads=config["threads"],
    script:
        "../../../scripts/contrastive/evaluate.py"


rule contrastive_figure_stages:
    input:
        histories=expand(rules.contrastive_train.output.history, arm=STAGE_ARMS),
        moments=rules.contrastive_evaluate.output.moments,
    output:
        **figure("contrastive", "stages"),
    log:
        f"{RESULTS}/logs/contrastive/figure-stages.log",
    group:
        "contrastive-stages"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("contrastive/figure_stages.py"),
    script:
        "../../../scripts/contrastive/figure_stages.py"


rule contrastive_figure_singletons:
    input:
        alignment=rules.contrastive_evaluate.output.alignment,
        moments=rules.contrastive_evaluate.output.moments,
    output:
        **figure("contrastive", "singletons"),
    log:
        f"{RESULTS}/logs/contrastive/figure-singletons.log",
    group:
        "contrastive-stages"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("contrastive/figure_singletons.py"),
    script:
        "../../../scripts/contrastive/figure_singletons.py"


rule contrastive_figure_downstream:
    input:
        evaluation=rules.contrastive_evaluate.output.evaluation,
    output:
        **figure("contrastive", "downstream"),
    log:
        f"{RESULTS}/logs/contrastive/figure-downstream.log",
    group:
        "contrastive-stages"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("contrastive/figure_downstream.py"),
    script:
        "../../../scripts/contrastive/figure_downstream.py"


rule contrastive_figure_decoupling:
    input:
        decoupling=rules.contrastive_evaluate.output.decoupling,
    output:
        **figure("contrastive", "decoupling"),
    log:
        f"{RESULTS}/logs/contrastive/figure-decoupling.log",
    group:
        "contrastive-stages"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("contrastive/figure_decoupling.py"),
    script:
        "../../../scripts/contrastive/figure_decoupling.py"


rule contrastive_figure_labels:
    input:
        labels=rules.contrastive_evaluate.output.labels,
        evaluation=rules.contrastive_evaluate.output.evaluation,
    output:
        **figure("contrastive", "labels"),
    log:
        f"{RESULTS}/logs/contrastive/figure-labels.log",
    group:
        "contrastive-stages"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("contrastive/figure_labels.py"),
    script:
        "../../../scripts/contrastive/figure_labels.py"


rule contrastive_table_downstream:
    input:
        evaluation=rules.contrastive_evaluate.output.evaluation,
    output:
        **table("contrastive", "downstream"),
    log:
        f"{RESULTS}/logs/contrastive/table-downstream.log",
    group:
        "contrastive-stages"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("contrastive/table_downstream.py"),
    script:
        "../../../scripts/contrastive/table_downstream.py"


rule contrastive_table_moments:
    input:
        moments=rules.contrastive_evaluate.output.moments,
    output:
        **table("contrastive", "moments"),
    log:
        f"{RESULTS}/logs/contrastive/table-moments.log",
    group:
        "contrastive-stages"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("contrastive/table_moments.py"),
    script:
        "../../../scripts/contrastive/table_moments.py"


rule contrastive_claims_stages:
    input:
        moments=rules.contrastive_evaluate.output.moments,
        evaluation=rules.contrastive_evaluate.output.evaluation,
        labels=rules.contrastive_evaluate.output.labels,
        decoupling=rules.contrastive_evaluate.output.decoupling,
    output:
        ledger("contrastive", "stages"),
    log:
        f"{RESULTS}/logs/contrastive/claims-stages.log",
    group:
        "contrastive-stages"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("contrastive/claims_stages.py"),
        config=config["contrastive"],
    script:
        "../../../scripts/contrastive/claims_stages.py"
