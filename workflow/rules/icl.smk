# Thesis, chapter 5: in-context learning and scale.

from featlearn.icl import config as icl_config

checked(icl_config.faults(config["icl"]))

ICL = f"{RESULTS}/icl/measurements"

# ----------------------------------------------------------------------------------- regression
# Linear self-attention of limited rank: closed forms, forward passes, trainings.

REGRESSION = config["icl"]["regression"]


use rule calculate as icl_regression with:
    output:
        curves=f"{ICL}/regression/curves.parquet",
        sampled=f"{ICL}/regression/sampled.parquet",
        trained=f"{ICL}/regression/trained.parquet",
        blocks=f"{ICL}/regression/blocks.parquet",
        flips=f"{ICL}/regression/flips.parquet",
    log:
        f"{LOGS}/icl/regression.log",
    params:
        **by("icl.experiments.regression:measure", REGRESSION),


experiment(
    "icl",
    "regression",
    REGRESSION,
    curves=rules.icl_regression.output.curves,
    sampled=rules.icl_regression.output.sampled,
    trained=rules.icl_regression.output.trained,
    blocks=rules.icl_regression.output.blocks,
    flips=rules.icl_regression.output.flips,
)

# --------------------------------------------------------------------------------------- parity
# Heads on sparse parities: what is printed, what needs less, what is trained.

PARITY = config["icl"]["parity"]


use rule calculate as icl_parity with:
    output:
        constructions=f"{ICL}/parity/constructions.parquet",
        sampled=f"{ICL}/parity/sampled.parquet",
        noise=f"{ICL}/parity/noise.parquet",
        trained=f"{ICL}/parity/trained.parquet",
        norms=f"{ICL}/parity/norms.parquet",
    log:
        f"{LOGS}/icl/parity.log",
    params:
        **by("icl.experiments.parity:measure", PARITY),


experiment(
    "icl",
    "parity",
    PARITY,
    constructions=rules.icl_parity.output.constructions,
    sampled=rules.icl_parity.output.sampled,
    noise=rules.icl_parity.output.noise,
    trained=rules.icl_parity.output.trained,
    norms=rules.icl_parity.output.norms,
)

# ---------------------------------------------------------------------------------------- small
# Ours: softmax transformers of several sizes.

SMALL = config["icl"]["small"]


use rule calculate as icl_small with:
    output:
        flips=f"{ICL}/small/flips.parquet",
        attention=f"{ICL}/small/attention.parquet",
    log:
        f"{LOGS}/icl/small.log",
    params:
        **by("icl.experiments.small:measure", SMALL),


experiment(
    "icl",
    "small",
    SMALL,
    flips=rules.icl_small.output.flips,
    attention=rules.icl_small.output.attention,
)

# ------------------------------------------------------------------------------------- language
# Figures 5.1 to 5.3: of the models that the config names, or else of the small ones.

LANGUAGE = config["icl"]["language"]


if LANGUAGE["models"]:

    use rule calculate as icl_language with:
        output:
            flips=f"{ICL}/language/flips.parquet",
            attention=f"{ICL}/language/attention.parquet",
        log:
            f"{LOGS}/icl/language.log",
        resources:
            **request(mem_mb=16000, runtime=1440),
        params:
            **by("icl.experiments.language:measure", LANGUAGE),


SHOWN = rules.icl_language if LANGUAGE["models"] else rules.icl_small

experiment(
    "icl",
    "language",
    LANGUAGE,
    contains="measured" if LANGUAGE["models"] else "stand-in",
    flips=SHOWN.output.flips,
    attention=SHOWN.output.attention,
)
