# What kernels learn, supervised and by mask reconstruction, and what they are good for.

SETUP = "replicates data network"
# of the data with hardly any noise: where the theory stands, but a linear classifier does
CLEAN = parts(KERNELS["clean"], *SETUP.split())
WITH_CLEAN = {
    name: {"clean": CLEAN, name: KERNELS[name]} for name in ("finetuning", "localisation")
}


# the headline: feature noise in many patches, beyond linear classifiers and random kernels
use rule compute_kernels as mrp_pretrain with:
    output:
        **outputs("mrp/headline", weights="pretrained", history="pretrained-growth"),
    params:
        **by("mrp.experiments.headline:pretrain", only=f"{SETUP} pretraining"),


use rule compute_kernels as mrp_supervise with:
    output:
        **outputs("mrp/headline", weights="supervised", history="supervised-growth"),
        **outputs("mrp/headline", learning="supervised-learning"),
    params:
        **by("mrp.experiments.headline:supervise", only=f"{SETUP} supervised"),


use rule compute_kernels as mrp_supervise_all with:
    output:
        **outputs("mrp/headline", weights="supervised-all", learning="supervised-all-learning"),
    params:
        **by("mrp.experiments.headline:supervise_all", only=f"{SETUP} supervised"),


# a control: masks without reconstruction
use rule compute_kernels as mrp_supervise_masked with:
    output:
        **outputs("mrp/headline", weights="supervised-masked"),
    params:
        **by("mrp.experiments.headline:supervise_masked", only=f"{SETUP} supervised pretraining"),


use rule compute_kernels as mrp_downstream with:
    input:
        pretrained=rules.mrp_pretrain.output.weights,
    output:
        **outputs("mrp/headline", weights="downstream", learning="downstream-learning"),
    params:
        **by("mrp.experiments.headline:downstream", only=f"{SETUP} finetuning"),


use rule compute_kernels as mrp_evaluate with:
    input:
        pretrained=rules.mrp_pretrain.output.weights,
        supervised=rules.mrp_supervise.output.weights,
        supervised_all=rules.mrp_supervise_all.output.weights,
        supervised_masked=rules.mrp_supervise_masked.output.weights,
        downstream=rules.mrp_downstream.output.weights,
    output:
        **outputs("mrp/headline", "evaluation features"),
    params:
        **by("mrp.experiments.headline:evaluate", only=SETUP),


use rule compute_kernels as mrp_clean_pretrain with:
    output:
        **outputs("mrp/clean", weights="pretrained"),
    params:
        **by("mrp.experiments.clean:pretrain", only=f"{SETUP} pretraining"),


use rule compute_kernels as mrp_clean_supervise with:
    output:
        **outputs("mrp/clean", weights="supervised"),
    params:
        **by("mrp.experiments.clean:supervise", only=f"{SETUP} supervised"),


# this and what inherits from it go on with the kernels that were pre-trained
use rule compute_kernels as mrp_clean_downstream with:
    input:
        pretrained=rules.mrp_clean_pretrain.output.weights,
    output:
        **outputs("mrp/clean", weights="downstream"),
    params:
        **by("mrp.experiments.clean:downstream", only=f"{SETUP} finetuning"),


use rule compute_kernels as mrp_clean_evaluate with:
    input:
        pretrained=rules.mrp_clean_pretrain.output.weights,
        supervised=rules.mrp_clean_supervise.output.weights,
        downstream=rules.mrp_clean_downstream.output.weights,
    output:
        **outputs("mrp/clean", "evaluation"),
    params:
        **by("mrp.experiments.clean:evaluate", CLEAN),


measured("mrp_clean_downstream", "mrp/purity", "purity", "clean:purity", section=CLEAN)
measured("mrp_clean_downstream", "mrp/clean", "noise", "clean:noise", called="noise", section=CLEAN)
measured(
    "calculate",
    "mrp/oracles",
    "instances",
    "oracles",
    only="replicates exponents kernel_std",
    device="cpu",
)
measured("compute_kernels", "mrp/opponents", "cells", "headline:oppose")
measured("calculate", "mrp/initialisation", "lottery", "oracles:lottery", device="cpu")
measured(
    "compute_kernels",
    "mrp/growth",
    "hits",
    "growth",
    only=f"{SETUP} sigma_0 theta target mae teacher_student alone",
)
measured(
    "calculate",
    "mrp/growth",
    "residual_slopes",
    "one_kernel",
    called="one_kernel",
    device="cpu",
)
measured("compute_kernels", "mrp/keep-probability", "trade_off", "keep_probability")

