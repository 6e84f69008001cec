# Thesis, chapter 4: Fourier circuits of modular addition. A cell is a number of inputs.

FOURIER = config["fourier"]

measured("calculate", "fourier/theory", "constructions ascent neurons")


use rule compute as fourier_circuits with:
    output:
        **outputs("fourier/circuits", "curves neurons weights heads", at="{cell}-*"),
    resources:
        **request(mem_mb=6000, runtime=120, gpu=GPU),
    params:
        **by("fourier.experiments.training:measure", FOURIER["circuits"], each="cell"),


measured("compute", "fourier/margins", "curves neurons heads", "training:measure_all")
OF_CELL = {"at": "{cell}-*", "each": "cell"}
measured("fourier_circuits", "fourier/attention", "accuracies heads maps", **OF_CELL)
measured("fourier_circuits", "fourier/grokking", "curves passages leaks", **OF_CELL)

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
