"""What a valid ``fourier`` config must satisfy beyond types and ranges. No torch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import factorial
from typing import Any

#: Arms that a cell must have, by section and cell.
ARMS: Mapping[str, Mapping[str, Sequence[str]]] = {
    "circuits": {"three": ("penalty",), "four": ("penalty",), "five": ("penalty",)},
    "margins": {
        "full": ("penalty",),
        "strengths": (),
        # those that the caption of its figure names
        "widths": ("width-6", "width-96"),
        "decay": ("penalty", "weak-decay", "strong-decay"),
    },
}
#: Numbers that the cells of the figures add.
INPUTS = {"three": 3, "four": 4, "five": 5}
#: The same of the transformers' cells.
READ = {"two": 2, **INPUTS}
#: Accuracy on the training inputs from which they are fitted, on all others from which a network is
#: said to answer.
FITTED, ANSWERED = 0.99, 0.95
#: Share of the power at one frequency above which a vector is called pure.
PURE = 0.9
#: Inputs of the largest task of which all inputs are summed.
MOST_INPUTS = 20_000
#: Size (k, p) that stories and captions tell of.
QUOTED = [3, 7]
#: Inputs of the largest task that is trained on.
MOST_NUMBERS = 20_000_000
#: Cells of which accuracies on inputs that were left out are shown, and the fewest of those.
TESTED = ("three", "decay")
LEAST_TESTED = 10
#: Fewest training inputs: a fifth of them chooses the penalty of the heads.
LEAST_TRAINING = 5


def faults(fourier: Mapping[str, Any]) -> Iterator[str]:
    """Values that contradict each other: one line each, with the key and what was expected."""
    yield from _theory_faults(fourier["theory"])
    for section, named in ARMS.items():
        for name, arms in named.items():
            key = f"fourier.{section}.{name}"
            yield from _cell_faults(fourier[section][name], arms, key)
    for name, inputs in INPUTS.items():
        given = fourier["circuits"][name]["inputs"]
        if given != inputs:
            yield f"fourier.circuits.{name}.inputs: {given}; expected {inputs}, as the cell's name"
    strengths = [arm["penalty"] for arm in fourier["margins"]["strengths"]["arms"].values()]
    if len({*strengths}) < max(2, len(strengths)):
        yield (
            f"fourier.margins.strengths.arms: penalties {strengths}; expected at least two, all "
            "different"
        )
    for section in ("attention", "grokking"):
        for name, cell in fourier[section].items():
            yield from _reading_faults(name, cell, f"fourier.{section}.{name}")


def _theory_faults(theory: Mapping[str, Any]) -> Iterator[str]:
    for key, sizes in (("sizes", theory["sizes"]), ("ascent.sizes", theory["ascent"]["sizes"])):
        for k, p in sizes:
            where = f"fourier.theory.{key}: {k} numbers mod {p}"
            if k < 2 or p < 3:
                yield f"{where}; expected at least 2 numbers and a modulus of 3"
            elif p**k > MOST_INPUTS:
                yield f"{where}, {p**k} inputs; expected at most {MOST_INPUTS}: all are summed"
        if QUOTED not in [list(size) for size in sizes]:
            yield f"fourier.theory.{key}: expected also {QUOTED}, which the report quotes"


def _cell_faults(cell: Mapping[str, Any], arms: Sequence[str], key: str) -> Iterator[str]:
    k, p, share = cell["inputs"], cell["modulus"], cell["train_share"]
    if p % 2 == 0:
        yield f"{key}.modulus: {p}; expected an odd number, which the maximum margin is known for"
    count = round(share * p**k)
    if count < LEAST_TRAINING:
        yield (
            f"{key}.train_share: {count} of {p**k} inputs; expected at least {LEAST_TRAINING} for "
            "training"
        )
    if p**k > MOST_NUMBERS:
        yield f"{key}.modulus: {p**k} inputs; expected at most {MOST_NUMBERS}, each has a number"
    left_out = min(cell["looked_at"], p**k) * (1 - share)
    if key.rpartition(".")[2] in TESTED and left_out < LEAST_TESTED:
        yield (
            f"{key}.train_share: {share} leaves about {left_out:.0f} of the inputs that are looked "
            f"at out; expected at least {LEAST_TESTED}, which the network is tested on"
        )
    missing = [arm for arm in arms if arm not in cell["arms"]]
    if missing:
        yield f"{key}.arms: {', '.join(cell['arms'])}; expected also {', '.join(missing)}"


def _reading_faults(name: str, cell: Mapping[str, Any], key: str) -> Iterator[str]:
    k, p, share = cell["inputs"], cell["modulus"], cell["train_share"]
    if k != READ[name]:
        yield f"{key}.inputs: {k}; expected {READ[name]}, as the cell's name"
    if p % 2 == 0:
        yield f"{key}.modulus: {p}; expected an odd number, whose waves all have two phases"
    count = round(share * p**k)
    # an orbit has at most k! inputs, and with less than one for each nothing is taught
    if not factorial(k) <= count <= p**k - factorial(k):
        yield (
            f"{key}.train_share: {count} of {p**k} inputs; expected at least {factorial(k)} for "
            "training and for testing: as many as permutations"
        )
    for network, steps in _looked_at(cell):
        every = cell[network]["look_every"]
        if every > steps:
            yield (
                f"{key}.{network}.look_every: {every}; expected at most the {steps} steps, or no "
                "first passage is seen"
            )


def _looked_at(cell: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    """Networks of a cell of which first passages are looked for, with their steps."""
    if "transformer" in cell:
        yield "transformer", cell["transformer"]["steps"]
        yield "polynomial", cell["polynomial"]["training"]["steps"]
