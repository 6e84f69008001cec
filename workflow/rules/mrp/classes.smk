# The supervised lottery as the number of classes grows, and as training goes on.

MRP_FILES += publish(
    "mrp",
    figures=["lottery-and-classes"],
    ledgers=["classes"],
    artefacts=[
        f"{MRP}/measurements/classes/classes.parquet",
        f"{MRP}/measurements/classes/length.parquet",
    ],
)


rule mrp_classes:
    output:
        f"{MRP}/measurements/classes/classes.parquet",
    log:
        f"{RESULTS}/logs/mrp/classes.log",
    cache: SHARED
    conda:
        "../../../environment.yml"
    threads: config["threads"]
    resources:
        **request(mem_mb=2000, runtime=60, gpu=GPU),
    params:
        code=code("mrp/classes.py"),
        config=config["mrp"]["classes"],
        seed=config["seed"],
        device=config["device"],
        compile=config["compile"],
        threads=config["threads"],
    script:
        "../../../scripts/mrp/classes.py"


rule mrp_training_length:
    output:
        f"{MRP}/measurements/classes/length.parquet",
    log:
        f"{RESULTS}/logs/mrp/training-length.log",
    cache: SHARED
    conda:
        "../../../environment.yml"
    threads: config["threads"]
    resources:
        **request(mem_mb=2000, runtime=60, gpu=GPU),
    params:
        code=code("mrp/training_length.py"),
        config=config["mrp"]["classes"],
        seed=config["seed"],
        device=config["device"],
        compile=config["compile"],
        threads=config["threads"],
    script:
        "../../../scripts/mrp/training_length.py"


rule mrp_figure_lottery_and_classes:
    input:
        classes=rules.mrp_classes.output[0],
        length=rules.mrp_training_length.output[0],
    output:
        **figure("mrp", "lottery-and-classes"),
    log:
        f"{RESULTS}/logs/mrp/figure-lottery-and-classes.log",
    group:
        "mrp-classes"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("mrp/figure_classes.py"),
        headline=config["mrp"]["headline"],
    script:
        "../../../scripts/mrp/figure_classes.py"


rule mrp_claims_classes:
    input:
        classes=rules.mrp_classes.output[0],
        length=rules.mrp_training_length.output[0],
    output:
        ledger("mrp", "classes"),
    log:
        f"{RESULTS}/logs/mrp/claims-classes.log",
    group:
        "mrp-classes"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("mrp/claims_classes.py"),
        config=config["mrp"],
    script:
        "../../../scripts/mrp/claims_classes.py"
