# The weights that trainings on images start from, if any.


def fixed_teacher(wildcards):
    """The weights of the teacher that a method names: another method's encoder."""
    teacher = IMAGES["pretraining"][wildcards.method]["teacher"]
    if teacher is None:
        return {}
    return {"teacher": f"{IMAGE_WEIGHTS}/{teacher}-{wildcards.replicate}.safetensors"}


def pretrained_start(wildcards):
    """The weights that a start needs: none for a random one."""
    if wildcards.start in IMAGES["pretraining"]:
        return {"weights": f"{IMAGE_WEIGHTS}/{wildcards.start}-{wildcards.replicate}.safetensors"}
    return {}


def real_pretrained(wildcards):
    """The same on a set of real images."""
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
