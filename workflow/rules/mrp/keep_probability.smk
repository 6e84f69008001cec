# The keep probability theta: how long capture takes and where the kernels come to rest.

MRP_FILES += publish(
    "mrp",
    figures=["theta-trade-off", "fixed-points"],
    tables=["theta-trade-off"],
    ledgers=["keep-probability"],
    artefacts=[
        f"{MRP}/measurements/keep-probability/trade-off.parquet",
        f"{MRP}/measurements/keep-probability/fixed-points.parquet",
    ],
)


rule mrp_keep_probability:
    output:
        trade_off=f"{MRP}/measurements/keep-probability/trade-off.parquet",
        fixed_points=f"{MRP}/measurements/keep-probability/fixed-points.parquet",
    log:
        f"{RESULTS}/logs/mrp/keep-probability.log",
    cache: SHARED
    conda:
        "../../../environment.yml"
    threads: config["threads"]
    resources:
        **request(mem_mb=2000, runtime=30, gpu=GPU),
    params:
        code=code("mrp/keep_probability.py"),
        config=config["mrp"]["keep_probability"],
        seed=config["seed"],
        device=config["device"],
        compile=config["compile"],
        threads=config["threads"],
    script:
        "../../../scripts/mrp/keep_probability.py"


rule mrp_figure_theta_trade_off:
    input:
        trade_off=rules.mrp_keep_probability.output.trade_off,
    output:
        **figure("mrp", "theta-trade-off"),
    log:
        f"{RESULTS}/logs/mrp/figure-theta-trade-off.log",
    group:
        "mrp-keep_probability"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("mrp/figure_theta_trade_off.py"),
        config=config["mrp"]["keep_probability"],
    script:
        "../../../scripts/mrp/figure_theta_trade_off.py"


rule mrp_figure_fixed_points:
    input:
        fixed_points=rules.mrp_keep_probability.output.fixed_points,
    output:
        **figure("mrp", "fixed-points"),
    log:
        f"{RESULTS}/logs/mrp/figure-fixed-points.log",
    group:
        "mrp-keep_probability"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("mrp/figure_fixed_points.py"),
        varrho=config["mrp"]["keep_probability"]["network"]["varrho"],
    script:
        "../../../scripts/mrp/figure_fixed_points.py"


rule mrp_table_theta_trade_off:
    input:
        trade_off=rules.mrp_keep_probability.output.trade_off,
        fixed_points=rules.mrp_keep_probability.output.fixed_points,
    output:
        **table("mrp", "theta-trade-off"),
    log:
        f"{RESULTS}/logs/mrp/table-theta-trade-off.log",
    group:
        "mrp-keep_probability"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("mrp/table_theta_trade_off.py"),
    script:
        "../../../scripts/mrp/table_theta_trade_off.py"


rule mrp_claims_keep_probability:
    input:
        trade_off=rules.mrp_keep_probability.output.trade_off,
        fixed_points=rules.mrp_keep_probability.output.fixed_points,
    output:
        ledger("mrp", "keep-probability"),
    log:
        f"{RESULTS}/logs/mrp/claims-keep-probability.log",
    group:
        "mrp-keep_probability"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("mrp/claims_keep_probability.py"),
        config=config["mrp"],
    script:
        "../../../scripts/mrp/claims_keep_probability.py"
