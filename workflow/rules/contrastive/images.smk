# Figures 1 to 4: what each augmentation lets a network learn, on images.
#
#   snakemake contrastive_images --cores 2

from featlearn.contrastive.images import config as contrastive_images

PICTURE_SETS = config["contrastive"]["images"]
PICTURE_NAMES = contrastive_images.ordered(PICTURE_SETS)
PICTURE_CACHE = ".cache/images"
PICTURE_WEIGHTS = f"{CONTRASTIVE}/weights/images"
PICTURE_MEASUREMENTS = f"{CONTRASTIVE}/measurements/images"
# real images that are not there: a plan can be made, the job that opens them says what is missing
PICTURE_STATES = {
    name: contrastive_images.state(settings)
    for name, settings in PICTURE_SETS.items()
    if not contrastive_images.is_made(settings)
}
# of what data the figures are made: stand-ins, unless real images are among them
PICTURES_CONTAIN = "measured" if PICTURE_STATES else "stand-in"
PICTURE_TRAININGS = [
    f"{name}/{encoder}/{arm}-{replicate}"
    for name in PICTURE_NAMES
    for encoder, arm in contrastive_images.trained(PICTURE_SETS[name])
    for replicate in range(PICTURE_SETS[name]["replicates"])
]
# a data set's encoders, each with all its arms, by replicate
PICTURE_ENCODERS = [
    f"{name}/{encoder}-{replicate}"
    for name in PICTURE_NAMES
    for encoder in dict(contrastive_images.trained(PICTURE_SETS[name]))
    for replicate in range(PICTURE_SETS[name]["replicates"])
]
PICTURE_TRACES = expand(f"{PICTURE_MEASUREMENTS}/trace/{{each}}.parquet", each=PICTURE_TRAININGS)
PICTURE_EVALUATIONS = expand(
    f"{PICTURE_MEASUREMENTS}/{{what}}/{{each}}.parquet",
    what=["evaluation", "separation"],
    each=PICTURE_ENCODERS,
)

PICTURE_FILES = publish(
    "contrastive",
    figures=["image-views", "fig-1", "fig-2", "fig-3", "fig-4", "first-layer"],
    tables=["images"],
    ledgers=["images"],
    artefacts=[
        *expand(f"{PICTURE_MEASUREMENTS}/{{name}}/images.parquet", name=PICTURE_STATES),
        *expand(f"{PICTURE_WEIGHTS}/{{each}}.safetensors", each=PICTURE_TRAININGS),
        *expand(f"{PICTURE_MEASUREMENTS}/history/{{each}}.parquet", each=PICTURE_TRAININGS),
        *PICTURE_TRACES,
        *PICTURE_EVALUATIONS,
        *expand(
            f"{PICTURE_MEASUREMENTS}/{{what}}/{{each}}.parquet",
            what=["patterns", "pictures", "map"],
            each=PICTURE_ENCODERS,
        ),
        f"{PICTURE_MEASUREMENTS}/evaluations.parquet",
        f"{PICTURE_MEASUREMENTS}/traces.parquet",
    ],
)
CONTRASTIVE_FILES += PICTURE_FILES


wildcard_constraints:
    image_data="|".join(PICTURE_NAMES),
    encoder="[A-Za-z0-9_-]+",


rule contrastive_images:
    input:
        PICTURE_FILES,


rule contrastive_images_data:
    output:
        f"{PICTURE_MEASUREMENTS}/{{image_data}}/images.parquet",
    log:
        f"{RESULTS}/logs/contrastive/images-data-{{image_data}}.log",
    conda:
        "../../../environment.yml"
    resources:
        **request(mem_mb=3000, runtime=120),
    params:
        code=code("contrastive/images_data.py"),
        config=lambda wildcards: PICTURE_SETS[wildcards.image_data],
        seed=config["seed"],
        cache=PICTURE_CACHE,
        # files that changed since are decoded again
        state=lambda wildcards: PICTURE_STATES[wildcards.image_data],
    script:
        "../../../scripts/contrastive/images_data.py"


rule contrastive_images_train:
    input:
        unpack(decoded_images),
    output:
        weights=f"{PICTURE_WEIGHTS}/{{image_data}}/{{encoder}}/{{arm}}-{{replicate}}.safetensors",
        history=f"{PICTURE_MEASUREMENTS}/history/{{image_data}}/{{encoder}}/{{arm}}-{{replicate}}.parquet",
        trace=f"{PICTURE_MEASUREMENTS}/trace/{{image_data}}/{{encoder}}/{{arm}}-{{replicate}}.parquet",
    log:
        f"{RESULTS}/logs/contrastive/images-train-{{image_data}}-{{encoder}}-{{arm}}-{{replicate}}.log",
    wildcard_constraints:
        arm="|".join(contrastive_images.ARMS),
    cache: SHARED
    conda:
        "../../../environment.yml"
    threads: config["threads"]
    resources:
        **request(mem_mb=3000, runtime=1440, gpu=GPU),
    params:
        code=code("contrastive/images_train.py"),
        config=lambda wildcards: training_part(wildcards.image_data),
        seed=config["seed"],
        device=config["device"],
        cache=PICTURE_CACHE,
        threads=config["threads"],
    script:
        "../../../scripts/contrastive/images_train.py"


