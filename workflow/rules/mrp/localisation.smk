# Localisation: which patches the supervised and the pre-trained, fine-tuned network look at.

MRP_FILES += publish(
    "mrp",
    figures=["localisation"],
    ledgers=["localisation"],
    artefacts=[
        f"{MRP}/measurements/localisation/localisation.parquet",
        f"{MRP}/measurements/localisation/patches.parquet",
    ],
)


rule mrp_localise:
    input:
        supervised=rules.mrp_supervise.output.weights,
        downstream=rules.mrp_downstream.output.weights,
    output:
        localisation=f"{MRP}/measurements/localisation/localisation.parquet",
        patches=f"{MRP}/measurements/localisation/patches.parquet",
    log:
        f"{RESULTS}/logs/mrp/localise.log",
    cache: SHARED
    conda:
        "../../../environment.yml"
    threads: config["threads"]
    resources:
        **request(mem_mb=2000, runtime=10, gpu=GPU),
    params:
        code=code("mrp/localise.py"),
        config={key: config["mrp"][key] for key in ("headline", "localisation")},
        seed=config["seed"],
        device=config["device"],
        compile=config["compile"],
        threads=config["threads"],
    script:
        "../../../scripts/mrp/localise.py"


rule mrp_figure_localisation:
    input:
        localisation=rules.mrp_localise.output.localisation,
        patches=rules.mrp_localise.output.patches,
    output:
        **figure("mrp", "localisation"),
    log:
        f"{RESULTS}/logs/mrp/figure-localisation.log",
    group:
        "mrp-localisation"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("mrp/figure_localisation.py"),
    script:
        "../../../scripts/mrp/figure_localisation.py"


rule mrp_claims_localisation:
    input:
        localisation=rules.mrp_localise.output.localisation,
    output:
        ledger("mrp", "localisation"),
    log:
        f"{RESULTS}/logs/mrp/claims-localisation.log",
    group:
        "mrp-localisation"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("mrp/claims_localisation.py"),
        config=config["mrp"],
    script:
        "../../../scripts/mrp/claims_localisation.py"
