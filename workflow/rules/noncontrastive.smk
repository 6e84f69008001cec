# Wen & Li: how the prediction head keeps non-contrastive learning from collapse.

from featlearn.noncontrastive import config as noncontrastive_config

checked(noncontrastive_config.faults(config["noncontrastive"]))

NONCONTRASTIVE = f"{RESULTS}/noncontrastive"


include: "noncontrastive/images.smk"


# figures of the paper itself that are drawn, not measured
experiment("noncontrastive", "paper_items")

# ------------------------------------------------------------------------------------ algorithm
# Algorithm 1 by SGD, with the head, without, and ablated, beside the population flow.

ALGORITHM = config["noncontrastive"]["algorithm"]


use rule compute as noncontrastive_algorithm with:
    output:
        history=f"{NONCONTRASTIVE}/measurements/algorithm/history.parquet",
        flow=f"{NONCONTRASTIVE}/measurements/algorithm/flow.parquet",
    log:
        f"{LOGS}/noncontrastive/algorithm.log",
    params:
        **by("noncontrastive.experiments.algorithm:measure", ALGORITHM),


experiment(
    "noncontrastive",
    "algorithm",
    ALGORITHM,
    history=rules.noncontrastive_algorithm.output.history,
    flow=rules.noncontrastive_algorithm.output.flow,
)

# --------------------------------------------------------------------------------------- phases
# The four phases along the population flow, over the dimension.

PHASES = config["noncontrastive"]["phases"]


use rule compute as noncontrastive_phases with:
    output:
        times=f"{NONCONTRASTIVE}/measurements/phases/times.parquet",
        curves=f"{NONCONTRASTIVE}/measurements/phases/curves.parquet",
    log:
        f"{LOGS}/noncontrastive/phases.log",
    params:
        **by("noncontrastive.experiments.phases:measure", PHASES),


experiment(
    "noncontrastive",
    "phases",
    PHASES,
    times=rules.noncontrastive_phases.output.times,
    curves=rules.noncontrastive_phases.output.curves,
)

# --------------------------------------------------------------------------------------- starts
# What the neurons take from many random starts; the phase diagram of collapse.

STARTS = config["noncontrastive"]["starts"]


use rule compute as noncontrastive_starts with:
    output:
        outcomes=f"{NONCONTRASTIVE}/measurements/starts/outcomes.parquet",
        diagram=f"{NONCONTRASTIVE}/measurements/starts/diagram.parquet",
    log:
        f"{LOGS}/noncontrastive/starts.log",
    params:
        **by("noncontrastive.experiments.starts:measure", STARTS),


experiment(
    "noncontrastive",
    "starts",
    STARTS,
    outcomes=rules.noncontrastive_starts.output.outcomes,
    diagram=rules.noncontrastive_starts.output.diagram,
)

# -------------------------------------------------------------------------------------- oracles
# The closed forms against brute force, as printed and corrected; the roles of section 5.3.


use rule compute as noncontrastive_oracles with:
    output:
        instances=f"{NONCONTRASTIVE}/measurements/oracles/instances.parquet",
        roles=f"{NONCONTRASTIVE}/measurements/oracles/roles.parquet",
    log:
        f"{LOGS}/noncontrastive/oracles.log",
    resources:
        **request(mem_mb=4000, runtime=30),
    params:
        # exact formulas in float64: the same numbers on every machine
        **by(
            "noncontrastive.experiments.oracles:measure",
            config["noncontrastive"]["oracles"],
            device="cpu",
        ),


experiment(
    "noncontrastive",
    "oracles",
    instances=rules.noncontrastive_oracles.output.instances,
    roles=rules.noncontrastive_oracles.output.roles,
)
