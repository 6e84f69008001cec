# Figures and tables of the paper itself that are drawn or quoted, not measured.

MRP_FILES += publish(
    "mrp",
    figures=["fig-2", "fig-6"],
    tables=["table-1", "table-1-first-version"],
)


rule mrp_table_quoted:
    input:
        values=asset("config/paper_values/mrp.yaml"),
    output:
        **table("mrp", "{name}"),
    log:
        f"{RESULTS}/logs/mrp/{{name}}.log",
    wildcard_constraints:
        name="table-1(-first-version)?",
    conda:
        "../../../environment.yml"
    params:
        code=code("mrp/table_quoted.py"),
        # the measured column waits for the image experiments
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
    conda:
        "../../../environment.yml"
    params:
        code=code("mrp/figure_schematic.py"),
        contains="drawn",
    script:
        "../../../scripts/mrp/figure_schematic.py"
