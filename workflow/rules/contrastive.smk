# Wen & Li: why augmentation lets contrastive learning find sparse features.

from featlearn.contrastive import config as contrastive_config

checked(contrastive_config.faults(config["contrastive"]))

CONTRASTIVE = f"{RESULTS}/contrastive"


# ------------------------------------------------------------------------------------- stages
# the three stages: RandomMask or not, thresholds or not, from one start; and the theory's decay

STAGES = config["contrastive"]["stages"]
STAGE_ARMS = ["masked", "unmasked", "masked-zero", "unmasked-zero", "theory-decay"]


use rule compute as contrastive_train with:
    output:
        weights=f"{CONTRASTIVE}/weights/stages/{{arm}}.safetensors",
        history=f"{CONTRASTIVE}/measurements/stages/{{arm}}-history.parquet",
    log:
        f"{LOGS}/contrastive/train-{{arm}}.log",
    wildcard_constraints:
        arm="|".join(STAGE_ARMS),
    params:
        **by(
            "contrastive.experiments.stages:train",
            parts(
                STAGES,
                "replicates",
                "data",
                "network",
                "training",
                "thresholds",
                "record_every",
            ),
        ),


use rule compute as contrastive_evaluate with:
    input:
        weights=expand(rules.contrastive_train.output.weights, arm=STAGE_ARMS),
    output:
        moments=f"{CONTRASTIVE}/measurements/stages/moments.parquet",
        alignment=f"{CONTRASTIVE}/measurements/stages/alignment.parquet",
        evaluation=f"{CONTRASTIVE}/measurements/stages/evaluation.parquet",
        labels=f"{CONTRASTIVE}/measurements/stages/labels.parquet",
        decoupling=f"{CONTRASTIVE}/measurements/stages/decoupling.parquet",
    log:
        f"{LOGS}/contrastive/evaluate.log",
    params:
        **by("contrastive.experiments.stages:evaluate", STAGES),


experiment(
    "contrastive",
    "stages",
    also=expand(rules.contrastive_train.output.weights, arm=STAGE_ARMS),
    histories=expand(rules.contrastive_train.output.history, arm=STAGE_ARMS),
    moments=rules.contrastive_evaluate.output.moments,
    alignment=rules.contrastive_evaluate.output.alignment,
    evaluation=rules.contrastive_evaluate.output.evaluation,
    labels=rules.contrastive_evaluate.output.labels,
    decoupling=rules.contrastive_evaluate.output.decoupling,
)


# ------------------------------------------------------------------------- trained thresholds
# footnote 4: thresholds by gradient descent rise with RandomMask and fall without


use rule compute as contrastive_trained_thresholds with:
    output:
        history=f"{CONTRASTIVE}/measurements/trained-thresholds/history.parquet",
        evaluation=f"{CONTRASTIVE}/measurements/trained-thresholds/evaluation.parquet",
    log:
        f"{LOGS}/contrastive/trained-thresholds.log",
    params:
        **by(
            "contrastive.experiments.trained_thresholds:measure",
            config["contrastive"]["trained_thresholds"],
        ),


experiment(
    "contrastive",
    "trained-thresholds",
    history=rules.contrastive_trained_thresholds.output.history,
    evaluation=rules.contrastive_trained_thresholds.output.evaluation,
)


# ---------------------------------------------------------------------------------- ablations
# one change at a time: masks, thresholds, decay, noise, width, dictionary, the printed gradient

ABLATIONS = config["contrastive"]["ablations"]


use rule compute as contrastive_ablations with:
    output:
        history=f"{CONTRASTIVE}/measurements/ablations/history.parquet",
        evaluation=f"{CONTRASTIVE}/measurements/ablations/evaluation.parquet",
    log:
        f"{LOGS}/contrastive/ablations.log",
    params:
        **by("contrastive.experiments.ablations:measure", ABLATIONS),


experiment(
    "contrastive",
    "ablations",
    ABLATIONS,
    history=rules.contrastive_ablations.output.history,
    evaluation=rules.contrastive_ablations.output.evaluation,
)


# ------------------------------------------------------------------------------------ scaling
# more atoms: the probe's error against the Bayes floor, and the length of stage II

SCALING = config["contrastive"]["scaling"]


use rule compute as contrastive_scaling with:
    output:
        sizes=f"{CONTRASTIVE}/measurements/scaling/{{atoms}}.parquet",
    log:
        f"{LOGS}/contrastive/scaling-{{atoms}}.log",
    wildcard_constraints:
        atoms=r"\d+",
    resources:
        **request(mem_mb=4000, runtime=120, gpu=GPU),
    params:
        **by(
            "contrastive.experiments.scaling:measure",
            lambda wildcards: contrastive_config.size_config(SCALING, int(wildcards.atoms)),
        ),


experiment(
    "contrastive",
    "scaling",
    sizes=expand(
        rules.contrastive_scaling.output.sizes, atoms=[size["atoms"] for size in SCALING["sizes"]]
    ),
)


# --------------------------------------------------------------------------------- identities
# closed forms against automatic differentiation, enumeration and sampling; the printed gradient


use rule compute as contrastive_identities with:
    output:
        instances=f"{CONTRASTIVE}/measurements/identities/instances.parquet",
        sampled=f"{CONTRASTIVE}/measurements/identities/sampled.parquet",
    log:
        f"{LOGS}/contrastive/identities.log",
    # in float64 on the processor, wherever the others compute
    resources:
        **request(mem_mb=2000, runtime=30),
    params:
        **by(
            "contrastive.experiments.identities:measure",
            config["contrastive"]["identities"],
            device="cpu",
        ),


experiment(
    "contrastive",
    "identities",
    instances=rules.contrastive_identities.output.instances,
    sampled=rules.contrastive_identities.output.sampled,
)


include: "contrastive/images.smk"
