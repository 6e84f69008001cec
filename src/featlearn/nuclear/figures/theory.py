"""The linear model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from featlearn.core.plots import COLOURS, canvas
from featlearn.core.publish import figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LOOKS = {"l2": (r"ERM-$\ell_2$", "blue", "o"), "whitened": ("strong nuclear norm", "red", "s")}


@figure()
def threshold(sweep: pd.DataFrame) -> Figure:
    """Where ERM-l_2 fails, and where the nuclear norm does

    Accuracy in the unseen domain as coordinates of the environment are added, in units of r / (4 gamma^2).
    Points are replicates, which may hide each other; dashed lines are no fit, but the Gaussian
    approximation of the same sums. *What to see:* {{ said("nuclear/threshold",
    holds="the accuracy of ERM-l_2 falls through a half near 1, at",
    fails="the accuracy of ERM-l_2 falls through a half elsewhere than at 1, at") }}; {{
    said("nuclear/proposition-6-3", holds="from the number of Proposition 6.3 on, 4, it is wrong, with an "
    "accuracy of at most", fails="from the number of Proposition 6.3 on, 4, it is not as wrong as "
    "stated, with an accuracy of up to") }}. Whitened weights, the limit of a strong nuclear-norm penalty, pass a
    half at 4 (1 - 3 gamma^2), later than ERM-l_2 and before the proposition begins.
    """
    drawn = canvas(5.6, 3.4)
    ax = drawn.subplots()
    for arm, (words, colour, marker) in LOOKS.items():
        own = sweep[sweep["arm"] == arm]
        ax.scatter(own["share"], own["value"], s=22, color=COLOURS[colour], marker=marker, alpha=0.7,
                   linewidths=0, label=words, zorder=3)  # fmt: skip
        expected = own.groupby("share")["predicted"].mean()
        ax.plot(expected.index, expected, "--", color=COLOURS[colour], linewidth=1.1)
    ax.plot([], [], "--", color=COLOURS["grey"], linewidth=1.1, label="Gaussian approximation")
    for place, words in ((1, r"$r / 4\gamma^2$"), (4, "Proposition 6.3")):
        ax.axvline(place, color=COLOURS["grey"], linewidth=0.8)
        ax.annotate(words, (place, 0.7), (-3 if place == 4 else 3, 0), fontsize=8, va="center",
                    textcoords="offset points", ha="right" if place == 4 else "left")  # fmt: skip
    ax.axhline(0.5, color=COLOURS["grey"], linewidth=0.8)
    ax.set(xlabel=r"$(d - r)\; /\; (r / 4\gamma^2)$", ylabel="accuracy, unseen domain",
           ylim=(-0.03, 1.03))  # fmt: skip
    ax.set_title(f"{sweep['replicate'].nunique()} replicates")
    drawn.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return drawn
