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
