# The same with residual networks, and fine-tuning on the target.

UNIVERSALITY_RESIDUAL = config["universality"]["residual"]


use rule compute as universality_residual with:
    output:
        pictures=f"{RESULTS}/universality/measurements/residual/pictures.parquet",
        tuned=f"{RESULTS}/universality/measurements/residual/tuned.parquet",
    log:
        f"{LOGS}/universality/residual.log",
    params:
        **by(
            "universality.experiments.residual:measure",
            UNIVERSALITY_RESIDUAL,
            cache=".cache/images",
            state=universality_config.ladder_state(
                UNIVERSALITY_RESIDUAL["sets"], "universality.residual.sets"
            ),
        ),


experiment(
    "universality",
    "residual",
    UNIVERSALITY_RESIDUAL,
    pictures=rules.universality_residual.output.pictures,
    tuned=rules.universality_residual.output.tuned,
)
