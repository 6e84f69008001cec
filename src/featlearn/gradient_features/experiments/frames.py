"""What experiments do alike: sets of inputs, steps to look at, rows of a frame."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from torch import Tensor

from featlearn.core.seeds import Streams
from featlearn.gradient_features.law import Law, Sample

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


def rows(
    streams: Streams, keys: Mapping[str, Any], columns: Mapping[str, Tensor]
) -> Iterator[dict[str, Any]]:
    """A row a replicate, of columns (R,)."""
    for place, replicate in enumerate(streams.replicates):
        yield {**keys, "replicate": replicate,
               **{name: values[place].item() for name, values in columns.items()}}  # fmt: skip
