"""The linear model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from featlearn.core.plots import COLOURS, canvas
from featlearn.core.publish import figure
from featlearn.core.statistical import Look, lines, share_interval

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LOOKS = {"l2": Look("ERM-l2", COLOURS["blue"]),
         "whitened": Look("strong nuclear norm", COLOURS["red"], "s")}  # fmt: skip


@figure()
def threshold(sweep: pd.DataFrame) -> Figure:
    """Where ERM-l2 fails, and where the nuclear norm does

    Accuracy in the unseen domain as coordinates of the environment are added, over the threshold
    r / (4 gamma^2) of ERM-l2; dashed, where it is not hidden by the lines, is the Gaussian
    approximation. *What to see:* accuracy falls through a half at 1, where Proposition 6.3 asks for more than 4; whitened weights, the limit of a strong
    nuclear-norm penalty, hold until 4 (1 - 3 gamma^2), and fail where the proposition begins.
    """
    drawn = canvas(5.6, 3.4)
    ax = drawn.subplots()
    for arm, look in LOOKS.items():
        own = sweep[sweep["arm"] == arm].groupby("share")["predicted"].mean()
        ax.plot(own.index, own, "--", color=look.colour, linewidth=0.9)
    lines(ax, sweep, "share", "arm", looks=LOOKS, errorbar=share_interval)
    for place, words in ((1, r"$r / 4\gamma^2$"), (4, "Proposition 6.3")):
        ax.axvline(place, color=COLOURS["grey"], linewidth=0.8)
        ax.annotate(words, (place, 0.7), (-3 if place == 4 else 3, 0), fontsize=8, va="center",
                    textcoords="offset points", ha="right" if place == 4 else "left")  # fmt: skip
    ax.axhline(0.5, color=COLOURS["grey"], linewidth=0.8)
    ax.set(xlabel=r"$(d - r)\; /\; (r / 4\gamma^2)$", ylabel="accuracy, unseen domain",
           ylim=(-0.03, 1.03))  # fmt: skip
    drawn.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return drawn
