# Figure 5: pictures that channels of adversarially trained networks respond to.
# Of the data sets of images.smk whose config has a group `robust`.

ROBUST_SETS = {name: HEAD_SETS[name] for name in head_cells.robust_sets(HEAD_SETS)}
ROBUST = f"{NONCONTRASTIVE}/measurements/robust"
ROBUST_WEIGHTS = f"{NONCONTRASTIVE}/weights/robust"
ROBUST_RUNS = [
    (name, arm, replicate)
    for name, settings in ROBUST_SETS.items()
    for arm in head_cells.ROBUST_TRAINED
    for replicate in range(settings["replicates"])
]
# both arms and the untrained network
ROBUST_SEEN = [
    f"{name}/{{what}}-{replicate}.parquet"
    for name, settings in ROBUST_SETS.items()
    for replicate in range(settings["replicates"])
]
ROBUST_VALUES = f"{ROBUST}/values.parquet"
# replicate 0 is shown
ROBUST_SHOWN = [f"{ROBUST}/{name}/pictures-0.parquet" for name in ROBUST_SETS]

ROBUST_FILES = (
    publish(
        "noncontrastive",
        figures=["fig-5"],
        tables=["robust-features"],
        ledgers=["robust"],
        artefacts=[
            ROBUST_VALUES,
            *(
                f"{ROBUST_WEIGHTS}/{name}/{arm}-{replicate}.safetensors"
                for name, arm, replicate in ROBUST_RUNS
            ),
            *(
                f"{ROBUST}/{name}/history-{arm}-{replicate}.parquet"
                for name, arm, replicate in ROBUST_RUNS
            ),
            *expand(f"{ROBUST}/{{each}}", each=expand(ROBUST_SEEN, what=["values", "pictures"])),
        ],
    )
    if ROBUST_SETS
    else []
)
NONCONTRASTIVE_FILES += ROBUST_FILES


wildcard_constraints:
    robust_arm="|".join(head_cells.ROBUST_TRAINED),


rule noncontrastive_robust:
    input:
        ROBUST_FILES,


rule noncontrastive_robust_train:
    output:
        weights=f"{ROBUST_WEIGHTS}/{{head_set}}/{{robust_arm}}-{{replicate}}.safetensors",
        history=f"{ROBUST}/{{head_set}}/history-{{robust_arm}}-{{replicate}}.parquet",
    log:
        f"{RESULTS}/logs/noncontrastive/robust-{{head_set}}-{{robust_arm}}-{{replicate}}.log",
    cache: SHARED
    conda:
        "../../../environment.yml"
    threads: config["threads"]
    resources:
        **request(mem_mb=3000, runtime=1440, gpu=GPU),
    params:
        code=code("noncontrastive/robust_train.py"),
        config=robust_settings,
        seed=config["seed"],
        device=config["device"],
        cache=".cache/images",
        # files that changed since are decoded again
        state=lambda wildcards: HEAD_STATES.get(wildcards.head_set),
        threads=config["threads"],
    script:
        "../../../scripts/noncontrastive/robust_train.py"


rule noncontrastive_robust_look:
    input:
        weights=robust_weights,
    output:
        values=f"{ROBUST}/{{head_set}}/values-{{replicate}}.parquet",
        pictures=f"{ROBUST}/{{head_set}}/pictures-{{replicate}}.parquet",
    log:
        f"{RESULTS}/logs/noncontrastive/robust-look-{{head_set}}-{{replicate}}.log",
    cache: SHARED
    conda:
        "../../../environment.yml"
    threads: config["threads"]
    resources:
        **request(mem_mb=3000, runtime=60, gpu=GPU),
    params:
        code=code("noncontrastive/robust_look.py"),
        config=robust_settings,
        seed=config["seed"],
        device=config["device"],
        cache=".cache/images",
        state=lambda wildcards: HEAD_STATES.get(wildcards.head_set),
        threads=config["threads"],
    script:
        "../../../scripts/noncontrastive/robust_look.py"


rule noncontrastive_robust_values:
    input:
        expand(f"{ROBUST}/{{each}}", each=expand(ROBUST_SEEN, what="values")),
    output:
        ROBUST_VALUES,
    log:
        f"{RESULTS}/logs/noncontrastive/robust-values.log",
    group:
        "noncontrastive-robust"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("core/concatenate.py"),
    script:
        "../../../scripts/core/concatenate.py"


rule noncontrastive_robust_table:
    input:
        values=ROBUST_VALUES,
    output:
        **table("noncontrastive", "robust-features"),
    log:
        f"{RESULTS}/logs/noncontrastive/table-robust-features.log",
    group:
        "noncontrastive-robust"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("noncontrastive/table_robust.py"),
        contains=robust_contents(),
    script:
        "../../../scripts/noncontrastive/table_robust.py"


rule noncontrastive_figure_robust:
    input:
        values=ROBUST_VALUES,
        pictures=ROBUST_SHOWN,
    output:
        **figure("noncontrastive", "fig-5"),
    log:
        f"{RESULTS}/logs/noncontrastive/fig-5.log",
    group:
        "noncontrastive-robust"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("noncontrastive/figure_robust.py"),
        config=ROBUST_SETS,
        contains=robust_contents(),
    script:
        "../../../scripts/noncontrastive/figure_robust.py"


rule noncontrastive_claims_robust:
    input:
        values=ROBUST_VALUES,
    output:
        ledger("noncontrastive", "robust"),
    log:
        f"{RESULTS}/logs/noncontrastive/claims-robust.log",
    group:
        "noncontrastive-robust"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("noncontrastive/claims_robust.py"),
        config=ROBUST_SETS,
    script:
        "../../../scripts/noncontrastive/claims_robust.py"
