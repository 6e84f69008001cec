"""The toy problem in numbers."""

from __future__ import annotations

import pandas as pd

from featlearn.core.publish import Table, table
from featlearn.core.stats import number, readable, summary


@table()
def toy_optima(optima: pd.DataFrame) -> Table:
    """Optima of the toy problem with the head fixed, by quadrature

    The slope is that of the decision line, w_2 / w_1; accuracies follow from it in closed form. An infinite
    weight is the limit of strong penalties.
    """
    shown = optima[["kind", "penalty", "first", "second", "slope", "id", "ood"]]
    told = shown.assign(**{name: [number(value, 4) for value in shown[name]]
                           for name in shown.columns if name != "kind"})  # fmt: skip
    return Table(optima, told, "Computed, not sampled.")


@table()
def toy_trained(trained: pd.DataFrame) -> Table:
    """The toy problem trained: accuracy in the unseen domain by step"""
    means = summary(trained, ["arm", "step"], "ood")
    return Table(means, readable(means, "accuracy, unseen domain"))
