"""Frozen encoders, adapters and augmented copies: measured, and as printed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from featlearn.core.publish import Config, Table, table
from featlearn.universality.encoders import ADAPTED, ALL, CHANCE, ENCODER, PROBED, named
from featlearn.universality.printed import OURS, beside, wide, with_training
from featlearn.universality.words import FT, LP


def _shown(adapters: pd.DataFrame, config: Config, model: str, text: bool, place: int) -> str:
    """The model of a table by its name; else that in this place, of texts or of the others."""
    names = list(dict.fromkeys(adapters["model"]))
    if model in names:
        return model
    kinds = {name: model["encoder"]["kind"] for name, model in config["models"].items()}
    fitting = [name for name in names if (kinds.get(name) == "text") == text] or names
    return str(fitting[min(place, len(fitting) - 1)])


def _learns_nothing(probed: pd.DataFrame, own: pd.DataFrame) -> pd.DataFrame:
    """Rows of ``probed`` of what learns nothing, for the models of ``own`` at its shares."""
    return probed[probed["model"].isin(own["model"]) & (probed["features"] != ENCODER)
                  & probed["percent"].isin(own["percent"])]  # fmt: skip


@table("table-f-6", which="table-f-6", model="CLIP", place=0)
@table("table-f-7", which="table-f-7", model="MoCo v3", place=1)
@table("table-f-8", which="table-f-8", model="SimCSE", place=0)
def by_share(
    adapters: pd.DataFrame, probed: pd.DataFrame, quoted: Mapping[str, Any], config: Config,
    which: str, model: str, place: int,
) -> Table:  # fmt: skip
    """Probe and adapters by share of the labels and augmented copies; in the thesis on {{ model }}

    Here, unless a config names an encoder and data: networks of this run on vectors, pre-trained on all
    tasks (broad, F.6 and F.8) or on the first alone (narrow, F.7), where the other targets are foreign. F.8
    is text in the thesis, where the whole encoder is tuned and not an adapter; an encoder of texts from a
    folder is shown there. Raw input, random features of it, the encoder with random weights and chance are
    what learns nothing.
    """
    text = which == "table-f-8"
    own = adapters[adapters["model"] == _shown(adapters, config, model, text, place)]
    floors = _learns_nothing(probed, own).rename(columns={"features": "method"})
    both = pd.concat([own, floors])
    order = list(dict.fromkeys(own["target"]))
    both = both.sort_values("target", key=lambda own: own.map(order.index), kind="stable")
    rows = []
    for name, target, method, copies in zip(
        both["model"], both["target"], both["method"], both["copies"], strict=True
    ):
        adapter = method in (FT, OURS)
        printed = name == model and named(name, target) and not (text and adapter)
        words = [target if printed else f"{name}: {target}", method]
        # SimCSE's own rows tell no copies
        told = (adapter or method == LP) and not (text and printed)
        rows.append(", ".join([*words, f"{copies:g}"] if told else words))
    measured = both.assign(row=rows, column=both["percent"].astype(int).astype(str) + " %")
    index = ["target", "method"] if text else ["target", "method", "aug"]
    return beside(quoted, which, measured, index=index, named=True)


@table("table-7-2")
def all_labels(
    adapters: pd.DataFrame, probed: pd.DataFrame, quoted: Mapping[str, Any], config: Config
) -> Table:
    """Frozen encoders with all labels

    LP without augmentation; FT and Ours with ten augmented copies, or as many as the config has. The last
    two columns of the thesis are text, where the whole encoder is tuned: here it is an adapter there, too,
    in a column of its own. The rows below Ours are what learns nothing.
    """
    copies = config["copies"][min(1, len(config["copies"]) - 1)]
    own = adapters[(adapters["percent"] == 100)
                   & ((adapters["method"] == LP) | (adapters["copies"] == copies))]  # fmt: skip
    both = pd.concat([own, _learns_nothing(probed, own).rename(columns={"features": "method"})])
    columns = []
    for model, target, method in zip(both["model"], both["target"], both["method"], strict=True):
        tuned = method in (FT, OURS)
        whole = model == ADAPTED["table-f-8"][0] and tuned
        printed = named(model, target) and not whole and (not tuned or copies == 10)
        columns.append(f"{model} {target}" if printed else f"{model}: {target}")
    measured = both.assign(row=both["method"], column=columns)
    return beside(quoted, "table-7-2", measured, index=["method"], named=True)


@table("table-f-1", which="table-f-1")
@table("table-f-2", which="table-f-2")
@table("table-f-3", which="table-f-3")
@table("table-f-4", which="table-f-4")
@table("table-f-10", which="table-f-10")
@table("table-f-11", which="table-f-11")
def by_labels(probed: pd.DataFrame, quoted: Mapping[str, Any], which: str) -> Table:
    """A probe on frozen encoders from files, by number of labels

    Of encoders and data sets that a config names as the thesis does. Raw input, random features of it and
    the encoder with random weights are what learns nothing; chance says the most frequent class.
    """
    printed = PROBED[which]
    targets = {target for target, _ in printed.rows}
    own = probed[probed["model"].isin(printed.columns) & probed["target"].isin(targets)]
    numbers = own["labels"].where(own["percent"].isna(), ALL)
    own = own.assign(number=numbers)[own["percent"].isna() | (own["percent"] == 100)]
    wanted = {number for _, number in printed.rows}
    own = own[(own["number"] != ALL) | (ALL in wanted)]
    first = own.groupby("target")["model"].transform("first")
    own = own[(own["features"] == ENCODER) | (own["model"] == first)]
    rows = [printed.rows.get((target, number),
                             f"{target}, {'all' if number == ALL else number} labels")
            for target, number in zip(own["target"], own["number"], strict=True)]  # fmt: skip
    columns = [printed.columns[model] if features == ENCODER else features
               for model, features in zip(own["model"], own["features"], strict=True)]  # fmt: skip
    lines = [row for row in quoted[printed.key]["rows"] if row["target"] in printed.rows.values()]
    measured = own.assign(row=rows, column=columns)
    return beside(quoted, printed.key, measured, index=["target"], rows=lines, named=True)


@table()
def adapters(adapters: pd.DataFrame) -> Table:
    """Test and training accuracy of every model, target, method and number of copies"""
    by = ["model", "target", "method", "copies", "on"]
    return wide(with_training(adapters), by, "percent", "%")


@table("adapter-leads")
def leads(adapters: pd.DataFrame, probed: pd.DataFrame) -> Table:
    """How far the best of probe and adapters leads the best of what learns nothing, mean over targets

    Replicate by replicate; *all*: mean over encoders as well.
    """
    by = ["model", "target", "percent", "replicate"]
    nothing = probed[probed["percent"].notna() & ~probed["features"].isin((ENCODER, CHANCE))]
    lead = adapters.groupby(by)["value"].max() - nothing.groupby(by)["value"].max()
    each = lead.reset_index()
    both = pd.concat([each, each.assign(model="all")]).astype({"percent": int})
    means = both.groupby(["model", "percent", "replicate"])["value"].mean().reset_index()
    return wide(means, ["model"], "percent", "%")


@table()
def floors(probed: pd.DataFrame) -> Table:
    """A probe on the encoder's features and on what learns nothing, by share of the labels

    *raw input*: pixels, 16 a side at most, tokens of texts, or the vectors themselves; *random features*: of
    these; *untrained*: the encoder with random weights; *chance*: the class that most labelled samples have.
    """
    shares = probed[probed["percent"].notna()]
    shares = shares.assign(percent=shares["percent"].astype(int))
    return wide(shares, ["model", "target", "features"], "percent", "%")
