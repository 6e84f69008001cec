# Wen & Li: why augmentation lets contrastive learning find sparse features.

from featlearn.contrastive import config as contrastive_config
from featlearn.contrastive.images import config as contrastive_images
from featlearn.images.data.on_disk import state_of

CONTRASTIVE = config["contrastive"]
SCALING = CONTRASTIVE["scaling"]
STAGE_ARMS = [*expand("{mask}masked{how}", mask=["", "un"], how=["", "-zero", "-kept"])]
STAGE_ARMS += ["sampled", "theory-decay"]


# the three stages: RandomMask or not, thresholds or not, from one start; and variants
use rule compute as contrastive_train with:
    output:
        **outputs("contrastive/stages", weights="{arm}", history="{arm}-history"),
    wildcard_constraints:
        arm="|".join(STAGE_ARMS),
    params:
        **by(
            "contrastive.experiments.stages:train",
            only="replicates data network training thresholds record_every probe",
        ),


use rule compute as contrastive_evaluate with:
    input:
        weights=expand(rules.contrastive_train.output.weights, arm=STAGE_ARMS),
    output:
        **outputs("contrastive/stages", "moments evaluation decoupling"),
    params:
        **by("contrastive.experiments.stages:evaluate"),


# what methods that learn no features make of the labels that train the probes
use rule train_here as contrastive_panel with:
    output:
        **outputs("contrastive/stages", "panel"),
    params:
        **by(
            "contrastive.panel:measure",
            CONTRASTIVE["stages"],
            only="replicates data network probe",
        ),


# footnote 4: thresholds by gradient descent rise with RandomMask and fall without
measured("compute", "contrastive/trained-thresholds", "history evaluation")
measured("compute", "contrastive/ablations", "evaluation")


use rule compute as contrastive_scaling with:
    output:
        **outputs("contrastive/scaling", sizes="{atoms}", courses="{atoms}-course"),
    resources:
        **request(mem_mb=4000, runtime=120, gpu=GPU),
    params:
        **by(
            "contrastive.experiments.scaling:measure",
            lambda wildcards: contrastive_config.size_config(SCALING, int(wildcards.atoms)),
        ),


measured("train_here", "contrastive/identities", "sampled")

experiment(
    "contrastive",
    "stages",
    rules.contrastive_evaluate,
    rules.contrastive_panel,
    histories=expand(rules.contrastive_train.output.history, arm=STAGE_ARMS),
    also=rules.contrastive_evaluate.input.weights,
)
experiment("contrastive", "trained-thresholds")
experiment("contrastive", "ablations")
experiment("contrastive", "scaling", over={"atoms": [size["atoms"] for size in SCALING["sizes"]]})
experiment("contrastive", "identities")

# Figures 1 to 4: what each augmentation lets a network learn, on images (target contrastive_images).
PICTURE_SETS = CONTRASTIVE["images"]
# real images that are not there: a plan can be made, the job that opens them says what is missing
PICTURE_STATES = {
    name: state_of(settings["real"])[0]
    for name, settings in PICTURE_SETS.items()
    if not contrastive_images.is_made(settings)
}
PICTURES_DECODED = {
    name: outputs("contrastive/images", images=f"{name}/images")["images"]
    for name in PICTURE_STATES
}
# wildcards of each training, and of each encoder with all its arms; figures show the first replicate
PICTURE_TRAININGS = contrastive_images.trainings(PICTURE_SETS)
PICTURE_ENCODERS = contrastive_images.measured(PICTURE_SETS)
PICTURE_FIRSTS = [each for each in PICTURE_ENCODERS if each["replicate"] == 0]


wildcard_constraints:
    image_data="|".join(PICTURE_SETS),
    encoder="[A-Za-z0-9_-]+",


use rule calculate as contrastive_images_data with:
    output:
        **outputs("contrastive/images", images="{image_data}/images"),
    resources:
        **request(mem_mb=3000, runtime=120),
    params:
        **by(
            "contrastive.experiments.images:data",
            each="image_data",
            device="cpu",
            images=lambda wildcards: PICTURE_STATES[wildcards.image_data],
        ),


use rule compute as contrastive_images_train with:
    input:
        images=lambda wildcards: PICTURES_DECODED.get(wildcards.image_data, []),
    output:
        **outputs(
            "contrastive/images",
            "history trace",
            at="*/{image_data}/{encoder}/{arm}-{replicate}",
            weights="{image_data}/{encoder}/{arm}-{replicate}",
        ),
    wildcard_constraints:
        arm="|".join(contrastive_images.ARMS),
    resources:
        **request(mem_mb=3000, runtime=1440, gpu=GPU),
    params:
        **by(
            "contrastive.experiments.images:train",
            {name: contrastive_images.training_part(PICTURE_SETS[name]) for name in PICTURE_SETS},
            each="image_data",
            cache=".cache/images",
        ),


# this and the next begin with the last trainings, not after them: no core idles at the end
use rule compute as contrastive_images_measure with:
    input:
        images=rules.contrastive_images_train.input.images,
        weights=lambda wildcards: expand(
            rules.contrastive_images_train.output.weights,
            arm=contrastive_images.arms_of(PICTURE_SETS[wildcards.image_data], wildcards.encoder),
            **wildcards,
        ),
    output:
        **outputs(
            "contrastive/images",
            "evaluation patterns pictures",
            at="*/{image_data}/{encoder}-{replicate}",
        ),
    priority: 1
    resources:
        **request(mem_mb=3000, runtime=240, gpu=GPU),
    params:
        **by("contrastive.experiments.images:responses", each="image_data", cache=".cache/images"),


use rule contrastive_images_measure as contrastive_images_map with:
    input:
        images=rules.contrastive_images_train.input.images,
        weights=lambda wildcards: expand(
            rules.contrastive_images_train.output.weights,
            arm=contrastive_images.mapped_arms(
                PICTURE_SETS[wildcards.image_data], wildcards.encoder
            ),
            **wildcards,
        ),
    output:
        **outputs("contrastive/images", "map separation", at="*/{image_data}/{encoder}-{replicate}"),
    params:
        **by("contrastive.experiments.images:maps", None),


use rule calculate as contrastive_images_evaluations with:
    input:
        parts=[
            *filled(rules.contrastive_images_measure.output.evaluation, PICTURE_ENCODERS),
            *filled(rules.contrastive_images_map.output.separation, PICTURE_ENCODERS),
        ],
        traces=filled(rules.contrastive_images_train.output.trace, PICTURE_TRAININGS),
    output:
        **outputs("contrastive/images", "evaluations"),
    params:
        **by("contrastive.experiments.images:gather", None),


experiment(
    "contrastive",
    "images",
    rules.contrastive_images_evaluations,
    judged=PICTURE_SETS,
    targets=["contrastive_images"],
    contains=contrastive_images.contains(PICTURE_SETS),
    also=[
        *PICTURES_DECODED.values(),
        *filled(rules.contrastive_images_train.output, PICTURE_TRAININGS),
        *filled(rules.contrastive_images_measure.output, PICTURE_ENCODERS),
        *filled(rules.contrastive_images_map.output, PICTURE_ENCODERS),
    ],
    pictures=filled(rules.contrastive_images_measure.output.pictures, PICTURE_FIRSTS),
    maps=filled(rules.contrastive_images_map.output.map, PICTURE_FIRSTS),
    patterns=filled(rules.contrastive_images_measure.output.patterns, PICTURE_FIRSTS),
)
