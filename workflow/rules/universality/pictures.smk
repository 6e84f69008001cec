# Pictures: pre-training on growing mixtures of sets. Digits and drawn sets, unless a config names others.

from featlearn.universality import pictures_config as universality_pictures_config

checked(universality_pictures_config.faults(config["universality"]))

PICTURE_LADDER = config["universality"]["pictures"]
PICTURE_STATE = universality_pictures_config.state(PICTURE_LADDER)
FIRST_METHOD = next(iter(PICTURE_LADDER["methods"]))


use rule compute as universality_pretrained with:
    output:
        values=f"{RESULTS}/universality/measurements/pictures/{{method}}.parquet",
        weights=f"{RESULTS}/universality/weights/pictures/{{method}}.safetensors",
    log:
        f"{LOGS}/universality/pictures-{{method}}.log",
    wildcard_constraints:
        method="|".join(PICTURE_LADDER["methods"]),
    resources:
        **request(mem_mb=6000, runtime=600, gpu=GPU),
    params:
        **by(
            "universality.experiments.pictures:pretrained",
            {key: own for key, own in PICTURE_LADDER.items() if key != "finetuning"},
            cache=".cache/images",
            state=PICTURE_STATE,
        ),


use rule compute as universality_tuned with:
    input:
        weights=f"{RESULTS}/universality/weights/pictures/{FIRST_METHOD}.safetensors",
    output:
        values=f"{RESULTS}/universality/measurements/pictures/with-labels.parquet",
        maps=f"{RESULTS}/universality/measurements/pictures/maps.parquet",
    log:
        f"{LOGS}/universality/pictures-tuned.log",
    resources:
        **request(mem_mb=6000, runtime=600, gpu=GPU),
    params:
        **by(
            "universality.experiments.pictures:tuned",
            PICTURE_LADDER,
            cache=".cache/images",
            state=PICTURE_STATE,
        ),


experiment(
    "universality",
    "pictures",
    PICTURE_LADDER,
    contains=universality_pictures_config.contents(PICTURE_LADDER),
    values=expand(
        rules.universality_pretrained.output.values, method=PICTURE_LADDER["methods"]
    ),
    tuned=rules.universality_tuned.output.values,
    maps=rules.universality_tuned.output.maps,
    quoted=asset("config/paper_values/universality-pictures.yaml"),
)
