# Thesis, chapter 6: the nuclear norm of features, and domains that are not seen.

from featlearn.nuclear import config as nuclear_config
from featlearn.nuclear.stacks import stacks

NUCLEAR = config["nuclear"]
# a scale can be planned where its images are not; what a user names must be there
tell = warned if config["run"] == plain_run(config) else checked
tell(nuclear_config.missing(NUCLEAR))

measured("calculate", "nuclear/theory", "optima sweep ranks penalised")
measured("calculate", "nuclear/toy", "trained points", "theory:measure_toy")


# digits in four domains stand in for the sets of the thesis, unless a config names folders
use rule compute as nuclear_stack with:
    output:
        **outputs("nuclear/domains", trained="trained-{stack}"),
    resources:
        # a minute a step: of a large network a stack has one
        **request(mem_mb=6000, runtime=240 + NUCLEAR["domains"]["training"]["steps"], gpu=GPU),
    params:
        **by("nuclear.experiments.domains:train_stack", images=nuclear_config.state(NUCLEAR)),


NUCLEAR_TRAINED = filled(
    [rules.nuclear_stack.output.trained], {"stack": range(len(stacks(NUCLEAR["domains"])))}
)


use rule compute as nuclear_domains with:
    input:
        trained=NUCLEAR_TRAINED,
    output:
        **outputs("nuclear/domains", "accuracies swept"),
    params:
        **by("nuclear.experiments.domains:measure", images=nuclear_config.state(NUCLEAR)),


experiment("nuclear", "theory")
experiment("nuclear", "toy")
experiment(
    "nuclear",
    "domains",
    rules.nuclear_domains,
    also=NUCLEAR_TRAINED,
    met=nuclear_config.met(NUCLEAR["domains"]),
    paper_values="nuclear",
)
