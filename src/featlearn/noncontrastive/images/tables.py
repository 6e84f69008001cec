"""The table of all cells of Figure 2, for machines and for readers."""

from __future__ import annotations

import pandas as pd

from featlearn.core.stats import SPREAD_KIND
from featlearn.core.summary import side_by_side, summary
from featlearn.noncontrastive.images.cells import LONG, UNTRAINED, cell_of
from featlearn.noncontrastive.images.words import ARMS, HEADS, NORMS, TARGETS, set_name
from featlearn.noncontrastive.tables import Page

#: What is shown, and what its columns are called.
COLUMNS = {
    "accuracy": "probe accuracy",
    "projection effective_rank": "rank, projection",
    "projection correlation": "correlation, projection",
    "projection spread": "spread, projection",
    "encoder effective_rank": "rank, encoder",
    "encoder correlation": "correlation, encoder",
}


def image_heads(values: pd.DataFrame) -> Page:
    """Accuracy, ranks and correlations of every cell.

    Parameters
    ----------
    values
        Columns data_set, run, replicate, layer, quantity, value.
    """
    named = values.assign(what=(values["layer"] + " " + values["quantity"]).str.strip())
    named = named.sort_values(["data_set", "run"], key=_place, kind="stable")
    table = summary(named, ["data_set", "run", "what"])
    shown = side_by_side(table, ["data_set", "run"], "what", COLUMNS)
    words = [_words(run) for run in shown.pop("run")]
    for place, head in enumerate(("head", "output norm", "target")):
        shown.insert(1 + place, head, [word[place] for word in words])
    shown["data_set"] = shown["data_set"].map(set_name)
    shown = shown.rename(columns={"data_set": "images"})
    return Page(
        table, shown, "Prediction heads on images",
        f"{int(table['replicates'].max())} replicates; after the sign: {SPREAD_KIND}. Ranks and "
        "correlations of the neurons over fresh images; a rank is the exponential of the entropy "
        "of the spectrum of their correlation matrix. Spread 1: outputs point everywhere; 0: all "
        "point the same way.",
    )  # fmt: skip


#: The same of Figure 5.
ROBUST_COLUMNS = {
    "likeness": "likeness",
    "distinct": "distinct pictures",
    "chroma": "chroma",
    "live": "live channels",
    "accuracy": "probe accuracy",
    "rank": "rank, projection",
    "steadiness": "cosine under attack",
}


def robust_features(values: pd.DataFrame) -> Page:
    """How alike the pictures of Figure 5 are, and what else was read off the networks.

    Parameters
    ----------
    values
        Columns data_set, run, replicate, quantity, value.
    """
    table = summary(values, ["data_set", "run", "quantity"])
    shown = side_by_side(table, ["data_set", "run"], "quantity", ROBUST_COLUMNS)
    shown = shown.assign(data_set=shown["data_set"].map(set_name), run=shown["run"].map(ARMS))
    return Page(
        table, shown.rename(columns={"data_set": "images", "run": "network"}),
        "Pictures that channels respond to",
        f"{int(table['replicates'].max())} replicates; after the sign: {SPREAD_KIND}. Likeness: "
        "mean absolute cosine of the pictures of two channels, as deviations from grey. Distinct "
        "pictures: exponential of the entropy of the spectrum of these cosines. Live: channels "
        "that the ascent can raise. Cosine under attack: between features of an image and of the "
        "attacked one.",
    )  # fmt: skip


def _place(column: pd.Series) -> pd.Series:
    """Order of rows: pictures first, then by norm, target and head; the long training last."""
    if column.name == "data_set":
        return (column != "parts").astype(int)
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
