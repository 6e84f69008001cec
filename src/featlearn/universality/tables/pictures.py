"""Accuracies of ladders of pictures."""

from __future__ import annotations

import pandas as pd

from featlearn.core.publish import Config, Table, table
from featlearn.universality.printed import wide, with_training


@table()
def pictures(pictures: pd.DataFrame, config: Config) -> Table:
    """Accuracy on each set by mixture and share of the labels; mixture 0 is not pre-trained"""
    return by_sets(pictures, config)


def by_sets(pictures: pd.DataFrame, config: Config) -> Table:
    """A row an arm, mixture and set, by their names, for test and training."""
    names = dict(enumerate(own["name"] for own in config["sets"]))
    named = with_training(pictures).assign(set=lambda frame: frame["task"].map(names))
    return wide(named, ["arm", "mixture", "set", "on"], "percent", "%")
