"""The maximum margin, attained by construction and by ascent."""

from __future__ import annotations

import pandas as pd

from featlearn.core.publish import Table, table
from featlearn.fourier.words import task


@table()
def maximum_margin(constructions: pd.DataFrame) -> Table:
    """Two constructions of maximum margin: the thesis', and one of fewer neurons"""
    wide = constructions.pivot_table(
        index=["k", "p", "maximum"], columns="construction", values=["neurons", "value", "wrong"]
    ).reset_index()
    shown = pd.DataFrame({
        "task": [task(k, p) for k, p in zip(wide["k"], wide["p"], strict=True)],
        "gamma*": [f"{value:.6g}" for value in wide["maximum"]],
    })  # fmt: skip
    for name in ("thesis", "grid"):
        shown[f"{name}: neurons"] = wide["neurons", name].astype(int)
        shown[f"{name}: margin / gamma*"] = [f"{value:.10f}" for value in wide["value", name]]
    shown["wrong logits apart"] = [f"{value:.2f}" for value in wide["wrong"].to_numpy().max(1)]
    return Table(
        constructions,
        shown,
        "Least normalised margin over all p^k inputs, over the formula of Theorem 4.9; of wrong "
        "logits the largest minus the smallest, in mean margins, of either. The theorem is about odd p. Of an "
        "even one both leave out the frequency p / 2, wrong logits differ, and the margin is smaller.",
    )


@table()
def neuron_ascent(neurons: pd.DataFrame, ascent: pd.DataFrame) -> Table:
    """Random starts of one neuron: how far they climb and what they end as"""
    keys = ["k", "p"]
    last = ascent[ascent["step"] == ascent["step"].max()]
    ends = neurons[neurons["moment"] == "end"]
    found = pd.DataFrame({
        "starts": last.groupby(keys)["value"].count(),
        "least": last.groupby(keys)["value"].min(),
        "most": last.groupby(keys)["value"].max(),
        "single": ends.groupby(keys)["single"].mean(),
        "residual": ends.groupby(keys)["residual"].max(),
        "balance": ends.groupby(keys)["balance"].max(),
        "frequencies": ends.groupby(keys)["frequency"].nunique(),
    }).reset_index()  # fmt: skip
    shown = pd.DataFrame({
        "task": [task(k, p) for k, p in zip(found["k"], found["p"], strict=True)],
        "starts": found["starts"],
        "least objective": [f"{value:.8f}" for value in found["least"]],
        "largest": [f"{value:.8f}" for value in found["most"]],
        "of one frequency": [f"{value:.3f}" for value in found["single"]],
        "frequencies found": found["frequencies"],
        "phases off by": [f"{value:.1e}" for value in found["residual"]],
        "norms apart by": [f"{value:.1e}" for value in found["balance"]],
    })  # fmt: skip
    return Table(
        found,
        shown,
        "Objective over gamma*. Phases: largest |sum of the inputs' - the output's|; norms: largest "
        "minus smallest squared norm of the k + 1 vectors, over their sum.",
    )
