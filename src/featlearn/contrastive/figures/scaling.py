"""The figure of the sizes: probe error against the Bayes floor, and the length of stage II."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from featlearn.core.plots import COLOURS, canvas

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LINES = {
    "linear-exact": (COLOURS["grey"], "best linear predictor"),
    "masked": (COLOURS["blue"], "RandomMask, thresholds raised"),
    "bayes-exact": (COLOURS["green"], "Bayes floor"),
}


def stage_two_unit(atoms: float) -> float:
    """``d log d / log log d``: the order of ``eta (T2 - T1)`` (section 3)."""
    return atoms * math.log(atoms) / math.log(math.log(atoms))


def scaling(sizes: pd.DataFrame) -> Figure:
    """NMSE, accuracy and the length of stage II over the number of atoms."""
    drawn = canvas(8.2, 3.1)
    first, second, third = drawn.subplots(1, 3)
    for model, (colour, label) in LINES.items():
        _points(first, _wide(sizes, model, "nmse"), colour, label)
    _points(second, _wide(sizes, "masked", "accuracy"), COLOURS["blue"], None)
    _points(second, _wide(sizes, "bayes", "accuracy"), COLOURS["green"], None)
    _points(second, _wide(sizes, "raw", "accuracy"), COLOURS["grey"], None)
    first.set(title="Regression", ylabel="NMSE", ylim=(0, None))
    second.set(title="Classification", ylabel="accuracy", ylim=(None, 1.0))
    length = _wide(sizes, "masked", "stage_two")
    length = length.where(length >= 0).dropna(how="all")
    _points(third, length, COLOURS["blue"], "measured")
    if len(length):
        counts = np.array(length.index, dtype=float)
        units = np.array([stage_two_unit(count) for count in counts])
        scale = float(length.mean(axis=1).iloc[0]) / units[0]
        third.plot(counts, scale * units, "--", color=COLOURS["ink"], linewidth=0.9,
                   label=r"$\propto d\,\log d\,/\log\log d$")  # fmt: skip
    third.set(title="Length of stage II", ylabel=r"$\eta\,(T_2-T_1)$", yscale="log")
    third.legend(loc="upper left", fontsize=7.5)
    for ax in (first, second, third):
        counts_all = sorted(sizes["atoms"].unique())
        ax.set(xscale="log", xlabel="atoms d")
        ax.set_xticks(counts_all, [str(count) for count in counts_all])
        ax.set_xticks([], minor=True)
    drawn.legend(*first.get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return drawn


def _wide(sizes: pd.DataFrame, model: str, quantity: str) -> pd.DataFrame:
    own = sizes[(sizes["model"] == model) & (sizes["quantity"] == quantity)]
    return own.pivot_table(index="atoms", columns="replicate", values="value")


def _points(ax: Axes, wide: pd.DataFrame, colour: str, label: str | None) -> None:
    for _, values in wide.items():
        ax.plot(wide.index, values, ".", color=colour, markersize=3, alpha=0.6)
    ax.plot(wide.index, wide.mean(axis=1), "o-", color=colour, markersize=4, label=label)
