# Real images: a user's own, CIFAR-10 and others. Nothing is made unless the config names some.
#
#   snakemake real_images --cores 2 --configfile mine.yaml

from featlearn.mrp.images import real_config

REAL_IMAGES = config["real_images"]
# which files of data and weights are missing, and where they go, is told before any job
checked(real_config.faults(REAL_IMAGES))
if workflow.is_main_process:
    checked(real_config.missing_weights(REAL_IMAGES))
REAL_STATES = in_words(real_config.state, REAL_IMAGES)

REAL_CACHE = {"cache": ".cache/images"}
REAL_WEIGHTS = f"{MRP}/weights/real_images"
REAL_MEASUREMENTS = f"{MRP}/measurements/real_images"
REAL_RESOURCES = request(mem_mb=6000, runtime=600, gpu=GPU)

# every start of every data set, by replicate
REAL_STARTS = [
    {"image_set": name, "start": start, "replicate": replicate}
    for name, settings in REAL_IMAGES.items()
    for start in real_config.starts(settings)
    for replicate in range(settings["replicates"])
]
REAL_TRAINED = [one for one in REAL_STARTS if one["start"] == real_config.PRETRAINED]
REAL_DETECTED = [one for one in REAL_STARTS if REAL_IMAGES[one["image_set"]]["detection"]]


wildcard_constraints:
    image_set="|".join(REAL_IMAGES) or "none",
    start="random|pretrained|given(-[A-Za-z0-9_-]+)?",


use rule calculate as mrp_real_data with:
    output:
        summary=f"{REAL_MEASUREMENTS}/{{image_set}}/summary.parquet",
        faults=f"{REAL_MEASUREMENTS}/{{image_set}}/faults.parquet",
    log:
        f"{LOGS}/mrp/real-data-{{image_set}}.log",
    resources:
        **request(mem_mb=3000, runtime=120),
    params:
        **by(
            "mrp.experiments.real_images:data",
            lambda wildcards: REAL_IMAGES[wildcards.image_set]["data"],
            **REAL_CACHE,
            device="cpu",
            # files that changed since are decoded again
            state=lambda wildcards: REAL_STATES[wildcards.image_set],
            may_be_empty=["faults"],
        ),


use rule compute as mrp_real_pretrain with:
    input:
        rules.mrp_real_data.output.summary,
    output:
        weights=f"{REAL_WEIGHTS}/{{image_set}}/pretrained-{{replicate}}.safetensors",
        history=f"{REAL_MEASUREMENTS}/{{image_set}}/pretraining-{{replicate}}.parquet",
    log:
        f"{LOGS}/mrp/real-pretrain-{{image_set}}-{{replicate}}.log",
    threads: lambda wildcards: config["threads"] * spread(wildcards).on_each
    resources:
        **request(mem_mb=6000, runtime=600, gpu=lambda wildcards: gpus(wildcards)),
        # several nodes: the job itself starts one torchrun on each of them
        nodes=lambda wildcards: on_nodes(wildcards, spread(wildcards).nodes),
        tasks=lambda wildcards: on_nodes(wildcards, spread(wildcards).nodes),
        mpi=lambda wildcards: on_nodes(wildcards, "srun"),
        gres=lambda wildcards: on_nodes(wildcards, gpus_of_a_node(wildcards)),
    params:
        **by("mrp.experiments.real_images:pretrain", real_settings, **REAL_CACHE),


use rule compute as mrp_real_downstream with:
    input:
        unpack(real_pretrained),
        summary=rules.mrp_real_data.output.summary,
    output:
        weights=f"{REAL_WEIGHTS}/{{image_set}}/classifier-{{start}}-{{replicate}}.safetensors",
        evaluation=f"{REAL_MEASUREMENTS}/{{image_set}}/{{start}}-{{replicate}}.parquet",
    log:
        f"{LOGS}/mrp/real-downstream-{{image_set}}-{{start}}-{{replicate}}.log",
    resources:
        **REAL_RESOURCES,
    params:
        **by("mrp.experiments.real_images:downstream", real_settings, **REAL_CACHE),


use rule mrp_real_downstream as mrp_real_detection with:
    output:
        precisions=f"{REAL_MEASUREMENTS}/{{image_set}}/detection-{{start}}-{{replicate}}.parquet",
    log:
        f"{LOGS}/mrp/real-detection-{{image_set}}-{{start}}-{{replicate}}.log",
    params:
        **by("mrp.experiments.real_images:detection"),


# ------------------------------------------------------------------------- what is shown of them
# Rules without wildcards are there for all: these are not, without a set.

PUBLISHED.add("mrp", ["real_images"], [], "real images")

if REAL_DETECTED:

    use rule gather as mrp_real_detections with:
        input:
            parts=of_real(rules.mrp_real_detection.output.precisions, REAL_DETECTED),
        output:
            f"{REAL_MEASUREMENTS}/detections.parquet",
        log:
            f"{LOGS}/mrp/real-detections.log",
        group:
            "mrp-real_images"


if REAL_IMAGES:

    use rule gather as mrp_real_evaluations with:
        input:
            parts=of_real(rules.mrp_real_downstream.output.evaluation, REAL_STARTS),
        output:
            f"{REAL_MEASUREMENTS}/evaluations.parquet",
        log:
            f"{LOGS}/mrp/real-evaluations.log",
        group:
            "mrp-real_images"

    use rule compute as mrp_real_maps with:
        input:
            classifiers=[
                f"{REAL_WEIGHTS}/{name}/classifier-{start}-0.safetensors"
                for panel in real_config.map_panels(REAL_IMAGES)
                for name, start in panel
            ],
        output:
            svg=f"{MRP}/figures/real-maps.svg",
            png=f"{MRP}/figures/real-maps.png",
        log:
            f"{LOGS}/mrp/real-maps.log",
        resources:
            **request(mem_mb=6000, runtime=30, gpu=GPU),
        params:
            **by("mrp.figures.real_maps:real_maps", REAL_IMAGES, **REAL_CACHE),

    experiment(
        "mrp",
        "real_images",
        evaluations=rules.mrp_real_evaluations.output[0],
        **({"detections": rules.mrp_real_detections.output[0]} if REAL_DETECTED else {}),
        also=[
            *expand(rules.mrp_real_data.output, image_set=REAL_IMAGES),
            *of_real(rules.mrp_real_pretrain.output, REAL_TRAINED),
            *of_real(rules.mrp_real_downstream.output, REAL_STARTS),
            *of_real(rules.mrp_real_detection.output, REAL_DETECTED),
        ],
        apart=["real-detection"] if REAL_DETECTED else [],
        without=[] if REAL_DETECTED else ["real-detection"],
        targets=["real_images"],
    )
    by_hand(
        "mrp", "figure", "real-maps", "mrp.figures.real_maps:real_maps", targets=["real_images"]
    )
