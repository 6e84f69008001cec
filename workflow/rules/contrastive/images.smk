# Figures 1 to 4: what each augmentation lets a network learn, on images.
#
#   snakemake contrastive_images --cores 2

from featlearn.contrastive.images import config as contrastive_images

PICTURE_SETS = config["contrastive"]["images"]
PICTURE_NAMES = contrastive_images.ordered(PICTURE_SETS)
PICTURE_CACHE = ".cache/images"
PICTURE_WEIGHTS = f"{CONTRASTIVE}/weights/images"
PICTURE_MEASUREMENTS = f"{CONTRASTIVE}/measurements/images"
# real images that are not there: a plan can be made, the job that opens them says what is missing
PICTURE_STATES = {
    name: contrastive_images.state(settings)
    for name, settings in PICTURE_SETS.items()
    if not contrastive_images.is_made(settings)
}
PICTURE_TRAININGS = [
    f"{name}/{encoder}/{arm}-{replicate}"
    for name in PICTURE_NAMES
    for encoder, arm in contrastive_images.trained(PICTURE_SETS[name])
    for replicate in range(PICTURE_SETS[name]["replicates"])
]
# a data set's encoders, each with all its arms, by replicate
PICTURE_ENCODERS = [
    f"{name}/{encoder}-{replicate}"
    for name in PICTURE_NAMES
    for encoder in dict(contrastive_images.trained(PICTURE_SETS[name]))
    for replicate in range(PICTURE_SETS[name]["replicates"])
]
PICTURE_FIRSTS = [each for each in PICTURE_ENCODERS if each.endswith("-0")]


include: "image_inputs.smk"


wildcard_constraints:
    image_data="|".join(PICTURE_NAMES),
    encoder="[A-Za-z0-9_-]+",


use rule calculate as contrastive_images_data with:
    output:
        images=f"{PICTURE_MEASUREMENTS}/{{image_data}}/images.parquet",
    log:
        f"{LOGS}/contrastive/images-data-{{image_data}}.log",
    resources:
        **request(mem_mb=3000, runtime=120),
    params:
        **by(
            "contrastive.experiments.images:data",
            picture_settings,
            cache=PICTURE_CACHE,
            device="cpu",
            # files that changed since are decoded again
            state=lambda wildcards: PICTURE_STATES[wildcards.image_data],
        ),


use rule compute as contrastive_images_train with:
    input:
        unpack(decoded_images),
    output:
        weights=f"{PICTURE_WEIGHTS}/{{image_data}}/{{encoder}}/{{arm}}-{{replicate}}.safetensors",
        history=f"{PICTURE_MEASUREMENTS}/history/{{image_data}}/{{encoder}}/{{arm}}-{{replicate}}.parquet",
        trace=f"{PICTURE_MEASUREMENTS}/trace/{{image_data}}/{{encoder}}/{{arm}}-{{replicate}}.parquet",
    log:
        f"{LOGS}/contrastive/images-train-{{image_data}}-{{encoder}}-{{arm}}-{{replicate}}.log",
    wildcard_constraints:
        arm="|".join(contrastive_images.ARMS),
    resources:
        **request(mem_mb=3000, runtime=1440, gpu=GPU),
    params:
        **by("contrastive.experiments.images:train", training_part, cache=PICTURE_CACHE),


# this and the next begin with the last trainings, not after them: no core idles at the end
use rule compute as contrastive_images_measure with:
    input:
        unpack(trained_by(contrastive_images.arms_of)),
    output:
        evaluation=f"{PICTURE_MEASUREMENTS}/evaluation/{{image_data}}/{{encoder}}-{{replicate}}.parquet",
        patterns=f"{PICTURE_MEASUREMENTS}/patterns/{{image_data}}/{{encoder}}-{{replicate}}.parquet",
        pictures=f"{PICTURE_MEASUREMENTS}/pictures/{{image_data}}/{{encoder}}-{{replicate}}.parquet",
    log:
        f"{LOGS}/contrastive/images-measure-{{image_data}}-{{encoder}}-{{replicate}}.log",
    priority: 1
    resources:
        **request(mem_mb=3000, runtime=240, gpu=GPU),
    params:
        **by("contrastive.experiments.images:responses", picture_settings, cache=PICTURE_CACHE),


use rule compute as contrastive_images_map with:
    input:
        unpack(trained_by(contrastive_images.mapped_arms)),
    output:
        map=f"{PICTURE_MEASUREMENTS}/map/{{image_data}}/{{encoder}}-{{replicate}}.parquet",
        separation=f"{PICTURE_MEASUREMENTS}/separation/{{image_data}}/{{encoder}}-{{replicate}}.parquet",
    log:
        f"{LOGS}/contrastive/images-map-{{image_data}}-{{encoder}}-{{replicate}}.log",
    priority: 1
    resources:
        **request(mem_mb=3000, runtime=240, gpu=GPU),
    params:
        **by("contrastive.experiments.images:maps", picture_settings, cache=PICTURE_CACHE),


use rule calculate as contrastive_images_evaluations with:
    input:
        parts=measured_pictures(PICTURE_ENCODERS, "evaluation", "separation"),
        traces=measured_pictures(PICTURE_TRAININGS, "trace"),
    output:
        evaluations=f"{PICTURE_MEASUREMENTS}/evaluations.parquet",
        traces=f"{PICTURE_MEASUREMENTS}/traces.parquet",
    log:
        f"{LOGS}/contrastive/images-evaluations.log",
    params:
        **by("contrastive.experiments.images:gather"),


use rule calculate as contrastive_images_figure_views with:
    input:
        expand(f"{PICTURE_MEASUREMENTS}/{{name}}/images.parquet", name=PICTURE_STATES),
    output:
        svg=f"{CONTRASTIVE}/figures/image-views.svg",
        png=f"{CONTRASTIVE}/figures/image-views.png",
    log:
        f"{LOGS}/contrastive/figure-images-views.log",
    params:
        **by(
            "contrastive.figures.image_views:image_views",
            PICTURE_SETS,
            cache=PICTURE_CACHE,
            device="cpu",
            contains="drawn",
        ),


by_hand(
    "contrastive",
    "figure",
    "image-views",
    "contrastive.figures.image_views:image_views",
    targets=["contrastive_images"],
)
experiment(
    "contrastive",
    "images",
    PICTURE_SETS,
    judged=PICTURE_SETS,
    targets=["contrastive_images"],
    # of what data the figures are made: stand-ins, unless real images are among them
    contains="measured" if PICTURE_STATES else "stand-in",
    also=[
        *expand(f"{PICTURE_MEASUREMENTS}/{{name}}/images.parquet", name=PICTURE_STATES),
        *expand(f"{PICTURE_WEIGHTS}/{{each}}.safetensors", each=PICTURE_TRAININGS),
        *measured_pictures(PICTURE_TRAININGS, "history", "trace"),
        *measured_pictures(
            PICTURE_ENCODERS, "evaluation", "separation", "patterns", "pictures", "map"
        ),
    ],
    evaluations=rules.contrastive_images_evaluations.output.evaluations,
    traces=rules.contrastive_images_evaluations.output.traces,
    # figures show the first replicate
    pictures=measured_pictures(PICTURE_FIRSTS, "pictures"),
    maps=measured_pictures(PICTURE_FIRSTS, "map"),
    patterns=measured_pictures(PICTURE_FIRSTS, "patterns"),
)
