"""Target and average accuracy of a ladder, and where two curves cross. No torch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from featlearn.universality.words import OPPONENTS

BY = ["world", "arm", "mixture", "replicate"]


def class_weights(config: Mapping[str, Any]) -> pd.Series:
    """Weight of each rung's task in the thesis' average, which counts a set by its classes."""
    tasks = [mixture - 1 for mixture in config["mixtures"]]
    return pd.Series(config["class_weights"], index=tasks) / sum(config["class_weights"])


def curves(accuracies: pd.DataFrame, config: Mapping[str, Any], percent: float) -> pd.DataFrame:
    """Columns world, arm, mixture, replicate, curve, value, at a share of the labels.

    Curves are ``target``, ``average`` over a task of each rung, and ``weighted``, the average with
    weights as the thesis has them.
    """
    labels = round(config["samples"]["train"] * percent / 100)
    own = accuracies[accuracies["labels"] == labels]
    average = own.groupby(BY, sort=False, as_index=False)["value"].mean().assign(curve="average")
    share = own["task"].map(class_weights(config))
    weighted = own.assign(value=own["value"] * share).groupby(BY, sort=False, as_index=False)
    weighted = weighted["value"].sum().assign(curve="weighted")
    target = own.loc[own["task"] == 0, [*BY, "value"]].assign(curve="target")
    return pd.concat([average, weighted, target], ignore_index=True)


def changes(shown: pd.DataFrame) -> pd.DataFrame:
    """What all tasks change, by replicate: columns world, arm, quantity, replicate, value.

    Of ``shown``, which :func:`curves` gave: each curve after all tasks less that after the target,
    and the target after either less the best of what learns nothing (``lead after ...``).
    """
    trained = shown[shown["mixture"] > 0].rename(columns={"curve": "quantity"})
    keys = ["world", "arm", "quantity", "replicate"]
    every = trained.set_index([*keys, "mixture"])["value"].unstack()  # noqa: PD010
    first, last = every[1], every[every.columns.max()]
    rows = [(last - first).rename("value").reset_index()]
    nothing = shown[shown["arm"].isin(OPPONENTS) & (shown["curve"] == "target")]
    best = nothing.groupby(["world", "replicate"])["value"].max().rename("best").reset_index()
    for rung, word in ((first, "the target"), (last, "all tasks")):
        target = rung.xs("target", level="quantity").rename("value").reset_index()
        lead = target.merge(best, on=["world", "replicate"])
        lead["value"] -= lead.pop("best")
        rows.append(lead.assign(quantity=f"lead after {word}"))
    return pd.concat(rows, ignore_index=True)


def crossing(labels: Sequence[float], difference: Sequence[float]) -> float:
    """Labels from which on a difference stays positive, on a log scale; 0 if always, infinite if
    not at the most.
    """
    x, y = np.log(np.asarray(labels, float)), np.asarray(difference, float)
    if y[-1] <= 0:
        return float("inf")
    below = np.flatnonzero(y <= 0)
    if not len(below):
        return 0.0
    i = below[-1]
    return float(np.exp(x[i] + (x[i + 1] - x[i]) * -y[i] / (y[i + 1] - y[i])))
