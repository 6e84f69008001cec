# The comparison on part-composed images, on which it is known what can be learned.

from featlearn.mrp.images import config as image_config

IMAGES = config["images"]
checked(image_config.faults(IMAGES))

# what every training on them depends on
PICTURES = parts(IMAGES, "world", "samples", "encoders", "augmentation")
IMAGE_METHODS = IMAGES["pretraining"]
SIMMIM = {"pretraining": parts(IMAGE_METHODS, "simmim")}
# of each start its network; an encoder's random start is what supervised training begins with
IMAGE_ENCODERS = {name: method["encoder"] for name, method in IMAGE_METHODS.items()}
IMAGE_ENCODERS |= {f"random-{kind}": kind for kind in IMAGES["encoders"]}
# the weights that a start needs: a random one, or no start at all, needs none
IMAGE_WEIGHTS = {
    method: outputs("mrp/images", weights=f"{method}-{{replicate}}")["weights"]
    for method in IMAGE_METHODS
}
IMAGE_CLASSIFIERS = {
    start: outputs("mrp/images", weights=f"classifiers/{start}-{{replicate}}")["weights"]
    for start in IMAGE_ENCODERS
}
# some are only drawn, as one replicate
IMAGE_DRAWN = [name for name, method in IMAGE_METHODS.items() if not method["compared"]]
IMAGE_COMPARED = [start for start in IMAGE_ENCODERS if start not in IMAGE_DRAWN]
IMAGE_REPLICATES = {"replicate": range(IMAGES["comparison"]["replicates"])}
IMAGE_RUNS = {"start": IMAGE_COMPARED, **IMAGE_REPLICATES}
OF_IMAGES = {"judged": IMAGES, "targets": ["images"], "contains": "stand-in"}


wildcard_constraints:
    method="|".join(IMAGE_METHODS),
    replicate="[0-9]+",


use rule compute as mrp_images_pretrain with:
    output:
        **outputs(
            "mrp/images",
            weights="{method}-{replicate}",
            history="pretraining/{method}-{replicate}",
        ),
    params:
        **by(
            "mrp.experiments.images_comparison:pretrain",
            lambda wildcards: {**PICTURES, "pretraining": parts(IMAGE_METHODS, wildcards.method)},
        ),


use rule compute as mrp_images_downstream with:
    input:
        weights=lambda wildcards: expand(IMAGE_WEIGHTS.get(wildcards.start, []), **wildcards),
    output:
        **outputs(
            "mrp/images",
            weights="classifiers/{start}-{replicate}",
            evaluation="downstream/{start}-{replicate}",
        ),
    wildcard_constraints:
        start="|".join(IMAGE_ENCODERS),
    params:
        **by(
            "mrp.experiments.images_comparison:downstream",
            PICTURES | parts(IMAGES, "comparison"),
            encoder=lambda wildcards: IMAGE_ENCODERS[wildcards.start],
        ),


COMPARISON = filled(rules.mrp_images_downstream.output.evaluation, IMAGE_RUNS)
experiment(
    "mrp",
    "images_comparison",
    **together("mrp/images", "images_comparison", comparison=COMPARISON),
    also=[
        *filled(
            rules.mrp_images_pretrain.output,
            {"method": [one for one in IMAGE_COMPARED if one in IMAGE_METHODS], **IMAGE_REPLICATES},
        ),
        *filled(rules.mrp_images_pretrain.output, {"method": IMAGE_DRAWN, "replicate": 0}),
        *filled(rules.mrp_images_downstream.output, IMAGE_RUNS),
    ],
    **OF_IMAGES,
)


use rule compute as mrp_images_gain with:
    output:
        **outputs("mrp/images", gain="gain/{replicate}"),
    # the longest jobs on images, and nothing waits for them: begun last, they would leave a core idle
    priority: 2
    params:
        **by(
            "mrp.experiments.images_gain:compare",
            PICTURES
            | parts(IMAGES, "gain")
            | {"comparison": parts(IMAGES["comparison"], "finetuning", "probe"), **SIMMIM},
        ),


GAIN = expand(rules.mrp_images_gain.output, replicate=range(IMAGES["gain"]["replicates"]))
experiment(
    "mrp",
    "images_gain",
    section=parts(IMAGES, "world", "gain", "comparison", "pretraining"),
    **together("mrp/images", "images_gain", gain=GAIN),
    **OF_IMAGES,
)


use rule compute as mrp_images_transfer with:
    input:
        supervised=IMAGE_CLASSIFIERS[f"random-{IMAGE_ENCODERS['simmim']}"],
        finetuned=IMAGE_CLASSIFIERS["simmim"],
        pretrained=IMAGE_WEIGHTS["simmim"],
    output:
        **outputs("mrp/images", accuracies="transfer/{replicate}"),
    params:
        **by(
            "mrp.experiments.images_transfer:transfer",
            PICTURES | parts(IMAGES, "comparison", "transfer") | SIMMIM,
            supervised_labels=max(IMAGES["comparison"]["labels"]),
        ),


use rule mrp_images_transfer as mrp_images_detection with:
    output:
        **outputs("mrp/images", precisions="detection/{replicate}"),
    # the longest job of its chain: begun last, it would leave a core idle
    priority: 2
    params:
        **by(
            "mrp.experiments.images_transfer:detection",
            PICTURES | parts(IMAGES, "detection") | SIMMIM,
        ),


experiment(
    "mrp",
    "images_transfer",
    **together(
        "mrp/images",
        "images_transfer",
        transfer=filled(rules.mrp_images_transfer.output, IMAGE_REPLICATES),
        detection=filled(rules.mrp_images_detection.output, IMAGE_REPLICATES),
    ),
    **OF_IMAGES,
)
