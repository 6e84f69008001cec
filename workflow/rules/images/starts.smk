# The weights that trainings on images start from, if any.


def real_pretrained(wildcards):
    """The weights that a start on real images needs, if a method made them."""
    if wildcards.start != "pretrained":
        return {}
    name, replicate = wildcards.image_set, wildcards.replicate
    return {"weights": f"{REAL_WEIGHTS}/{name}/pretrained-{replicate}.safetensors"}


def shown_classifiers(wildcards):
    """The classifiers of the first replicate whose maps a figure shows."""
    return [
        f"{IMAGE_WEIGHTS}/classifiers/{start}-0.safetensors"
        for start in CAM_FIGURES[wildcards.figure]
    ]
