# Figures and tables of the paper itself that are drawn or quoted, not measured. Table 1 is
# measured: see eigencam.smk.

MRP_FILES += publish(
    "mrp",
    figures=["fig-2", "fig-6"],
    tables=["appendix-b"],
)


rule mrp_table_quoted:
    input:
        values=asset("config/paper_values/mrp.yaml"),
    output:
        **table("mrp", "{name}"),
    log:
        f"{RESULTS}/logs/mrp/{{name}}.log",
    wildcard_constraints:
        name="appendix-b",
    group:
        "mrp-paper_items"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("mrp/table_quoted.py"),
        contains="quoted",
    script:
        "../../../scripts/mrp/table_quoted.py"


rule mrp_figure_schematic:
    output:
        **figure("mrp", "{name}"),
    log:
        f"{RESULTS}/logs/mrp/{{name}}.log",
    wildcard_constraints:
        name="fig-2|fig-6",
    group:
        "mrp-paper_items"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("mrp/figure_schematic.py"),
        contains="drawn",
    script:
        "../../../scripts/mrp/figure_schematic.py"
