# Pools of samples that are related to the target more or less.

UNIVERSALITY_RELATED = config["universality"]["related"]


use rule compute as universality_related with:
    output:
        pooled=f"{RESULTS}/universality/measurements/related/pooled.parquet",
    log:
        f"{LOGS}/universality/related.log",
    params:
        **by(
            "universality.experiments.related:measure",
            UNIVERSALITY_RELATED,
            ladders=UNIVERSALITY_LADDERS,
        ),


experiment(
    "universality",
    "related",
    UNIVERSALITY_RELATED,
    without=sorted(UNIVERSALITY_NAMED & {"table-f-2", "table-f-3"}),
    pooled=rules.universality_related.output.pooled,
    quoted=UNIVERSALITY_QUOTED,
)
