# What trainings on images start from, and over what they are spread: functions only, as the linter
# asks.

from featlearn.images.together import Layout


def image_weights(start, replicate):
    """The weights that a start needs, as a list: none for a random one, or for no start at all."""
    return [f"{IMAGE_WEIGHTS}/{start}-{replicate}.safetensors"] if start in IMAGE_METHODS else []


def of_methods(file):
    """The files of all compared methods of pre-training and replicates."""
    methods = [start for start in IMAGE_COMPARED if start in IMAGE_METHODS]
    return expand(file, method=methods, replicate=IMAGE_REPLICATES)


def of_drawn(file):
    """The files of the first replicate of the methods that are only drawn."""
    return expand(file, method=[m for m in IMAGE_METHODS if m not in IMAGE_COMPARED], replicate=0)


def of_starts(file):
    """The files of all compared starts and replicates."""
    return expand(file, start=IMAGE_COMPARED, replicate=IMAGE_REPLICATES)


def of_replicates(file):
    """The files of all replicates."""
    return expand(file, replicate=IMAGE_REPLICATES)


def of_real(files, starts):
    """The files of starts on data sets of real images."""
    return [file for one in starts for file in expand(files, **one)]


def real_settings(wildcards):
    """What everything on a data set of real images depends on."""
    return REAL_IMAGES[wildcards.image_set]


def real_pretrained(wildcards):
    """The weights that a start on real images needs, if a method made them."""
    if wildcards.start != "pretrained":
        return {}
    name, replicate = wildcards.image_set, wildcards.replicate
    return {"weights": f"{REAL_WEIGHTS}/{name}/pretrained-{replicate}.safetensors"}


def spread(wildcards):
    """The processes that pre-train together on a data set of real images, and their nodes."""
    pretraining = REAL_IMAGES[wildcards.image_set]["pretraining"]
    return Layout(pretraining["processes"], pretraining["nodes"])


def on_nodes(wildcards, value):
    """What a training on several nodes asks for; one on a single node does not."""
    return value if spread(wildcards).nodes > 1 else None


def gpus(wildcards):
    """GPUs of a training on one node, one a process."""
    return GPU * spread(wildcards).processes if spread(wildcards).nodes == 1 else 0


def gpus_of_a_node(wildcards):
    """The same for several nodes: so many on each."""
    return f"gpu:{spread(wildcards).on_each}" if GPU else None
