# Transfer: the pre-trained encoder on other classes, of old features, new ones, or both.

MRP_FILES += publish(
    "mrp",
    figures=["transfer"],
    tables=["transfer"],
    ledgers=["transfer"],
    artefacts=[f"{MRP}/measurements/transfer/accuracy.parquet"],
)


rule mrp_transfer:
    input:
        pretrained=rules.mrp_pretrain.output.weights,
    output:
        accuracy=f"{MRP}/measurements/transfer/accuracy.parquet",
    log:
        f"{RESULTS}/logs/mrp/transfer.log",
    cache: SHARED
    conda:
        "../../../environment.yml"
    threads: config["threads"]
    resources:
        **request(mem_mb=2000, runtime=30, gpu=GPU),
    params:
        code=code("mrp/transfer.py"),
        config={key: config["mrp"][key] for key in ("headline", "transfer")},
        seed=config["seed"],
        device=config["device"],
        compile=config["compile"],
        threads=config["threads"],
    script:
        "../../../scripts/mrp/transfer.py"


rule mrp_table_transfer:
    input:
        accuracy=rules.mrp_transfer.output.accuracy,
    output:
        **table("mrp", "transfer"),
    log:
        f"{RESULTS}/logs/mrp/table-transfer.log",
    group:
        "mrp-transfer"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("mrp/table_transfer.py"),
    script:
        "../../../scripts/mrp/table_transfer.py"


rule mrp_figure_transfer:
    input:
        accuracy=rules.mrp_transfer.output.accuracy,
    output:
        **figure("mrp", "transfer"),
    log:
        f"{RESULTS}/logs/mrp/figure-transfer.log",
    group:
        "mrp-transfer"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("mrp/figure_transfer.py"),
        cases=config["mrp"]["transfer"]["cases"],
    script:
        "../../../scripts/mrp/figure_transfer.py"


rule mrp_claims_transfer:
    input:
        accuracy=rules.mrp_transfer.output.accuracy,
    output:
        ledger("mrp", "transfer"),
    log:
        f"{RESULTS}/logs/mrp/claims-transfer.log",
    group:
        "mrp-transfer"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("mrp/claims_transfer.py"),
        config=config["mrp"],
    script:
        "../../../scripts/mrp/claims_transfer.py"
