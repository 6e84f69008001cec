# Sampled masks against the exact expectation over masks.

MRP_FILES += publish(
    "mrp",
    figures=["sampled-masks"],
    ledgers=["sampled-masks"],
    artefacts=[f"{MRP}/measurements/sampled-masks/errors.parquet"],
)


rule mrp_sampled_masks:
    output:
        errors=f"{MRP}/measurements/sampled-masks/errors.parquet",
    log:
        f"{RESULTS}/logs/mrp/sampled-masks.log",
    cache: SHARED
    conda:
        "../../../environment.yml"
    threads: config["threads"]
    resources:
        **request(mem_mb=2000, runtime=30, gpu=GPU),
    params:
        code=code("mrp/sampled_masks.py"),
        config=config["mrp"]["sampled_masks"],
        seed=config["seed"],
        device=config["device"],
        compile=config["compile"],
        threads=config["threads"],
    script:
        "../../../scripts/mrp/sampled_masks.py"


rule mrp_figure_sampled_masks:
    input:
        errors=rules.mrp_sampled_masks.output.errors,
    output:
        **figure("mrp", "sampled-masks"),
    log:
        f"{RESULTS}/logs/mrp/figure-sampled-masks.log",
    group:
        "mrp-sampled_masks"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("mrp/figure_sampled_masks.py"),
    script:
        "../../../scripts/mrp/figure_sampled_masks.py"


rule mrp_claims_sampled_masks:
    input:
        errors=rules.mrp_sampled_masks.output.errors,
    output:
        ledger("mrp", "sampled-masks"),
    log:
        f"{RESULTS}/logs/mrp/claims-sampled-masks.log",
    group:
        "mrp-sampled_masks"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("mrp/claims_sampled_masks.py"),
        config=config["mrp"],
    script:
        "../../../scripts/mrp/claims_sampled_masks.py"
