"""What the rules of the paper call, a module an experiment; and what experiments do alike."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from torch import Tensor

from featlearn.core.evidence import baselines
from featlearn.core.evidence.baselines import MEMBERS, Data, Score
from featlearn.core.seeds import Streams
from featlearn.gradient_features.law import Law, Sample
from featlearn.gradient_features.model import Network

NO_PATCHES = dict.fromkeys(
    ("patch maximum", "patch minimum", "patch second moments"), "inputs have no patches"
)
NOT_COMPARED = "only drawn here, as a line: no claim compares with it"


def _only(*methods: str, because: str = NOT_COMPARED) -> dict[str, str]:
    """All members but these."""
    return {name: because for name in MEMBERS if name not in methods}


#: Which members of the panel a data model goes without, and why.
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
#: What heads learn from, what chooses among them, what all are tested on; a config has no order.
PARTS = ("train", "validation", "test")


def sets(
    law: Law, samples: Mapping[str, int], streams: Streams, name: str = ""
) -> dict[str, Sample]:
    """The :data:`PARTS`, from streams ``<name><part>``."""
    return {part: law.sample(samples[part], streams(f"{name}{part}")) for part in PARTS}


def looks(steps: int, each: int) -> list[int]:
    """``each`` in every power of ten, evenly spaced in the logarithm, from 1 to ``steps``."""
    return sorted({round(at) for at in np.geomspace(1, steps, int(each * np.log10(steps)) + 1)})


def scored(
    model: str, start: Network, data: Mapping[str, Sample], streams: Streams,
    scores: Mapping[str, Mapping[str, Tensor]] | None = None, /, *, degrees: Sequence[int] = (),
    score: baselines.Scorer = baselines.accuracy, best: Callable[..., Any] = max, **keys: Any,
) -> Iterator[dict[str, Any]]:  # fmt: skip
    """A row a method and replicate: the panel of baselines, and ``scores`` (R,) by part.

    ``model``: a key of :data:`LEFT_OUT`, and the name of its stream. ``degrees``: of the products of
    coordinates that join the panel. ``best``: whether validation chooses this member of it.
    """
    for place, (replicate, random) in enumerate(
        zip(streams.replicates, streams(f"{model}-panel"), strict=True)
    ):
        parts = [Data(inputs.x[place], inputs.y[place]) for inputs in data.values()]
        w, a, b = (part[place] for part in start)
        trained = {method: Score(*(of[part][place].item() for part in data))
                   for method, of in (scores or {}).items()}  # fmt: skip
        members, chosen = baselines.panel(
            baselines.kernels(parts[0].x, random)
            | {"own start": [baselines.relu_features(w, b)]}
            | {"tangent kernel": [baselines.tangent(w, a, b)]}
            | {f"products of {degree}": [baselines.products(degree)] for degree in degrees}
            | {name: one for name, one in trained.items() if name in baselines.MEMBERS},
            LEFT_OUT[model], parts, score, best=best,
        )  # fmt: skip
        for method, (train, validation, test) in (trained | members).items():
            yield {**keys, "method": method, "replicate": replicate, "best": method == chosen,
                   "train": train, "validation": validation, "value": test}  # fmt: skip
