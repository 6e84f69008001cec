# Figures of the paper itself that are drawn, not measured.

NONCONTRASTIVE_FILES += publish(
    "noncontrastive",
    figures=["fig-6"],
)


rule noncontrastive_figure_schematic:
    output:
        **figure("noncontrastive", "fig-6"),
    log:
        f"{RESULTS}/logs/noncontrastive/fig-6.log",
    conda:
        "../../../environment.yml"
    params:
        code=code("noncontrastive/figure_schematic.py"),
        contains="drawn",
    script:
        "../../../scripts/noncontrastive/figure_schematic.py"
