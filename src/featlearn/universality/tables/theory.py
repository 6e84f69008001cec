"""Numbers of the theory."""

from __future__ import annotations

import pandas as pd

from featlearn.core.publish import Table, table
from featlearn.core.stats import number, readable, summary
from featlearn.universality.printed import wide


@table()
def allocations(allocations: pd.DataFrame) -> Table:
    """What the optimum of pre-training gives to shared and private features (Lemma F.3)"""
    wide = allocations.pivot(index="case", columns="quantity", values="value")  # noqa: PD010
    wide = wide.loc[allocations["case"].unique()].reset_index()
    order = ["tasks", "shared", "most private", "least private", "loss"]
    shown = pd.DataFrame({"mixture": wide["case"]})
    for key in order:
        shown[key] = [number(value, 4) for value in wide[key]]
    return Table(wide[["case", *order]].rename_axis(columns=None), shown,
                 "Computed. Weights of a feature are entries of W^T W.")  # fmt: skip


@table()
def square(square: pd.DataFrame) -> Table:
    """Four states on a circle: where random starts end"""
    frame = pd.DataFrame({
        "starts": [len(square)],
        "largest loss": [square["loss"].max()],
        "closed form": [square["expected"].iloc[0]],
        "arranged as an XOR": [square["opposite"].mean()],
    })  # fmt: skip
    shown = frame.map(lambda value: number(value, 6))
    return Table(frame, shown, "A third of all labelled squares are an XOR.")


@table()
def probe_risks(risks: pd.DataFrame) -> Table:
    """Mean squared error of the probe, by tasks of the pre-training and labels"""
    return wide(risks, ["tasks"], "labels", "labels")


@table()
def updates(updates: pd.DataFrame) -> Table:
    """Proposition F.9: weights after the target's contrastive loss within a distance"""
    means = summary(updates, ["radius", "features", "predicted"])
    return Table(means, readable(means, "measured"))
