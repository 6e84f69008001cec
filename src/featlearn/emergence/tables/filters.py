"""Groups of filters, kept directions of gradients, and the networks that they are of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from featlearn.core.publish import Table, table
from featlearn.core.quoted import quoted_table
from featlearn.core.stats import SPREAD_KIND, side_by_side, summary
from featlearn.emergence.reading import bracketed

#: The six cosines of Table A.7.
COSINES = {
    "v1_mean": "cos(v1, mean)",
    "v2_mean": "cos(v2, mean)",
    "v3_mean": "cos(v3, mean)",
    "v1_v2": "cos(v1, v2)",
    "v1_v3": "cos(v1, v3)",
    "v2_v3": "cos(v2, v3)",
}
DESCENTS = {
    "gradients": "plain descent",
    "all_gradients": "plain descent, all filters",
    "in_training": "training",
    "all_in_training": "training, all filters",
}
GROUPS = {"green": "green", "red": "red", "centres": "two centres"}


@table("table-a-7")
def gradient_directions(values: pd.DataFrame, quoted: Mapping[str, Any]) -> Table:
    """Do gradients keep their direction over the first 30 steps (Table A.7)?

    Cosines between the mean gradients v1, v2, v3 of three stretches of ten steps, and with the mean
    of the three; of the filter nearest to the centre of the green group at the end of the training,
    and the mean over all filters of the stage. Orthogonal gradients of one length would have 0 among
    them and 0.58 with their mean. Plain descent has a small rate, larger batches and no momentum; the
    training that the other exhibits are of is told below. The thesis says nothing of its own. In
    brackets what it prints, for ResNet(128) beside our narrower
    and ResNet(256) beside our wider network, in the row of the last stage: it does not say which
    stage it used. *What to see:* along plain descent
    {{ said("emergence/gradients-keep-their-direction", holds="the filter's gradients keep their direction as printed",
    fails="the filter's gradients do not keep their direction as printed") }}, in the wider network.
    """
    own = values[values["group"].isin(list(DESCENTS))]
    printed = quoted_table(quoted, "table-a-7")[0].set_index(["place", "quantity"])["paper_value"]
    means = summary(own, ["width", "stage", "group", "quantity"])
    places = {width: place for place, width in enumerate(sorted(means["width"].unique()))}
    last = means["stage"] == means["stage"].max()
    told = last & (means["group"] == "gradients")
    paper = [
        printed[places[width], quantity] if is_told else float("nan")
        for width, quantity, is_told in zip(means["width"], means["quantity"], told, strict=True)
    ]
    means = means.assign(paper_value=paper)
    shown = _wide(means, ["width", "stage", "group"], COSINES)
    return Table(means, shown.assign(group=shown["group"].map(DESCENTS)), NOTES)


NOTES = f"after the sign: {SPREAD_KIND}; in brackets: as printed, of one network."


@table()
def filter_groups(values: pd.DataFrame, quoted: Mapping[str, Any]) -> Table:
    """Two groups of filters, and what the same choice finds in noise

    Mean cosine of the filters of each group to their centre, and of both centres. `followed`: the
    groups chosen at the end, at an earlier epoch; `picked`: chosen at that epoch; `gaussian`:
    chosen among as many Gaussian filters of as many weights. In brackets what the thesis prints of
    the last epoch, of groups picked by hand, for networks 16 times as wide. That groups exceed the larger of
    both nulls: {{ verdict("emergence/filters-gather") }}.
    """
    own = values[values["group"].isin(["followed", "picked", "gaussian"])]
    means = summary(own, ["width", "stage", "epoch", "group", "quantity"])
    entry = quoted_table(quoted, "figures-a-16-a-17")[0]
    printed = entry.set_index(["place", "stage", "quantity"])["paper_value"]
    places = {width: place for place, width in enumerate(sorted(means["width"].unique()))}
    end = (means["epoch"] == means["epoch"].max()) & (means["group"] == "followed")
    keys = means[["width", "stage", "quantity"]].to_numpy().tolist()
    paper = [
        printed[places[width], stage, quantity] if told else float("nan")
        for (width, stage, quantity), told in zip(keys, end, strict=True)
    ]
    means = means.assign(paper_value=paper)
    shown = _wide(means, ["width", "stage", "epoch", "group"], GROUPS)
    return Table(means, shown, NOTES)


def _wide(means: pd.DataFrame, index: list[str], heads: Mapping[str, str]) -> pd.DataFrame:
    """Means in cells, what is printed in brackets behind them."""
    wide = means.assign(cell=bracketed(means)).pivot_table(
        index=index, columns="quantity", values="cell", aggfunc="first", sort=False
    )
    return wide[list(heads)].rename(columns=dict(heads)).reset_index().rename_axis(columns=None)


@table()
def filter_networks(values: pd.DataFrame) -> Table:
    """Accuracy of the ResNets whose filters are shown, and what needs no learned filters

    Converged heads on the pixels and on the features of the random start, penalties chosen on
    validation pictures; the more frequent class. *What to see:* where a head on the start's features has
    what the network has, the task does not show that its filters learned anything.
    """
    kinds = {
        "network": "network",
        "random": "head on the start's features",
        "linear": "linear on the pixels",
        "majority": "majority",
    }
    means = summary(values[values["group"].isin(list(kinds))], ["width", "group", "quantity"])
    heads = {
        "train": "train accuracy",
        "validation": "validation accuracy",
        "test": "test accuracy",
    }
    shown = side_by_side(means, ["width", "group"], "quantity", heads)
    shown["group"] = shown["group"].map(kinds)
    return Table(means, shown)
