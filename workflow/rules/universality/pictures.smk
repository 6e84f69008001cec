# Pre-training on growing mixtures of sets of pictures.

UNIVERSALITY_PICTURES = config["universality"]["pictures"]


use rule compute as universality_pictures with:
    output:
        pictures=f"{RESULTS}/universality/measurements/pictures/pictures.parquet",
    log:
        f"{LOGS}/universality/pictures.log",
    params:
        **by(
            "universality.experiments.pictures:measure",
            UNIVERSALITY_PICTURES,
            cache=".cache/images",
            state=universality_config.ladder_state(
                UNIVERSALITY_PICTURES["sets"], "universality.pictures.sets"
            ),
        ),


experiment(
    "universality",
    "pictures",
    UNIVERSALITY_PICTURES,
    pictures=rules.universality_pictures.output.pictures,
)
