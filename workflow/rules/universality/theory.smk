# Closed forms of what pre-training on a mixture keeps, and a probe on it.

UNIVERSALITY_THEORY = config["universality"]["theory"]


use rule calculate as universality_theory with:
    output:
        allocations=f"{RESULTS}/universality/measurements/theory/allocations.parquet",
        thresholds=f"{RESULTS}/universality/measurements/theory/thresholds.parquet",
        square=f"{RESULTS}/universality/measurements/theory/square.parquet",
        risks=f"{RESULTS}/universality/measurements/theory/risks.parquet",
        updates=f"{RESULTS}/universality/measurements/theory/updates.parquet",
    log:
        f"{LOGS}/universality/theory.log",
    params:
        **by("universality.experiments.theory:measure", UNIVERSALITY_THEORY),


experiment(
    "universality",
    "theory",
    UNIVERSALITY_THEORY,
    allocations=rules.universality_theory.output.allocations,
    thresholds=rules.universality_theory.output.thresholds,
    square=rules.universality_theory.output.square,
    risks=rules.universality_theory.output.risks,
    updates=rules.universality_theory.output.updates,
)
