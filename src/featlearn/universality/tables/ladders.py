"""Accuracies of the ladders of vectors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from featlearn.core.publish import Config, Table, table
from featlearn.core.stats import number, summary
from featlearn.universality.curves import changes as changed
from featlearn.universality.curves import crossing, curves
from featlearn.universality.printed import beside, wide
from featlearn.universality.words import KEPT, METHODS, WORLD


def _all(accuracies: pd.DataFrame, config: Config) -> pd.DataFrame:
    train = config["samples"]["train"]
    parts = [curves(accuracies, config, 100 * m / train).assign(labels=m) for m in config["labels"]]
    return pd.concat(parts)


@table()
def ladders(accuracies: pd.DataFrame, config: Config) -> Table:
    """Target and average accuracy by labels and tasks of the pre-training, opponents among them

    Mixture 0 is not pre-trained: the raw input, random features (the hidden layer of a random network),
    networks at their start, and the oracle, which is told the features of the task. Labels are without
    noise, so that the best possible accuracy is 1.
    """
    by = ["world", "arm", "mixture", "curve"]
    return wide(_all(accuracies, config), by, "labels", "labels")


def _changed(accuracies: pd.DataFrame, config: Config) -> pd.DataFrame:
    train = config["samples"]["train"]
    shares = [100 * labels // train for labels in config["labels"]]
    return pd.concat([changed(curves(accuracies, config, share)).assign(percent=share)
                      for share in shares])  # fmt: skip


@table()
def changes(accuracies: pd.DataFrame, config: Config) -> Table:
    """What a pre-training on all tasks changes, by share of the labels, replicate by replicate

    Average, weighted average and target after all tasks less after the target alone; *lead after ...*: the
    target less the best of raw input, random features and an untrained network.
    """
    return wide(_changed(accuracies, config), ["world", "arm", "quantity"], "percent", "%")


@table("trade-offs")
def trade_offs(accuracies: pd.DataFrame, config: Config) -> Table:
    """In how many panels of Figures F.9 to F.13 the target surely falls and the average surely rises

    Surely: the 95 % interval of the change from the target alone to all tasks, in pairs, does not hold zero.
    """
    own = _changed(accuracies, config)
    own = own[own["arm"].isin(METHODS)]
    means = summary(own, ["world", "arm", "quantity", "percent"]).set_index(
        ["percent", "world", "arm"]
    )
    target, average = (means[means["quantity"] == curve] for curve in ("target", "average"))
    falls, rises = target["high"] < 0, average["low"] > 0
    frame = pd.DataFrame(
        {"panels": falls, "target falls": falls, "average rises": rises, "both": falls & rises}
    )
    counted = frame.assign(panels=1).groupby("percent").sum().reset_index()
    return Table(counted, counted.rename(columns={"percent": "% of the labels"}), "")


@table()
def training(accuracies: pd.DataFrame, config: Config) -> Table:
    """Training accuracy of the probes on the target"""
    own = accuracies[accuracies["task"] == 0].assign(value=lambda frame: frame["training"])
    return wide(own, ["world", "arm", "mixture"], "labels", "labels")


@table()
def crossings(accuracies: pd.DataFrame, config: Config) -> Table:
    """From how many labels on a probe of the target is better on all tasks' representation than on its own

    Per replicate, between two numbers of labels by their logarithms; *never*: not at the most labels.
    The other rows ask it of the raw input against the representation of the target alone.
    """
    frame = _all(accuracies, config)
    frame = frame[frame["curve"] == "target"]
    rows = []
    arms = [(world, arm) for world, arm in frame[["world", "arm"]].drop_duplicates().to_numpy()
            if arm in config["arms"]]  # fmt: skip
    for world, arm in arms:
        own = frame[(frame["world"] == world) & (frame["arm"] == arm)]
        raw = frame[(frame["world"] == world) & (frame["arm"] == "raw input")]
        specific = own[own["mixture"] == 1]
        rivals = {"all tasks": own[own["mixture"] == max(config["mixtures"])], "raw input": raw}
        for rival, other in rivals.items():
            wide = [one.pivot_table(index="replicate", columns="labels", values="value")
                    for one in (other, specific)]  # fmt: skip
            found = [crossing(config["labels"], row) for row in (wide[0] - wide[1]).to_numpy()]
            rows.append({"world": world, "arm": arm, "rival": rival,
                         "median": float(np.median(found)), "never": float(np.mean(np.isinf(found))),
                         "always": float(np.mean(np.equal(found, 0)))})  # fmt: skip
    means = pd.DataFrame(rows)
    shown = means.assign(
        median=[
            "never" if np.isinf(m) else "always" if m == 0 else number(m) for m in means["median"]
        ],
        never=means["never"].map(number),
        always=means["always"].map(number),
    )
    words = {"median": "labels, median", "never": "share never", "always": "share always"}
    return Table(means.replace(np.inf, np.nan), shown.rename(columns=words))


@table("table-f-1", contains="stand-in", every=False)
@table("table-f-4", contains="stand-in", every=True)
def two_encoders(
    accuracies: pd.DataFrame, quoted: Mapping[str, Any], config: Config, every: bool
) -> Table:
    """Two encoders, one pre-trained on more: few and all labels

    *here*: MoCo on vectors, pre-trained on the target alone or on all tasks; *few* are 5 % of the labels.
    ImageNet stands for the target and ImageNet22k for the average of a task a rung.
    """
    rows = []
    for percent, word in ((5, "few"), (100, "all")):
        if word == "all" and not every:
            continue
        own = curves(accuracies, config, percent)
        own = own[(own["arm"] == KEPT) & (own["world"] == WORLD) & own["mixture"].isin(
            (1, max(config["mixtures"]))) & (own["curve"] != "weighted")]  # fmt: skip
        rows.append(own.assign(row=own["curve"] + f", {word} labels",
                               column=own["mixture"].map(lambda m: f"{m} tasks" if m > 1 else "1 task")))  # fmt: skip
    printed = [
        row for row in quoted["table-f-1-f-4"]["rows"] if every or "F.4" not in row["target"]
    ]
    return beside(quoted, "table-f-1-f-4", pd.concat(rows), index=["target"], rows=printed)


@table(contains="stand-in")
def ends(accuracies: pd.DataFrame, quoted: Mapping[str, Any], config: Config) -> Table:
    """Ends of the curves of Figure 7.1: measured, and as the text of the thesis has them

    *here*: MoCo of width 8 on vectors, pre-trained on the target alone (first) and on all tasks
    (last), all labels. The average of the thesis is the weighted one; it does not say with how many
    labels.
    """
    rungs = {1: "first", max(config["mixtures"]): "last"}
    own = curves(accuracies, config, 100)
    own = own[(own["arm"] == KEPT) & (own["world"] == WORLD) & own["mixture"].isin(rungs)]
    measured = own.assign(row=own["curve"], column=own["mixture"].map(rungs))
    printed = [{**row, "column": row["rung"]} for row in quoted["figure-7-1"]["rows"]]
    return beside(quoted, "figure-7-1", measured, index=["curve"], rows=printed)


@table()
def similarities(similarities: pd.DataFrame) -> Table:
    """CKA of the target's features between mixtures, biased and debiased"""
    return wide(similarities, ["world", "arm", "first", "second"], "estimator")
