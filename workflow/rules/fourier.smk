# Thesis, chapter 4: Fourier circuits of modular addition.

from featlearn.fourier import config as fourier_config

checked(fourier_config.faults(config["fourier"]))

FOURIER = f"{RESULTS}/fourier/measurements"

# --------------------------------------------------------------------------------------- theory
# The maximum margin: by construction, and by the ascent of one neuron.

THEORY = config["fourier"]["theory"]


use rule calculate as fourier_theory with:
    output:
        constructions=f"{FOURIER}/theory/constructions.parquet",
        ascent=f"{FOURIER}/theory/ascent.parquet",
        neurons=f"{FOURIER}/theory/neurons.parquet",
    log:
        f"{LOGS}/fourier/theory.log",
    params:
        **by("fourier.experiments.theory:measure", THEORY),


experiment(
    "fourier",
    "theory",
    THEORY,
    constructions=rules.fourier_theory.output.constructions,
    ascent=rules.fourier_theory.output.ascent,
    neurons=rules.fourier_theory.output.neurons,
)

# ------------------------------------------------------------------------------------- circuits
# Trained networks, a cell a number of inputs: some neurons, spectra of all.

CIRCUITS = config["fourier"]["circuits"]


use rule compute as fourier_circuits with:
    output:
        curves=f"{FOURIER}/circuits/{{cell}}-curves.parquet",
        neurons=f"{FOURIER}/circuits/{{cell}}-neurons.parquet",
        weights=f"{FOURIER}/circuits/{{cell}}-weights.parquet",
        heads=f"{FOURIER}/circuits/{{cell}}-heads.parquet",
    log:
        f"{LOGS}/fourier/circuits-{{cell}}.log",
    wildcard_constraints:
        cell="|".join(CIRCUITS),
    resources:
        **request(mem_mb=6000, runtime=120, gpu=GPU),
    params:
        **by("fourier.experiments.training:measure", lambda wildcards: CIRCUITS[wildcards.cell]),


experiment(
    "fourier",
    "circuits",
    CIRCUITS,
    curves=expand(rules.fourier_circuits.output.curves, cell=CIRCUITS),
    neurons=expand(rules.fourier_circuits.output.neurons, cell=CIRCUITS),
    weights=expand(rules.fourier_circuits.output.weights, cell=CIRCUITS),
    heads=expand(rules.fourier_circuits.output.heads, cell=CIRCUITS),
)

# -------------------------------------------------------------------------------------- margins
# The margin over steps, penalty and width; the penalty against weight decay.

MARGINS = config["fourier"]["margins"]


use rule compute as fourier_margins with:
    output:
        curves=f"{FOURIER}/margins/curves.parquet",
        neurons=f"{FOURIER}/margins/neurons.parquet",
        heads=f"{FOURIER}/margins/heads.parquet",
    log:
        f"{LOGS}/fourier/margins.log",
    params:
        **by("fourier.experiments.training:measure_all", MARGINS),


experiment(
    "fourier",
    "margins",
    MARGINS,
    curves=rules.fourier_margins.output.curves,
    neurons=rules.fourier_margins.output.neurons,
    heads=rules.fourier_margins.output.heads,
)

# -------------------------------------------------------------------------------------- attention
# The maps of attention heads, a cell a number of inputs.

ATTENTION = config["fourier"]["attention"]


use rule compute as fourier_attention with:
    output:
        accuracies=f"{FOURIER}/attention/{{cell}}-accuracies.parquet",
        heads=f"{FOURIER}/attention/{{cell}}-heads.parquet",
        maps=f"{FOURIER}/attention/{{cell}}-maps.parquet",
    log:
        f"{LOGS}/fourier/attention-{{cell}}.log",
    wildcard_constraints:
        cell="|".join(ATTENTION),
    resources:
        **request(mem_mb=6000, runtime=120, gpu=GPU),
    params:
        **by("fourier.experiments.attention:measure", lambda wildcards: ATTENTION[wildcards.cell]),


experiment(
    "fourier",
    "attention",
    ATTENTION,
    accuracies=expand(rules.fourier_attention.output.accuracies, cell=ATTENTION),
    heads=expand(rules.fourier_attention.output.heads, cell=ATTENTION),
    maps=expand(rules.fourier_attention.output.maps, cell=ATTENTION),
)

# --------------------------------------------------------------------------------------- grokking
# Fitting and generalising by the way inputs are split, a cell a number of inputs.

GROKKING = config["fourier"]["grokking"]


use rule compute as fourier_grokking with:
    output:
        curves=f"{FOURIER}/grokking/{{cell}}-curves.parquet",
        passages=f"{FOURIER}/grokking/{{cell}}-passages.parquet",
        leaks=f"{FOURIER}/grokking/{{cell}}-leaks.parquet",
    log:
        f"{LOGS}/fourier/grokking-{{cell}}.log",
    wildcard_constraints:
        cell="|".join(GROKKING),
    resources:
        **request(mem_mb=6000, runtime=120, gpu=GPU),
    params:
        **by("fourier.experiments.grokking:measure", lambda wildcards: GROKKING[wildcards.cell]),


experiment(
    "fourier",
    "grokking",
    GROKKING,
    curves=expand(rules.fourier_grokking.output.curves, cell=GROKKING),
    passages=expand(rules.fourier_grokking.output.passages, cell=GROKKING),
    leaks=expand(rules.fourier_grokking.output.leaks, cell=GROKKING),
)
