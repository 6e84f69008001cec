# What the rules on prediction heads start from: functions only, as the linter asks.


def head_contents(wildcards):
    needed = HEAD_NEEDS.get(wildcards.name, {"cifar10", "cifar100", "stl10"})
    return "measured" if needed <= set(HEAD_SETS) else "stand-in"


def head_settings(wildcards):
    """What trainings side by side depend on: not on which others there are."""
    others = ("replicates", "heads", "norms", "targets", "robust")
    own = HEAD_SETS[wildcards.head_set]
    return {key: value for key, value in own.items() if key not in others}


def robust_settings(wildcards):
    """What a training of Figure 5 depends on."""
    others = ("replicates", "heads", "norms", "targets", "encoder", "training", "long")
    own = HEAD_SETS[wildcards.head_set]
    return {key: value for key, value in own.items() if key not in others}


def robust_weights(wildcards):
    """The weights of both trained arms."""
    name, replicate = wildcards.head_set, wildcards.replicate
    return [
        f"{ROBUST_WEIGHTS}/{name}/{arm}-{replicate}.safetensors"
        for arm in head_cells.ROBUST_TRAINED
    ]


def robust_contents():
    return "measured" if "cifar10" in ROBUST_SETS else "stand-in"


def head_runs(wildcards):
    """Names of the trainings of one job."""
    return head_cells.groups(HEAD_SETS[wildcards.head_set])[wildcards.head_group]


def head_files(what):
    """The files of one kind of all trainings."""
    return [f"{HEADS}/{name}/{what}-{group}-{r}.parquet" for name, group, r in HEAD_GROUPS]
