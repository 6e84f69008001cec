"""The toy problem in numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from featlearn.core.publish import Table, table
from featlearn.core.quoted import quoted_table
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
def toy_trained(trained: pd.DataFrame, quoted: Mapping[str, Any]) -> Table:
    """The toy problem trained: accuracy in the unseen domain by step

    Rows without a step are what the thesis prints, which does not say when it stopped.
    """
    means = summary(trained, ["arm", "step"], "ood")
    told = readable(means, "accuracy, unseen domain")
    printed, _ = quoted_table(quoted, "figures-6-2-6-3")
    thesis = pd.DataFrame({
        "arm": "thesis: " + printed["arm"], "step": "-",
        "accuracy, unseen domain": printed["paper_value"].map(number),
    })  # fmt: skip
    frame = pd.concat([means.rename(columns={"mean": "measured"}),
                       printed.drop(columns="measured")], ignore_index=True)  # fmt: skip
    return Table(frame, pd.concat([told, thesis], ignore_index=True))
