"""Tables A.1 to A.5: what was measured, and beside it what the thesis prints. The hidden
representation has no printed table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from featlearn.core.publish import Table, table
from featlearn.core.quoted import quoted_table
from featlearn.core.stats import SPREAD_KIND, estimate
from featlearn.emergence.reading import (
    NEURONS,
    accuracies,
    bracketed,
    cosine,
    dimension,
    is_measured,
    measured,
)

ARMS = {
    "network": "Network",
    "ntk": "NTK",
    "rf": "Random features",
    "one_step": "One Step",
    "two_step": "Two Step",
    "flat": "Network w/o structure",
    "linear": "linear on the input",
    "threshold": "best threshold on the count",
    "majority": "majority",
}
PARTS = {"train": "train accuracy", "test": "test accuracy", "cosine": "largest cosine"}


@table("table-a-1", cells=(("parity", 500),))
@table("table-a-2", cells=(("interval", 500),))
@table("table-a-3", cells=(("parity", 100), ("parity", 2000)))
@table("table-a-4", cells=(("negatives-80", 500), ("negatives-90", 500)))
@table("table-a-5", cells=(("samples-25000", 500), ("samples-10000", 500)))
@table("hidden", cells=(("hidden", 500),))
def accuracies_of_all_arms(
    values: pd.DataFrame, quoted: Mapping[str, Any], cells: tuple[tuple[str, int], ...]
) -> Table:
    """Six arms and what solves the labels without them

    Accuracies and the largest cosine of a neuron with the sum of the relevant patterns; in brackets
    what the thesis prints (`paper_value`). Network: after the last step; NTK: the Taylor model at
    the start, at the step that is best on validation samples; random features, One Step, Two Step
    and the raw input: heads solved to their optimum on standardised features. The thesis trains
    those for as many steps as the network, at rates that it does not give.
    """
    tables = [quoted_table(quoted, name)[0] for name in quoted]
    printed = pd.concat([each for each in tables if "cell" in each], ignore_index=True).set_index(
        ["cell", "dimension", "arm", "quantity"]
    )["paper_value"]
    shown = [own for own in cells if measured(values, own[:1])]
    found = pd.DataFrame([row for own in shown for row in _rows(values, printed, *own)])
    wide = found.assign(text=bracketed(found)).pivot_table(
        index=["cell", "d", "arm"], columns="quantity", values="text", aggfunc="first", sort=False
    )
    wide = wide[list(PARTS)].fillna("-").rename(columns=PARTS).reset_index()
    wide["arm"] = wide["arm"].map(ARMS)
    return Table(
        found, wide.rename_axis(columns=None),
        f"{int(found['replicates'].max())} replicates; after the sign: {SPREAD_KIND}; in brackets: "
        "as printed, the mean of five runs.",
    )  # fmt: skip


def _rows(
    values: pd.DataFrame, printed: pd.Series[float], cell: str, wanted: int
) -> Iterator[dict[str, Any]]:
    d = dimension(values, cell, wanted)
    for arm in ARMS:
        if not is_measured(values, cell, arm):
            continue
        for quantity in PARTS:
            if quantity == "cosine":
                if arm not in NEURONS:
                    continue
                seen = estimate(cosine(values, cell, arm, d).to_numpy())
            elif arm in ("threshold", "majority") and quantity == "train":
                continue
            else:
                seen = estimate(accuracies(values, cell, arm, quantity).to_numpy())
            yield {
                "cell": cell,
                "d": d,
                "arm": arm,
                "quantity": quantity,
                "mean": seen.mean,
                "half_width": seen.half_width,
                "replicates": seen.replicates,
                "paper_value": printed.get((cell, wanted, arm, quantity), float("nan")),
            }
