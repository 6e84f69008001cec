# Which parts do the classifiers of the images section use? Maps, counts, and Table 1.

from featlearn.mrp.images import cam_config

CAMS = config["eigencam"]
try:
    refuse(cam_config.faults(config))
    if workflow.is_main_process:
        refuse(cam_config.missing_files(CAMS["photographs"]))
    CAM_PHOTOGRAPHS_STATE = cam_config.state(CAMS["photographs"])
except FeatlearnError as error:
    raise WorkflowError(str(error))

# of each start its network
CAM_ENCODERS = {
    start: (
        IMAGES["pretraining"][start]["encoder"]
        if start in IMAGES["pretraining"]
        else start.removeprefix("random-")
    )
    for start in IMAGE_STARTS
}
# the paper's pairs are of a convolutional network, its triples of a vision transformer
CAM_FIGURES = {
    "fig-1": ["random-cnn"],
    "fig-3": ["random-cnn", "simmim"],
    "fig-4": ["random-cnn", "simmim"],
}
if {"mae", "data2vec"} <= set(IMAGE_STARTS):
    CAM_FIGURES["fig-5"] = ["random-vit", "mae", "data2vec"]
CAM_PHOTOGRAPHS = CAMS["photographs"]["folder"] is not None

EIGENCAM_FILES = publish(
    "mrp",
    figures=[
        *CAM_FIGURES,
        "cam-part-use",
        "cam-by-part",
        "cam-readings",
        "cam-phase-diagram",
        *(["cam-photographs"] if CAM_PHOTOGRAPHS else []),
    ],
    tables=["cam-part-use", "table-1", "table-1-first-version"],
    ledgers=["eigencam"],
    artefacts=[
        *expand(
            f"{IMAGE_MEASUREMENTS}/eigencam/{{replicate}}{{part}}.parquet",
            replicate=IMAGE_REPLICATES,
            part=["", "-by-part", "-readings"],
        ),
        f"{IMAGE_MEASUREMENTS}/eigencam.parquet",
        f"{IMAGE_MEASUREMENTS}/eigencam_by_part.parquet",
        f"{IMAGE_MEASUREMENTS}/eigencam_readings.parquet",
    ],
)


rule eigencam:
    input:
        EIGENCAM_FILES,


rule cam_measure:
    input:
        expand(
            f"{IMAGE_WEIGHTS}/classifiers/{{start}}-{{{{replicate}}}}.safetensors",
            start=CAM_ENCODERS,
        ),
    output:
        values=f"{IMAGE_MEASUREMENTS}/eigencam/{{replicate}}.parquet",
        by_part=f"{IMAGE_MEASUREMENTS}/eigencam/{{replicate}}-by-part.parquet",
        readings=f"{IMAGE_MEASUREMENTS}/eigencam/{{replicate}}-readings.parquet",
    log:
        f"{RESULTS}/logs/images/eigencam-{{replicate}}.log",
    cache: SHARED
    conda:
        "../../environment.yml"
    threads: config["threads"]
    resources:
        **request(mem_mb=3000, runtime=30, gpu=GPU),
    params:
        code=code("images/cam_measure.py"),
        config=parts(IMAGES, *PICTURES),
        encoders=CAM_ENCODERS,
        labels=IMAGES["comparison"]["labels"],
        pictures=CAMS["pictures"],
        seed=config["seed"],
        device=config["device"],
        threads=config["threads"],
    script:
        "../../scripts/images/cam_measure.py"


rule cam_values:
    input:
        parts=expand(rules.cam_measure.output.values, replicate=IMAGE_REPLICATES),
    output:
        f"{IMAGE_MEASUREMENTS}/eigencam.parquet",
    log:
        f"{RESULTS}/logs/images/eigencam.log",
    group:
        "eigencam"
    conda:
        "../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("core/concatenate.py"),
    script:
        "../../scripts/core/concatenate.py"


rule cam_values_by_part:
    input:
        parts=expand(rules.cam_measure.output.by_part, replicate=IMAGE_REPLICATES),
    output:
        f"{IMAGE_MEASUREMENTS}/eigencam_by_part.parquet",
    log:
        f"{RESULTS}/logs/images/eigencam-by-part.log",
    group:
        "eigencam"
    conda:
        "../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("core/concatenate.py"),
    script:
        "../../scripts/core/concatenate.py"


