# Real images: a user's own, CIFAR-10 and others. Nothing is made unless the config names some.
#
#   snakemake real_images --cores 2 --configfile mine.yaml

from featlearn.mrp.images import real_config

REAL_IMAGES = config["real_images"]
REAL_FILES = []
# which files of data and weights are missing, and where they go, is told before any job
try:
    refuse(real_config.faults(REAL_IMAGES))
    if workflow.is_main_process:
        refuse(real_config.missing_weights(REAL_IMAGES))
    REAL_STATES = real_config.state(REAL_IMAGES)
except FeatlearnError as error:
    raise WorkflowError(str(error))

REAL_CACHE = ".cache/images"
REAL_WEIGHTS = f"{MRP}/weights/real_images"
REAL_MEASUREMENTS = f"{MRP}/measurements/real_images"


# every start of every data set, by replicate
REAL_STARTS = [
    (name, start, replicate)
    for name, settings in REAL_IMAGES.items()
    for start in real_config.starts(settings)
    for replicate in range(settings["replicates"])
]
REAL_EVALUATIONS = [
    f"{REAL_MEASUREMENTS}/{name}/{start}-{replicate}.parquet"
    for name, start, replicate in REAL_STARTS
]
REAL_TRAINED = [
    f"{REAL_WEIGHTS}/{name}/classifier-{start}-{replicate}.safetensors"
    for name, start, replicate in REAL_STARTS
]
for name, start, replicate in REAL_STARTS:
    if start == "pretrained":
        REAL_TRAINED += [
            f"{REAL_WEIGHTS}/{name}/pretrained-{replicate}.safetensors",
            f"{REAL_MEASUREMENTS}/{name}/pretraining-{replicate}.parquet",
        ]

REAL_DETECTIONS = [
    f"{REAL_MEASUREMENTS}/{name}/detection-{start}-{replicate}.parquet"
    for name, start, replicate in REAL_STARTS
    if REAL_IMAGES[name]["detection"]
]

if REAL_DETECTIONS:
    REAL_FILES += publish(
        "mrp",
        tables=["real-detection"],
        artefacts=[*REAL_DETECTIONS, f"{REAL_MEASUREMENTS}/detections.parquet"],
    )
if REAL_IMAGES:
    REAL_FILES += publish(
        "mrp",
        figures=["real-images", "real-maps"],
        tables=["real-images"],
        artefacts=[
            *REAL_TRAINED,
            *REAL_EVALUATIONS,
            f"{REAL_MEASUREMENTS}/evaluations.parquet",
            *expand(
                f"{REAL_MEASUREMENTS}/{{image_set}}/{{what}}.parquet",
                image_set=REAL_IMAGES,
                what=["summary", "faults"],
            ),
        ],
    )


wildcard_constraints:
    image_set="|".join(REAL_IMAGES) or "none",
    start="random|pretrained|given(-[A-Za-z0-9_-]+)?",


rule real_images:
    input:
        REAL_FILES,


rule images_real_data:
    output:
        summary=f"{REAL_MEASUREMENTS}/{{image_set}}/summary.parquet",
        faults=f"{REAL_MEASUREMENTS}/{{image_set}}/faults.parquet",
    log:
        f"{RESULTS}/logs/images/real-data-{{image_set}}.log",
    conda:
        "../../../environment.yml"
    threads: config["threads"]
    resources:
        **request(mem_mb=3000, runtime=120),
    params:
        code=code("images/real_data.py"),
        config=lambda wildcards: REAL_IMAGES[wildcards.image_set]["data"],
        seed=config["seed"],
        cache=REAL_CACHE,
        # files that changed since are decoded again
        state=lambda wildcards: REAL_STATES[wildcards.image_set],
        threads=config["threads"],
    script:
        "../../../scripts/images/real_data.py"


rule images_real_pretrain:
    input:
        rules.images_real_data.output.summary,
    output:
        weights=f"{REAL_WEIGHTS}/{{image_set}}/pretrained-{{replicate}}.safetensors",
        history=f"{REAL_MEASUREMENTS}/{{image_set}}/pretraining-{{replicate}}.parquet",
    log:
        f"{RESULTS}/logs/images/real-pretrain-{{image_set}}-{{replicate}}.log",
    cache: SHARED
    conda:
        "../../../environment.yml"
    threads: lambda wildcards: config["threads"] * spread(wildcards).on_each
    resources:
        **request(mem_mb=6000, runtime=600, gpu=lambda wildcards: gpus(wildcards)),
        # several nodes: the script itself starts one torchrun on each of them
        nodes=lambda wildcards: on_nodes(wildcards, spread(wildcards).nodes),
        tasks=lambda wildcards: on_nodes(wildcards, spread(wildcards).nodes),
        mpi=lambda wildcards: on_nodes(wildcards, "srun"),
        gres=lambda wildcards: on_nodes(wildcards, gpus_of_a_node(wildcards)),
    params:
        code=code("images/real_pretrain.py"),
        config=lambda wildcards: REAL_IMAGES[wildcards.image_set],
        seed=config["seed"],
        device=config["device"],
        cache=REAL_CACHE,
        threads=config["threads"],
    script:
        "../../../scripts/images/real_pretrain.py"


