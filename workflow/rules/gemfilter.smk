# Thesis, chapter 9: GemFilter, early layers select the tokens of a prompt.

from featlearn.gemfilter import config as gemfilter_config

GEMS = config["gemfilter"]
# who reads needles, and tasks: language models where the config names some, or else stand-ins
READERS = gemfilter_config.readers(GEMS, "haystack")
TASKED = gemfilter_config.readers(GEMS, "longbench")
MODELS = GEMS["language"]["models"]
TRAINED = []

if "trained" in READERS:

    # the stand-ins, a few in a job
    use rule compute as gemfilter_training with:
        output:
            **outputs("gemfilter/training", curves="curves-{group}"),
            **outputs("gemfilter", weights="trained-{group}"),
        params:
            **by("gemfilter.experiments.training:measure", GEMS["trained"]),

    GROUPS = {"group": range(len(gemfilter_config.groups(GEMS["trained"])))}
    TRAINED_WEIGHTS = filled(rules.gemfilter_training.output.weights, GROUPS)
    TRAINED = filled(rules.gemfilter_training.output, GROUPS)


use rule compute as gemfilter_needle with:
    input:
        weights=lambda wildcards: TRAINED_WEIGHTS if wildcards.network == "trained" else [],
    output:
        **outputs("gemfilter/needle", "scores layers maps rows texts", at="{network}-*"),
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


use rule gemfilter_needle as gemfilter_longbench with:
    input:
        [],
    output:
        **outputs("gemfilter/longbench", "tasks", at="{network}-*"),
    params:
        **by(
            "gemfilter.experiments.longbench:measure",
            lambda wildcards: (
                gemfilter_config.reader(GEMS, wildcards.network)
                if wildcards.network in MODELS
                else GEMS["longbench"]
            ),
        ),


# operations and memory, counted: at the sizes of the thesis' models, or of those in folders
COUNTED = {name: gemfilter_config.sizes(model) for name, model in MODELS.items()}
COSTS = {**GEMS["costs"], "models": COUNTED or GEMS["costs"]["models"]}

measured("calculate", "gemfilter/costs", "costs", section=COSTS)

# needles in essays, of networks that are trained on others, in place of the stand-ins
if GEMS["essays"]["folder"] and not MODELS:
    essays = GEMS["trained"] | GEMS["essays"]
    measured("train_here", "gemfilter/essays", "scores layers maps rows texts", section=essays)
    experiment("gemfilter", "needle", rules.gemfilter_essays, section=GEMS, contains="stand-in")
else:
    experiment(
        "gemfilter",
        "needle",
        section=GEMS,
        over={"network": READERS},
        also=TRAINED,
        met=gemfilter_config.met(GEMS, READERS),
    )
experiment(
    "gemfilter",
    "longbench",
    over={"network": TASKED},
    met=gemfilter_config.met(GEMS, TASKED),
    paper_values="gemfilter",
)
experiment("gemfilter", "costs", section=COSTS, contains="stand-in")
