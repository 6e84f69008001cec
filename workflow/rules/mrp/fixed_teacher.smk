# A fixed teacher, as in the discussion of BEiT: what a student inherits. Not in the paper.

MRP_FILES += publish(
    "mrp",
    tables=["fixed-teacher"],
    ledgers=["fixed-teacher"],
    artefacts=[f"{MRP}/measurements/fixed-teacher/evaluation.parquet"],
)


rule mrp_fixed_teacher:
    input:
        teacher=rules.mrp_pretrain.output.weights,
    output:
        evaluation=f"{MRP}/measurements/fixed-teacher/evaluation.parquet",
    log:
        f"{RESULTS}/logs/mrp/fixed-teacher.log",
    cache: SHARED
    conda:
        "../../../environment.yml"
    threads: config["threads"]
    resources:
        **request(mem_mb=2000, runtime=30, gpu=GPU),
    params:
        code=code("mrp/fixed_teacher.py"),
        config={name: config["mrp"][name] for name in ("fixed_teacher", "headline")},
        seed=config["seed"],
        device=config["device"],
        compile=config["compile"],
        threads=config["threads"],
    script:
        "../../../scripts/mrp/fixed_teacher.py"


rule mrp_table_fixed_teacher:
    input:
        evaluation=rules.mrp_fixed_teacher.output.evaluation,
    output:
        **table("mrp", "fixed-teacher"),
    log:
        f"{RESULTS}/logs/mrp/table-fixed-teacher.log",
    group:
        "mrp-fixed_teacher"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("mrp/table_fixed_teacher.py"),
    script:
        "../../../scripts/mrp/table_fixed_teacher.py"


rule mrp_claims_fixed_teacher:
    input:
        evaluation=rules.mrp_fixed_teacher.output.evaluation,
    output:
        ledger("mrp", "fixed-teacher"),
    log:
        f"{RESULTS}/logs/mrp/claims-fixed-teacher.log",
    group:
        "mrp-fixed_teacher"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("mrp/claims_fixed_teacher.py"),
        config=config["mrp"],
    script:
        "../../../scripts/mrp/claims_fixed_teacher.py"
