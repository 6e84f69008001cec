# What trainings on a user's images start from, and over what they are spread: functions only, as
# the linter asks.

from featlearn.images.train.launch import Layout


def real_settings(wildcards):
    """What everything on a data set of real images depends on."""
    return REAL_IMAGES[wildcards.image_set]


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
