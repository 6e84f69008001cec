# Fine-tuning step by step: the first step, both update orders, what is kept, what decides success.

MRP_FILES += publish(
    "mrp",
    figures=["finetuning", "balance"],
    ledgers=["finetuning"],
    artefacts=[
        f"{MRP}/weights/finetuning/finetuned.safetensors",
        f"{MRP}/measurements/finetuning/learning.parquet",
        f"{MRP}/measurements/finetuning/evaluation.parquet",
        f"{MRP}/measurements/finetuning/balance.parquet",
    ],
)


rule mrp_finetune:
    input:
        pretrained=rules.mrp_pretrain.output.weights,
    output:
        weights=f"{MRP}/weights/finetuning/finetuned.safetensors",
        learning=f"{MRP}/measurements/finetuning/learning.parquet",
    log:
        f"{RESULTS}/logs/mrp/finetune.log",
    cache: SHARED
    conda:
        "../../../environment.yml"
    threads: config["threads"]
    resources:
        **request(mem_mb=2000, runtime=30, gpu=GPU),
    params:
        code=code("mrp/finetune.py"),
        config={key: config["mrp"][key] for key in ("headline", "finetuning")},
        seed=config["seed"],
        device=config["device"],
        compile=config["compile"],
        threads=config["threads"],
    script:
        "../../../scripts/mrp/finetune.py"


rule mrp_evaluate_finetuning:
    input:
        pretrained=rules.mrp_pretrain.output.weights,
        finetuned=rules.mrp_finetune.output.weights,
        learning=rules.mrp_finetune.output.learning,
        supervised=rules.mrp_supervise.output.weights,
    output:
        evaluation=f"{MRP}/measurements/finetuning/evaluation.parquet",
        balance=f"{MRP}/measurements/finetuning/balance.parquet",
    log:
        f"{RESULTS}/logs/mrp/evaluate-finetuning.log",
    cache: SHARED
    conda:
        "../../../environment.yml"
    threads: config["threads"]
    resources:
        **request(mem_mb=2000, runtime=10, gpu=GPU),
    params:
        code=code("mrp/evaluate_finetuning.py"),
        config={key: config["mrp"][key] for key in ("headline", "finetuning")},
        seed=config["seed"],
        device=config["device"],
        compile=config["compile"],
        threads=config["threads"],
    script:
        "../../../scripts/mrp/evaluate_finetuning.py"


rule mrp_figure_finetuning:
    input:
        learning=rules.mrp_finetune.output.learning,
        evaluation=rules.mrp_evaluate_finetuning.output.evaluation,
    output:
        **figure("mrp", "finetuning"),
    log:
        f"{RESULTS}/logs/mrp/figure-finetuning.log",
    group:
        "mrp-finetuning"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("mrp/figure_finetuning.py"),
        classes=config["mrp"]["headline"]["data"]["classes"],
    script:
        "../../../scripts/mrp/figure_finetuning.py"


rule mrp_figure_balance:
    input:
        balance=rules.mrp_evaluate_finetuning.output.balance,
    output:
        **figure("mrp", "balance"),
    log:
        f"{RESULTS}/logs/mrp/figure-balance.log",
    group:
        "mrp-finetuning"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("mrp/figure_balance.py"),
    script:
        "../../../scripts/mrp/figure_balance.py"


rule mrp_claims_finetuning:
    input:
        evaluation=rules.mrp_evaluate_finetuning.output.evaluation,
        learning=rules.mrp_finetune.output.learning,
        balance=rules.mrp_evaluate_finetuning.output.balance,
    output:
        ledger("mrp", "finetuning"),
    log:
        f"{RESULTS}/logs/mrp/claims-finetuning.log",
    group:
        "mrp-finetuning"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("mrp/claims_finetuning.py"),
        config=config["mrp"],
    script:
        "../../../scripts/mrp/claims_finetuning.py"
