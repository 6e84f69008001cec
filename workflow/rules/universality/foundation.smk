# Adapters on frozen encoders: of this run, or with weights from a file on data from a folder.

UNIVERSALITY_FOUNDATION = config["universality"]["foundation"]


use rule compute as universality_foundation with:
    input:
        **(
            {}
            if UNIVERSALITY_FOUNDATION["models"]
            else {"encoders": rules.universality_ladders.output.encoders}
        ),
    output:
        adapters=f"{RESULTS}/universality/measurements/foundation/adapters.parquet",
        probed=f"{RESULTS}/universality/measurements/foundation/probed.parquet",
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
    # tables of probes are made here of the encoders that a config names, elsewhere of vectors
    without=[name for name in universality_encoders.PROBED if name not in UNIVERSALITY_NAMED],
    contains=universality_config.contains(UNIVERSALITY_FOUNDATION),
    adapters=rules.universality_foundation.output.adapters,
    probed=rules.universality_foundation.output.probed,
    quoted=UNIVERSALITY_QUOTED,
)
