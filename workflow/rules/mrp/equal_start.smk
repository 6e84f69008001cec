# Supervised, teacher-student and MAE training from the same kernels, as their size grows.

MRP_FILES += publish(
    "mrp",
    figures=["equal-start"],
    tables=["equal-start"],
    ledgers=["equal-start"],
    artefacts=[f"{MRP}/measurements/equal-start/evaluation.parquet"],
)


rule mrp_equal_start:
    output:
        evaluation=f"{MRP}/measurements/equal-start/evaluation.parquet",
    log:
        f"{RESULTS}/logs/mrp/equal-start.log",
    cache: SHARED
    conda:
        "../../../environment.yml"
    threads: config["threads"]
    resources:
        **request(mem_mb=2000, runtime=60, gpu=GPU),
    params:
        code=code("mrp/equal_start.py"),
        config=config["mrp"]["equal_start"],
        seed=config["seed"],
        device=config["device"],
        compile=config["compile"],
        threads=config["threads"],
    script:
        "../../../scripts/mrp/equal_start.py"


rule mrp_table_equal_start:
    input:
        evaluation=rules.mrp_equal_start.output.evaluation,
    output:
        **table("mrp", "equal-start"),
    log:
        f"{RESULTS}/logs/mrp/table-equal-start.log",
    group:
        "mrp-equal_start"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("mrp/table_equal_start.py"),
    script:
        "../../../scripts/mrp/table_equal_start.py"


rule mrp_figure_equal_start:
    input:
        table=rules.mrp_table_equal_start.output.parquet,
    output:
        **figure("mrp", "equal-start"),
    log:
        f"{RESULTS}/logs/mrp/figure-equal-start.log",
    group:
        "mrp-equal_start"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("mrp/figure_equal_start.py"),
        thetas={
            name: options["theta"]
            for name, options in config["mrp"]["equal_start"]["teacher_student"].items()
        },
    script:
        "../../../scripts/mrp/figure_equal_start.py"


rule mrp_claims_equal_start:
    input:
        evaluation=rules.mrp_equal_start.output.evaluation,
    output:
        ledger("mrp", "equal-start"),
    log:
        f"{RESULTS}/logs/mrp/claims-equal-start.log",
    group:
        "mrp-equal_start"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("mrp/claims_equal_start.py"),
        config=config["mrp"],
    script:
        "../../../scripts/mrp/claims_equal_start.py"
