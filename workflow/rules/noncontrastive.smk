# Wen & Li: how the prediction head keeps non-contrastive learning from collapse.

from featlearn.noncontrastive import config as head_config
from featlearn.noncontrastive.images import cells as head_cells

# images: part-composed pictures always, real ones where the config names some
HEAD_SETS = config["noncontrastive"]["images"]
HEAD_STATES, HEAD_MISSING = head_config.states(HEAD_SETS)
warned(HEAD_MISSING)

# of each data set the trainings that run side by side, by the job that runs them
HEAD_GROUPS = {name: head_cells.groups(settings) for name, settings in HEAD_SETS.items()}
HEAD_JOBS = [
    {"head_set": name, "head_group": group, "replicate": replicate}
    for name, settings in HEAD_SETS.items()
    for group in HEAD_GROUPS[name]
    for replicate in range(settings["replicates"])
]
# what a training side by side depends on, and what one of Figure 5 does
HEAD_SETTINGS = {name: head_cells.without(HEAD_SETS[name], "robust") for name in HEAD_SETS}
ROBUST_SETTINGS = {
    name: head_cells.without(HEAD_SETS[name], "encoder", "training", "long") for name in HEAD_SETS
}
# decoded images of real sets; files that changed since are decoded again
HEAD_IMAGES = {
    "each": "head_set",
    "cache": ".cache/images",
    "state": lambda wildcards: HEAD_STATES.get(wildcards.head_set),
}


wildcard_constraints:
    head_set="|".join(HEAD_SETS),
    head_group="|".join(sorted({job["head_group"] for job in HEAD_JOBS})),
    robust_arm="|".join(head_cells.ROBUST_TRAINED),


use rule compute as noncontrastive_image_heads with:
    output:
        **outputs(
            "noncontrastive/images",
            "history values histogram spectrum",
            at="{head_set}/*-{head_group}-{replicate}",
            weights="{head_set}/{head_group}-{replicate}",
        ),
    resources:
        **request(mem_mb=3000, runtime=1440, gpu=GPU),
    params:
        **by(
            "noncontrastive.experiments.images:train",
            HEAD_SETTINGS,
            runs=lambda wildcards: HEAD_GROUPS[wildcards.head_set][wildcards.head_group],
            **HEAD_IMAGES,
        ),


use rule compute as noncontrastive_image_start with:
    output:
        **outputs("noncontrastive/images", values="{head_set}/values-untrained-{replicate}"),
    params:
        **by("noncontrastive.experiments.images:start", HEAD_SETTINGS, **HEAD_IMAGES),


# of all jobs, and of the untrained networks
HEADS = rules.noncontrastive_image_heads.output
HEAD_FRAMES = {name: filled(file, HEAD_JOBS) for name, file in HEADS.items() if name != "weights"}
HEAD_STARTS = filled(rules.noncontrastive_image_start.output.values, HEAD_JOBS)
HEAD_FRAMES["values"] += dict.fromkeys(HEAD_STARTS)
experiment(
    "noncontrastive",
    "images",
    targets=["noncontrastive_images"],
    also=filled(HEADS.weights, HEAD_JOBS),
    # an item is the paper's once all data sets that it needs are among ours
    contains={
        name: "measured" if needed <= head_config.own_sets(HEAD_SETS) else "stand-in"
        for name, needed in head_cells.PAPER_SETS.items()
    },
    **together("noncontrastive/images", "images", **HEAD_FRAMES),
)

# Figure 5: pictures that channels of adversarially trained networks respond to. Of the data
# sets whose config has a group `robust`.
ROBUST_SETS = {name: one for name, one in HEAD_SETS.items() if one["robust"] is not None}
ROBUST_JOBS = [
    {"head_set": name, "replicate": replicate}
    for name, settings in ROBUST_SETS.items()
    for replicate in range(settings["replicates"])
]
ROBUST_TRAININGS = [
    {**job, "robust_arm": arm} for job in ROBUST_JOBS for arm in head_cells.ROBUST_TRAINED
]


use rule compute as noncontrastive_robust_train with:
    output:
        **outputs(
            "noncontrastive/robust",
            weights="{head_set}/{robust_arm}-{replicate}",
            history="{head_set}/history-{robust_arm}-{replicate}",
        ),
    resources:
        **request(mem_mb=3000, runtime=1440, gpu=GPU),
    params:
        **by("noncontrastive.experiments.robust:train", ROBUST_SETTINGS, **HEAD_IMAGES),


use rule compute as noncontrastive_robust_look with:
    input:
        weights=expand(
            rules.noncontrastive_robust_train.output.weights,
            robust_arm=head_cells.ROBUST_TRAINED,
            allow_missing=True,
        ),
    output:
        **outputs("noncontrastive/robust", "values pictures", at="{head_set}/*-{replicate}"),
    params:
        **by("noncontrastive.experiments.robust:look", ROBUST_SETTINGS, **HEAD_IMAGES),


if ROBUST_SETS:

    ROBUST_VALUES = filled(rules.noncontrastive_robust_look.output.values, ROBUST_JOBS)
    experiment(
        "noncontrastive",
        "robust",
        **together("noncontrastive/robust", "robust", values=ROBUST_VALUES),
        section=ROBUST_SETS,
        judged=ROBUST_SETS,
        targets=["noncontrastive_robust"],
        also=[
            *filled(rules.noncontrastive_robust_train.output, ROBUST_TRAININGS),
            *filled(rules.noncontrastive_robust_look.output, ROBUST_JOBS),
        ],
        contains=(
            "measured" if "cifar10" in head_config.own_sets(ROBUST_SETS, "robust") else "stand-in"
        ),
        # replicate 0 is shown
        pictures=filled(
            rules.noncontrastive_robust_look.output.pictures,
            {"head_set": ROBUST_SETS, "replicate": 0},
        ),
    )

measured("compute", "noncontrastive/algorithm", "history flow")
measured("train_here", "noncontrastive/phases", "times curves")
measured("train_here", "noncontrastive/starts", "outcomes diagram")
# the closed forms against brute force, as printed and corrected; the roles of section 5.3
measured("train_here", "noncontrastive/oracles", "instances roles")

# the first: figures of the paper itself that are drawn, not measured
for name in ("paper_items", "algorithm", "phases", "starts", "oracles"):
    experiment("noncontrastive", name)
