# Teacher-student training beyond capture: mixed kernels run away; schedules of the teacher factor.

MRP_FILES += publish(
    "mrp",
    figures=["runaway", "teacher-schedules"],
    tables=["beyond-capture"],
    ledgers=["runaway"],
    artefacts=[
        f"{MRP}/measurements/runaway/history.parquet",
        f"{MRP}/measurements/runaway/outcome.parquet",
        f"{MRP}/measurements/runaway/pair.parquet",
    ],
)


rule mrp_runaway:
    output:
        history=f"{MRP}/measurements/runaway/history.parquet",
        outcome=f"{MRP}/measurements/runaway/outcome.parquet",
        pair=f"{MRP}/measurements/runaway/pair.parquet",
    log:
        f"{RESULTS}/logs/mrp/runaway.log",
    cache: SHARED
    conda:
        "../../../environment.yml"
    threads: config["threads"]
    resources:
        **request(mem_mb=2000, runtime=30, gpu=GPU),
    params:
        code=code("mrp/runaway.py"),
        config=config["mrp"]["runaway"],
        seed=config["seed"],
        device=config["device"],
        compile=config["compile"],
        threads=config["threads"],
    script:
        "../../../scripts/mrp/runaway.py"


rule mrp_table_runaway:
    input:
        outcome=rules.mrp_runaway.output.outcome,
    output:
        **table("mrp", "beyond-capture"),
    log:
        f"{RESULTS}/logs/mrp/table-runaway.log",
    group:
        "mrp-runaway"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("mrp/table_runaway.py"),
    script:
        "../../../scripts/mrp/table_runaway.py"


rule mrp_figure_runaway:
    input:
        pair=rules.mrp_runaway.output.pair,
    output:
        **figure("mrp", "runaway"),
    log:
        f"{RESULTS}/logs/mrp/figure-runaway.log",
    group:
        "mrp-runaway"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("mrp/figure_runaway.py"),
        varrho=config["mrp"]["runaway"]["network"]["varrho"],
    script:
        "../../../scripts/mrp/figure_runaway.py"


rule mrp_figure_teacher_schedules:
    input:
        history=rules.mrp_runaway.output.history,
    output:
        **figure("mrp", "teacher-schedules"),
    log:
        f"{RESULTS}/logs/mrp/figure-teacher-schedules.log",
    group:
        "mrp-runaway"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("mrp/figure_teacher_schedules.py"),
        varrho=config["mrp"]["runaway"]["network"]["varrho"],
    script:
        "../../../scripts/mrp/figure_teacher_schedules.py"


rule mrp_claims_runaway:
    input:
        outcome=rules.mrp_runaway.output.outcome,
    output:
        ledger("mrp", "runaway"),
    log:
        f"{RESULTS}/logs/mrp/claims-runaway.log",
    group:
        "mrp-runaway"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("mrp/claims_runaway.py"),
        config=config["mrp"],
    script:
        "../../../scripts/mrp/claims_runaway.py"
