"""Which parts classifiers use, in numbers."""

from __future__ import annotations

import pandas as pd

from featlearn.core.publish import Table, table
from featlearn.core.stats import paired, side_by_side
from featlearn.mrp.tables.images_comparison import STARTS, means

#: Quantities that are shown, in words, with the value by chance or of even heat where there is one.
PANELS: dict[str, tuple[str, float | None]] = {
    "hits": ("parts hit\na picture", None),
    "entropy": ("evenness of heat\nover the parts", None),
    "heat_share": ("share of heat\non the parts", None),
    "flipped": ("wrong after erasing\na part (share)", None),
    "matched": ("hottest part\ncounts most", 0.5),
}


def part_use_table(measured: pd.DataFrame) -> pd.DataFrame:
    """Every quantity, and its paired difference from supervised training of the same network.

    Parameters
    ----------
    measured
        Columns start, encoder, labels, test_set, quantity, value, replicate.

    Returns
    -------
    DataFrame
        Columns start, method, encoder, labels, test_set, quantity, mean, low, high, half_width,
        replicates, difference, difference_half_width (both NaN for supervised training).
    """
    keys = ["start", "encoder", "labels", "test_set", "quantity"]
    table = means(measured, keys)
    table.insert(1, "method", table["start"].map(lambda start: STARTS.get(start, start)))
    return table.merge(part_use_gains(measured), how="left", on=keys)


def part_use_gains(measured: pd.DataFrame) -> pd.DataFrame:
    """Paired differences of every start from supervised training of the same network."""
    starts = dict(zip(measured["start"], measured["encoder"], strict=True))
    references = {start: f"random-{kind}" for start, kind in starts.items()}
    others = {start: one for start, one in references.items() if start != one}
    return paired(measured, ["encoder", "labels", "test_set", "quantity"], "start", others)


@table("cam-part-use")
def part_use(values: pd.DataFrame) -> Table:
    """Which parts classifiers use, on multi-view pictures"""
    found = part_use_table(values)
    heads = {quantity: words.replace("\n", " ") for quantity, (words, _) in PANELS.items()}
    shown = found[found["test_set"] == "multi_view"]
    return Table(found, side_by_side(shown, ["method", "labels"], "quantity", heads))
