# What the pictures look like: parts, classes, masks, scenes.

IMAGE_FILES += publish(
    "mrp",
    figures=["images-parts", "images-contact-sheet", "images-scenes"],
)


rule images_figure_pictures:
    output:
        **figure("mrp", "images-{sheet}"),
    log:
        f"{RESULTS}/logs/images/figure-{{sheet}}.log",
    wildcard_constraints:
        sheet="parts|contact-sheet|scenes",
    conda:
        "../../../environment.yml"
    threads: config["threads"]
    resources:
        **request(mem_mb=2000, runtime=10),
    params:
        code=code("images/figure_pictures.py"),
        config=parts(IMAGES, *PICTURES, "detection"),
        seed=config["seed"],
        contains="drawn",
    script:
        "../../../scripts/images/figure_pictures.py"
