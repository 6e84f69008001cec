# The comparison on part-composed images, on which it is known what can be learned.

from featlearn.mrp.images import config as image_config


include: "image_inputs.smk"


IMAGES = config["images"]
checked(image_config.faults(IMAGES))

IMAGE_WEIGHTS = f"{MRP}/weights/images"
IMAGE_MEASUREMENTS = f"{MRP}/measurements/images"
# what every training on them depends on
PICTURES = ("world", "samples", "encoders", "augmentation")
IMAGE_METHODS = IMAGES["pretraining"]
IMAGE_REPLICATES = range(IMAGES["comparison"]["replicates"])
# an encoder's random start is what supervised training begins with
IMAGE_STARTS = [*IMAGE_METHODS, *(f"random-{kind}" for kind in IMAGES["encoders"])]
# of each start its network
IMAGE_ENCODERS = {
    start: (
        IMAGE_METHODS[start]["encoder"] if start in IMAGE_METHODS else start.removeprefix("random-")
    )
    for start in IMAGE_STARTS
}

# some are only drawn, as one replicate
IMAGE_COMPARED = [
    start
    for start in IMAGE_STARTS
    if start not in IMAGE_METHODS or IMAGE_METHODS[start]["compared"]
]


wildcard_constraints:
    method="|".join(IMAGE_METHODS),
    replicate="[0-9]+",


# ------------------------------------------------------------------------------------- pictures


use rule calculate as mrp_images_sheet with:
    output:
        svg=f"{MRP}/figures/images-{{sheet}}.svg",
        png=f"{MRP}/figures/images-{{sheet}}.png",
    log:
        f"{LOGS}/mrp/images-{{sheet}}.log",
    wildcard_constraints:
        sheet="parts|contact-sheet|scenes",
    params:
        **by(
            "mrp.figures.images_pictures:sheet",
            parts(IMAGES, *PICTURES, "detection"),
            device="cpu",
            contains="drawn",
        ),


for sheet in ("parts", "contact_sheet", "scenes"):
    by_hand(
        "mrp",
        "figure",
        f"images-{sheet.replace('_', '-')}",
        f"mrp.figures.images_pictures:{sheet}",
        targets=["images"],
    )


# ----------------------------------------------------------------------------------- comparison


use rule compute as mrp_images_pretrain with:
    input:
        # the fixed teacher that a method names: another method's encoder
        teacher=lambda wildcards: image_weights(
            IMAGE_METHODS[wildcards.method]["teacher"], wildcards.replicate
        ),
    output:
        weights=f"{IMAGE_WEIGHTS}/{{method}}-{{replicate}}.safetensors",
        history=f"{IMAGE_MEASUREMENTS}/pretraining/{{method}}-{{replicate}}.parquet",
    log:
        f"{LOGS}/mrp/images-pretrain-{{method}}-{{replicate}}.log",
    params:
        **by(
            "mrp.experiments.images_comparison:pretrain",
            lambda wildcards: {
                **parts(IMAGES, *PICTURES),
                "pretraining": parts(IMAGE_METHODS, wildcards.method),
            },
        ),


use rule compute as mrp_images_downstream with:
    input:
        weights=lambda wildcards: image_weights(wildcards.start, wildcards.replicate),
    output:
        weights=f"{IMAGE_WEIGHTS}/classifiers/{{start}}-{{replicate}}.safetensors",
        evaluation=f"{IMAGE_MEASUREMENTS}/downstream/{{start}}-{{replicate}}.parquet",
    log:
        f"{LOGS}/mrp/images-downstream-{{start}}-{{replicate}}.log",
    wildcard_constraints:
        start="|".join(IMAGE_STARTS),
    params:
        **by(
            "mrp.experiments.images_comparison:downstream",
            parts(IMAGES, *PICTURES, "comparison"),
            encoder=lambda wildcards: IMAGE_ENCODERS[wildcards.start],
        ),


use rule gather as mrp_images_comparison with:
    input:
        parts=of_starts(rules.mrp_images_downstream.output.evaluation),
    output:
        f"{IMAGE_MEASUREMENTS}/comparison.parquet",
    log:
        f"{LOGS}/mrp/images-comparison.log",
    group:
        "mrp-images_comparison"


experiment(
    "mrp",
    "images_comparison",
    judged=IMAGES,
    comparison=rules.mrp_images_comparison.output[0],
    histories=[
        *of_methods(rules.mrp_images_pretrain.output.history),
        *of_drawn(rules.mrp_images_pretrain.output.history),
    ],
    also=[
        *of_methods(rules.mrp_images_pretrain.output.weights),
        *of_starts(rules.mrp_images_downstream.output.weights),
        *of_starts(rules.mrp_images_downstream.output.evaluation),
    ],
    apart=["images-pretraining"],
    targets=["images"],
    contains="stand-in",
)


# -------------------------------------------------------------------------- one comparison in full
# Pre-training of several lengths against every supervised opponent, on pictures of their own.


use rule compute as mrp_images_gain with:
    output:
        gain=f"{IMAGE_MEASUREMENTS}/gain/{{replicate}}.parquet",
    log:
        f"{LOGS}/mrp/images-gain-{{replicate}}.log",
    # the longest jobs on images, and nothing waits for them: begun last, they would leave a core idle
    priority: 2
    params:
        **by(
            "mrp.experiments.images_gain:compare",
            {
                **parts(IMAGES, *PICTURES, "gain"),
                "comparison": parts(IMAGES["comparison"], "finetuning", "probe"),
                "pretraining": parts(IMAGE_METHODS, "simmim"),
            },
        ),


