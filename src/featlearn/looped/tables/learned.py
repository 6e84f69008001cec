"""Errors on held-out prompts."""

from __future__ import annotations

import pandas as pd

from featlearn.core.publish import Config, Table, table
from featlearn.core.stats import SPREAD_KIND, number, plus_minus, summary
from featlearn.looped.words import METHODS


@table()
def learned_errors(errors: pd.DataFrame, config: Config) -> Table:
    """Mean squared errors on held-out prompts after the same number of loops"""
    means = summary(errors, ["method", "loss", "examples"])
    rows = []
    for method, words in METHODS.items():
        own = means[means["method"] == method].set_index(["loss", "examples"])
        cells = {
            f"{'θ' if loss == 'parameter' else 'task'}, n = {n}": _told(
                own.loc[(loss, n), "mean"], own.loc[(loss, n), "half_width"]
            )
            for loss in ("parameter", "prediction")
            for n in config["examples"]
        }
        rows.append({"": words, **cells})
    return Table(
        means,
        pd.DataFrame(rows),
        f"{config['loops']} loops, {int(means['replicates'].max())} replicates, after the sign: "
        f"{SPREAD_KIND}.",
    )


def _told(mean: float, spread: float) -> str:
    if mean < 1e-20:  # not the same number on each processor
        return "rounding"
    return plus_minus(mean, spread)


@table()
def learned_fits(fits: pd.DataFrame, errors: pd.DataFrame) -> Table:
    """What least squares ended at: errors on the prompts of the training, and on held-out ones

    The last column is by how much the training error still fell in the last five iterations.
    """
    own = {"steps": "parameter", "all": "parameter"}
    loss = fits["arm"].map(own).fillna("prediction")
    both = fits.assign(method=fits["arm"], loss=loss).merge(
        errors, on=["method", "loss", "examples", "replicate"], suffixes=("", "_test")
    )
    both["fell"] = 1 - both["value"] / both["before"]
    means = both.groupby(["examples", "arm"], sort=False)[["value", "value_test", "fell"]].mean()
    frame = means.reset_index()
    shown = pd.DataFrame({
        "examples": frame["examples"],
        "": frame["arm"].map(METHODS),
        "training": [number(value, 2) for value in frame["value"]],
        "held out": [number(value, 2) for value in frame["value_test"]],
        "still fell": [f"{value:.1%}" for value in frame["fell"]],
    })  # fmt: skip
    return Table(frame, shown, f"Means of {fits['replicate'].nunique()} replicates.")
