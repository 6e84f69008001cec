"""Optima of the linear model."""

from __future__ import annotations

import pandas as pd

from featlearn.core.publish import Table, table
from featlearn.core.stats import number, plus_minus, summary


@table()
def optimum(optima: pd.DataFrame) -> Table:
    """Lemma 6.1 and Proposition 6.3: optima of ERM-l2 and their accuracies

    d is the least that the proposition asks for; alpha and beta from Newton's method on drawn sums. The
    columns behind the ratio are what it is near, 1 / (2 gamma), and the lemma's bound, 3 / (4 gamma).
    """
    by = ["r", "gamma", "d", "penalty"]
    frame = optima.groupby(by, sort=False)[["alpha", "beta", "ratio", "id", "ood"]].mean()
    frame = frame.reset_index()
    shown = frame.assign(near=0.5 / frame["gamma"], bound=0.75 / frame["gamma"])
    order = [*by, "alpha", "beta", "ratio", "near", "bound", "id", "ood"]
    told = shown[order].map(lambda value: number(float(value), 4))
    return Table(frame, told, f"Means of {optima['replicate'].nunique()} replicates.")


@table()
def penalties(penalised: pd.DataFrame) -> Table:
    """A linear featuriser with a fixed head: what the penalties do

    *ratio* is alpha / beta where training ended, *ratio of the optimum* that of the population's minimiser,
    computed without draws. It is near 1 / (2 gamma) for l2 and near 6 (1/3 - gamma^2) / gamma for the nuclear
    norm **at every weight**, since the nuclear norm whitens. Without a penalty there is no minimiser, and the
    ratio is that of the path: Adam moves all weights alike.
    """
    by = ["arm", "penalty"]
    frames = [summary(penalised, by, key).assign(quantity=key) for key in ("ratio", "id", "ood")]
    frame = pd.concat(frames, ignore_index=True)
    cells = frame.assign(cell=[plus_minus(m, h) for m, h in
                               zip(frame["mean"], frame["half_width"], strict=True)])  # fmt: skip
    shown = cells.pivot_table(index=by, columns="quantity", values="cell", aggfunc="first",
                              sort=False)  # fmt: skip
    exact = penalised.groupby(by)["optimum"].first().map("{:.3f}".format)
    shown.insert(0, "ratio of the optimum", exact.where(exact != "nan", "-"))
    return Table(frame, shown.sort_index().reset_index().rename_axis(columns=None))
