# One parameter at a time: q, kernels a class, feature noise, theta; sigma_0 comes from the phase
# diagram.

MRP_FILES += publish(
    "mrp",
    figures=["sweeps"],
    ledgers=["sweeps"],
    artefacts=[
        f"{MRP}/measurements/sweeps/supervised.parquet",
        f"{MRP}/measurements/sweeps/pretrained.parquet",
    ],
)


rule mrp_sweeps:
    output:
        f"{MRP}/measurements/sweeps/{{model}}.parquet",
    log:
        f"{RESULTS}/logs/mrp/sweeps-{{model}}.log",
    wildcard_constraints:
        model="supervised|pretrained",
    cache: SHARED
    conda:
        "../../../environment.yml"
    threads: config["threads"]
    resources:
        **request(mem_mb=2000, runtime=60, gpu=GPU),
    params:
        code=code("mrp/sweeps.py"),
        config=config["mrp"]["sweeps"],
        seed=config["seed"],
        device=config["device"],
        compile=config["compile"],
        threads=config["threads"],
    script:
        "../../../scripts/mrp/sweeps.py"


rule mrp_figure_sweeps:
    input:
        sweeps=expand(rules.mrp_sweeps.output[0], model=["supervised", "pretrained"]),
        grid=expand(rules.mrp_phase_diagram.output[0], model=["supervised", "pretrained"]),
    output:
        **figure("mrp", "sweeps"),
    log:
        f"{RESULTS}/logs/mrp/figure-sweeps.log",
    group:
        "mrp-sweeps"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("mrp/figure_sweeps.py"),
    script:
        "../../../scripts/mrp/figure_sweeps.py"


rule mrp_claims_sweeps:
    input:
        supervised=f"{MRP}/measurements/sweeps/supervised.parquet",
        pretrained=f"{MRP}/measurements/sweeps/pretrained.parquet",
    output:
        ledger("mrp", "sweeps"),
    log:
        f"{RESULTS}/logs/mrp/claims-sweeps.log",
    group:
        "mrp-sweeps"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("mrp/claims_sweeps.py"),
        config=config["mrp"],
    script:
        "../../../scripts/mrp/claims_sweeps.py"
