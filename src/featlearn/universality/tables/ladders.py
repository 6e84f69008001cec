"""Accuracies of the ladders of vectors."""

from __future__ import annotations

import pandas as pd

from featlearn.core.publish import Config, Table, table
from featlearn.core.stats import side_by_side, summary
from featlearn.universality.curves import curves


@table()
def ladders(accuracies: pd.DataFrame, config: Config) -> Table:
    """Target and average accuracy by labels and tasks of the pre-training, opponents among them

    Mixture 0 is not pre-trained: the raw input, and networks at their start.
    """
    train = config["samples"]["train"]
    parts = [curves(accuracies, config, 100 * m / train).assign(labels=m) for m in config["labels"]]
    means = summary(pd.concat(parts), ["arm", "mixture", "curve", "labels"])
    shown = means.assign(column=means["labels"].astype(str))
    heads = {str(m): f"{m} labels" for m in config["labels"]}
    return Table(means, side_by_side(shown, ["arm", "mixture", "curve"], "column", heads))


@table()
def similarities(similarities: pd.DataFrame) -> Table:
    """CKA of the target's features between mixtures, biased and debiased"""
    means = summary(similarities, ["arm", "first", "second", "estimator"])
    heads = {"biased": "biased", "debiased": "debiased"}
    return Table(means, side_by_side(means, ["arm", "first", "second"], "estimator", heads))
