# Shi 2024, chapter 2: features emerge from the structure of the inputs.

from featlearn.emergence import config as emergence_config

checked(emergence_config.faults(config["emergence"]))

# --------------------------------------------------------------------------------------- curves
# Six arms on each law of the data: accuracies, cosines, and maps of the weights.

CURVES = config["emergence"]["curves"]


use rule compute as emergence_curves with:
    output:
        values=f"{RESULTS}/emergence/measurements/curves/{{cell}}.parquet",
        maps=f"{RESULTS}/emergence/measurements/curves/{{cell}}-maps.parquet",
    log:
        f"{LOGS}/emergence/curves-{{cell}}.log",
    wildcard_constraints:
        cell="|".join(CURVES),
    resources:
        **request(mem_mb=5000, runtime=60, gpu=GPU),
    params:
        **by("emergence.experiments.curves:measure", lambda wildcards: CURVES[wildcards.cell]),


experiment(
    "emergence",
    "curves",
    CURVES,
    values=expand(rules.emergence_curves.output.values, cell=CURVES),
    maps=expand(rules.emergence_curves.output.maps, cell=CURVES),
    quoted=asset("config/paper_values/emergence.yaml"),
)

# -------------------------------------------------------------------------------------- general
# Patterns that are not orthogonal, under noise: feature learning against fixed features.

GENERAL = config["emergence"]["general"]


use rule compute as emergence_general with:
    output:
        values=f"{RESULTS}/emergence/measurements/general/{{noise}}.parquet",
    log:
        f"{LOGS}/emergence/general-{{noise}}.log",
    wildcard_constraints:
        noise="|".join(str(noise).replace(".", "[.]") for noise in GENERAL["noises"]),
    params:
        **by("emergence.experiments.general:measure", GENERAL),


experiment(
    "emergence",
    "general",
    GENERAL,
    values=expand(rules.emergence_general.output.values, noise=GENERAL["noises"]),
)

# -------------------------------------------------------------------------------------- mixture
# Gaussians at the corners of a cube: coverage of the clusters, signs of the neurons.

MIXTURE = config["emergence"]["mixture"]
MIXTURES = f"{RESULTS}/emergence/measurements/mixture"


use rule compute as emergence_mixture with:
    output:
        values=f"{MIXTURES}/values.parquet",
        maps=f"{MIXTURES}/maps.parquet",
        corners=f"{MIXTURES}/corners.parquet",
    log:
        f"{LOGS}/emergence/mixture.log",
    params:
        **by("emergence.experiments.mixture:measure", MIXTURE),


experiment(
    "emergence",
    "mixture",
    MIXTURE,
    values=rules.emergence_mixture.output.values,
    maps=rules.emergence_mixture.output.maps,
    corners=rules.emergence_mixture.output.corners,
    quoted=asset("config/paper_values/emergence.yaml"),
)

# ------------------------------------------------------------------------------------- pictures
# Everything of the chapter that is made of pictures. Digits of 8 x 8 pixels stand in for the sets of
# the thesis, unless a config names others. Files that changed since are decoded again.

PICTURED, PICTURES_MISSING = emergence_config.states(config["emergence"])
if workflow.is_main_process:
    for line in PICTURES_MISSING:
        logger.warning(f"{line}; its jobs will fail until the pictures are there")

# Two-layer networks: where the neurons point.
NEURONS = config["emergence"]["neurons"]


use rule compute as emergence_neurons with:
    output:
        values=f"{RESULTS}/emergence/measurements/neurons/values.parquet",
        maps=f"{RESULTS}/emergence/measurements/neurons/maps.parquet",
    log:
        f"{LOGS}/emergence/neurons.log",
    params:
        **by(
            "emergence.experiments.neurons:measure",
            NEURONS,
            cache=".cache/images",
            state=PICTURED["neurons"],
        ),


experiment(
    "emergence",
    "neurons",
    NEURONS,
    contains=emergence_config.contents(config["emergence"], "neurons"),
    values=rules.emergence_neurons.output.values,
    maps=rules.emergence_neurons.output.maps,
)

# ResNets of several widths: filters and gradients.
FILTERS = config["emergence"]["filters"]


use rule compute as emergence_filters with:
    output:
        values=f"{RESULTS}/emergence/measurements/filters/{{width}}.parquet",
        maps=f"{RESULTS}/emergence/measurements/filters/{{width}}-maps.parquet",
    log:
        f"{LOGS}/emergence/filters-{{width}}.log",
    wildcard_constraints:
        width="|".join(map(str, FILTERS["widths"])),
    resources:
        **request(mem_mb=6000, runtime=240, gpu=GPU),
    params:
        **by(
            "emergence.experiments.filters:measure",
            FILTERS,
            cache=".cache/images",
            state=PICTURED["filters"],
        ),


experiment(
    "emergence",
    "filters",
    FILTERS,
    contains=emergence_config.contents(config["emergence"], "filters"),
    values=expand(rules.emergence_filters.output.values, width=FILTERS["widths"]),
    maps=expand(rules.emergence_filters.output.maps, width=FILTERS["widths"]),
    quoted=asset("config/paper_values/emergence-pictures.yaml"),
)

# Teachers, and students on inputs that they label: sizes first, as the teacher's is chosen by them.
INJECTED = config["emergence"]["injected"]


use rule compute as emergence_descent with:
    output:
        curves=f"{RESULTS}/emergence/measurements/injected/{{pictured}}-descent.parquet",
    log:
        f"{LOGS}/emergence/descent-{{pictured}}.log",
    wildcard_constraints:
        pictured="|".join(INJECTED),
    params:
        **by(
            "emergence.experiments.descent:measure",
            lambda wildcards: parts(
                INJECTED[wildcards.pictured],
                *("replicates", "pictures", "network", "training", "descent"),
            ),
            cache=".cache/images",
            state=lambda wildcards: PICTURED["injected"][wildcards.pictured],
        ),


use rule compute as emergence_students with:
    input:
        curves=rules.emergence_descent.output.curves,
    output:
        values=f"{RESULTS}/emergence/measurements/injected/{{pictured}}-students.parquet",
    log:
        f"{LOGS}/emergence/students-{{pictured}}.log",
    wildcard_constraints:
        pictured="|".join(INJECTED),
    params:
        **by(
            "emergence.experiments.students:measure",
            lambda wildcards: parts(
                INJECTED[wildcards.pictured],
                *("replicates", "pictures", "others", "network", "training", "students"),
            ),
            cache=".cache/images",
            state=lambda wildcards: PICTURED["injected"][wildcards.pictured],
        ),


experiment(
    "emergence",
    "injected",
    INJECTED,
    contains=emergence_config.contents(config["emergence"], "injected"),
    curves=expand(rules.emergence_descent.output.curves, pictured=INJECTED),
    values=expand(rules.emergence_students.output.values, pictured=INJECTED),
)
