"""What a valid ``fourier`` config must satisfy beyond types and ranges. No torch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import factorial
from typing import Any

from featlearn.core.run.checks import Checks

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
#: Accuracies from which training inputs are fitted, and from which a network answers the others.
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


def faults(fourier: Mapping[str, Any]) -> list[str]:
    """Values that contradict each other."""
    check = Checks("fourier", fourier)
    for key in ("theory.sizes", "theory.ascent.sizes"):
        sizes = [list(size) for size in check.value(key)]
        for k, p in sizes:
            if check(key, k >= 2 and p >= 3, "at least 2 numbers and a modulus of 3", [k, p]):
                wanted = f"sizes of at most {MOST_INPUTS} inputs, as all are summed"
                check(key, p**k <= MOST_INPUTS, wanted, f"{k} numbers mod {p}: {p**k}")
        check(key, QUOTED in sizes, f"a list with {QUOTED}, which the report quotes")
    for section, cells in ARMS.items():
        for name, arms in cells.items():
            _check_cell(check, f"{section}.{name}")
            check.holds(f"{section}.{name}.arms", *arms)
    for name, inputs in INPUTS.items():
        key = f"circuits.{name}.inputs"
        check(key, check.value(key) == inputs, f"{inputs}, as the cell's name says")
    strengths = [arm["penalty"] for arm in fourier["margins"]["strengths"]["arms"].values()]
    different = len({*strengths}) >= max(2, len(strengths))
    wanted = "at least two, with penalties that differ"
    check("margins.strengths.arms", different, wanted, strengths)
    for section in ("attention", "grokking"):
        for name in fourier[section]:
            _check_reading(check, f"{section}.{name}", READ[name])
    return check.faults


def _check_cell(check: Checks, key: str) -> None:
    cell = check.value(key)
    p, inputs, share = cell["modulus"], cell["modulus"] ** cell["inputs"], cell["train_share"]
    check(f"{key}.modulus", p % 2, "an odd number, which the maximum margin is known for")
    count = round(share * inputs)
    wanted = f"a share with at least {LEAST_TRAINING} inputs for training"
    check(f"{key}.train_share", count >= LEAST_TRAINING, wanted, f"{count} of {inputs}")
    wanted = f"so small that at most {MOST_NUMBERS} inputs have a number"
    check(f"{key}.modulus", inputs <= MOST_NUMBERS, wanted, f"{inputs} inputs")
    if key.rpartition(".")[2] in TESTED:
        left_out = min(cell["looked_at"], inputs) * (1 - share)
        wanted = f"a share that leaves {LEAST_TESTED} of the inputs that are looked at for tests"
        got = f"{share}, which leaves about {left_out:.0f}"
        check(f"{key}.train_share", left_out >= LEAST_TESTED, wanted, got)


def _check_reading(check: Checks, key: str, inputs: int) -> None:
    cell = check.value(key)
    k, p, share = cell["inputs"], cell["modulus"], cell["train_share"]
    check(f"{key}.inputs", k == inputs, f"{inputs}, as the cell's name says")
    check(f"{key}.modulus", p % 2, "an odd number, whose waves all have two phases")
    # an orbit has at most k! inputs, and with less than one for each nothing is taught
    count, least = round(share * p**k), factorial(k)
    wanted = f"a share with {least} inputs for training and for testing: as many as permutations"
    right = least <= count <= p**k - least
    check(f"{key}.train_share", right, wanted, f"{count} of {p**k} inputs")
    if "transformer" in cell:
        why = "no first passage is seen otherwise"
        check.most(f"{key}.transformer.look_every", f"{key}.transformer.steps", why)
        check.most(f"{key}.polynomial.look_every", f"{key}.polynomial.training.steps", why)
