# What kernels learn: supervised and by mask reconstruction.

# ------------------------------------------------------------------------------------- headline

HEADLINE = config["mrp"]["headline"]


use rule compute as mrp_pretrain with:
    output:
        weights=f"{MRP}/weights/headline/pretrained.safetensors",
        history=f"{MRP}/measurements/headline/pretrained-growth.parquet",
    log:
        f"{LOGS}/mrp/pretrain.log",
    params:
        **by(
            "mrp.experiments.headline:pretrain",
            parts(HEADLINE, "replicates", "data", "network", "pretraining"),
            **COMPILE,
        ),


use rule compute as mrp_supervise with:
    output:
        weights=f"{MRP}/weights/headline/supervised.safetensors",
        history=f"{MRP}/measurements/headline/supervised-growth.parquet",
        learning=f"{MRP}/measurements/headline/supervised-learning.parquet",
    log:
        f"{LOGS}/mrp/supervise.log",
    params:
        **by(
            "mrp.experiments.headline:supervise",
            parts(HEADLINE, "replicates", "data", "network", "supervised"),
            **COMPILE,
        ),


use rule compute as mrp_downstream with:
    input:
        pretrained=rules.mrp_pretrain.output.weights,
    output:
        weights=f"{MRP}/weights/headline/downstream.safetensors",
        learning=f"{MRP}/measurements/headline/downstream-learning.parquet",
    log:
        f"{LOGS}/mrp/downstream.log",
    params:
        **by(
            "mrp.experiments.headline:downstream",
            parts(HEADLINE, "replicates", "data", "network", "probe", "finetuning"),
            **COMPILE,
        ),


use rule compute as mrp_evaluate with:
    input:
        pretrained=rules.mrp_pretrain.output.weights,
        supervised=rules.mrp_supervise.output.weights,
        downstream=rules.mrp_downstream.output.weights,
    output:
        evaluation=f"{MRP}/measurements/headline/evaluation.parquet",
        features=f"{MRP}/measurements/headline/features.parquet",
    log:
        f"{LOGS}/mrp/evaluate.log",
    params:
        **by(
            "mrp.experiments.headline:evaluate",
            parts(HEADLINE, "replicates", "data", "network"),
            **COMPILE,
        ),


experiment(
    "mrp",
    "headline",
    HEADLINE,
    evaluation=rules.mrp_evaluate.output.evaluation,
    features=rules.mrp_evaluate.output.features,
    pretrained=rules.mrp_pretrain.output.history,
    supervised=rules.mrp_supervise.output.history,
    apart=["feature-growth"],
)
