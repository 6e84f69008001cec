# Thesis, chapter 9: GemFilter, early layers select the tokens of a prompt.

import re

from featlearn.gemfilter import config as gemfilter_config

checked(gemfilter_config.faults(config["gemfilter"]))

GEMFILTER = f"{RESULTS}/gemfilter/measurements"
GEMS = config["gemfilter"]
# who reads needles, and tasks: language models where the config names some, or else stand-ins
READERS = gemfilter_config.readers(GEMS, "haystack")
TASKED = gemfilter_config.readers(GEMS, "longbench")
MODELS = GEMS["language"]["models"]


# -------------------------------------------------------------------------------------- training
# The trained stand-in.

if "trained" in READERS:

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
# Needles in haystacks, a job a reader.


use rule compute as gemfilter_needle with:
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
        network="|".join(map(re.escape, READERS)),
    resources:
        **request(mem_mb=16000 if MODELS else 3000, runtime=1440 if MODELS else 60, gpu=GPU),
    params:
        **by(
            "gemfilter.experiments.needle:measure",
            lambda wildcards: {
                **parts(GEMS, "depths", "prompts"),
                "own": gemfilter_config.reader(GEMS, wildcards.network),
            },
        ),


experiment(
    "gemfilter",
    "needle",
    GEMS,
    contains=gemfilter_config.contains(GEMS, READERS),
    quoted=asset("config/paper_values/gemfilter.yaml"),
    **{
        name: expand(getattr(rules.gemfilter_needle.output, name), network=READERS)
        for name in ("scores", "layers", "maps", "rows", "texts")
    },
)

# ------------------------------------------------------------------------------------- longbench
# Fourteen tasks with the metrics of LongBench.


use rule compute as gemfilter_longbench with:
    output:
        tasks=f"{GEMFILTER}/longbench/{{network}}-tasks.parquet",
    log:
        f"{LOGS}/gemfilter/longbench-{{network}}.log",
    wildcard_constraints:
        network="|".join(map(re.escape, TASKED)),
    resources:
        **request(mem_mb=16000 if MODELS else 3000, runtime=1440 if MODELS else 60, gpu=GPU),
    params:
        **by(
            "gemfilter.experiments.longbench:measure",
            lambda wildcards: (
                gemfilter_config.reader(GEMS, wildcards.network)
                if wildcards.network in MODELS
                else GEMS["longbench"]
            ),
        ),


experiment(
    "gemfilter",
    "longbench",
    GEMS["longbench"],
    contains=gemfilter_config.contains(GEMS, TASKED),
    tasks=expand(rules.gemfilter_longbench.output.tasks, network=TASKED),
    quoted=asset("config/paper_values/gemfilter.yaml"),
)

# ----------------------------------------------------------------------------------------- costs
# Operations and memory, counted: at the sizes of the thesis' models, or of those in folders.

COUNTED = {name: gemfilter_config.sizes(model) for name, model in MODELS.items()}
COSTS = {**GEMS["costs"], "models": COUNTED or GEMS["costs"]["models"]}


use rule calculate as gemfilter_costs with:
    output:
        costs=f"{GEMFILTER}/costs/costs.parquet",
    log:
        f"{LOGS}/gemfilter/costs.log",
    params:
        **by("gemfilter.experiments.costs:measure", COSTS),


experiment(
    "gemfilter",
    "costs",
    COSTS,
    contains="stand-in",
    costs=rules.gemfilter_costs.output.costs,
    quoted=asset("config/paper_values/gemfilter.yaml"),
)
