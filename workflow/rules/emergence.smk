# Shi 2024, chapter 2: features emerge from the structure of the inputs.

from featlearn.emergence import config as emergence_config

EMERGENCE = config["emergence"]
# digits of 8 x 8 pixels stand in for the sets of the thesis, unless a config names others
PICTURED, PICTURES_MISSING = emergence_config.states(EMERGENCE)
warned(PICTURES_MISSING)


use rule compute as emergence_curves with:
    output:
        **outputs("emergence/curves", values="{cell}", maps="{cell}-maps"),
    resources:
        **request(mem_mb=5000, runtime=60, gpu=GPU),
    params:
        **by("emergence.experiments.curves:measure", each="cell"),


measured("compute", "emergence/general", "values", at="{noise}")
measured("compute", "emergence/mixture", "values maps")
measured("compute", "emergence/neurons", "values maps", images=PICTURED["neurons"])


use rule compute as emergence_filters with:
    output:
        **outputs("emergence/filters", values="{width}", maps="{width}-maps"),
    resources:
        **request(mem_mb=6000, runtime=240, gpu=GPU),
    params:
        **by("emergence.experiments.filters:measure", images=PICTURED["filters"]),


# teachers, and students on inputs that they label: sizes first, as the teacher's is chosen by them
use rule compute as emergence_descent with:
    output:
        **outputs("emergence/injected", curves="{pictured}-descent"),
    params:
        **by(
            "emergence.experiments.descent:measure",
            EMERGENCE["injected"],
            each="pictured",
            only="replicates pictures network training descent",
            images=lambda wildcards: PICTURED["injected"][wildcards.pictured],
        ),


use rule emergence_descent as emergence_students with:
    input:
        curves=rules.emergence_descent.output.curves,
    output:
        **outputs("emergence/injected", values="{pictured}-students"),
    params:
        **by(
            "emergence.experiments.students:measure",
            EMERGENCE["injected"],
            each="pictured",
            only="replicates pictures others network training students",
        ),


experiment("emergence", "curves", over={"cell": EMERGENCE["curves"]}, paper_values="emergence")
experiment("emergence", "general", over={"noise": EMERGENCE["general"]["noises"]})
experiment("emergence", "mixture", paper_values="emergence")
experiment("emergence", "neurons", contains=emergence_config.contents(EMERGENCE, "neurons"))
experiment(
    "emergence",
    "filters",
    over={"width": EMERGENCE["filters"]["widths"]},
    contains=emergence_config.contents(EMERGENCE, "filters"),
    paper_values="emergence-pictures",
)
experiment(
    "emergence",
    "injected",
    rules.emergence_descent,
    rules.emergence_students,
    over={"pictured": EMERGENCE["injected"]},
    contains=emergence_config.contents(EMERGENCE, "injected"),
)
