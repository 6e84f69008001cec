# The headline: supervised training loses features, mask-reconstruction pre-training keeps them.

HEADLINE = config["mrp"]["headline"]

MRP_FILES += publish(
    "mrp",
    figures=["headline", "captured-features", "feature-growth"],
    tables=["headline"],
    ledgers=["headline"],
    artefacts=[
        f"{MRP}/weights/headline/pretrained.safetensors",
        f"{MRP}/weights/headline/supervised.safetensors",
        f"{MRP}/weights/headline/downstream.safetensors",
        f"{MRP}/measurements/headline/pretrained-growth.parquet",
        f"{MRP}/measurements/headline/supervised-growth.parquet",
        f"{MRP}/measurements/headline/supervised-learning.parquet",
        f"{MRP}/measurements/headline/downstream-learning.parquet",
        f"{MRP}/measurements/headline/evaluation.parquet",
        f"{MRP}/measurements/headline/features.parquet",
    ],
)


rule mrp_pretrain:
    output:
        weights=f"{MRP}/weights/headline/pretrained.safetensors",
        history=f"{MRP}/measurements/headline/pretrained-growth.parquet",
    log:
        f"{RESULTS}/logs/mrp/pretrain.log",
    cache: SHARED
    conda:
        "../../../environment.yml"
    threads: config["threads"]
    resources:
        **request(mem_mb=2000, runtime=30, gpu=GPU),
    params:
        code=code("mrp/pretrain.py"),
        config=parts(HEADLINE, "replicates", "data", "network", "pretraining"),
        seed=config["seed"],
        device=config["device"],
        compile=config["compile"],
        threads=config["threads"],
    script:
        "../../../scripts/mrp/pretrain.py"


rule mrp_supervise:
    output:
        weights=f"{MRP}/weights/headline/supervised.safetensors",
        history=f"{MRP}/measurements/headline/supervised-growth.parquet",
        learning=f"{MRP}/measurements/headline/supervised-learning.parquet",
    log:
        f"{RESULTS}/logs/mrp/supervise.log",
    cache: SHARED
    conda:
        "../../../environment.yml"
    threads: config["threads"]
    resources:
        **request(mem_mb=2000, runtime=30, gpu=GPU),
    params:
        code=code("mrp/supervise.py"),
        config=parts(HEADLINE, "replicates", "data", "network", "supervised"),
        seed=config["seed"],
        device=config["device"],
        compile=config["compile"],
        threads=config["threads"],
    script:
        "../../../scripts/mrp/supervise.py"


rule mrp_downstream:
    input:
        pretrained=rules.mrp_pretrain.output.weights,
    output:
        weights=f"{MRP}/weights/headline/downstream.safetensors",
        learning=f"{MRP}/measurements/headline/downstream-learning.parquet",
    log:
        f"{RESULTS}/logs/mrp/downstream.log",
    cache: SHARED
    conda:
        "../../../environment.yml"
    threads: config["threads"]
    resources:
        **request(mem_mb=2000, runtime=30, gpu=GPU),
    params:
        code=code("mrp/downstream.py"),
        config=parts(HEADLINE, "replicates", "data", "network", "probe", "finetuning"),
        seed=config["seed"],
        device=config["device"],
        compile=config["compile"],
        threads=config["threads"],
    script:
        "../../../scripts/mrp/downstream.py"


rule mrp_evaluate:
    input:
        pretrained=rules.mrp_pretrain.output.weights,
        supervised=rules.mrp_supervise.output.weights,
        downstream=rules.mrp_downstream.output.weights,
    output:
        evaluation=f"{MRP}/measurements/headline/evaluation.parquet",
        features=f"{MRP}/measurements/headline/features.parquet",
    log:
        f"{RESULTS}/logs/mrp/evaluate.log",
    cache: SHARED
    conda:
        "../../../environment.yml"
    threads: config["threads"]
    resources:
        **request(mem_mb=2000, runtime=10, gpu=GPU),
    params:
        code=code("mrp/evaluate.py"),
        config=parts(HEADLINE, "replicates", "data", "network"),
        seed=config["seed"],
        device=config["device"],
        compile=config["compile"],
        threads=config["threads"],
    script:
        "../../../scripts/mrp/evaluate.py"


rule mrp_table_headline:
    input:
        evaluation=rules.mrp_evaluate.output.evaluation,
    output:
        **table("mrp", "headline"),
    log:
        f"{RESULTS}/logs/mrp/table-headline.log",
    group:
        "mrp-headline"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("mrp/table_headline.py"),
    script:
        "../../../scripts/mrp/table_headline.py"


rule mrp_figure_headline:
    input:
        evaluation=rules.mrp_evaluate.output.evaluation,
    output:
        **figure("mrp", "headline"),
    log:
        f"{RESULTS}/logs/mrp/figure-headline.log",
    group:
        "mrp-headline"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("mrp/figure_headline.py"),
    script:
        "../../../scripts/mrp/figure_headline.py"


rule mrp_figure_captured_features:
    input:
        features=rules.mrp_evaluate.output.features,
    output:
        **figure("mrp", "captured-features"),
    log:
        f"{RESULTS}/logs/mrp/figure-captured-features.log",
    group:
        "mrp-headline"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("mrp/figure_captured_features.py"),
        varrho=HEADLINE["network"]["varrho"],
    script:
        "../../../scripts/mrp/figure_captured_features.py"


rule mrp_figure_feature_growth:
    input:
        pretrained=rules.mrp_pretrain.output.history,
        supervised=rules.mrp_supervise.output.history,
    output:
        **figure("mrp", "feature-growth"),
    log:
        f"{RESULTS}/logs/mrp/figure-feature-growth.log",
    group:
        "mrp-headline"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("mrp/figure_feature_growth.py"),
        varrho=HEADLINE["network"]["varrho"],
    script:
        "../../../scripts/mrp/figure_feature_growth.py"


rule mrp_claims_headline:
    input:
        evaluation=rules.mrp_evaluate.output.evaluation,
    output:
        ledger("mrp", "headline"),
    log:
        f"{RESULTS}/logs/mrp/claims-headline.log",
    group:
        "mrp-headline"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("mrp/claims_headline.py"),
        config=config["mrp"],
    script:
        "../../../scripts/mrp/claims_headline.py"
