"""Steps until networks fit and generalise, and what the splits leave to generalise to."""

from __future__ import annotations

import numpy as np
import pandas as pd

from featlearn.core.publish import Config, Table, table
from featlearn.core.stats import SPREAD_KIND, side_by_side, summary
from featlearn.fourier.words import MODELS, SPLITS, task_of

STEPS = {
    "fitted": "fits at step", "answered": "answers at step", "log2": "log2 of the ratio",
    "censored": "never answers (share)",
}  # fmt: skip


@table()
def grokking(passages: pd.DataFrame, config: Config) -> Table:
    """When two-layer transformers and polynomial networks fit and generalise"""
    own = passages.assign(censored=passages["censored"].astype(float))
    own["log2"] = np.log2(own["answered"] / own["fitted"])
    keys = ["cell", "model", "split"]
    tall = own.melt([*keys, "k", "replicate"], list(STEPS), "quantity", "value")
    means = summary(tall.sort_values("k", kind="stable"), [*keys, "quantity"])
    named = means.assign(
        task=[task_of(config, cell) for cell in means["cell"]],
        model=means["model"].map(MODELS), split=means["split"].map(SPLITS),
    )  # fmt: skip
    return Table(
        means,
        side_by_side(named, ["task", "model", "split"], "quantity", STEPS),
        "A network fits at the first look at which it is right on 99 % of its training inputs, and "
        "answers at the first one at which it is on 95 % of all others; of one that never is the "
        f"last step is taken. {int(means['replicates'].max())} replicates, after the sign: {SPREAD_KIND}.",
    )


@table()
def splits(leaks: pd.DataFrame, config: Config) -> Table:
    """Test inputs of which a permutation is among the training inputs"""
    tall = leaks.assign(quantity="known").sort_values("k", kind="stable")
    means = summary(tall, ["cell", "split", "quantity"])
    named = means.assign(task=[task_of(config, cell) for cell in means["cell"]])
    return Table(
        means,
        side_by_side(named, ["task"], "split", SPLITS),
        "Share of the test inputs. "
        f"{int(means['replicates'].max())} replicates, after the sign: {SPREAD_KIND}.",
    )
