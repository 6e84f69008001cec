# What the initial draw decides: correlations at the start and the lottery sets.

MRP_FILES += publish(
    "mrp",
    figures=["lottery-sets"],
    tables=["lottery-sets"],
    ledgers=["initialisation"],
    artefacts=[f"{MRP}/measurements/initialisation/lottery.parquet"],
)


rule mrp_initialisation:
    output:
        lottery=f"{MRP}/measurements/initialisation/lottery.parquet",
    log:
        f"{RESULTS}/logs/mrp/initialisation.log",
    cache: SHARED
    conda:
        "../../../environment.yml"
    threads: config["threads"]
    resources:
        **request(mem_mb=2000, runtime=30),
    params:
        code=code("mrp/initialisation.py"),
        config=config["mrp"]["initialisation"],
        seed=config["seed"],
        threads=config["threads"],
    script:
        "../../../scripts/mrp/initialisation.py"


rule mrp_figure_lottery_sets:
    input:
        lottery=rules.mrp_initialisation.output.lottery,
    output:
        **figure("mrp", "lottery-sets"),
    log:
        f"{RESULTS}/logs/mrp/figure-lottery-sets.log",
    group:
        "mrp-initialisation"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("mrp/figure_lottery_sets.py"),
    script:
        "../../../scripts/mrp/figure_lottery_sets.py"


rule mrp_table_lottery_sets:
    input:
        lottery=rules.mrp_initialisation.output.lottery,
    output:
        **table("mrp", "lottery-sets"),
    log:
        f"{RESULTS}/logs/mrp/table-lottery-sets.log",
    group:
        "mrp-initialisation"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("mrp/table_lottery_sets.py"),
    script:
        "../../../scripts/mrp/table_lottery_sets.py"


rule mrp_claims_initialisation:
    input:
        lottery=rules.mrp_initialisation.output.lottery,
    output:
        ledger("mrp", "initialisation"),
    log:
        f"{RESULTS}/logs/mrp/claims-initialisation.log",
    group:
        "mrp-initialisation"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("mrp/claims_initialisation.py"),
        config=config["mrp"],
    script:
        "../../../scripts/mrp/claims_initialisation.py"
