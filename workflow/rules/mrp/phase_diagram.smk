# Where the supervised lottery is and where not: initial correlation x share of single-view data.

MRP_FILES += publish(
    "mrp",
    figures=["phase-diagram"],
    ledgers=["phase_diagram"],
    artefacts=[
        f"{MRP}/measurements/phase_diagram/supervised.parquet",
        f"{MRP}/measurements/phase_diagram/pretrained.parquet",
    ],
)


rule mrp_phase_diagram:
    output:
        f"{MRP}/measurements/phase_diagram/{{model}}.parquet",
    log:
        f"{RESULTS}/logs/mrp/phase-diagram-{{model}}.log",
    wildcard_constraints:
        model="supervised|pretrained",
    cache: SHARED
    conda:
        "../../../environment.yml"
    threads: config["threads"]
    resources:
        **request(mem_mb=2000, runtime=60, gpu=GPU),
    params:
        code=code("mrp/phase_diagram.py"),
        config=config["mrp"]["phase_diagram"],
        seed=config["seed"],
        device=config["device"],
        compile=config["compile"],
        threads=config["threads"],
    script:
        "../../../scripts/mrp/phase_diagram.py"


rule mrp_figure_phase_diagram:
    input:
        supervised=f"{MRP}/measurements/phase_diagram/supervised.parquet",
        pretrained=f"{MRP}/measurements/phase_diagram/pretrained.parquet",
    output:
        **figure("mrp", "phase-diagram"),
    log:
        f"{RESULTS}/logs/mrp/figure-phase-diagram.log",
    group:
        "mrp-phase_diagram"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("mrp/figure_phase_diagram.py"),
    script:
        "../../../scripts/mrp/figure_phase_diagram.py"


rule mrp_claims_phase_diagram:
    input:
        supervised=f"{MRP}/measurements/phase_diagram/supervised.parquet",
        pretrained=f"{MRP}/measurements/phase_diagram/pretrained.parquet",
    output:
        ledger("mrp", "phase_diagram"),
    log:
        f"{RESULTS}/logs/mrp/claims-phase-diagram.log",
    group:
        "mrp-phase_diagram"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("mrp/claims_phase_diagram.py"),
        config=config["mrp"],
    script:
        "../../../scripts/mrp/claims_phase_diagram.py"
