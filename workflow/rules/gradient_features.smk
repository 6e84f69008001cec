# Thesis, chapter 3: gradient features, what the first step of training finds.

from featlearn.gradient_features import config as gradient_features_config

checked(gradient_features_config.faults(config["gradient_features"]))

GRADIENT_FEATURES = f"{RESULTS}/gradient_features/measurements"

# ---------------------------------------------------------------------------------------- cones
# The first step on all laws against the closed forms: hit probability, width, size.

CONES = config["gradient_features"]["cones"]


use rule calculate as gradient_features_cones with:
    output:
        neurons=f"{GRADIENT_FEATURES}/cones/neurons.parquet",
        sure=f"{GRADIENT_FEATURES}/cones/sure.parquet",
        dimensions=f"{GRADIENT_FEATURES}/cones/dimensions.parquet",
        concentration=f"{GRADIENT_FEATURES}/cones/concentration.parquet",
    log:
        f"{LOGS}/gradient_features/cones.log",
    params:
        **by("gradient_features.experiments.cones:measure", CONES),


experiment(
    "gradient_features",
    "cones",
    CONES,
    neurons=rules.gradient_features_cones.output.neurons,
    sure=rules.gradient_features_cones.output.sure,
    dimensions=rules.gradient_features_cones.output.dimensions,
    concentration=rules.gradient_features_cones.output.concentration,
)

# ------------------------------------------------------------------------------------- opponents
# XOR over dimension and noise: the network against fixed features.

OPPONENTS = config["gradient_features"]["opponents"]


use rule calculate as gradient_features_opponents with:
    output:
        accuracies=f"{GRADIENT_FEATURES}/opponents.parquet",
    log:
        f"{LOGS}/gradient_features/opponents.log",
    params:
        **by("gradient_features.experiments.opponents:measure", OPPONENTS),


experiment(
    "gradient_features",
    "opponents",
    OPPONENTS,
    accuracies=rules.gradient_features_opponents.output.accuracies,
)

# -------------------------------------------------------------------------------------- learning
# Algorithm 1 along its steps: curves, the plateau of the parity, lottery tickets.

LEARNING = config["gradient_features"]["learning"]


use rule calculate as gradient_features_learning with:
    output:
        curves=f"{GRADIENT_FEATURES}/learning/curves.parquet",
        heads=f"{GRADIENT_FEATURES}/learning/heads.parquet",
    log:
        f"{LOGS}/gradient_features/learning.log",
    params:
        **by("gradient_features.experiments.learning:measure", LEARNING),


experiment(
    "gradient_features",
    "learning",
    LEARNING,
    curves=rules.gradient_features_learning.output.curves,
    heads=rules.gradient_features_learning.output.heads,
)

# ------------------------------------------------------------------------------------- structure
# Algorithm 1 on a parity, with its structure and without (p_A = 0).

STRUCTURE = config["gradient_features"]["structure"]


use rule calculate as gradient_features_structure with:
    output:
        neurons=f"{GRADIENT_FEATURES}/structure/neurons.parquet",
        curves=f"{GRADIENT_FEATURES}/structure/curves.parquet",
        heads=f"{GRADIENT_FEATURES}/structure/heads.parquet",
    log:
        f"{LOGS}/gradient_features/structure.log",
    params:
        **by("gradient_features.experiments.learning:structure", STRUCTURE),


experiment(
    "gradient_features",
    "structure",
    STRUCTURE,
    neurons=rules.gradient_features_structure.output.neurons,
    curves=rules.gradient_features_structure.output.curves,
    heads=rules.gradient_features_structure.output.heads,
)

# ---------------------------------------------------------------------------------------- frozen
# One step, then the output layer alone: Theorem 3.4, Algorithms 6 and 7, the inputs they need.

FROZEN = config["gradient_features"]["frozen"]


use rule calculate as gradient_features_frozen with:
    output:
        smooth=f"{GRADIENT_FEATURES}/frozen/smooth.parquet",
        curves=f"{GRADIENT_FEATURES}/frozen/curves.parquet",
        heads=f"{GRADIENT_FEATURES}/frozen/heads.parquet",
        scan=f"{GRADIENT_FEATURES}/frozen/scan.parquet",
    log:
        f"{LOGS}/gradient_features/frozen.log",
    params:
        **by("gradient_features.experiments.frozen:measure", FROZEN),


experiment(
    "gradient_features",
    "frozen",
    FROZEN,
    smooth=rules.gradient_features_frozen.output.smooth,
    curves=rules.gradient_features_frozen.output.curves,
    heads=rules.gradient_features_frozen.output.heads,
    scan=rules.gradient_features_frozen.output.scan,
)

# -------------------------------------------------------------------------------------- appendix
# Drift of the weights, cones in the infinity norm, features that stay fixed.

APPENDIX = config["gradient_features"]["appendix"]


use rule calculate as gradient_features_appendix with:
    output:
        drift=f"{GRADIENT_FEATURES}/appendix/drift.parquet",
        alternative=f"{GRADIENT_FEATURES}/appendix/alternative.parquet",
        fixed=f"{GRADIENT_FEATURES}/appendix/fixed.parquet",
    log:
        f"{LOGS}/gradient_features/appendix.log",
    params:
        **by("gradient_features.experiments.appendix:measure", APPENDIX),


experiment(
    "gradient_features",
    "appendix",
    APPENDIX,
    drift=rules.gradient_features_appendix.output.drift,
    alternative=rules.gradient_features_appendix.output.alternative,
    fixed=rules.gradient_features_appendix.output.fixed,
)

# ---------------------------------------------------------------------------------------- lemmas
# Lemmas on nice neurons, the network built of them, activation; and the printed bounds of all.

LEMMAS = config["gradient_features"]["lemmas"]


use rule calculate as gradient_features_lemmas with:
    output:
        nice=f"{GRADIENT_FEATURES}/lemmas/nice.parquet",
        existence=f"{GRADIENT_FEATURES}/lemmas/existence.parquet",
        activation=f"{GRADIENT_FEATURES}/lemmas/activation.parquet",
        tails=f"{GRADIENT_FEATURES}/lemmas/tails.parquet",
    log:
        f"{LOGS}/gradient_features/lemmas.log",
    params:
        **by("gradient_features.experiments.lemmas:measure", LEMMAS),


experiment(
    "gradient_features",
    "lemmas",
    config["gradient_features"],
    nice=rules.gradient_features_lemmas.output.nice,
    existence=rules.gradient_features_lemmas.output.existence,
    activation=rules.gradient_features_lemmas.output.activation,
    tails=rules.gradient_features_lemmas.output.tails,
    smooth=rules.gradient_features_frozen.output.smooth,
    accuracies=rules.gradient_features_opponents.output.accuracies,
    drift=rules.gradient_features_appendix.output.drift,
    alternative=rules.gradient_features_appendix.output.alternative,
    fixed=rules.gradient_features_appendix.output.fixed,
)
