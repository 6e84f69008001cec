# Which parts do the classifiers of the comparison on images use? Maps, counts, and Table 1.

CAMS = config["eigencam"]
checked(image_config.cam_faults(config))
if workflow.is_main_process:
    checked(image_config.missing_files(CAMS["photographs"]))

# the paper's pairs are of a convolutional network, its triples of a vision transformer
CAM_FIGURES = {
    "fig-1": ["random-cnn"],
    "fig-3": ["random-cnn", "simmim"],
    "fig-4": ["random-cnn", "simmim"],
}
if {"mae", "data2vec"} <= set(IMAGE_ENCODERS):
    CAM_FIGURES["fig-5"] = ["random-vit", "mae", "data2vec"]

# those that show real images, where the config names some
CAM_FIRST, CAM_OTHERS = CAMS["real"][:1], CAMS["real"][1:]
CAM_PAIR = [(name, start) for name in CAM_FIRST for start in ("random", "pretrained")]
CAM_TRIPLE = [(CAM_OTHERS[0], "random")] if CAM_OTHERS else []
CAM_TRIPLE += [(name, "pretrained") for name in CAM_OTHERS]
CAM_COLUMNS = {"fig-1": CAM_PAIR[:1], "fig-3": CAM_PAIR, "fig-4": CAM_PAIR, "fig-5": CAM_TRIPLE}
CAM_COLUMNS = {figure: columns for figure, columns in CAM_COLUMNS.items() if columns}
CAM_MADE = [figure for figure in CAM_FIGURES if figure not in CAM_COLUMNS]


use rule calculate as mrp_cam_real with:
    input:
        classifiers=lambda wildcards: [
            outputs(f"own_images/{name}", weights=f"classifier-{start}-0")["weights"]
            for name, start in CAM_COLUMNS[wildcards.figure]
        ],
    output:
        PUBLISHED.files("mrp", "figure", "{figure}"),
    wildcard_constraints:
        figure="|".join(CAM_COLUMNS) or "none",
    params:
        **by(
            "own_images.paper_maps:maps",
            parts(config.get("real_images", {}), *CAMS["real"]),
            columns=lambda wildcards: CAM_COLUMNS[wildcards.figure],
            cache=".cache/images",
            device="cpu",
            contains="stand-in",
        ),


use rule calculate as mrp_cam_maps with:
    input:
        classifiers=lambda wildcards: expand(
            [IMAGE_CLASSIFIERS[start] for start in CAM_FIGURES[wildcards.figure]], replicate=0
        ),
    output:
        PUBLISHED.files("mrp", "figure", "{figure}"),
    wildcard_constraints:
        figure="|".join(CAM_MADE) or "none",
    params:
        **by(
            "mrp.experiments.eigencam_maps:maps",
            PICTURES,
            encoders=lambda wildcards: parts(IMAGE_ENCODERS, *CAM_FIGURES[wildcards.figure]),
            # with all labels supervised training leaves little to gain
            labels=min(IMAGES["comparison"]["labels"]),
            shown=CAMS["shown"],
            map_cell=CAMS["map_cell"],
            device="cpu",
            contains="stand-in",
        ),


for name in {**CAM_FIGURES, **CAM_COLUMNS}:
    where = "own_images.paper_maps" if name in CAM_COLUMNS else "mrp.experiments.eigencam_maps"
    drawn_by = f"{where}:{name.replace('-', '_')}"
    by_hand("mrp", "figure", name, drawn_by, targets=["eigencam"])


use rule compute as mrp_cam_measure with:
    input:
        classifiers=[IMAGE_CLASSIFIERS[start] for start in IMAGE_COMPARED],
    output:
        **outputs("mrp/images", values="eigencam/{replicate}"),
    params:
        **by(
            "mrp.experiments.eigencam:measure",
            PICTURES,
            encoders=parts(IMAGE_ENCODERS, *IMAGE_COMPARED),
            map_cell=CAMS["map_cell"],
            labels=IMAGES["comparison"]["labels"],
            pictures=CAMS["pictures"],
        ),


CAM_VALUES = filled(rules.mrp_cam_measure.output, IMAGE_REPLICATES)
experiment(
    "mrp",
    "eigencam",
    judged=parts(config, "images", "eigencam"),
    values=together("mrp/images", "eigencam", eigencam=CAM_VALUES)["eigencam"],
    # starts that are only drawn
    also=filled(
        rules.mrp_images_downstream.output,
        {"start": [one for one in IMAGE_DRAWN if "fig-5" in CAM_FIGURES], "replicate": 0},
    ),
    targets=["eigencam"],
    contains="stand-in",
)

if CAMS["photographs"]["folder"] is not None:

    use rule compute as mrp_cam_photographs with:
        output:
            PUBLISHED.files("mrp", "figure", "cam-photographs"),
        params:
            **by(
                "mrp.experiments.eigencam_maps:cam_photographs",
                CAMS["photographs"],
                # a folder whose files changed since is looked at again
                state=in_words(image_config.state, CAMS["photographs"]),
            ),

    shown_by(rules.mrp_cam_photographs, "eigencam")


# beside photographs CIFAR-10, where the config has both: trained as long in all from scratch
CAM_LABELLED = {"cifar10", "cifar10-longer"} <= config.get("real_images", {}).keys() and CAM_FIRST
CAM_ACCURACIES = {}
if CAM_LABELLED:
    CAM_ACCURACIES = outputs("own_images", "evaluations")
    # of what learns no features a file a replicate
    CAM_ACCURACIES["baselines"] = filled(
        outputs("own_images/cifar10", baselines="baselines-{replicate}")["baselines"],
        {"replicate": range(config["real_images"]["cifar10"]["replicates"])},
    )
experiment(
    "mrp",
    "table_1_real" if CAM_LABELLED else "table_1",
    paper_values="mrp",
    **outputs("mrp/images", "comparison gain transfer detection"),
    **CAM_ACCURACIES,
    # whose replicates its claim counts
    judged=parts(config["real_images"], "cifar10") if CAM_LABELLED else None,
    targets=["eigencam"],
    contains="stand-in",
)
