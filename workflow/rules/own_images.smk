# Images of a user, CIFAR-10 and others. Nothing is made unless the config names some.
#
#   snakemake real_images --cores 2 --configfile mine.yaml

from featlearn.own_images import config as own_images_config

REAL_IMAGES = config["real_images"]
if not config["papers"] and not REAL_IMAGES:
    checked(["papers: []; expected one or more, or data sets under the key real_images"])
# which files of data and weights are missing, and where they go, is told before any job
checked(own_images_config.faults(REAL_IMAGES))
if workflow.is_main_process:
    checked(own_images_config.missing_weights(REAL_IMAGES))
REAL_STATES = in_words(own_images_config.state, REAL_IMAGES)

REAL_CACHE = {"cache": ".cache/images"}
REAL_SET = "own_images/{image_set}"

# every start of every data set, by replicate
REAL_STARTS = [
    {"image_set": name, "start": start, "replicate": replicate}
    for name, settings in REAL_IMAGES.items()
    for start in own_images_config.starts(settings)
    for replicate in range(settings["replicates"])
]
REAL_TRAINED = [one for one in REAL_STARTS if one["start"] == own_images_config.PRETRAINED]
REAL_PRETRAINED = any(one["start"] != own_images_config.RANDOM for one in REAL_STARTS)
# with several labels an image there is no one class that a network says
REAL_SINGLE = any(
    settings["data"]["kind"] not in own_images_config.WITH_BOXES
    for settings in REAL_IMAGES.values()
)
REAL_DETECTED = [one for one in REAL_STARTS if REAL_IMAGES[one["image_set"]]["detection"]]


include: "own_images/inputs.smk"


wildcard_constraints:
    image_set="|".join(REAL_IMAGES) or "none",
    start="random|pretrained|given(-[A-Za-z0-9_-]+)?",


use rule calculate as own_images_data with:
    output:
        **outputs(REAL_SET, "summary faults twice"),
    resources:
        **request(mem_mb=3000, runtime=120),
    params:
        **by(
            "own_images.jobs:data",
            lambda wildcards: REAL_IMAGES[wildcards.image_set]["data"],
            **REAL_CACHE,
            device="cpu",
            # files that changed since are decoded again
            state=lambda wildcards: REAL_STATES[wildcards.image_set],
            may_be_empty=["faults", "twice"],
        ),


use rule compute as own_images_pretrain with:
    input:
        rules.own_images_data.output.summary,
    output:
        **outputs(REAL_SET, weights="pretrained-{replicate}", history="pretraining-{replicate}"),
    threads: lambda wildcards: config["threads"] * spread(wildcards).on_each
    resources:
        **request(mem_mb=6000, runtime=600, gpu=lambda wildcards: gpus(wildcards)),
        # several nodes: the job itself starts one torchrun on each of them
        nodes=lambda wildcards: on_nodes(wildcards, spread(wildcards).nodes),
        tasks=lambda wildcards: on_nodes(wildcards, spread(wildcards).nodes),
        mpi=lambda wildcards: on_nodes(wildcards, "srun"),
        gres=lambda wildcards: on_nodes(wildcards, gpus_of_a_node(wildcards)),
    params:
        **by("own_images.jobs:pretrain", real_settings, **REAL_CACHE),


use rule compute as own_images_downstream with:
    input:
        summary=rules.own_images_data.output.summary,
        weights=lambda wildcards: expand(
            rules.own_images_pretrain.output.weights if wildcards.start == "pretrained" else [],
            **wildcards,
        ),
    output:
        **outputs(
            REAL_SET,
            weights="classifier-{start}-{replicate}",
            evaluation="{start}-{replicate}",
            predictions="predictions-{start}-{replicate}",
            history="finetuning-{start}-{replicate}",
        ),
    resources:
        **request(mem_mb=6000, runtime=600, gpu=GPU),
    params:
        **by(
            "own_images.jobs:downstream", real_settings, **REAL_CACHE, may_be_empty=["predictions"]
        ),


use rule own_images_downstream as own_images_detection with:
    output:
        **outputs(REAL_SET, precisions="detection-{start}-{replicate}"),
    params:
        **by("own_images.jobs:detection"),


