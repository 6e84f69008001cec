"""Accuracies of ladders of pictures."""

from __future__ import annotations

import pandas as pd

from featlearn.core.publish import Config, Table, table
from featlearn.universality.printed import wide, with_training
from featlearn.universality.words import RANDOM, RAW, UNTRAINED


@table()
def pictures(pictures: pd.DataFrame, config: Config) -> Table:
    """Accuracy on each set by mixture and share of the labels; mixture 0 is not pre-trained"""
    return by_sets(pictures, config)


@table("picture-leads")
def leads(pictures: pd.DataFrame) -> Table:
    """Pictures: how far a probe of the target leads the best of what learns nothing, by replicate"""
    return leading(pictures)


def leading(pictures: pd.DataFrame) -> Table:
    """After the target alone and after all sets (MoCo), by share of the labels."""
    own = pictures[pictures["task"] == 0]
    by = ["percent", "replicate"]
    best = own[own["arm"].isin((RAW, RANDOM, UNTRAINED))].groupby(by)["value"].max()
    rungs = {1: "the target", own["mixture"].max(): "all sets"}
    after = own[(own["arm"] == "moco") & own["mixture"].isin(rungs)].set_index([*by, "mixture"])
    lead = (after["value"] - best).rename("value").reset_index()
    return wide(lead.assign(after=lead["mixture"].map(rungs)), ["after"], "percent", "%")


def by_sets(pictures: pd.DataFrame, config: Config) -> Table:
    """A row an arm, mixture and set, by their names, for test and training."""
    names = dict(enumerate(own["name"] for own in config["sets"]))
    named = with_training(pictures).assign(set=lambda frame: frame["task"].map(names))
    return wide(named, ["arm", "mixture", "set", "on"], "percent", "%")
