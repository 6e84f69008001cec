# Where pre-training helps on pictures: dials turned one at a time, on validation replicates.

IMAGE_DIALS = IMAGES["phase_diagram"]["dials"]

IMAGE_FILES += publish(
    "mrp",
    figures=["images-phase-diagram"],
    artefacts=[
        *expand(
            f"{IMAGE_MEASUREMENTS}/phase_diagram/{{dial}}-{{replicate}}.parquet",
            dial=IMAGE_DIALS,
            replicate=range(IMAGES["phase_diagram"]["replicates"]),
        ),
        f"{IMAGE_MEASUREMENTS}/phase_diagram.parquet",
    ],
)


rule images_dial:
    output:
        f"{IMAGE_MEASUREMENTS}/phase_diagram/{{dial}}-{{replicate}}.parquet",
    log:
        f"{RESULTS}/logs/images/dial-{{dial}}-{{replicate}}.log",
    wildcard_constraints:
        dial="|".join(IMAGE_DIALS),
    cache: SHARED
    # nothing waits for these: begun last, they would leave a core idle at the end
    priority: 1
    conda:
        "../../../environment.yml"
    threads: config["threads"]
    resources:
        **request(mem_mb=3000, runtime=120, gpu=GPU),
    params:
        code=code("images/dial.py"),
        config=lambda wildcards: {
            **parts(IMAGES, *PICTURES, "comparison"),
            "pretraining": {"simmim": IMAGES["pretraining"]["simmim"]},
            "phase_diagram": {
                **parts(IMAGES["phase_diagram"], "labels", "map_pictures"),
                "dials": {wildcards.dial: IMAGE_DIALS[wildcards.dial]},
            },
        },
        seed=config["seed"],
        device=config["device"],
        threads=config["threads"],
    script:
        "../../../scripts/images/dial.py"


rule images_phase_diagram:
    input:
        parts=expand(
            rules.images_dial.output[0],
            dial=IMAGE_DIALS,
            replicate=range(IMAGES["phase_diagram"]["replicates"]),
        ),
    output:
        f"{IMAGE_MEASUREMENTS}/phase_diagram.parquet",
    log:
        f"{RESULTS}/logs/images/phase-diagram.log",
    group:
        "images-phase_diagram"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("core/concatenate.py"),
    script:
        "../../../scripts/core/concatenate.py"


rule images_figure_phase_diagram:
    input:
        rules.images_phase_diagram.output[0],
    output:
        **figure("mrp", "images-phase-diagram"),
    log:
        f"{RESULTS}/logs/images/figure-phase-diagram.log",
    group:
        "images-phase_diagram"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("images/figure_phase_diagram.py"),
        contains="stand-in",
    script:
        "../../../scripts/images/figure_phase_diagram.py"