use rule gather as mrp_images_all_gain with:
    input:
        parts=expand(
            rules.mrp_images_gain.output.gain,
            replicate=range(IMAGES["gain"]["replicates"]),
        ),
    output:
        f"{IMAGE_MEASUREMENTS}/gain.parquet",
    log:
        f"{LOGS}/mrp/images-all-gain.log",
    group:
        "mrp-images_gain"


experiment(
    "mrp",
    "images_gain",
    parts(IMAGES, "world", "gain", "comparison", "pretraining"),
    judged=IMAGES,
    gain=rules.mrp_images_all_gain.output[0],
    also=rules.mrp_images_all_gain.input.parts,
    targets=["images"],
    contains="stand-in",
)


# -------------------------------------------------------------------------------- phase diagram
# Where pre-training helps: dials turned one at a time, on validation replicates. Minutes each, and
# no claim rests on them: scales may leave them out.

if "phase_diagram" in IMAGES:

    IMAGE_DIALS = IMAGES["phase_diagram"]["dials"]

    use rule compute as mrp_images_dial with:
        output:
            gains=f"{IMAGE_MEASUREMENTS}/phase_diagram/{{dial}}-{{replicate}}.parquet",
        log:
            f"{LOGS}/mrp/images-dial-{{dial}}-{{replicate}}.log",
        wildcard_constraints:
            dial="|".join(IMAGE_DIALS),
        # nothing waits for these: begun last, they would leave a core idle at the end
        priority: 1
        resources:
            **request(mem_mb=3000, runtime=120, gpu=GPU),
        params:
            **by(
                "mrp.experiments.images_phase_diagram:dial",
                lambda wildcards: {
                    **parts(IMAGES, *PICTURES, "comparison"),
                    "pretraining": parts(IMAGE_METHODS, "simmim"),
                    "phase_diagram": {
                        **parts(IMAGES["phase_diagram"], "labels", "map_pictures"),
                        "dials": parts(IMAGE_DIALS, wildcards.dial),
                    },
                },
            ),

    use rule gather as mrp_images_phase_diagram with:
        input:
            parts=expand(
                rules.mrp_images_dial.output.gains,
                dial=IMAGE_DIALS,
                replicate=range(IMAGES["phase_diagram"]["replicates"]),
            ),
        output:
            f"{IMAGE_MEASUREMENTS}/phase_diagram.parquet",
        log:
            f"{LOGS}/mrp/images-phase-diagram.log",
        group:
            "mrp-images_phase_diagram"

    experiment(
        "mrp",
        "images_phase_diagram",
        phase_diagram=rules.mrp_images_phase_diagram.output[0],
        also=rules.mrp_images_phase_diagram.input.parts,
        targets=["images"],
        contains="stand-in",
    )


# ---------------------------------------------------------------------- transfer and detection

MOST_LABELS = max(IMAGES["comparison"]["labels"])
TRANSFER_ENCODER = IMAGE_METHODS["simmim"]["encoder"]


use rule compute as mrp_images_transfer with:
    input:
        pretrained=f"{IMAGE_WEIGHTS}/simmim-{{replicate}}.safetensors",
        supervised=f"{IMAGE_WEIGHTS}/classifiers/random-{TRANSFER_ENCODER}-{{replicate}}.safetensors",
        finetuned=f"{IMAGE_WEIGHTS}/classifiers/simmim-{{replicate}}.safetensors",
    output:
        accuracies=f"{IMAGE_MEASUREMENTS}/transfer/{{replicate}}.parquet",
    log:
        f"{LOGS}/mrp/images-transfer-{{replicate}}.log",
    params:
        **by(
            "mrp.experiments.images_transfer:transfer",
            {
                **parts(IMAGES, *PICTURES, "comparison", "transfer"),
                "pretraining": parts(IMAGE_METHODS, "simmim"),
            },
            supervised_labels=MOST_LABELS,
        ),


use rule compute as mrp_images_detection with:
    input:
        pretrained=rules.mrp_images_transfer.input.pretrained,
        supervised=rules.mrp_images_transfer.input.supervised,
        finetuned=rules.mrp_images_transfer.input.finetuned,
    output:
        precisions=f"{IMAGE_MEASUREMENTS}/detection/{{replicate}}.parquet",
    log:
        f"{LOGS}/mrp/images-detection-{{replicate}}.log",
    # the longest job of its chain, see mrp_images_dial
    priority: 2
    params:
        **by(
            "mrp.experiments.images_transfer:detection",
            {
                **parts(IMAGES, *PICTURES, "detection"),
                "pretraining": parts(IMAGE_METHODS, "simmim"),
            },
            supervised_labels=MOST_LABELS,
        ),


use rule gather as mrp_images_all_transfer with:
    input:
        parts=of_replicates(rules.mrp_images_transfer.output.accuracies),
    output:
        f"{IMAGE_MEASUREMENTS}/transfer.parquet",
    log:
        f"{LOGS}/mrp/images-all-transfer.log",
    group:
        "mrp-images_transfer"


use rule gather as mrp_images_all_detection with:
    input:
        parts=of_replicates(rules.mrp_images_detection.output.precisions),
    output:
        f"{IMAGE_MEASUREMENTS}/detection.parquet",
    log:
        f"{LOGS}/mrp/images-all-detection.log",
    group:
        "mrp-images_transfer"


experiment(
    "mrp",
    "images_transfer",
    judged=IMAGES,
    transfer=rules.mrp_images_all_transfer.output[0],
    detection=rules.mrp_images_all_detection.output[0],
    also=[
        *rules.mrp_images_all_transfer.input.parts,
        *rules.mrp_images_all_detection.input.parts,
    ],
    targets=["images"],
    contains="stand-in",
)