rule cam_readings:
    input:
        parts=expand(rules.cam_measure.output.readings, replicate=IMAGE_REPLICATES),
    output:
        f"{IMAGE_MEASUREMENTS}/eigencam_readings.parquet",
    log:
        f"{RESULTS}/logs/images/eigencam-readings.log",
    group:
        "eigencam"
    conda:
        "../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("core/concatenate.py"),
    script:
        "../../scripts/core/concatenate.py"


rule cam_figure_maps:
    input:
        shown_classifiers,
    output:
        **figure("mrp", "{figure}"),
    log:
        f"{RESULTS}/logs/images/{{figure}}.log",
    wildcard_constraints:
        figure="|".join(CAM_FIGURES),
    conda:
        "../../environment.yml"
    threads: config["threads"]
    resources:
        **request(mem_mb=2000, runtime=10),
    params:
        code=code("images/figure_cams.py"),
        config=parts(IMAGES, *PICTURES),
        encoders=lambda wildcards: {
            start: CAM_ENCODERS[start] for start in CAM_FIGURES[wildcards.figure]
        },
        labels=MOST_LABELS,
        shown=CAMS["shown"],
        seed=config["seed"],
        threads=config["threads"],
        contains="stand-in",
    script:
        "../../scripts/images/figure_cams.py"


rule cam_figure_part_use:
    input:
        values=rules.cam_values.output[0],
        by_part=rules.cam_values_by_part.output[0],
        readings=rules.cam_readings.output[0],
        phase_diagram=rules.images_phase_diagram.output[0],
    output:
        **figure("mrp", "cam-{what}"),
    log:
        f"{RESULTS}/logs/images/figure-cam-{{what}}.log",
    wildcard_constraints:
        what="part-use|by-part|readings|phase-diagram",
    group:
        "eigencam"
    conda:
        "../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("images/figure_part_use.py"),
        contains="stand-in",
    script:
        "../../scripts/images/figure_part_use.py"


rule cam_figure_photographs:
    output:
        **figure("mrp", "cam-photographs"),
    log:
        f"{RESULTS}/logs/images/figure-cam-photographs.log",
    conda:
        "../../environment.yml"
    threads: config["threads"]
    resources:
        **request(mem_mb=2000, runtime=10, gpu=GPU),
    params:
        code=code("images/figure_photographs.py"),
        config=CAMS["photographs"],
        # a folder whose files changed since is looked at again
        state=CAM_PHOTOGRAPHS_STATE,
        device=config["device"],
        threads=config["threads"],
        contains="measured",
    script:
        "../../scripts/images/figure_photographs.py"


rule cam_table_part_use:
    input:
        rules.cam_values.output[0],
    output:
        **table("mrp", "cam-part-use"),
    log:
        f"{RESULTS}/logs/images/table-cam-part-use.log",
    group:
        "eigencam"
    conda:
        "../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("images/cam_table.py"),
        contains="stand-in",
    script:
        "../../scripts/images/cam_table.py"


rule cam_table_1:
    input:
        values=asset("config/paper_values/mrp.yaml"),
        comparison=rules.images_comparison.output[0],
        transfer=rules.images_all_transfer.output[0],
        detection=rules.images_all_detection.output[0],
    output:
        **table("mrp", "{name}"),
    log:
        f"{RESULTS}/logs/images/{{name}}.log",
    wildcard_constraints:
        name="table-1(-first-version)?",
    group:
        "eigencam"
    conda:
        "../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("images/cam_table_1.py"),
        contains="stand-in",
    script:
        "../../scripts/images/cam_table_1.py"


rule cam_claims:
    input:
        rules.cam_values.output[0],
    output:
        ledger("mrp", "eigencam"),
    log:
        f"{RESULTS}/logs/images/claims-eigencam.log",
    group:
        "eigencam"
    conda:
        "../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("images/cam_claims.py"),
        config=parts(config, "images", "eigencam"),
    script:
        "../../scripts/images/cam_claims.py"
