# Prediction heads on images: Figures 1 to 4, and the ranks of every cell of Figure 2.
# Part-composed pictures always; real images where the config names some.
from featlearn.noncontrastive.images import cells as head_cells
from featlearn.noncontrastive.images import config as head_config

HEAD_SETS = config["noncontrastive"]["images"]
HEAD_STATES, HEAD_MISSING = head_config.states(HEAD_SETS)
if workflow.is_main_process:
    for line in HEAD_MISSING:
        logger.warning(f"{line}; its jobs will fail until the images are there")

HEADS = f"{NONCONTRASTIVE}/measurements/images"
HEAD_WEIGHTS = f"{NONCONTRASTIVE}/weights/images"
# every data set's trainings that run side by side, by replicate
HEAD_GROUPS = [
    (name, group, replicate)
    for name, settings in HEAD_SETS.items()
    for group in head_cells.groups(settings)
    for replicate in range(settings["replicates"])
]
HEAD_STARTS = [
    f"{HEADS}/{name}/values-untrained-{replicate}.parquet"
    for name, settings in HEAD_SETS.items()
    for replicate in range(settings["replicates"])
]
# an item is the paper's once all data sets that it needs are among ours
HEAD_NEEDS = {"fig-1": {"cifar10"}}

HEAD_FILES = publish(
    "noncontrastive",
    figures=["fig-1", "fig-2", "fig-3", "fig-4", "image-ranks"],
    tables=["image-heads"],
    ledgers=["images"],
    artefacts=[
        *(
            f"{HEAD_WEIGHTS}/{name}/{group}-{replicate}.safetensors"
            for name, group, replicate in HEAD_GROUPS
        ),
        *HEAD_STARTS,
        *(
            path
            for what in ("history", "values", "histogram", "spectrum")
            for path in [*head_files(what), f"{HEADS}/{what}.parquet"]
        ),
    ],
)
NONCONTRASTIVE_FILES += HEAD_FILES


wildcard_constraints:
    head_set="|".join(HEAD_SETS),
    head_group="|".join(sorted({group for _, group, _ in HEAD_GROUPS})),


rule noncontrastive_images:
    input:
        HEAD_FILES,


rule noncontrastive_image_heads:
    output:
        weights=f"{HEAD_WEIGHTS}/{{head_set}}/{{head_group}}-{{replicate}}.safetensors",
        history=f"{HEADS}/{{head_set}}/history-{{head_group}}-{{replicate}}.parquet",
        values=f"{HEADS}/{{head_set}}/values-{{head_group}}-{{replicate}}.parquet",
        histogram=f"{HEADS}/{{head_set}}/histogram-{{head_group}}-{{replicate}}.parquet",
        spectrum=f"{HEADS}/{{head_set}}/spectrum-{{head_group}}-{{replicate}}.parquet",
    log:
        f"{RESULTS}/logs/noncontrastive/image-{{head_set}}-{{head_group}}-{{replicate}}.log",
    cache: SHARED
    conda:
        "../../../environment.yml"
    threads: config["threads"]
    resources:
        **request(mem_mb=3000, runtime=1440, gpu=GPU),
    params:
        code=code("noncontrastive/image_heads.py"),
        config=head_settings,
        runs=head_runs,
        seed=config["seed"],
        device=config["device"],
        cache=".cache/images",
        # files that changed since are decoded again
        state=lambda wildcards: HEAD_STATES.get(wildcards.head_set),
        threads=config["threads"],
    script:
        "../../../scripts/noncontrastive/image_heads.py"


rule noncontrastive_image_start:
    output:
        f"{HEADS}/{{head_set}}/values-untrained-{{replicate}}.parquet",
    log:
        f"{RESULTS}/logs/noncontrastive/image-{{head_set}}-untrained-{{replicate}}.log",
    cache: SHARED
    conda:
        "../../../environment.yml"
    threads: config["threads"]
    resources:
        **request(mem_mb=3000, runtime=60, gpu=GPU),
    params:
        code=code("noncontrastive/image_start.py"),
        config=head_settings,
        seed=config["seed"],
        device=config["device"],
        cache=".cache/images",
        state=lambda wildcards: HEAD_STATES.get(wildcards.head_set),
        threads=config["threads"],
    script:
        "../../../scripts/noncontrastive/image_start.py"


rule noncontrastive_image_frames:
    input:
        lambda wildcards: [
            *head_files(wildcards.what),
            *(HEAD_STARTS if wildcards.what == "values" else []),
        ],
    output:
        f"{HEADS}/{{what}}.parquet",
    log:
        f"{RESULTS}/logs/noncontrastive/image-{{what}}.log",
    wildcard_constraints:
        what="history|values|histogram|spectrum",
    group:
        "noncontrastive-images"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("core/concatenate.py"),
    script:
        "../../../scripts/core/concatenate.py"


HEAD_FRAMES = {
    what: f"{HEADS}/{what}.parquet" for what in ("history", "values", "histogram", "spectrum")
}


rule noncontrastive_image_table:
    input:
        **HEAD_FRAMES,
    output:
        **table("noncontrastive", "{name}"),
    log:
        f"{RESULTS}/logs/noncontrastive/table-{{name}}.log",
    wildcard_constraints:
        name="image-heads",
    group:
        "noncontrastive-images"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("noncontrastive/table_images.py"),
        contains=head_contents,
    script:
        "../../../scripts/noncontrastive/table_images.py"


rule noncontrastive_image_figure:
    input:
        **HEAD_FRAMES,
    output:
        **figure("noncontrastive", "{name}"),
    log:
        f"{RESULTS}/logs/noncontrastive/figure-{{name}}.log",
    wildcard_constraints:
        name="fig-1|fig-2|fig-3|fig-4|image-ranks",
    group:
        "noncontrastive-images"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("noncontrastive/figure_images.py"),
        config=HEAD_SETS,
        contains=head_contents,
    script:
        "../../../scripts/noncontrastive/figure_images.py"


rule noncontrastive_claims_images:
    input:
        **HEAD_FRAMES,
    output:
        ledger("noncontrastive", "images"),
    log:
        f"{RESULTS}/logs/noncontrastive/claims-images.log",
    group:
        "noncontrastive-images"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("noncontrastive/claims_images.py"),
        config=config["noncontrastive"],
    script:
        "../../../scripts/noncontrastive/claims_images.py"