# what learns no features, on the same images and labels: for tables that ask for it
use rule calculate as own_images_baselines with:
    input:
        rules.own_images_data.output.summary,
    output:
        **outputs(REAL_SET, baselines="baselines-{replicate}"),
    resources:
        **request(mem_mb=3000, runtime=30),
    params:
        **by(
            "own_images.baselines:measure",
            REAL_IMAGES,
            each="image_set",
            only="data train_images augmentation normalisation label_fractions probe neighbours",
            **REAL_CACHE,
            device="cpu",
        ),


# What is shown of them. Rules without wildcards are there for all: these are not, without a set.
PUBLISHED.targets["real_images"] = []

if REAL_IMAGES:
    PUBLISHED.paper("own_images")

    REAL_DATA = {"image_set": REAL_IMAGES}
    REAL_DOWNSTREAM = rules.own_images_downstream.output
    REAL_DETECTIONS = filled(rules.own_images_detection.output.precisions, REAL_DETECTED)

    use rule compute as own_images_maps with:
        input:
            classifiers=filled(
                REAL_DOWNSTREAM.weights,
                [
                    {"image_set": name, "start": start, "replicate": 0}
                    for panel in own_images_config.map_panels(REAL_IMAGES)
                    for name, start in panel
                ],
            ),
        output:
            PUBLISHED.files("own_images", "figure", "maps"),
        resources:
            **request(mem_mb=6000, runtime=30, gpu=GPU),
        params:
            **by("own_images.pictures:maps", REAL_IMAGES, **REAL_CACHE),

    use rule calculate as own_images_pictures with:
        input:
            filled(rules.own_images_data.output.summary, REAL_DATA),
        output:
            PUBLISHED.files("own_images", "figure", "pictures"),
        params:
            **by("own_images.pictures:pictures", REAL_IMAGES, **REAL_CACHE, device="cpu"),

    experiment(
        "own_images",
        "images",
        judged={},
        **together(
            "own_images",
            "images",
            evaluations=filled(REAL_DOWNSTREAM.evaluation, REAL_STARTS),
            **({"detections": REAL_DETECTIONS} if REAL_DETECTED else {}),
        ),
        predictions=filled(REAL_DOWNSTREAM.predictions, REAL_STARTS),
        summaries=filled(rules.own_images_data.output.summary, REAL_DATA),
        histories=[
            *filled(rules.own_images_pretrain.output.history, REAL_TRAINED),
            *filled(REAL_DOWNSTREAM.history, REAL_STARTS),
        ],
        also=[
            *filled(rules.own_images_data.output, REAL_DATA),
            *filled(rules.own_images_pretrain.output.weights, REAL_TRAINED),
            *filled(REAL_DOWNSTREAM, REAL_STARTS),
            f"{RESULTS}/own_images/report.html",
        ],
        apart=["detection"] if REAL_DETECTED else [],
        without=[
            *([] if REAL_DETECTED else ["detection"]),
            *([] if REAL_SINGLE else ["classes", "confusion"]),
            *([] if REAL_PRETRAINED else ["gains"]),
        ],
        targets=["real_images"],
    )
    shown_by(rules.own_images_maps, "real_images")
    shown_by(rules.own_images_pictures, "real_images")

    rule own_images_report:
        input:
            faults=filled(rules.own_images_data.output.faults, REAL_DATA),
            twice=filled(rules.own_images_data.output.twice, REAL_DATA),
            figures=PUBLISHED.files_of("own_images"),
            templates=[
                asset(SOURCES / "featlearn/own_images/report.html.j2"),
                asset(SOURCES / "featlearn/core/publishing/templates/report/style.css.j2"),
            ],
        output:
            f"{RESULTS}/own_images/report.html",
        group:
            "own_images-images"
        resources:
            **SHORT,
        params:
            code=code("own_images.report"),
            config=REAL_IMAGES,
            seed=config["seed"],
            run=config["run"],
            command=COMMAND.replace("snakemake", "snakemake real_images", 1),
            captions=PUBLISHED.captions_of("own_images"),
        script:
            str(ROOT / "scripts" / "own_report.py")
