# Prediction heads on images: Figures 1 to 5, and the ranks of every cell of Figure 2.
# Part-composed pictures always; real images where the config names some.

from featlearn.noncontrastive.images import cells as head_cells
from featlearn.noncontrastive.images import config as head_config

HEAD_SETS = config["noncontrastive"]["images"]
HEAD_STATES, HEAD_MISSING = head_config.states(HEAD_SETS)
if workflow.is_main_process:
    for line in HEAD_MISSING:
        logger.warning(f"{line}; its jobs will fail until the images are there")

# of each data set the trainings that run side by side, by the job that runs them
HEAD_GROUPS = {name: head_cells.groups(settings) for name, settings in HEAD_SETS.items()}
HEAD_REPLICATES = [
    (name, replicate)
    for name, settings in HEAD_SETS.items()
    for replicate in range(settings["replicates"])
]
HEAD_JOBS = [
    (name, group, replicate)
    for name, settings in HEAD_SETS.items()
    for group in HEAD_GROUPS[name]
    for replicate in range(settings["replicates"])
]
# decoded images of real sets; files that changed since are decoded again
HEAD_IMAGES = {
    "cache": ".cache/images",
    "state": lambda wildcards: HEAD_STATES.get(wildcards.head_set),
}


wildcard_constraints:
    head_set="|".join(HEAD_SETS),
    head_group="|".join(sorted({group for _, group, _ in HEAD_JOBS})),
    robust_arm="|".join(head_cells.ROBUST_TRAINED),


# ------------------------------------------------------------------------------- Figures 1 to 4

HEADS = f"{NONCONTRASTIVE}/measurements/images"
HEAD_WEIGHTS = f"{NONCONTRASTIVE}/weights/images"
# of all jobs, and of the untrained networks
HEAD_FRAMES = {
    what: [f"{HEADS}/{name}/{what}-{group}-{number}.parquet" for name, group, number in HEAD_JOBS]
    for what in ("history", "values", "histogram", "spectrum")
}
HEAD_FRAMES["values"] += [
    f"{HEADS}/{name}/values-untrained-{number}.parquet" for name, number in HEAD_REPLICATES
]


use rule compute as noncontrastive_image_heads with:
    output:
        **{
            what: f"{HEADS}/{{head_set}}/{what}-{{head_group}}-{{replicate}}.parquet"
            for what in HEAD_FRAMES
        },
        weights=f"{HEAD_WEIGHTS}/{{head_set}}/{{head_group}}-{{replicate}}.safetensors",
    log:
        f"{LOGS}/noncontrastive/image-{{head_set}}-{{head_group}}-{{replicate}}.log",
    resources:
        **request(mem_mb=3000, runtime=1440, gpu=GPU),
    params:
        **by(
            "noncontrastive.experiments.images:train",
            lambda wildcards: head_cells.head_settings(HEAD_SETS[wildcards.head_set]),
            runs=lambda wildcards: HEAD_GROUPS[wildcards.head_set][wildcards.head_group],
            **HEAD_IMAGES,
        ),


use rule compute as noncontrastive_image_start with:
    output:
        values=f"{HEADS}/{{head_set}}/values-untrained-{{replicate}}.parquet",
    log:
        f"{LOGS}/noncontrastive/image-{{head_set}}-untrained-{{replicate}}.log",
    params:
        **by(
            "noncontrastive.experiments.images:start",
            lambda wildcards: head_cells.head_settings(HEAD_SETS[wildcards.head_set]),
            **HEAD_IMAGES,
        ),


use rule gather as noncontrastive_image_frames with:
    input:
        lambda wildcards: HEAD_FRAMES[wildcards.what],
    output:
        f"{HEADS}/{{what}}.parquet",
    log:
        f"{LOGS}/noncontrastive/image-{{what}}.log",
    wildcard_constraints:
        what="|".join(HEAD_FRAMES),
    group:
        "noncontrastive-images"


