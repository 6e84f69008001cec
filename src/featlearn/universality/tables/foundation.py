"""Frozen encoders, adapters and augmented copies: measured, and as printed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from featlearn.core.publish import Config, Table, table
from featlearn.core.quoted import quoted_table
from featlearn.core.stats import side_by_side, summary
from featlearn.universality.printed import beside
from featlearn.universality.words import LP


def _default(model: int, adapters: pd.DataFrame) -> str:
    """Name of the first or last model."""
    names = list(dict.fromkeys(adapters["model"]))
    return str(names[min(model, len(names) - 1)])


@table("table-f-6", contains="stand-in", which="table-f-6", model=0)
@table("table-f-7", contains="stand-in", which="table-f-7", model=1)
def by_share(adapters: pd.DataFrame, quoted: Mapping[str, Any], which: str, model: int) -> Table:
    """A frozen encoder: probe and adapters by share of the labels and augmented copies

    Here, unless a config names an encoder and data: networks of this run on vectors, pre-trained on all
    tasks (broad, F.6) or on the first alone (narrow, F.7), where the other targets are foreign.
    """
    own = adapters[adapters["model"] == _default(model, adapters)]
    measured = own.assign(
        row=own["model"] + ": " + own["target"] + ", " + own["method"] + ", "
        + own["copies"].astype(str),
        column=own["percent"].astype(str) + " %",
    )  # fmt: skip
    return beside(quoted, which, measured, index=["target", "method", "aug"])


@table("table-7-2", contains="stand-in")
def all_labels(adapters: pd.DataFrame, quoted: Mapping[str, Any], config: Config) -> Table:
    """Frozen encoders with all labels

    LP without augmentation; FT and Ours with ten augmented copies, or as many as the config has. The last
    two columns of the thesis are text, where the whole encoder is tuned: that is not built here.
    """
    copies = config["copies"][min(1, len(config["copies"]) - 1)]
    own = adapters[(adapters["percent"] == 100)
                   & ((adapters["method"] == LP) | (adapters["copies"] == copies))]  # fmt: skip
    measured = own.assign(row=own["method"], column=own["model"] + ": " + own["target"])
    return beside(quoted, "table-7-2", measured, index=["method"])


@table("table-f-8", contains="quoted")
def text(quoted: Mapping[str, Any]) -> Table:
    """SimCSE on text, as printed

    Quoted from the thesis, in per cent; text encoders are not built here, and nothing is measured.
    """
    frame, about = quoted_table(quoted, "table-f-8")
    shown = frame.assign(cell=frame["paper_value"].map("{:.2f}".format)).pivot_table(
        index=["target", "method"], columns="column", values="cell", aggfunc="first", sort=False
    )  # fmt: skip
    return Table(frame, shown.reset_index(), f"Quoted from {about['source']}; not measured.")


@table()
def adapters(adapters: pd.DataFrame) -> Table:
    """Test and training accuracy of every model, target, method and number of copies"""
    both = [adapters.assign(on="test"), adapters.assign(on="training", value=adapters["training"])]
    by = ["model", "target", "method", "copies", "on"]
    means = summary(pd.concat(both), [*by, "percent"])
    shown = means.assign(column=means["percent"].astype(str))
    heads = {str(p): f"{p} %" for p in sorted(adapters["percent"].unique())}
    return Table(means, side_by_side(shown, by, "column", heads))
