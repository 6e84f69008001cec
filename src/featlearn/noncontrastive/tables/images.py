"""The table of all cells of Figure 2, for machines and for readers."""

from __future__ import annotations

import pandas as pd

from featlearn.core.publish import Table, table
from featlearn.core.stats import SPREAD_KIND, side_by_side, summary
from featlearn.noncontrastive.images.cells import LONG, MAIN, UNTRAINED, cell_of
from featlearn.noncontrastive.images.words import HEADS, NORMS, TARGETS, set_name

#: What is shown, and what its columns are called.
COLUMNS = {
    "accuracy": "probe accuracy",
    "projection effective_rank": "rank, projection",
    "projection correlation": "correlation, projection",
    "projection spread": "spread, projection",
    "encoder effective_rank": "rank, encoder",
    "encoder correlation": "correlation, encoder",
}


@table()
def image_heads(values: pd.DataFrame) -> Table:
    """Prediction heads on images

    Each row is one cell of Figure 2, means over the replicates. Rank and correlation tell dimensional
    collapse: outputs that vary, but all together. Spread tells complete collapse: outputs that do not
    vary. The first row is the network before any training.
    """
    named = values.assign(what=(values["layer"] + " " + values["quantity"]).str.strip())
    named = named.sort_values(["data_set", "run"], key=_place, kind="stable")
    means = summary(named, ["data_set", "run", "what"])
    shown = side_by_side(means, ["data_set", "run"], "what", COLUMNS)
    words = [_words(run) for run in shown.pop("run")]
    for place, head in enumerate(("head", "output norm", "target")):
        shown.insert(1 + place, head, [word[place] for word in words])
    shown["data_set"] = shown["data_set"].map(set_name)
    return Table(
        means, shown.rename(columns={"data_set": "images"}),
        f"{int(means['replicates'].max())} replicates; after the sign: {SPREAD_KIND}. Ranks and "
        "correlations of the neurons over fresh images; a rank is the exponential of the entropy "
        "of the spectrum of their correlation matrix. Spread 1: outputs point everywhere; 0: all "
        "point the same way.",
    )  # fmt: skip


def _place(column: pd.Series) -> pd.Series:
    """Order of rows: what captions quote first, then by norm, target and head; the long training last."""
    if column.name == "data_set":
        return (column != MAIN).astype(int)
    return column.map({run: place for place, run in enumerate(sorted(column.unique(), key=_key))})


def _key(run: str) -> tuple[int, int, int, int]:
    if run in (UNTRAINED, LONG):
        return (-1 if run == UNTRAINED else 1, 0, 0, 0)
    cell = cell_of(run)
    orders = (NORMS, TARGETS, HEADS)
    norm, target, head = (
        list(order).index(part)
        for order, part in zip(orders, (cell.norm, cell.target, cell.head), strict=True)
    )
    return 0, norm, target, head


def _words(run: str) -> tuple[str, str, str]:
    if run == UNTRAINED:
        return "untrained", "-", "-"
    cell = cell_of(run)
    head = HEADS[cell.head] + (", long training" if run == LONG else "")
    return head, NORMS[cell.norm], TARGETS[cell.target]