experiment(
    "noncontrastive",
    "images",
    HEAD_SETS,
    targets=["noncontrastive_images"],
    also=[
        *(
            f"{HEAD_WEIGHTS}/{name}/{group}-{number}.safetensors"
            for name, group, number in HEAD_JOBS
        ),
        *(file for files in HEAD_FRAMES.values() for file in files),
    ],
    # an item is the paper's once all data sets that it needs are among ours
    contains={
        name: "measured" if needed <= HEAD_SETS.keys() else "stand-in"
        for name, needed in head_cells.PAPER_SETS.items()
    },
    **{what: f"{HEADS}/{what}.parquet" for what in HEAD_FRAMES},
)

# ------------------------------------------------------------------------------------- Figure 5
# Pictures that channels of adversarially trained networks respond to. Of the data sets whose config
# has a group `robust`.

ROBUST_SETS = {name: HEAD_SETS[name] for name in head_cells.robust_sets(HEAD_SETS)}
ROBUST = f"{NONCONTRASTIVE}/measurements/robust"
ROBUST_WEIGHTS = f"{NONCONTRASTIVE}/weights/robust"
ROBUST_REPLICATES = [(name, number) for name, number in HEAD_REPLICATES if name in ROBUST_SETS]


use rule compute as noncontrastive_robust_train with:
    output:
        weights=f"{ROBUST_WEIGHTS}/{{head_set}}/{{robust_arm}}-{{replicate}}.safetensors",
        history=f"{ROBUST}/{{head_set}}/history-{{robust_arm}}-{{replicate}}.parquet",
    log:
        f"{LOGS}/noncontrastive/robust-{{head_set}}-{{robust_arm}}-{{replicate}}.log",
    resources:
        **request(mem_mb=3000, runtime=1440, gpu=GPU),
    params:
        **by(
            "noncontrastive.experiments.robust:train",
            lambda wildcards: head_cells.robust_settings(HEAD_SETS[wildcards.head_set]),
            **HEAD_IMAGES,
        ),


use rule compute as noncontrastive_robust_look with:
    input:
        weights=[
            f"{ROBUST_WEIGHTS}/{{head_set}}/{arm}-{{replicate}}.safetensors"
            for arm in head_cells.ROBUST_TRAINED
        ],
    output:
        values=f"{ROBUST}/{{head_set}}/values-{{replicate}}.parquet",
        pictures=f"{ROBUST}/{{head_set}}/pictures-{{replicate}}.parquet",
    log:
        f"{LOGS}/noncontrastive/robust-look-{{head_set}}-{{replicate}}.log",
    params:
        **by(
            "noncontrastive.experiments.robust:look",
            lambda wildcards: head_cells.robust_settings(HEAD_SETS[wildcards.head_set]),
            **HEAD_IMAGES,
        ),


if ROBUST_SETS:

    use rule gather as noncontrastive_robust_values with:
        input:
            [f"{ROBUST}/{name}/values-{number}.parquet" for name, number in ROBUST_REPLICATES],
        output:
            f"{ROBUST}/values.parquet",
        log:
            f"{LOGS}/noncontrastive/robust-values.log",
        group:
            "noncontrastive-robust"

    experiment(
        "noncontrastive",
        "robust",
        ROBUST_SETS,
        ROBUST_SETS,
        targets=["noncontrastive_robust"],
        also=[
            *(
                file
                for name, number in ROBUST_REPLICATES
                for arm in head_cells.ROBUST_TRAINED
                for file in (
                    f"{ROBUST_WEIGHTS}/{name}/{arm}-{number}.safetensors",
                    f"{ROBUST}/{name}/history-{arm}-{number}.parquet",
                )
            ),
            *(
                f"{ROBUST}/{name}/{what}-{number}.parquet"
                for name, number in ROBUST_REPLICATES
                for what in ("values", "pictures")
            ),
        ],
        contains="measured" if "cifar10" in ROBUST_SETS else "stand-in",
        values=rules.noncontrastive_robust_values.output[0],
        # replicate 0 is shown
        pictures=[f"{ROBUST}/{name}/pictures-0.parquet" for name in ROBUST_SETS],
    )
