# Adapters on frozen encoders: of this run, or with weights from a file on data from a folder.

UNIVERSALITY_FOUNDATION = config["universality"]["foundation"]


use rule compute as universality_foundation with:
    input:
        encoders=rules.universality_ladders.output.encoders,
    output:
        adapters=f"{RESULTS}/universality/measurements/foundation/adapters.parquet",
    log:
        f"{LOGS}/universality/foundation.log",
    params:
        **by(
            "universality.experiments.foundation:measure",
            UNIVERSALITY_FOUNDATION,
            ladders=UNIVERSALITY_LADDERS,
            cache=".cache/images",
            state=universality_config.foundation_state(UNIVERSALITY_FOUNDATION),
        ),


experiment(
    "universality",
    "foundation",
    UNIVERSALITY_FOUNDATION,
    adapters=rules.universality_foundation.output.adapters,
    quoted=UNIVERSALITY_QUOTED,
)
