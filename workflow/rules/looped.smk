# Thesis, chapter 8: looped transformers as gradient descent in context.

from featlearn.looped import config as looped_config

checked(looped_config.faults(config["looped"]))

LOOPED = f"{RESULTS}/looped/measurements"

# --------------------------------------------------------------------------------- construction
# The weights of the lemma: loops against gradient descent, errors, condition numbers.

CONSTRUCTION = config["looped"]["construction"]


use rule calculate as looped_construction with:
    output:
        curves=f"{LOOPED}/construction/curves.parquet",
        prompts=f"{LOOPED}/construction/prompts.parquet",
        ablations=f"{LOOPED}/construction/ablations.parquet",
        rates=f"{LOOPED}/construction/rates.parquet",
        kappas=f"{LOOPED}/construction/kappas.parquet",
        dimensions=f"{LOOPED}/construction/dimensions.parquet",
        blind=f"{LOOPED}/construction/blind.parquet",
        shortcut=f"{LOOPED}/construction/shortcut.parquet",
    log:
        f"{LOGS}/looped/construction.log",
    params:
        **by("looped.experiments.construction:measure", CONSTRUCTION),


experiment(
    "looped",
    "construction",
    CONSTRUCTION,
    curves=rules.looped_construction.output.curves,
    prompts=rules.looped_construction.output.prompts,
    ablations=rules.looped_construction.output.ablations,
    rates=rules.looped_construction.output.rates,
    kappas=rules.looped_construction.output.kappas,
    dimensions=rules.looped_construction.output.dimensions,
    blind=rules.looped_construction.output.blind,
    shortcut=rules.looped_construction.output.shortcut,
    quoted=asset("config/paper_values/looped.yaml"),
)

# -------------------------------------------------------------------------------------- learned
# Ours: weights and steps learned through the loops, and who solves the same prompts.

LEARNED = config["looped"]["learned"]


use rule calculate as looped_learned with:
    output:
        errors=f"{LOOPED}/learned/errors.parquet",
        weights=f"{LOOPED}/learned/weights.parquet",
        fits=f"{LOOPED}/learned/fits.parquet",
    log:
        f"{LOGS}/looped/learned.log",
    params:
        **by("looped.experiments.learned:measure", LEARNED),


experiment(
    "looped",
    "learned",
    LEARNED,
    errors=rules.looped_learned.output.errors,
    weights=rules.looped_learned.output.weights,
    fits=rules.looped_learned.output.fits,
)
