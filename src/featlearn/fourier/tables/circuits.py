"""What the trained networks of the figures are, and what heads without learned features reach."""

from __future__ import annotations

import pandas as pd

from featlearn.core.publish import Config, Table, table
from featlearn.core.stats import SPREAD_KIND, readable, side_by_side, summary
from featlearn.fourier.config import INPUTS as CELLS
from featlearn.fourier.words import QUANTITIES, task_of

NOTES = (
    "Margins over gamma*, on the inputs that are looked at. Of one frequency: share of the active "
    "neurons with more than nine tenths of the power of each vector at the same frequency; largest "
    "power: mean share of the input vectors; phases: median |sum of the inputs' - the output's| in "
    "radians; weakest frequency: its part of the margin times the number of frequencies, 1 at the "
    "maximum margin. "
)


@table()
def circuits(curves: pd.DataFrame, config: Config) -> Table:
    """Trained networks of Figures 4.1, 4.2 and C.1 to C.4"""
    found = ends(curves, ["cell"])
    found = found.sort_values("cell", key=lambda cells: cells.map(list(CELLS).index), kind="stable")
    starts = curves[curves["step"] == 0].groupby(["cell", "quantity"])["value"].mean()
    means = found.merge(starts.rename("start").reset_index(), on=["cell", "quantity"])
    named = found.assign(
        task=[task_of(config, cell) for cell in found["cell"]],
        neurons=[config[cell]["arms"]["penalty"]["width"] for cell in found["cell"]],
    )
    shown = side_by_side(named, ["task", "neurons"], "quantity", QUANTITIES)
    return Table(means, shown, notes(found))


@table()
def fixed_features(heads: pd.DataFrame, curves: pd.DataFrame, config: Config) -> Table:
    """The sum modulo p without learned features"""
    last = curves[curves["step"] == curves.groupby("cell")["step"].transform("max")]
    wide = last.pivot_table(index=["cell", "replicate"], columns="quantity", values="value")
    # a network that has seen all inputs is tested on them
    value = wide["test"].fillna(wide["train"])
    network = wide[["train"]].assign(value=value, method="network").reset_index()
    both = pd.concat([network, heads], ignore_index=True)
    both = both.sort_values("cell", key=lambda cells: cells.map(list(CELLS).index), kind="stable")
    means = summary(both, ["cell", "method"])
    train = both.groupby(["cell", "method"])["train"].mean().rename("train").reset_index()
    means = means.merge(train, on=["cell", "method"])
    shown = readable(means, "accuracy").assign(
        cell=[task_of(config, cell) for cell in means["cell"]],
        train=[f"{value:.3f}" for value in means["train"]],
        chance=[f"{1 / config[cell]['modulus']:.3f}" for cell in means["cell"]],
    )
    return Table(
        means,
        shown.rename(columns={"cell": "task", "train": "in training"}),
        "Accuracy on inputs that are not for training, where there are any, else on those. Linear: on "
        "the one-hot input; random features: the hidden values of the network's start; both solved "
        f"exactly. {int(means['replicates'].max())} replicates, after the sign: {SPREAD_KIND}.",
    )


def ends(curves: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """Mean and interval of each quantity after the last step of a cell."""
    last = curves[curves["step"] == curves.groupby("cell")["step"].transform("max")]
    return summary(last, [*by, "quantity"])


def notes(means: pd.DataFrame) -> str:
    """What the columns of a table of networks are."""
    return f"{NOTES}{int(means['replicates'].max())} replicates, after the sign: {SPREAD_KIND}."
