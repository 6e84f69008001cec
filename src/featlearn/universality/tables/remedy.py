"""Probe, fine-tuning and the contrastive loss beside them: measured, and as printed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from featlearn.core.publish import Table, table
from featlearn.core.stats import number
from featlearn.universality.curves import crossing
from featlearn.universality.printed import beside, wide, with_training
from featlearn.universality.words import CR, FT, LP, ours

WORDS = {0: "not pre-trained", 1: "1 task"}


def _column(mixture: int) -> str:
    return WORDS.get(mixture, f"{mixture} tasks")


@table()
def remedy(tuned: pd.DataFrame) -> Table:
    """Target accuracy of every method, mixture and number of labels, and on the labelled samples themselves

    Mixture 0: fine-tuned from the random start, that is, trained on the labels alone.
    """
    return wide(with_training(tuned), ["method", "mixture", "on"], "labels", "labels")


@table("table-f-9", contains="stand-in", methods=("LP", "CR then LP"), which="table-f-9")
@table("table-7-1", contains="stand-in", methods=("LP", "FT", "Ours 0.1"), which="table-7-1")
def all_labels(
    tuned: pd.DataFrame, quoted: Mapping[str, Any], methods: Sequence[str], which: str
) -> Table:
    """Target accuracy with all labels, by tasks of the pre-training"""
    own = tuned[(tuned["labels"] == tuned["labels"].max()) & tuned["method"].isin(methods)
                & (tuned["mixture"] > 0)]  # fmt: skip
    measured = own.assign(row=own["method"], column=own["mixture"].map(_column))
    return beside(quoted, which, measured, index=["method"])


@table("table-f-5", contains="stand-in")
def by_share(tuned: pd.DataFrame, quoted: Mapping[str, Any]) -> Table:
    """Target accuracy by share of the labels, pre-training and method

    Each number of labels gets as many steps of fine-tuning, so that few labels are not few steps; with the
    thesis' settings 1 % of CIFAR-10 has 200 steps in all.
    """
    own = tuned[tuned["method"].isin((LP, FT, ours(0.1), ours(1))) & (tuned["mixture"] > 0)]
    share = 100 * own["labels"] / own["labels"].max()
    measured = own.assign(row=own["mixture"].map(_column) + ", " + own["method"],
                          column=share.map(lambda value: f"{value:g} %"))  # fmt: skip
    return beside(quoted, "table-f-5", measured, index=["pre_train", "method"])


@table("table-f-10", contains="stand-in", target="ImageNet-Bird")
@table("table-f-11", contains="stand-in", target="ImageNet-Vehicle")
def closed_gap(tuned: pd.DataFrame, quoted: Mapping[str, Any], target: str) -> Table:
    """Few labels: specific, universal, and universal with the contrastive loss on the target

    Here: probes of MoCo on vectors with a tenth of the labels.
    """
    tenth = tuned["labels"].max() // 10
    own = tuned[tuned["labels"] == tenth]
    last = own["mixture"].max()
    cells = {"specific": (LP, 1), "universal": (LP, last), "universal, then CR": (CR, last)}
    measured = pd.concat([
        own[(own["method"] == method) & (own["mixture"] == mixture)].assign(row="target", column=word)
        for word, (method, mixture) in cells.items()
    ])  # fmt: skip
    words = dict(
        zip(("specific", "ImageNet", "ImageNet then CR on the target set"), cells, strict=True)
    )
    rows = [{**row, "column": words[row["column"]]}
            for row in quoted["table-f-10-f-11"]["rows"] if row["target"] == target]  # fmt: skip
    return beside(quoted, "table-f-10-f-11", measured, index=["target"], rows=rows)


@table()
def fine_tuning_crossings(tuned: pd.DataFrame) -> Table:
    """From how many labels on fine-tuning, with and without the contrastive loss, beats a probe

    Per replicate, between two numbers of labels by their logarithms; *never*: not at the most labels.
    """
    rows = []
    methods = [name for name in tuned["method"].unique() if name != LP]
    for mixture in sorted(set(tuned["mixture"]) - {0}):
        wide = {name: own.pivot_table(index="replicate", columns="labels", values="value")
                for name, own in tuned[tuned["mixture"] == mixture].groupby("method")}  # fmt: skip
        for name in methods:
            gain = wide[name] - wide[LP]
            found = [crossing(list(gain.columns), row) for row in gain.to_numpy()]
            rows.append({"mixture": mixture, "method": name, "median": float(np.median(found))})
    means = pd.DataFrame(rows)
    words = ["never" if np.isinf(m) else "always" if m == 0 else number(m) for m in means["median"]]
    return Table(means.replace(np.inf, np.nan), means.assign(median=words))
