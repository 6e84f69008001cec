# Thesis, chapter 4: Fourier circuits of modular addition. A cell is a number of inputs.

FOURIER = config["fourier"]


use rule calculate as fourier_theory with:
    output:
        **outputs("fourier/theory", "constructions ascent neurons"),
    params:
        **by("fourier.experiments.theory:measure"),


use rule compute as fourier_circuits with:
    output:
        **outputs("fourier/circuits", "curves neurons weights heads", at="{cell}-*"),
    resources:
        **request(mem_mb=6000, runtime=120, gpu=GPU),
    params:
        **by("fourier.experiments.training:measure", FOURIER["circuits"], each="cell"),


use rule compute as fourier_margins with:
    output:
        **outputs("fourier/margins", "curves neurons heads"),
    params:
        **by("fourier.experiments.training:measure_all", FOURIER["margins"]),


use rule fourier_circuits as fourier_attention with:
    output:
        **outputs("fourier/attention", "accuracies heads maps", at="{cell}-*"),
    params:
        **by("fourier.experiments.attention:measure", each="cell"),


use rule fourier_circuits as fourier_grokking with:
    output:
        **outputs("fourier/grokking", "curves passages leaks", at="{cell}-*"),
    params:
        **by("fourier.experiments.grokking:measure", each="cell"),


experiment("fourier", "theory")
experiment("fourier", "margins")

# the moduli of the figures: with smaller ones they are stand-ins
for name, printed in {
    "circuits": {"three": 97, "four": 47, "five": 23},
    "attention": {"three": 61, "four": 31, "five": 17},
    "grokking": {"two": 97, "three": 31, "four": 11, "five": 5},
}.items():
    cells = {cell: own["modulus"] for cell, own in FOURIER[name].items()}
    contains = "measured" if cells == printed else "stand-in"
    experiment("fourier", name, over={"cell": cells}, contains=contains)
