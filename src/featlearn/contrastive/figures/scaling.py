"""The figure of the sizes: probe error against the Bayes floor, and the length of stage II."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from featlearn.contrastive.figures.shared import wide
from featlearn.core.plots import COLOURS, canvas
from featlearn.core.publish import figure

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


@figure()
def scaling(sizes: pd.DataFrame) -> Figure:
    """More atoms

    The probe's error, its accuracy and the length of stage II over the number of atoms. *What to see:* the error
    of linear predictors hardly moves, while that of the masked network falls from
    {{ value("scaling", place="least", model="masked", quantity="nmse") | number }} to
    {{ value("scaling", place="most", model="masked", quantity="nmse") | number }}, following the Bayes floor. Stage II
    takes about as long as the theory's order says (dashed, through the first point).
    """
    drawn = canvas(8.2, 3.1)
    first, second, third = drawn.subplots(1, 3)
    for model, (colour, label) in LINES.items():
        _points(first, wide(sizes, "atoms", model=model, quantity="nmse"), colour, label)
    _points(
        second, wide(sizes, "atoms", model="masked", quantity="accuracy"), COLOURS["blue"], None
    )
    _points(
        second, wide(sizes, "atoms", model="bayes", quantity="accuracy"), COLOURS["green"], None
    )
    _points(second, wide(sizes, "atoms", model="raw", quantity="accuracy"), COLOURS["grey"], None)
    first.set(title="Regression", ylabel="NMSE", ylim=(0, None))
    second.set(title="Classification", ylabel="accuracy", ylim=(None, 1.0))
    length = wide(sizes, "atoms", model="masked", quantity="stage_two")
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


def _points(ax: Axes, seen: pd.DataFrame, colour: str, label: str | None) -> None:
    for _, values in seen.items():
        ax.plot(seen.index, values, ".", color=colour, markersize=3, alpha=0.6)
    ax.plot(seen.index, seen.mean(axis=1), "o-", color=colour, markersize=4, label=label)
