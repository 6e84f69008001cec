# What the kernels are good for: from equal starts, on other data, fine-tuned, on other classes.

# what draws the clean data and kernels
SETUP = {"clean": parts(CLEAN, "replicates", "data", "network")}
MODELS = ["supervised", "pretrained"]

# ---------------------------------------------------------------------------------- equal start
# Supervised, teacher-student and MAE training from the same kernels, as their size grows.


use rule compute as mrp_equal_start with:
    output:
        evaluation=f"{MRP}/measurements/equal-start/evaluation.parquet",
    log:
        f"{LOGS}/mrp/equal-start.log",
    params:
        **by("mrp.experiments.equal_start:train", config["mrp"]["equal_start"], **COMPILE),


experiment(
    "mrp",
    "equal-start",
    config["mrp"]["equal_start"],
    evaluation=rules.mrp_equal_start.output.evaluation,
)

# -------------------------------------------------------------------------------- fixed teacher
# As in the discussion of BEiT: what a student inherits. Not in the paper.


use rule compute as mrp_fixed_teacher with:
    input:
        teacher=rules.mrp_clean_pretrain.output.weights,
    output:
        evaluation=f"{MRP}/measurements/fixed-teacher/evaluation.parquet",
    log:
        f"{LOGS}/mrp/fixed-teacher.log",
    params:
        **by(
            "mrp.experiments.fixed_teacher:inherit",
            SETUP | parts(config["mrp"], "fixed_teacher"),
            **COMPILE,
        ),


experiment("mrp", "fixed-teacher", evaluation=rules.mrp_fixed_teacher.output.evaluation)

# -------------------------------------------------------------------------------- sampled masks
# Against the exact expectation over masks.


use rule compute as mrp_sampled_masks with:
    output:
        errors=f"{MRP}/measurements/sampled-masks/errors.parquet",
    log:
        f"{LOGS}/mrp/sampled-masks.log",
    params:
        **by("mrp.experiments.sampled_masks:measure", config["mrp"]["sampled_masks"], **COMPILE),


experiment("mrp", "sampled-masks", errors=rules.mrp_sampled_masks.output.errors)

# -------------------------------------------------------------------------------- phase diagram
# Where the supervised lottery is and where not: initial correlation x share of single-view data.


use rule compute as mrp_phase_diagram with:
    output:
        cells=f"{MRP}/measurements/phase_diagram/{{model}}.parquet",
    log:
        f"{LOGS}/mrp/phase-diagram-{{model}}.log",
    wildcard_constraints:
        model="|".join(MODELS),
    params:
        **by("mrp.experiments.phase_diagram:train", config["mrp"]["phase_diagram"], **COMPILE),


CELLS = {model: f"{MRP}/measurements/phase_diagram/{model}.parquet" for model in MODELS}

experiment("mrp", "phase_diagram", **CELLS)

# -------------------------------------------------------------------------------------- classes
# The supervised lottery as the number of classes grows, and as training goes on.


use rule compute as mrp_classes with:
    output:
        classes=f"{MRP}/measurements/classes/classes.parquet",
    log:
        f"{LOGS}/mrp/classes.log",
    params:
        **by(
            "mrp.experiments.classes:add_classes",
            parts(
                config["mrp"]["classes"], "replicates", "classes", "scaling", "network", "training"
            ),
            **COMPILE,
        ),


use rule compute as mrp_training_length with:
    output:
        length=f"{MRP}/measurements/classes/length.parquet",
    log:
        f"{LOGS}/mrp/training-length.log",
    params:
        **by(
            "mrp.experiments.classes:train_longer",
            parts(config["mrp"]["classes"], "replicates", "length"),
            **COMPILE,
        ),


# the figure marks where the training on clean data ends
experiment(
    "mrp",
    "classes",
    CLEAN,
    classes=rules.mrp_classes.output.classes,
    length=rules.mrp_training_length.output.length,
)

# --------------------------------------------------------------------------------------- sweeps
# One parameter at a time: q, kernels a class, feature noise, theta; sigma_0 comes from the phase
# diagram.


