# What pre-training made of each kernel, beside the induction hypothesis of the proof.

MRP_FILES += publish(
    "mrp",
    figures=["induction"],
    ledgers=["purity"],
    artefacts=[f"{MRP}/measurements/purity/purity.parquet"],
)


rule mrp_purity:
    input:
        pretrained=rules.mrp_pretrain.output.weights,
    output:
        purity=f"{MRP}/measurements/purity/purity.parquet",
    log:
        f"{RESULTS}/logs/mrp/purity.log",
    cache: SHARED
    conda:
        "../../../environment.yml"
    threads: config["threads"]
    resources:
        **request(mem_mb=2000, runtime=10, gpu=GPU),
    params:
        code=code("mrp/purity.py"),
        config={key: config["mrp"][key] for key in ("headline", "purity")},
        seed=config["seed"],
        device=config["device"],
        compile=config["compile"],
        threads=config["threads"],
    script:
        "../../../scripts/mrp/purity.py"


rule mrp_figure_induction:
    input:
        purity=rules.mrp_purity.output.purity,
    output:
        **figure("mrp", "induction"),
    log:
        f"{RESULTS}/logs/mrp/figure-induction.log",
    group:
        "mrp-purity"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("mrp/figure_induction.py"),
        config=config["mrp"]["headline"],
    script:
        "../../../scripts/mrp/figure_induction.py"


rule mrp_claims_purity:
    input:
        purity=rules.mrp_purity.output.purity,
    output:
        ledger("mrp", "purity"),
    log:
        f"{RESULTS}/logs/mrp/claims-purity.log",
    group:
        "mrp-purity"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("mrp/claims_purity.py"),
        config=config["mrp"],
    script:
        "../../../scripts/mrp/claims_purity.py"
