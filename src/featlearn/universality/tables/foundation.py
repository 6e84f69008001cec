"""Frozen encoders, adapters and augmented copies: measured, and as printed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from featlearn.core.publish import Config, Table, table
from featlearn.universality.printed import beside, wide, with_training
from featlearn.universality.words import LP


def _model(adapters: pd.DataFrame, config: Config, text: bool, place: int) -> str:
    """Name of the model in this place, of those of texts or of the others where there are both."""
    names = list(dict.fromkeys(adapters["model"]))
    kinds = {name: model["encoder"]["kind"] for name, model in config["models"].items()}
    fitting = [name for name in names if (kinds.get(name) == "text") == text] or names
    return str(fitting[min(place, len(fitting) - 1)])


@table("table-f-6", contains="stand-in", which="table-f-6", place=0)
@table("table-f-7", contains="stand-in", which="table-f-7", place=1)
@table("table-f-8", contains="stand-in", which="table-f-8", place=0)
def by_share(
    adapters: pd.DataFrame, quoted: Mapping[str, Any], config: Config, which: str, place: int
) -> Table:
    """A frozen encoder: probe and adapters by share of the labels and augmented copies

    Here, unless a config names an encoder and data: networks of this run on vectors, pre-trained on all
    tasks (broad, F.6 and F.8) or on the first alone (narrow, F.7), where the other targets are foreign. F.8
    is text in the thesis, where the whole encoder is tuned and not an adapter; an encoder of texts from a
    folder is shown there.
    """
    text = which == "table-f-8"
    own = adapters[adapters["model"] == _model(adapters, config, text, place)]
    measured = own.assign(
        row=own["model"] + ": " + own["target"] + ", " + own["method"] + ", "
        + own["copies"].astype(str),
        column=own["percent"].astype(str) + " %",
    )  # fmt: skip
    index = ["target", "method"] if text else ["target", "method", "aug"]
    return beside(quoted, which, measured, index=index)


@table("table-7-2", contains="stand-in")
def all_labels(adapters: pd.DataFrame, quoted: Mapping[str, Any], config: Config) -> Table:
    """Frozen encoders with all labels

    LP without augmentation; FT and Ours with ten augmented copies, or as many as the config has. The last
    two columns of the thesis are text, where the whole encoder is tuned: here it is an adapter there, too.
    """
    copies = config["copies"][min(1, len(config["copies"]) - 1)]
    own = adapters[(adapters["percent"] == 100)
                   & ((adapters["method"] == LP) | (adapters["copies"] == copies))]  # fmt: skip
    measured = own.assign(row=own["method"], column=own["model"] + ": " + own["target"])
    return beside(quoted, "table-7-2", measured, index=["method"])


@table()
def adapters(adapters: pd.DataFrame) -> Table:
    """Test and training accuracy of every model, target, method and number of copies"""
    by = ["model", "target", "method", "copies", "on"]
    return wide(with_training(adapters), by, "percent", "%")