use rule compute as mrp_sweeps with:
    output:
        points=f"{MRP}/measurements/sweeps/{{model}}.parquet",
    log:
        f"{LOGS}/mrp/sweeps-{{model}}.log",
    wildcard_constraints:
        model="|".join(MODELS),
    params:
        **by("mrp.experiments.sweeps:train", config["mrp"]["sweeps"], **COMPILE),


experiment(
    "mrp",
    "sweeps",
    supervised=f"{MRP}/measurements/sweeps/supervised.parquet",
    pretrained=f"{MRP}/measurements/sweeps/pretrained.parquet",
    grid=CELLS.values(),
)

# ----------------------------------------------------------------------------------- finetuning
# Step by step: the first step, both update orders, what is kept, what decides success.


use rule compute as mrp_finetune with:
    input:
        pretrained=rules.mrp_clean_pretrain.output.weights,
    output:
        weights=f"{MRP}/weights/finetuning/finetuned.safetensors",
        learning=f"{MRP}/measurements/finetuning/learning.parquet",
    log:
        f"{LOGS}/mrp/finetune.log",
    params:
        **by(
            "mrp.experiments.finetuning:finetune",
            SETUP | parts(config["mrp"], "finetuning"),
            **COMPILE,
        ),


use rule compute as mrp_evaluate_finetuning with:
    input:
        pretrained=rules.mrp_clean_pretrain.output.weights,
        finetuned=rules.mrp_finetune.output.weights,
        supervised=rules.mrp_clean_supervise.output.weights,
    output:
        evaluation=f"{MRP}/measurements/finetuning/evaluation.parquet",
        balance=f"{MRP}/measurements/finetuning/balance.parquet",
    log:
        f"{LOGS}/mrp/evaluate-finetuning.log",
    params:
        **by(
            "mrp.experiments.finetuning:evaluate",
            SETUP | parts(config["mrp"], "finetuning"),
            **COMPILE,
        ),


experiment(
    "mrp",
    "finetuning",
    CLEAN,
    learning=rules.mrp_finetune.output.learning,
    evaluation=rules.mrp_evaluate_finetuning.output.evaluation,
    balance=rules.mrp_evaluate_finetuning.output.balance,
)

# ------------------------------------------------------------------------------------- transfer
# The pre-trained encoder on other classes, of old features, new ones, or both.


use rule compute as mrp_transfer with:
    input:
        pretrained=rules.mrp_clean_pretrain.output.weights,
    output:
        accuracy=f"{MRP}/measurements/transfer/accuracy.parquet",
    log:
        f"{LOGS}/mrp/transfer.log",
    params:
        **by(
            "mrp.experiments.transfer:transfer",
            {
                "clean": parts(CLEAN, "replicates", "data", "network", "pretraining"),
                "transfer": config["mrp"]["transfer"],
            },
            **COMPILE,
        ),


experiment(
    "mrp",
    "transfer",
    config["mrp"]["transfer"],
    accuracy=rules.mrp_transfer.output.accuracy,
)

# --------------------------------------------------------------------------------- localisation
# Which patches the supervised and the pre-trained, fine-tuned network look at.


use rule compute as mrp_localise with:
    input:
        supervised=rules.mrp_clean_supervise.output.weights,
        downstream=rules.mrp_clean_downstream.output.weights,
    output:
        localisation=f"{MRP}/measurements/localisation/localisation.parquet",
        patches=f"{MRP}/measurements/localisation/patches.parquet",
    log:
        f"{LOGS}/mrp/localise.log",
    params:
        **by(
            "mrp.experiments.localisation:localise",
            SETUP | parts(config["mrp"], "localisation"),
            **COMPILE,
        ),


experiment(
    "mrp",
    "localisation",
    localisation=rules.mrp_localise.output.localisation,
    patches=rules.mrp_localise.output.patches,
)

# ---------------------------------------------------------------------------------- paper items
# What of the paper is drawn or quoted. (Table 1 is measured.)

experiment(
    "mrp",
    "paper_items",
    values=asset("config/paper_values/mrp.yaml"),
    contains={"fig-2": "drawn", "fig-6": "drawn", "appendix-b": "quoted"},
)