# teacher-student, stopped at capture
measured("compute_kernels", "mrp/teacher-student", "noise", "pretrain", only=f"{SETUP} pretraining")
measured("compute_kernels", "mrp/runaway", "outcome pair", "runaway")

experiment(
    "mrp",
    "headline",
    rules.mrp_evaluate,
    pretrained=rules.mrp_pretrain.output.history,
    supervised=rules.mrp_supervise.output.history,
    apart=["feature-growth"],
)
experiment("mrp", "opponents")
experiment("mrp", "growth", rules.mrp_growth, rules.mrp_one_kernel)
experiment("mrp", "keep-probability")
RUNAWAY = rules.mrp_runaway.output
experiment("mrp", "runaway", evaluation=RUNAWAY.outcome, pair=RUNAWAY.pair)

MODELS_OF_KERNELS = ["supervised", "pretrained"]

measured("compute_kernels", "mrp/equal-start", "evaluation", "teacher_student:equal_start")


use rule compute_kernels as mrp_phase_diagram with:
    output:
        **outputs("mrp/phase_diagram", cells="{model}"),
    wildcard_constraints:
        model="|".join(MODELS_OF_KERNELS),
    params:
        **by("mrp.experiments.regimes:phase_diagram", KERNELS["phase_diagram"]),


measured(
    "compute_kernels",
    "mrp/classes",
    "classes",
    "regimes:add_classes",
    only="replicates classes scaling network training",
)
measured(
    "compute_kernels",
    "mrp/classes",
    "length",
    "regimes:train_longer",
    called="training_length",
    only="replicates length",
)


# one parameter at a time: q, kernels a class, feature noise, theta; sigma_0: the phase diagram
use rule mrp_phase_diagram as mrp_sweeps with:
    output:
        **outputs("mrp/sweeps", points="{model}"),
    params:
        **by("mrp.experiments.regimes:sweeps", KERNELS["sweeps"]),


use rule mrp_clean_downstream as mrp_finetune with:
    output:
        **outputs("mrp/finetuning", "learning evaluation"),
    params:
        **by("mrp.experiments.finetuning:finetune", WITH_CLEAN["finetuning"]),


use rule mrp_clean_downstream as mrp_transfer with:
    output:
        **outputs("mrp/transfer", "accuracy"),
    params:
        **by(
            "mrp.experiments.transfer:transfer",
            {"clean": parts(KERNELS["clean"], *SETUP.split(), "pretraining")}
            | parts(KERNELS, "transfer"),
        ),


use rule compute_kernels as mrp_localise with:
    input:
        supervised=rules.mrp_clean_supervise.output.weights,
        downstream=rules.mrp_clean_downstream.output.weights,
    output:
        **outputs("mrp/localisation", "localisation"),
    params:
        **by("mrp.experiments.localisation:localise", WITH_CLEAN["localisation"]),


experiment(
    "mrp",
    "clean",
    rules.mrp_clean_evaluate,
    rules.mrp_purity,
    rules.mrp_noise,
    localisation=rules.mrp_localise.output.localisation,
    teacher_student_noise=rules.mrp_teacher_student.output.noise,
)
experiment("mrp", "oracles", rules.mrp_oracles, rules.mrp_initialisation)
experiment(
    "mrp",
    "teacher-student",
    section=KERNELS["equal_start"],
    starts=rules.mrp_equal_start.output.evaluation,
)
# a figure marks where the training on clean data ends
experiment(
    "mrp",
    "regimes",
    rules.mrp_classes,
    rules.mrp_training_length,
    section=KERNELS["clean"],
    **outputs("mrp/phase_diagram", supervised_cells="supervised", pretrained_cells="pretrained"),
    **outputs("mrp/sweeps", " ".join(MODELS_OF_KERNELS)),
    grid=expand(rules.mrp_phase_diagram.output.cells, model=MODELS_OF_KERNELS),
)
experiment("mrp", "finetuning", rules.mrp_finetune, section=KERNELS["clean"])
experiment("mrp", "transfer")
# what of the paper is drawn; Table 1 is measured
experiment("mrp", "paper_items", contains="drawn")
