"""Accuracies of residual networks on ladders of pictures, probed and tuned."""

from __future__ import annotations

import pandas as pd

from featlearn.core.publish import Config, Table, table
from featlearn.universality.printed import wide, with_training
from featlearn.universality.tables.pictures import by_sets, leading


@table()
def residual(pictures: pd.DataFrame, config: Config) -> Table:
    """Residual networks: accuracy on each set by mixture and share of the labels; mixture 0 is not pre-trained"""
    return by_sets(pictures, config)


@table("residual-leads")
def leads(pictures: pd.DataFrame) -> Table:
    """Residual networks: how far a probe of the target leads the best of what learns nothing, by replicate"""
    return leading(pictures)


@table("residual-tuned")
def tuned(tuned: pd.DataFrame) -> Table:
    """Residual networks: target accuracy after a probe and after fine-tuning, and on the labelled samples themselves

    Mixture 0: fine-tuned from the random start, that is, trained on the labels alone.
    """
    return wide(with_training(tuned), ["method", "mixture", "on"], "labels", "labels")
