# Thesis, chapter 9: GemFilter, early layers select the tokens of a prompt.

from featlearn.gemfilter import config as gemfilter_config

checked(gemfilter_config.faults(config["gemfilter"]))

GEMFILTER = f"{RESULTS}/gemfilter/measurements"
GEMS = config["gemfilter"]
TRAINED = "trained" in GEMS["networks"]

# -------------------------------------------------------------------------------------- training
# The trained stand-in.

if TRAINED:

    use rule compute as gemfilter_training with:
        output:
            weights=f"{RESULTS}/gemfilter/weights/trained.safetensors",
            curves=f"{GEMFILTER}/training/curves.parquet",
        log:
            f"{LOGS}/gemfilter/training.log",
        params:
            **by("gemfilter.experiments.training:measure", GEMS["trained"]),

    experiment(
        "gemfilter",
        "training",
        GEMS["trained"],
        contains="stand-in",
        curves=rules.gemfilter_training.output.curves,
    )


# ---------------------------------------------------------------------------------------- needle
# Needles in haystacks, a cell a stand-in.


use rule calculate as gemfilter_needle with:
    input:
        weights=lambda wildcards: (
            rules.gemfilter_training.output.weights if wildcards.network == "trained" else []
        ),
    output:
        scores=f"{GEMFILTER}/needle/{{network}}-scores.parquet",
        layers=f"{GEMFILTER}/needle/{{network}}-layers.parquet",
        maps=f"{GEMFILTER}/needle/{{network}}-maps.parquet",
        rows=f"{GEMFILTER}/needle/{{network}}-rows.parquet",
        texts=f"{GEMFILTER}/needle/{{network}}-texts.parquet",
    log:
        f"{LOGS}/gemfilter/needle-{{network}}.log",
    wildcard_constraints:
        network="wired|trained",
    params:
        **by(
            "gemfilter.experiments.needle:measure",
            lambda wildcards: {**parts(GEMS, "depths", "prompts"), "own": GEMS[wildcards.network]},
        ),


experiment(
    "gemfilter",
    "needle",
    GEMS,
    contains="stand-in",
    quoted=asset("config/paper_values/gemfilter.yaml"),
    **{
        name: expand(getattr(rules.gemfilter_needle.output, name), network=GEMS["networks"])
        for name in ("scores", "layers", "maps", "rows", "texts")
    },
)

# ------------------------------------------------------------------------------------- longbench
# Fourteen small tasks with the metrics of LongBench.


use rule calculate as gemfilter_longbench with:
    output:
        tasks=f"{GEMFILTER}/longbench/tasks.parquet",
    log:
        f"{LOGS}/gemfilter/longbench.log",
    params:
        **by("gemfilter.experiments.longbench:measure", GEMS["longbench"]),


experiment(
    "gemfilter",
    "longbench",
    GEMS["longbench"],
    contains="stand-in",
    tasks=rules.gemfilter_longbench.output.tasks,
    quoted=asset("config/paper_values/gemfilter.yaml"),
)

# ----------------------------------------------------------------------------------------- costs
# Operations and memory, counted.


use rule calculate as gemfilter_costs with:
    output:
        costs=f"{GEMFILTER}/costs/costs.parquet",
    log:
        f"{LOGS}/gemfilter/costs.log",
    params:
        **by("gemfilter.experiments.costs:measure", GEMS["costs"]),


experiment(
    "gemfilter",
    "costs",
    GEMS["costs"],
    contains="stand-in",
    costs=rules.gemfilter_costs.output.costs,
    quoted=asset("config/paper_values/gemfilter.yaml"),
)
