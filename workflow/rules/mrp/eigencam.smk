# Which parts do the classifiers of the comparison on images use? Maps, counts, and Table 1.

from featlearn.mrp.images import cam_config

CAMS = config["eigencam"]
checked(cam_config.faults(config))
if workflow.is_main_process:
    checked(cam_config.missing_files(CAMS["photographs"]))

# the paper's pairs are of a convolutional network, its triples of a vision transformer
CAM_FIGURES = {
    "fig-1": ["random-cnn"],
    "fig-3": ["random-cnn", "simmim"],
    "fig-4": ["random-cnn", "simmim"],
}
if {"mae", "data2vec"} <= set(IMAGE_STARTS):
    CAM_FIGURES["fig-5"] = ["random-vit", "mae", "data2vec"]


use rule calculate as mrp_cam_maps with:
    input:
        classifiers=lambda wildcards: [
            f"{IMAGE_WEIGHTS}/classifiers/{start}-0.safetensors"
            for start in CAM_FIGURES[wildcards.figure]
        ],
    output:
        svg=f"{MRP}/figures/{{figure}}.svg",
        png=f"{MRP}/figures/{{figure}}.png",
    log:
        f"{LOGS}/mrp/{{figure}}.log",
    wildcard_constraints:
        figure="|".join(CAM_FIGURES),
    params:
        **by(
            "mrp.figures.eigencam_maps:maps",
            parts(IMAGES, *PICTURES),
            encoders=lambda wildcards: parts(IMAGE_ENCODERS, *CAM_FIGURES[wildcards.figure]),
            labels=MOST_LABELS,
            shown=CAMS["shown"],
            map_cell=CAMS["map_cell"],
            device="cpu",
            contains="stand-in",
        ),


for name in CAM_FIGURES:
    by_hand(
        "mrp",
        "figure",
        name,
        f"mrp.figures.eigencam_maps:{name.replace('-', '_')}",
        targets=["eigencam"],
        # a start that is only drawn
        also=[
            file
            for start in CAM_FIGURES[name]
            if start not in IMAGE_COMPARED
            for file in expand(
                [*rules.mrp_images_pretrain.output, *rules.mrp_images_downstream.output],
                method=start,
                start=start,
                replicate=0,
            )
        ],
    )


use rule compute as mrp_cam_measure with:
    input:
        classifiers=expand(
            f"{IMAGE_WEIGHTS}/classifiers/{{start}}-{{{{replicate}}}}.safetensors",
            start=IMAGE_COMPARED,
        ),
    output:
        values=f"{IMAGE_MEASUREMENTS}/eigencam/{{replicate}}.parquet",
        by_part=f"{IMAGE_MEASUREMENTS}/eigencam/{{replicate}}-by-part.parquet",
        readings=f"{IMAGE_MEASUREMENTS}/eigencam/{{replicate}}-readings.parquet",
    log:
        f"{LOGS}/mrp/eigencam-{{replicate}}.log",
    params:
        **by(
            "mrp.experiments.eigencam:measure",
            parts(IMAGES, *PICTURES),
            encoders=parts(IMAGE_ENCODERS, *IMAGE_COMPARED),
            map_cell=CAMS["map_cell"],
            labels=IMAGES["comparison"]["labels"],
            pictures=CAMS["pictures"],
        ),


use rule gather as mrp_cam_values with:
    input:
        parts=of_replicates(rules.mrp_cam_measure.output.values),
    output:
        f"{IMAGE_MEASUREMENTS}/eigencam.parquet",
    log:
        f"{LOGS}/mrp/eigencam.log",
    group:
        "mrp-eigencam"


use rule gather as mrp_cam_values_by_part with:
    input:
        parts=of_replicates(rules.mrp_cam_measure.output.by_part),
    output:
        f"{IMAGE_MEASUREMENTS}/eigencam_by_part.parquet",
    log:
        f"{LOGS}/mrp/eigencam-by-part.log",
    group:
        "mrp-eigencam"


use rule gather as mrp_cam_readings with:
    input:
        parts=of_replicates(rules.mrp_cam_measure.output.readings),
    output:
        f"{IMAGE_MEASUREMENTS}/eigencam_readings.parquet",
    log:
        f"{LOGS}/mrp/eigencam-readings.log",
    group:
        "mrp-eigencam"


experiment(
    "mrp",
    "eigencam",
    judged=parts(config, "images", "eigencam"),
    values=rules.mrp_cam_values.output[0],
    by_part=rules.mrp_cam_values_by_part.output[0],
    readings=rules.mrp_cam_readings.output[0],
    also=[
        *rules.mrp_cam_values.input.parts,
        *rules.mrp_cam_values_by_part.input.parts,
        *rules.mrp_cam_readings.input.parts,
    ],
    targets=["eigencam"],
    contains="stand-in",
)

if "phase_diagram" in IMAGES:

    # the dials of the comparison once more, for the use of parts
    experiment(
        "mrp",
        "eigencam_dials",
        phase_diagram=rules.mrp_images_phase_diagram.output[0],
        targets=["eigencam"],
        contains="stand-in",
    )


# ---------------------------------------------------------------------------------- photographs

if CAMS["photographs"]["folder"] is not None:

    use rule compute as mrp_cam_photographs with:
        output:
            svg=f"{MRP}/figures/cam-photographs.svg",
            png=f"{MRP}/figures/cam-photographs.png",
        log:
            f"{LOGS}/mrp/cam-photographs.log",
        params:
            **by(
                "mrp.figures.eigencam_maps:cam_photographs",
                CAMS["photographs"],
                # a folder whose files changed since is looked at again
                state=in_words(cam_config.state, CAMS["photographs"]),
            ),

    by_hand(
        "mrp",
        "figure",
        "cam-photographs",
        "mrp.figures.eigencam_maps:cam_photographs",
        targets=["eigencam"],
    )


# -------------------------------------------------------------------------------------- Table 1


experiment(
    "mrp",
    "table_1",
    quoted=asset("config/paper_values/mrp.yaml"),
    comparison=rules.mrp_images_comparison.output[0],
    transfer=rules.mrp_images_all_transfer.output[0],
    detection=rules.mrp_images_all_detection.output[0],
    targets=["eigencam"],
    contains="stand-in",
)
