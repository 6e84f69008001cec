# Whether kernels align with the noise of their samples, after both kinds of pre-training.

MRP_FILES += publish(
    "mrp",
    figures=["noise-alignment"],
    ledgers=["noise"],
    artefacts=[f"{MRP}/measurements/headline/noise.parquet"],
)


rule mrp_noise:
    input:
        pretrained=rules.mrp_pretrain.output.weights,
    output:
        f"{MRP}/measurements/headline/noise.parquet",
    log:
        f"{RESULTS}/logs/mrp/noise.log",
    cache: SHARED
    conda:
        "../../../environment.yml"
    threads: config["threads"]
    resources:
        **request(mem_mb=2000, runtime=10, gpu=GPU),
    params:
        code=code("mrp/headline_noise.py"),
        config=parts(HEADLINE, "replicates", "data", "network"),
        seed=config["seed"],
        device=config["device"],
        compile=config["compile"],
        threads=config["threads"],
    script:
        "../../../scripts/mrp/headline_noise.py"


rule mrp_figure_noise_alignment:
    input:
        teacher_student=rules.mrp_teacher_student_evaluate.output.noise,
        mae=rules.mrp_noise.output[0],
    output:
        **figure("mrp", "noise-alignment"),
    log:
        f"{RESULTS}/logs/mrp/figure-noise-alignment.log",
    group:
        "mrp-noise"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("mrp/figure_noise_alignment.py"),
        config={
            name: parts(config["mrp"][name], "data", "network")
            for name in ("teacher_student", "headline")
        },
    script:
        "../../../scripts/mrp/figure_noise_alignment.py"


rule mrp_claims_noise:
    input:
        noise=rules.mrp_noise.output[0],
    output:
        ledger("mrp", "noise"),
    log:
        f"{RESULTS}/logs/mrp/claims-noise.log",
    group:
        "mrp-noise"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("mrp/claims_noise.py"),
        config=config["mrp"],
    script:
        "../../../scripts/mrp/claims_noise.py"
