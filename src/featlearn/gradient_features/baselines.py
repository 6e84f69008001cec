"""Which members of the panel of baselines a data model of chapter 3 goes without, and why."""

from __future__ import annotations

from collections.abc import Mapping

from featlearn.core.baselines import MEMBERS

NO_PATCHES = dict.fromkeys(
    ("patch maximum", "patch minimum", "patch second moments"), "inputs have no patches"
)
NOT_COMPARED = "only drawn here, as a line: no claim compares with it"


def _only(*methods: str, because: str = NOT_COMPARED) -> dict[str, str]:
    """All members but these."""
    return {name: because for name in MEMBERS if name not in methods}


#: By data model; a member that is not named is in the panel.
LEFT_OUT: Mapping[str, Mapping[str, str]] = {
    # of `opponents`
    "xor-baselines": NO_PATCHES,
    # of `learning`
    "linear": _only("linear", "own start"),
    "mixture": _only("linear", "own start"),
    "xor": _only("linear", "own start", because="compared in `opponents`"),
    # of `learning` and `structure`
    "parity": NO_PATCHES | {
        "shuffled labels": "at p_A = 0 the same training is a guess already"
    },
    # of `frozen`
    "two": _only("linear", "quadratic kernel", "own start",
                 because="the quadratic kernel has every label already"),
    "four": NO_PATCHES | {"shuffled labels": "its first step is a closed form without labels"},
    "multi_index": NO_PATCHES | {
        "shuffled labels": "a regression on them is at best the mean, which is in the panel"
    },
}  # fmt: skip
