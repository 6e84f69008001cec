# How fast features grow, and what happens to a kernel after the capture.

MRP_FILES += publish(
    "mrp",
    figures=["growth-laws", "hitting-times", "drift-after-capture"],
    tables=["growth-laws"],
    ledgers=["growth"],
    artefacts=[
        f"{MRP}/measurements/growth/hits.parquet",
        f"{MRP}/measurements/growth/curves.parquet",
        f"{MRP}/measurements/growth/after-capture.parquet",
        f"{MRP}/measurements/growth/residual-slopes.parquet",
        f"{MRP}/measurements/growth/one-kernel-fixed-points.parquet",
    ],
)


rule mrp_growth:
    output:
        hits=f"{MRP}/measurements/growth/hits.parquet",
        curves=f"{MRP}/measurements/growth/curves.parquet",
    log:
        f"{RESULTS}/logs/mrp/growth.log",
    cache: SHARED
    conda:
        "../../../environment.yml"
    threads: config["threads"]
    resources:
        **request(mem_mb=2000, runtime=30, gpu=GPU),
    params:
        code=code("mrp/growth.py"),
        config=config["mrp"]["growth"],
        seed=config["seed"],
        device=config["device"],
        compile=config["compile"],
        threads=config["threads"],
    script:
        "../../../scripts/mrp/growth.py"


rule mrp_one_kernel:
    output:
        after_capture=f"{MRP}/measurements/growth/after-capture.parquet",
        residual_slopes=f"{MRP}/measurements/growth/residual-slopes.parquet",
        fixed_points=f"{MRP}/measurements/growth/one-kernel-fixed-points.parquet",
    log:
        f"{RESULTS}/logs/mrp/one-kernel.log",
    cache: SHARED
    conda:
        "../../../environment.yml"
    threads: config["threads"]
    resources:
        **request(mem_mb=1500, runtime=30),
    params:
        code=code("mrp/one_kernel.py"),
        config=config["mrp"]["growth"],
        seed=config["seed"],
        threads=config["threads"],
    script:
        "../../../scripts/mrp/one_kernel.py"


rule mrp_figure_growth_laws:
    input:
        hits=rules.mrp_growth.output.hits,
        curves=rules.mrp_growth.output.curves,
    output:
        **figure("mrp", "growth-laws"),
    log:
        f"{RESULTS}/logs/mrp/figure-growth-laws.log",
    group:
        "mrp-growth"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("mrp/figure_growth_laws.py"),
        target=config["mrp"]["growth"]["target"],
        varrho=config["mrp"]["growth"]["network"]["varrho"],
    script:
        "../../../scripts/mrp/figure_growth_laws.py"


rule mrp_figure_hitting_times:
    input:
        hits=rules.mrp_growth.output.hits,
    output:
        **figure("mrp", "hitting-times"),
    log:
        f"{RESULTS}/logs/mrp/figure-hitting-times.log",
    group:
        "mrp-growth"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("mrp/figure_hitting_times.py"),
    script:
        "../../../scripts/mrp/figure_hitting_times.py"


rule mrp_figure_drift_after_capture:
    input:
        after_capture=rules.mrp_one_kernel.output.after_capture,
        residual_slopes=rules.mrp_one_kernel.output.residual_slopes,
    output:
        **figure("mrp", "drift-after-capture"),
    log:
        f"{RESULTS}/logs/mrp/figure-drift-after-capture.log",
    group:
        "mrp-growth"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("mrp/figure_drift_after_capture.py"),
        q=config["mrp"]["growth"]["teacher_student"]["q"],
    script:
        "../../../scripts/mrp/figure_drift_after_capture.py"


rule mrp_table_growth_laws:
    input:
        hits=rules.mrp_growth.output.hits,
    output:
        **table("mrp", "growth-laws"),
    log:
        f"{RESULTS}/logs/mrp/table-growth-laws.log",
    group:
        "mrp-growth"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("mrp/table_growth_laws.py"),
    script:
        "../../../scripts/mrp/table_growth_laws.py"


rule mrp_claims_growth:
    input:
        hits=rules.mrp_growth.output.hits,
        after_capture=rules.mrp_one_kernel.output.after_capture,
        residual_slopes=rules.mrp_one_kernel.output.residual_slopes,
        fixed_points=rules.mrp_one_kernel.output.fixed_points,
    output:
        ledger("mrp", "growth"),
    log:
        f"{RESULTS}/logs/mrp/claims-growth.log",
    group:
        "mrp-growth"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("mrp/claims_growth.py"),
        config=config["mrp"],
    script:
        "../../../scripts/mrp/claims_growth.py"
