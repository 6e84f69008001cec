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
# a room of their own: to whoever brings images, the name of a paper says nothing
OWN = f"{RESULTS}/own"
REAL_WEIGHTS = f"{OWN}/weights"
REAL_MEASUREMENTS = f"{OWN}/measurements"
REAL_RESOURCES = request(mem_mb=6000, runtime=600, gpu=GPU)

# every start of every data set, by replicate
REAL_STARTS = [
    {"image_set": name, "start": start, "replicate": replicate}
    for name, settings in REAL_IMAGES.items()
    for start in real_config.starts(settings)
    for replicate in range(settings["replicates"])
]
REAL_TRAINED = [one for one in REAL_STARTS if one["start"] == real_config.PRETRAINED]
REAL_PRETRAINED = any(one["start"] != real_config.RANDOM for one in REAL_STARTS)
# with several labels an image there is no one class that a network says
REAL_SINGLE = any(
    settings["data"]["kind"] not in real_config.WITH_BOXES for settings in REAL_IMAGES.values()
)
REAL_DETECTED = [one for one in REAL_STARTS if REAL_IMAGES[one["image_set"]]["detection"]]


wildcard_constraints:
    image_set="|".join(REAL_IMAGES) or "none",
    start="random|pretrained|given(-[A-Za-z0-9_-]+)?",


use rule calculate as own_data with:
    output:
        summary=f"{REAL_MEASUREMENTS}/{{image_set}}/summary.parquet",
        faults=f"{REAL_MEASUREMENTS}/{{image_set}}/faults.parquet",
        twice=f"{REAL_MEASUREMENTS}/{{image_set}}/twice.parquet",
    log:
        f"{LOGS}/own/data-{{image_set}}.log",
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
            may_be_empty=["faults", "twice"],
        ),


use rule compute as own_pretrain with:
    input:
        rules.own_data.output.summary,
    output:
        weights=f"{REAL_WEIGHTS}/{{image_set}}/pretrained-{{replicate}}.safetensors",
        history=f"{REAL_MEASUREMENTS}/{{image_set}}/pretraining-{{replicate}}.parquet",
    log:
        f"{LOGS}/own/pretrain-{{image_set}}-{{replicate}}.log",
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


use rule compute as own_downstream with:
    input:
        unpack(real_pretrained),
        summary=rules.own_data.output.summary,
    output:
        weights=f"{REAL_WEIGHTS}/{{image_set}}/classifier-{{start}}-{{replicate}}.safetensors",
        evaluation=f"{REAL_MEASUREMENTS}/{{image_set}}/{{start}}-{{replicate}}.parquet",
        predictions=f"{REAL_MEASUREMENTS}/{{image_set}}/predictions-{{start}}-{{replicate}}.parquet",
        history=f"{REAL_MEASUREMENTS}/{{image_set}}/finetuning-{{start}}-{{replicate}}.parquet",
    log:
        f"{LOGS}/own/downstream-{{image_set}}-{{start}}-{{replicate}}.log",
    resources:
        **REAL_RESOURCES,
    params:
        **by(
            "mrp.experiments.real_images:downstream",
            real_settings,
            **REAL_CACHE,
            may_be_empty=["predictions"],
        ),


use rule own_downstream as own_detection with:
    output:
        precisions=f"{REAL_MEASUREMENTS}/{{image_set}}/detection-{{start}}-{{replicate}}.parquet",
    log:
        f"{LOGS}/own/detection-{{image_set}}-{{start}}-{{replicate}}.log",
    params:
        **by("mrp.experiments.real_images:detection"),


# ------------------------------------------------------------------------- what is shown of them
# Rules without wildcards are there for all: these are not, without a set.

PUBLISHED.add("mrp", ["real_images"], [], "real images")

if REAL_DETECTED:

    use rule gather as own_detections with:
        input:
            parts=of_real(rules.own_detection.output.precisions, REAL_DETECTED),
        output:
            f"{REAL_MEASUREMENTS}/detections.parquet",
        log:
            f"{LOGS}/own/detections.log",
        group:
            "own-images"