# this and the next begin with the last trainings, not after them: no core idles at the end
rule contrastive_images_measure:
    input:
        unpack(trained_pictures),
    output:
        evaluation=f"{PICTURE_MEASUREMENTS}/evaluation/{{image_data}}/{{encoder}}-{{replicate}}.parquet",
        patterns=f"{PICTURE_MEASUREMENTS}/patterns/{{image_data}}/{{encoder}}-{{replicate}}.parquet",
        pictures=f"{PICTURE_MEASUREMENTS}/pictures/{{image_data}}/{{encoder}}-{{replicate}}.parquet",
    log:
        f"{RESULTS}/logs/contrastive/images-measure-{{image_data}}-{{encoder}}-{{replicate}}.log",
    cache: SHARED
    priority: 1
    conda:
        "../../../environment.yml"
    threads: config["threads"]
    resources:
        **request(mem_mb=3000, runtime=240, gpu=GPU),
    params:
        code=code("contrastive/images_measure.py"),
        what="responses",
        config=lambda wildcards: PICTURE_SETS[wildcards.image_data],
        arms=lambda wildcards: arms_of(wildcards.image_data, wildcards.encoder),
        seed=config["seed"],
        device=config["device"],
        cache=PICTURE_CACHE,
        threads=config["threads"],
    script:
        "../../../scripts/contrastive/images_measure.py"


rule contrastive_images_map:
    input:
        unpack(mapped_pictures),
    output:
        map=f"{PICTURE_MEASUREMENTS}/map/{{image_data}}/{{encoder}}-{{replicate}}.parquet",
        separation=f"{PICTURE_MEASUREMENTS}/separation/{{image_data}}/{{encoder}}-{{replicate}}.parquet",
    log:
        f"{RESULTS}/logs/contrastive/images-map-{{image_data}}-{{encoder}}-{{replicate}}.log",
    cache: SHARED
    priority: 1
    conda:
        "../../../environment.yml"
    threads: config["threads"]
    resources:
        **request(mem_mb=3000, runtime=240, gpu=GPU),
    params:
        code=code("contrastive/images_measure.py"),
        what="map",
        config=lambda wildcards: PICTURE_SETS[wildcards.image_data],
        arms=lambda wildcards: mapped_arms(wildcards.image_data, wildcards.encoder),
        seed=config["seed"],
        device=config["device"],
        cache=PICTURE_CACHE,
        threads=config["threads"],
    script:
        "../../../scripts/contrastive/images_measure.py"


rule contrastive_images_evaluations:
    input:
        parts=PICTURE_EVALUATIONS,
        traces=PICTURE_TRACES,
    output:
        evaluations=f"{PICTURE_MEASUREMENTS}/evaluations.parquet",
        traces=f"{PICTURE_MEASUREMENTS}/traces.parquet",
    log:
        f"{RESULTS}/logs/contrastive/images-evaluations.log",
    group:
        "contrastive-images"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("contrastive/images_evaluations.py"),
    script:
        "../../../scripts/contrastive/images_evaluations.py"


rule contrastive_images_table:
    input:
        rules.contrastive_images_evaluations.output.evaluations,
    output:
        **table("contrastive", "images"),
    log:
        f"{RESULTS}/logs/contrastive/table-images.log",
    group:
        "contrastive-images"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("contrastive/table_images.py"),
        config=PICTURE_SETS,
        contains=PICTURES_CONTAIN,
    script:
        "../../../scripts/contrastive/table_images.py"


rule contrastive_images_figure:
    input:
        unpack(shown_pictures),
        table=rules.contrastive_images_table.output.parquet,
    output:
        **figure("contrastive", "fig-{number}"),
    log:
        f"{RESULTS}/logs/contrastive/figure-images-{{number}}.log",
    wildcard_constraints:
        number="[1-4]",
    group:
        "contrastive-images"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=lambda wildcards: code(f"contrastive/figure_images_{wildcards.number}.py"),
        names=PICTURE_NAMES,
        contains=PICTURES_CONTAIN,
    script:
        "../../../scripts/contrastive/figure_images_{wildcards.number}.py"


rule contrastive_images_figure_first_layer:
    input:
        traces=rules.contrastive_images_evaluations.output.traces,
        table=rules.contrastive_images_table.output.parquet,
    output:
        **figure("contrastive", "first-layer"),
    log:
        f"{RESULTS}/logs/contrastive/figure-images-first-layer.log",
    group:
        "contrastive-images"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("contrastive/figure_images_first_layer.py"),
        names=PICTURE_NAMES,
        contains=PICTURES_CONTAIN,
    script:
        "../../../scripts/contrastive/figure_images_first_layer.py"


rule contrastive_images_figure_views:
    input:
        expand(f"{PICTURE_MEASUREMENTS}/{{name}}/images.parquet", name=PICTURE_STATES),
    output:
        **figure("contrastive", "image-views"),
    log:
        f"{RESULTS}/logs/contrastive/figure-images-views.log",
    group:
        "contrastive-images"
    conda:
        "../../../environment.yml"
    threads: config["threads"]
    resources:
        **SHORT,
    params:
        code=code("contrastive/figure_images_views.py"),
        config=PICTURE_SETS,
        names=PICTURE_NAMES,
        seed=config["seed"],
        cache=PICTURE_CACHE,
        threads=config["threads"],
        contains="drawn",
    script:
        "../../../scripts/contrastive/figure_images_views.py"


rule contrastive_images_claims:
    input:
        rules.contrastive_images_evaluations.output.evaluations,
    output:
        ledger("contrastive", "images"),
    log:
        f"{RESULTS}/logs/contrastive/claims-images.log",
    group:
        "contrastive-images"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("contrastive/claims_images.py"),
        config=PICTURE_SETS,
    script:
        "../../../scripts/contrastive/claims_images.py"
