# Supervised training against pre-training without labels, by number of labels.

# an encoder's random start is what supervised training begins with
IMAGE_STARTS = [*IMAGES["pretraining"], *(f"random-{kind}" for kind in IMAGES["encoders"])]

IMAGE_FILES += publish(
    "mrp",
    figures=["images-comparison", "images-pretraining"],
    tables=["images-comparison"],
    ledgers=["images_comparison"],
    artefacts=[
        *expand(
            f"{IMAGE_WEIGHTS}/{{method}}-{{replicate}}.safetensors",
            method=IMAGES["pretraining"],
            replicate=IMAGE_REPLICATES,
        ),
        *expand(
            f"{IMAGE_MEASUREMENTS}/pretraining/{{method}}-{{replicate}}.parquet",
            method=IMAGES["pretraining"],
            replicate=IMAGE_REPLICATES,
        ),
        *expand(
            f"{IMAGE_WEIGHTS}/classifiers/{{start}}-{{replicate}}.safetensors",
            start=IMAGE_STARTS,
            replicate=IMAGE_REPLICATES,
        ),
        *expand(
            f"{IMAGE_MEASUREMENTS}/downstream/{{start}}-{{replicate}}.parquet",
            start=IMAGE_STARTS,
            replicate=IMAGE_REPLICATES,
        ),
        f"{IMAGE_MEASUREMENTS}/comparison.parquet",
    ],
)


wildcard_constraints:
    method="|".join(IMAGES["pretraining"]),
    replicate="[0-9]+",


rule images_pretrain:
    input:
        # the fixed teacher that a method names: another method's encoder
        lambda wildcards: [
            f"{IMAGE_WEIGHTS}/{teacher}-{wildcards.replicate}.safetensors"
            for teacher in [IMAGES["pretraining"][wildcards.method]["teacher"]]
            if teacher is not None
        ],
    output:
        weights=f"{IMAGE_WEIGHTS}/{{method}}-{{replicate}}.safetensors",
        history=f"{IMAGE_MEASUREMENTS}/pretraining/{{method}}-{{replicate}}.parquet",
    log:
        f"{RESULTS}/logs/images/pretrain-{{method}}-{{replicate}}.log",
    cache: SHARED
    conda:
        "../../../environment.yml"
    threads: config["threads"]
    resources:
        **request(mem_mb=3000, runtime=60, gpu=GPU),
    params:
        code=code("images/pretrain.py"),
        config=lambda wildcards: {
            **parts(IMAGES, *PICTURES),
            "pretraining": {wildcards.method: IMAGES["pretraining"][wildcards.method]},
        },
        seed=config["seed"],
        device=config["device"],
        threads=config["threads"],
    script:
        "../../../scripts/images/pretrain.py"


rule images_downstream:
    input:
        # the weights that a start needs: none for a random one
        lambda wildcards: [
            f"{IMAGE_WEIGHTS}/{start}-{wildcards.replicate}.safetensors"
            for start in [wildcards.start]
            if start in IMAGES["pretraining"]
        ],
    output:
        weights=f"{IMAGE_WEIGHTS}/classifiers/{{start}}-{{replicate}}.safetensors",
        evaluation=f"{IMAGE_MEASUREMENTS}/downstream/{{start}}-{{replicate}}.parquet",
    log:
        f"{RESULTS}/logs/images/downstream-{{start}}-{{replicate}}.log",
    wildcard_constraints:
        start="|".join(IMAGE_STARTS),
    cache: SHARED
    conda:
        "../../../environment.yml"
    threads: config["threads"]
    resources:
        **request(mem_mb=3000, runtime=60, gpu=GPU),
    params:
        code=code("images/downstream.py"),
        config=parts(IMAGES, *PICTURES, "comparison"),
        encoder=lambda wildcards: (
            IMAGES["pretraining"][wildcards.start]["encoder"]
            if wildcards.start in IMAGES["pretraining"]
            else wildcards.start.removeprefix("random-")
        ),
        seed=config["seed"],
        device=config["device"],
        threads=config["threads"],
    script:
        "../../../scripts/images/downstream.py"


rule images_comparison:
    input:
        parts=expand(
            rules.images_downstream.output.evaluation,
            start=IMAGE_STARTS,
            replicate=IMAGE_REPLICATES,
        ),
    output:
        f"{IMAGE_MEASUREMENTS}/comparison.parquet",
    log:
        f"{RESULTS}/logs/images/comparison.log",
    group:
        "images-comparison"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("core/concatenate.py"),
    script:
        "../../../scripts/core/concatenate.py"


rule images_table_comparison:
    input:
        rules.images_comparison.output[0],
    output:
        **table("mrp", "images-comparison"),
    log:
        f"{RESULTS}/logs/images/table-comparison.log",
    group:
        "images-comparison"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("images/table_comparison.py"),
        contains="stand-in",
    script:
        "../../../scripts/images/table_comparison.py"


rule images_figure_comparison:
    input:
        rules.images_comparison.output[0],
    output:
        **figure("mrp", "images-comparison"),
    log:
        f"{RESULTS}/logs/images/figure-comparison.log",
    group:
        "images-comparison"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("images/figure_comparison.py"),
        contains="stand-in",
    script:
        "../../../scripts/images/figure_comparison.py"


rule images_figure_pretraining:
    input:
        parts=expand(
            rules.images_pretrain.output.history,
            method=IMAGES["pretraining"],
            replicate=IMAGE_REPLICATES,
        ),
    output:
        **figure("mrp", "images-pretraining"),
    log:
        f"{RESULTS}/logs/images/figure-pretraining.log",
    group:
        "images-comparison"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("images/figure_pretraining.py"),
        contains="stand-in",
    script:
        "../../../scripts/images/figure_pretraining.py"


rule images_claims_comparison:
    input:
        rules.images_comparison.output[0],
    output:
        ledger("mrp", "images_comparison"),
    log:
        f"{RESULTS}/logs/images/claims-comparison.log",
    group:
        "images-comparison"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("images/claims_comparison.py"),
        config=IMAGES,
    script:
        "../../../scripts/images/claims_comparison.py"
