# The closed forms against brute force, and what the printed gradient would do.

MRP_FILES += publish(
    "mrp",
    tables=["oracles", "printed-gradient"],
    ledgers=["oracles"],
    artefacts=[
        f"{MRP}/measurements/oracles/instances.parquet",
        f"{MRP}/measurements/oracles/races.parquet",
        f"{MRP}/measurements/oracles/printed-gradient.parquet",
        f"{MRP}/measurements/oracles/printed-runs.parquet",
        f"{MRP}/measurements/oracles/ordinary-teacher.parquet",
    ],
)


rule mrp_oracles:
    output:
        instances=f"{MRP}/measurements/oracles/instances.parquet",
        races=f"{MRP}/measurements/oracles/races.parquet",
    log:
        f"{RESULTS}/logs/mrp/oracles.log",
    cache: SHARED
    conda:
        "../../../environment.yml"
    threads: config["threads"]
    resources:
        **request(mem_mb=1500, runtime=30),
    params:
        code=code("mrp/oracles.py"),
        config=config["mrp"]["oracles"],
        seed=config["seed"],
        threads=config["threads"],
    script:
        "../../../scripts/mrp/oracles.py"


rule mrp_training_controls:
    output:
        gradients=f"{MRP}/measurements/oracles/printed-gradient.parquet",
        runs=f"{MRP}/measurements/oracles/printed-runs.parquet",
        ordinary_teacher=f"{MRP}/measurements/oracles/ordinary-teacher.parquet",
    log:
        f"{RESULTS}/logs/mrp/training-controls.log",
    cache: SHARED
    conda:
        "../../../environment.yml"
    threads: config["threads"]
    resources:
        **request(mem_mb=1500, runtime=30, gpu=GPU),
    params:
        code=code("mrp/training_controls.py"),
        config=config["mrp"]["oracles"],
        seed=config["seed"],
        device=config["device"],
        compile=config["compile"],
        threads=config["threads"],
    script:
        "../../../scripts/mrp/training_controls.py"


rule mrp_table_oracles:
    input:
        instances=rules.mrp_oracles.output.instances,
        races=rules.mrp_oracles.output.races,
    output:
        **table("mrp", "oracles"),
    log:
        f"{RESULTS}/logs/mrp/table-oracles.log",
    group:
        "mrp-oracles"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("mrp/table_oracles.py"),
    script:
        "../../../scripts/mrp/table_oracles.py"


rule mrp_table_printed_gradient:
    input:
        instances=rules.mrp_oracles.output.instances,
        gradients=rules.mrp_training_controls.output.gradients,
    output:
        **table("mrp", "printed-gradient"),
    log:
        f"{RESULTS}/logs/mrp/table-printed-gradient.log",
    group:
        "mrp-oracles"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("mrp/table_printed_gradient.py"),
    script:
        "../../../scripts/mrp/table_printed_gradient.py"


rule mrp_claims_oracles:
    input:
        instances=rules.mrp_oracles.output.instances,
        races=rules.mrp_oracles.output.races,
        runs=rules.mrp_training_controls.output.runs,
        ordinary_teacher=rules.mrp_training_controls.output.ordinary_teacher,
    output:
        ledger("mrp", "oracles"),
    log:
        f"{RESULTS}/logs/mrp/claims-oracles.log",
    group:
        "mrp-oracles"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("mrp/claims_oracles.py"),
        config=config["mrp"],
    script:
        "../../../scripts/mrp/claims_oracles.py"