if REAL_IMAGES:
    PUBLISHED.paper("own")

    use rule gather as own_evaluations with:
        input:
            parts=of_real(rules.own_downstream.output.evaluation, REAL_STARTS),
        output:
            f"{REAL_MEASUREMENTS}/evaluations.parquet",
        log:
            f"{LOGS}/own/evaluations.log",
        group:
            "own-images"

    use rule compute as own_maps with:
        input:
            classifiers=[
                f"{REAL_WEIGHTS}/{name}/classifier-{start}-0.safetensors"
                for panel in real_config.map_panels(REAL_IMAGES)
                for name, start in panel
            ],
        output:
            svg=f"{OWN}/figures/maps.svg",
            png=f"{OWN}/figures/maps.png",
        log:
            f"{LOGS}/own/maps.log",
        resources:
            **request(mem_mb=6000, runtime=30, gpu=GPU),
        params:
            **by("own.figures.maps:maps", REAL_IMAGES, **REAL_CACHE),

    use rule calculate as own_pictures with:
        input:
            expand(rules.own_data.output.summary, image_set=REAL_IMAGES),
        output:
            svg=f"{OWN}/figures/pictures.svg",
            png=f"{OWN}/figures/pictures.png",
        log:
            f"{LOGS}/own/pictures.log",
        params:
            **by("own.figures.pictures:pictures", REAL_IMAGES, **REAL_CACHE, device="cpu"),

    experiment(
        "own",
        "images",
        judged={},
        evaluations=rules.own_evaluations.output[0],
        predictions=of_real(rules.own_downstream.output.predictions, REAL_STARTS),
        summaries=expand(rules.own_data.output.summary, image_set=REAL_IMAGES),
        histories=[
            *of_real(rules.own_pretrain.output.history, REAL_TRAINED),
            *of_real(rules.own_downstream.output.history, REAL_STARTS),
        ],
        **({"detections": rules.own_detections.output[0]} if REAL_DETECTED else {}),
        also=[
            *expand(rules.own_data.output.faults, image_set=REAL_IMAGES),
            *expand(rules.own_data.output.twice, image_set=REAL_IMAGES),
            *of_real(rules.own_pretrain.output.weights, REAL_TRAINED),
            *of_real(rules.own_downstream.output, REAL_STARTS),
            *of_real(rules.own_detection.output, REAL_DETECTED),
            f"{OWN}/report.html",
        ],
        apart=["detection"] if REAL_DETECTED else [],
        without=[
            *([] if REAL_DETECTED else ["detection"]),
            *([] if REAL_SINGLE else ["classes", "confusion"]),
            *([] if REAL_PRETRAINED else ["gains"]),
        ],
        targets=["real_images"],
    )
    for shown in ("maps", "pictures"):
        by_hand("own", "figure", shown, f"own.figures.{shown}:{shown}", targets=["real_images"])

    rule own_report:
        input:
            faults=expand(rules.own_data.output.faults, image_set=REAL_IMAGES),
            twice=expand(rules.own_data.output.twice, image_set=REAL_IMAGES),
            figures=PUBLISHED.files_of("own"),
            templates=[
                asset(SOURCES / "featlearn" / name)
                for name in ("own/templates/own.html.j2", "core/templates/report/style.css.j2")
            ],
        output:
            f"{OWN}/report.html",
        log:
            f"{LOGS}/own/report.log",
        group:
            "own-images"
        conda:
            ENVIRONMENT
        resources:
            **SHORT,
        params:
            code=code("own.report"),
            config=REAL_IMAGES,
            seed=config["seed"],
            run=config["run"],
            command=COMMAND.replace("snakemake", "snakemake real_images", 1),
            captions=PUBLISHED.captions_of("own"),
        script:
            str(ROOT / "scripts" / "own_report.py")
