# What the rules on prediction heads start from: functions only, as the linter asks.


def head_contents(wildcards):
    needed = HEAD_NEEDS.get(wildcards.name, {"cifar10", "cifar100", "stl10"})
    return "measured" if needed <= set(HEAD_SETS) else "stand-in"


def head_settings(wildcards):
    """What one training depends on: not on which others there are."""
    grid = ("replicates", "heads", "norms", "targets")
    own = HEAD_SETS[wildcards.head_set]
    return {key: value for key, value in own.items() if key not in grid}


def head_files(what):
    """The files of one kind of all trainings."""
    return [f"{HEADS}/{name}/{what}-{run}-{r}.parquet" for name, run, r in HEAD_RUNS]
