# Probe, fine-tuning, and the contrastive loss beside either, on the target of the ladders.

UNIVERSALITY_REMEDY = config["universality"]["remedy"]


use rule compute as universality_remedy with:
    input:
        encoders=rules.universality_ladders.output.encoders,
    output:
        tuned=f"{RESULTS}/universality/measurements/remedy/tuned.parquet",
        maps=f"{RESULTS}/universality/measurements/remedy/maps.parquet",
        purities=f"{RESULTS}/universality/measurements/remedy/purities.parquet",
    log:
        f"{LOGS}/universality/remedy.log",
    params:
        **by(
            "universality.experiments.remedy:measure",
            UNIVERSALITY_REMEDY,
            ladders=UNIVERSALITY_LADDERS,
        ),


experiment(
    "universality",
    "remedy",
    UNIVERSALITY_REMEDY,
    without=sorted(UNIVERSALITY_NAMED & {"table-f-10", "table-f-11"}),
    tuned=rules.universality_remedy.output.tuned,
    maps=rules.universality_remedy.output.maps,
    purities=rules.universality_remedy.output.purities,
    quoted=UNIVERSALITY_QUOTED,
)
