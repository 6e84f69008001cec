"""Table A.6, and what came of its settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from featlearn.core.publish import Table, table
from featlearn.core.quoted import quoted_table
from featlearn.core.stats import SPREAD_KIND, summary
from featlearn.emergence.reading import bracketed

#: Rows of the table: quantities as people call them.
QUANTITIES = {
    "d": "dimension (d)", "k": "directions (k)", "clusters": "clusters", "sigma_r": "noise (sigma_r)",
    "accuracy": "network: test accuracy", "worst": "worst centre's best cosine",
    "start: worst": "the same at the start", "covered": "centres with a cosine of 0.9",
    "aligned": "neurons near a centre", "start: aligned": "the same at the start",
    "sign": "of these, sign of the label", "linear, train": "linear: train accuracy",
    "linear": "linear: test accuracy", "random features, train": "random features: train accuracy",
    "random features": "random features: test accuracy", "bayes": "signs of the directions",
    "v1-mean": "gradients: v1, mean", "v1-v2": "gradients: v1, v2", "v1-v3": "gradients: v1, v3",
}  # fmt: skip
SETTINGS = {"first": "Experiment 1", "second": "Experiment 2", "third": "Experiment 3"}


@table("table-a-6")
def mixture(values: pd.DataFrame, quoted: Mapping[str, Any]) -> Table:
    """Gaussian mixtures: settings and outcome

    As measured on the samples; in brackets what the thesis prints (`paper_value`): its table lists
    settings and has no result. Below: the network after its last epoch, near means a cosine above
    0.8; converged heads on the raw input and on the ReLUs of the start, chance is 1/2; the parity of
    the signs along the true directions; cosines of a neuron's gradients averaged over the three tens
    of the first thirty steps, the median neuron (independent gradients: 0.58 with the mean, 0 else).
    *What to see:* {{ said("emergence/mixture-covered", holds="every centre has a neuron along it",
    fails="not every centre has a neuron along it") }}. Random features have
    {{ value("table-a-6", setting="second", quantity="random features") | percent }} in Experiment 2, the network
    {{ value("table-a-6", setting="second", quantity="accuracy") | percent }}: where they are close, learned features are not needed.
    """
    last = values.groupby(["setting", "quantity"])["epoch"].transform("max")
    end = values[values["epoch"] == last]
    start = values[(values["epoch"] == 0) & (last > 0)]
    both = pd.concat([end, start.assign(quantity="start: " + start["quantity"])])
    found = summary(both[both["quantity"].isin(list(QUANTITIES))], ["setting", "quantity"])
    printed, _ = quoted_table(quoted, "table-a-6")
    found = found.merge(printed[["setting", "quantity", "paper_value"]], how="left")
    shown = found.assign(text=bracketed(found)).pivot_table(
        index="quantity", columns="setting", values="text", aggfunc="first"
    )
    shown = shown.reindex(index=list(QUANTITIES), columns=list(SETTINGS)).fillna("-")
    shown = shown.rename(index=QUANTITIES, columns=SETTINGS).rename_axis(columns=None, index="")
    return Table(
        found, shown.reset_index(),
        f"{int(found['replicates'].max())} replicates; after the sign: {SPREAD_KIND}.",
    )  # fmt: skip
