# Pre-training on growing mixtures of tasks, on vectors.

UNIVERSALITY_LADDERS = config["universality"]["ladders"]


use rule compute as universality_ladders with:
    output:
        accuracies=f"{RESULTS}/universality/measurements/ladders/accuracies.parquet",
        similarities=f"{RESULTS}/universality/measurements/ladders/similarities.parquet",
        encoders=f"{RESULTS}/universality/weights/ladders.safetensors",
    log:
        f"{LOGS}/universality/ladders.log",
    params:
        **by("universality.experiments.ladders:measure", UNIVERSALITY_LADDERS),


experiment(
    "universality",
    "ladders",
    UNIVERSALITY_LADDERS,
    without=sorted(UNIVERSALITY_NAMED & {"table-f-1", "table-f-4"}),
    accuracies=rules.universality_ladders.output.accuracies,
    similarities=rules.universality_ladders.output.similarities,
    quoted=UNIVERSALITY_QUOTED,
)
