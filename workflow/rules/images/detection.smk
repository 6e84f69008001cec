# Detection of part-composed objects, and what the encoder brings to it and to new classes.


rule images_detection:
    input:
        pretrained=rules.images_transfer.input.pretrained,
        supervised=rules.images_transfer.input.supervised,
    output:
        f"{IMAGE_MEASUREMENTS}/detection/{{replicate}}.parquet",
    log:
        f"{RESULTS}/logs/images/detection-{{replicate}}.log",
    cache: SHARED
    # the longest job of its chain, see images_dial
    priority: 2
    conda:
        "../../../environment.yml"
    threads: config["threads"]
    resources:
        **request(mem_mb=3000, runtime=60, gpu=GPU),
    params:
        code=code("images/detection.py"),
        config={
            **parts(IMAGES, *PICTURES, "detection"),
            "pretraining": {"simmim": IMAGES["pretraining"]["simmim"]},
        },
        supervised_labels=MOST_LABELS,
        seed=config["seed"],
        device=config["device"],
        threads=config["threads"],
    script:
        "../../../scripts/images/detection.py"


rule images_all_detection:
    input:
        parts=expand(rules.images_detection.output[0], replicate=IMAGE_REPLICATES),
    output:
        f"{IMAGE_MEASUREMENTS}/detection.parquet",
    log:
        f"{RESULTS}/logs/images/all-detection.log",
    group:
        "images-detection"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("core/concatenate.py"),
    script:
        "../../../scripts/core/concatenate.py"


rule images_table_transfer:
    input:
        transfer=rules.images_all_transfer.output[0],
        detection=rules.images_all_detection.output[0],
    output:
        **table("mrp", "images-transfer"),
    log:
        f"{RESULTS}/logs/images/table-transfer.log",
    group:
        "images-detection"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("images/table_transfer.py"),
        contains="stand-in",
    script:
        "../../../scripts/images/table_transfer.py"


rule images_figure_transfer:
    input:
        transfer=rules.images_all_transfer.output[0],
        detection=rules.images_all_detection.output[0],
    output:
        **figure("mrp", "images-transfer"),
    log:
        f"{RESULTS}/logs/images/figure-transfer.log",
    group:
        "images-detection"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("images/figure_transfer.py"),
        contains="stand-in",
    script:
        "../../../scripts/images/figure_transfer.py"


rule images_claims_transfer:
    input:
        transfer=rules.images_all_transfer.output[0],
        detection=rules.images_all_detection.output[0],
    output:
        ledger("mrp", "images_transfer"),
    log:
        f"{RESULTS}/logs/images/claims-transfer.log",
    group:
        "images-detection"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("images/claims_transfer.py"),
        config=IMAGES,
    script:
        "../../../scripts/images/claims_transfer.py"