rule images_real_downstream:
    input:
        unpack(real_pretrained),
        summary=rules.images_real_data.output.summary,
    output:
        weights=f"{REAL_WEIGHTS}/{{image_set}}/classifier-{{start}}-{{replicate}}.safetensors",
        evaluation=f"{REAL_MEASUREMENTS}/{{image_set}}/{{start}}-{{replicate}}.parquet",
    log:
        f"{RESULTS}/logs/images/real-downstream-{{image_set}}-{{start}}-{{replicate}}.log",
    cache: SHARED
    conda:
        "../../../environment.yml"
    threads: config["threads"]
    resources:
        **request(mem_mb=6000, runtime=600, gpu=GPU),
    params:
        code=code("images/real_downstream.py"),
        config=lambda wildcards: REAL_IMAGES[wildcards.image_set],
        seed=config["seed"],
        device=config["device"],
        cache=REAL_CACHE,
        threads=config["threads"],
    script:
        "../../../scripts/images/real_downstream.py"


rule images_real_detection:
    input:
        unpack(real_pretrained),
        summary=rules.images_real_data.output.summary,
    output:
        f"{REAL_MEASUREMENTS}/{{image_set}}/detection-{{start}}-{{replicate}}.parquet",
    log:
        f"{RESULTS}/logs/images/real-detection-{{image_set}}-{{start}}-{{replicate}}.log",
    cache: SHARED
    conda:
        "../../../environment.yml"
    threads: config["threads"]
    resources:
        **request(mem_mb=6000, runtime=600, gpu=GPU),
    params:
        code=code("images/real_detection.py"),
        config=lambda wildcards: REAL_IMAGES[wildcards.image_set],
        seed=config["seed"],
        device=config["device"],
        cache=REAL_CACHE,
        threads=config["threads"],
    script:
        "../../../scripts/images/real_detection.py"


rule images_real_detections:
    input:
        parts=REAL_DETECTIONS,
    output:
        f"{REAL_MEASUREMENTS}/detections.parquet",
    log:
        f"{RESULTS}/logs/images/real-detections.log",
    group:
        "images-real"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("core/concatenate.py"),
    script:
        "../../../scripts/core/concatenate.py"


rule images_real_detection_table:
    input:
        rules.images_real_detections.output[0],
    output:
        **table("mrp", "real-detection"),
    log:
        f"{RESULTS}/logs/images/table-real-detection.log",
    group:
        "images-real"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("images/table_real_detection.py"),
    script:
        "../../../scripts/images/table_real_detection.py"


rule images_real_maps:
    input:
        [
            f"{REAL_WEIGHTS}/{name}/classifier-{start}-0.safetensors"
            for panel in real_config.map_panels(REAL_IMAGES)
            for name, start in panel
        ],
    output:
        **figure("mrp", "real-maps"),
    log:
        f"{RESULTS}/logs/images/figure-real-maps.log",
    cache: SHARED
    conda:
        "../../../environment.yml"
    threads: config["threads"]
    resources:
        **request(mem_mb=6000, runtime=30, gpu=GPU),
    params:
        code=code("images/figure_real_maps.py"),
        config=REAL_IMAGES,
        seed=config["seed"],
        device=config["device"],
        cache=REAL_CACHE,
        threads=config["threads"],
    script:
        "../../../scripts/images/figure_real_maps.py"


rule images_real_evaluations:
    input:
        parts=REAL_EVALUATIONS,
    output:
        f"{REAL_MEASUREMENTS}/evaluations.parquet",
    log:
        f"{RESULTS}/logs/images/real-evaluations.log",
    group:
        "images-real"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("core/concatenate.py"),
    script:
        "../../../scripts/core/concatenate.py"


rule images_real_table:
    input:
        rules.images_real_evaluations.output[0],
    output:
        **table("mrp", "real-images"),
    log:
        f"{RESULTS}/logs/images/table-real.log",
    group:
        "images-real"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("images/table_real.py"),
    script:
        "../../../scripts/images/table_real.py"


rule images_real_figure:
    input:
        rules.images_real_table.output.parquet,
    output:
        **figure("mrp", "real-images"),
    log:
        f"{RESULTS}/logs/images/figure-real.log",
    group:
        "images-real"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("images/figure_real.py"),
    script:
        "../../../scripts/images/figure_real.py"
