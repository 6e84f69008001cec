# Transfer to new classes that share parts with the old ones.

MOST_LABELS = max(IMAGES["comparison"]["labels"])
TRANSFER_ENCODER = IMAGES["pretraining"]["simmim"]["encoder"]

IMAGE_FILES += publish(
    "mrp",
    figures=["images-transfer"],
    tables=["images-transfer"],
    ledgers=["images_transfer"],
    artefacts=[
        *expand(
            f"{IMAGE_MEASUREMENTS}/{{task}}/{{replicate}}.parquet",
            task=["transfer", "detection"],
            replicate=IMAGE_REPLICATES,
        ),
        f"{IMAGE_MEASUREMENTS}/transfer.parquet",
        f"{IMAGE_MEASUREMENTS}/detection.parquet",
    ],
)


rule images_transfer:
    input:
        pretrained=f"{IMAGE_WEIGHTS}/simmim-{{replicate}}.safetensors",
        supervised=f"{IMAGE_WEIGHTS}/classifiers/random-{TRANSFER_ENCODER}-{{replicate}}.safetensors",
    output:
        f"{IMAGE_MEASUREMENTS}/transfer/{{replicate}}.parquet",
    log:
        f"{RESULTS}/logs/images/transfer-{{replicate}}.log",
    cache: SHARED
    conda:
        "../../../environment.yml"
    threads: config["threads"]
    resources:
        **request(mem_mb=3000, runtime=60, gpu=GPU),
    params:
        code=code("images/transfer.py"),
        config={
            **parts(IMAGES, *PICTURES, "comparison", "transfer"),
            "pretraining": {"simmim": IMAGES["pretraining"]["simmim"]},
        },
        supervised_labels=MOST_LABELS,
        seed=config["seed"],
        device=config["device"],
        threads=config["threads"],
    script:
        "../../../scripts/images/transfer.py"


rule images_all_transfer:
    input:
        parts=expand(rules.images_transfer.output[0], replicate=IMAGE_REPLICATES),
    output:
        f"{IMAGE_MEASUREMENTS}/transfer.parquet",
    log:
        f"{RESULTS}/logs/images/all-transfer.log",
    group:
        "images-transfer"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("core/concatenate.py"),
    script:
        "../../../scripts/core/concatenate.py"
