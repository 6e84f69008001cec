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
