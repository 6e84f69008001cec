# Thesis, chapter 6: the nuclear norm of features, and domains that are not seen.

from featlearn.nuclear import config as nuclear_config

checked(nuclear_config.faults(config["nuclear"]))
# a scale can be planned where its images are not; what a user names must be there
if config["run"] != plain_run(config):
    checked(nuclear_config.missing(config["nuclear"]))
elif workflow.is_main_process:
    for line in nuclear_config.missing(config["nuclear"]):
        logger.warning(f"{line}; its jobs will fail until the images are there")

NUCLEAR = f"{RESULTS}/nuclear/measurements"
NUCLEAR_QUOTED = asset("config/paper_values/nuclear.yaml")

# --------------------------------------------------------------------------------------- theory


use rule calculate as nuclear_theory with:
    output:
        optima=f"{NUCLEAR}/theory/optima.parquet",
        sweep=f"{NUCLEAR}/theory/sweep.parquet",
        ranks=f"{NUCLEAR}/theory/ranks.parquet",
        penalised=f"{NUCLEAR}/theory/penalised.parquet",
    log:
        f"{LOGS}/nuclear/theory.log",
    params:
        **by("nuclear.experiments.theory:measure", config["nuclear"]["theory"]),


experiment(
    "nuclear",
    "theory",
    config["nuclear"]["theory"],
    optima=rules.nuclear_theory.output.optima,
    sweep=rules.nuclear_theory.output.sweep,
    ranks=rules.nuclear_theory.output.ranks,
    penalised=rules.nuclear_theory.output.penalised,
)

# ------------------------------------------------------------------------------------------ toy


use rule calculate as nuclear_toy with:
    output:
        optima=f"{NUCLEAR}/toy/optima.parquet",
        trained=f"{NUCLEAR}/toy/trained.parquet",
        points=f"{NUCLEAR}/toy/points.parquet",
    log:
        f"{LOGS}/nuclear/toy.log",
    params:
        **by("nuclear.experiments.theory:measure_toy", config["nuclear"]["toy"]),


experiment(
    "nuclear",
    "toy",
    config["nuclear"]["toy"],
    optima=rules.nuclear_toy.output.optima,
    trained=rules.nuclear_toy.output.trained,
    points=rules.nuclear_toy.output.points,
    quoted=NUCLEAR_QUOTED,
)

# -------------------------------------------------------------------------------------- domains
# Digits in four domains stand in for the sets of the thesis, unless a config names folders.


use rule compute as nuclear_domains with:
    output:
        accuracies=f"{NUCLEAR}/domains/accuracies.parquet",
        swept=f"{NUCLEAR}/domains/swept.parquet",
    log:
        f"{LOGS}/nuclear/domains.log",
    resources:
        # a minute a step, of all trainings together: large networks take their time one by one
        **request(
            mem_mb=6000, runtime=240 + config["nuclear"]["domains"]["training"]["steps"], gpu=GPU
        ),
    params:
        **by(
            "nuclear.experiments.domains:measure",
            config["nuclear"]["domains"],
            cache=".cache/images",
            state=nuclear_config.state(config["nuclear"]),
        ),


experiment(
    "nuclear",
    "domains",
    config["nuclear"]["domains"],
    contains=nuclear_config.contains(config["nuclear"]["domains"]["domains"]),
    accuracies=rules.nuclear_domains.output.accuracies,
    swept=rules.nuclear_domains.output.swept,
    quoted=NUCLEAR_QUOTED,
)
