# Figures of the paper itself that are drawn, not measured.

NONCONTRASTIVE_FILES += publish(
    "noncontrastive",
    figures=["fig-6", "fig-8"],
)


rule noncontrastive_figure_schematic:
    output:
        **figure("noncontrastive", "fig-6"),
    log:
        f"{RESULTS}/logs/noncontrastive/fig-6.log",
    group:
        "noncontrastive-paper_items"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("noncontrastive/figure_schematic.py"),
        contains="drawn",
    script:
        "../../../scripts/noncontrastive/figure_schematic.py"


rule noncontrastive_figure_framework:
    output:
        **figure("noncontrastive", "fig-8"),
    log:
        f"{RESULTS}/logs/noncontrastive/fig-8.log",
    group:
        "noncontrastive-paper_items"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("noncontrastive/figure_framework.py"),
        contains="drawn",
    script:
        "../../../scripts/noncontrastive/figure_framework.py"
