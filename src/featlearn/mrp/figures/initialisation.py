"""The initial draw: correlations, sizes of the lottery sets, and how many share a kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from featlearn.core.plots import COLOURS, canvas
from featlearn.core.publish import figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CLASS_COLOURS = [COLOURS["blue"], COLOURS["orange"], COLOURS["green"], COLOURS["purple"]]
NARROW, WIDE = 0.25, 1.0


@figure()
def lottery_sets(lottery: pd.DataFrame) -> Figure:
    """The initial draw and its lottery sets

    Left: the largest initial correlation with a feature, in units of `sigma_0 sqrt(2 ln km)` (line:
    mean over the features; band: from the smallest to the largest feature, mean over replicates).
    Middle: how many kernels start close enough to the best one to have a chance (the lottery set).
    Right: the share of sets that share a kernel with another set. Rings mark the number of kernels that
    the paper admits, `m = sqrt(k)`. *What to see:* correlations start where the lemma puts them, and
    the sets stay small. But they are not disjoint, which the theorems presuppose: with as many kernels
    as the paper admits a good part of the narrow sets (`C_M = 0.25`) shares a kernel with another one.
    With more kernels the narrow sets become disjoint; the wide ones (`C_M = 1`, the least that the
    proof admits) do not.
    """
    drawn = canvas(8.4, 3.7)
    axes = drawn.subplots(1, 3)
    for number, (classes, own) in enumerate(lottery.groupby("classes")):
        colour, label = CLASS_COLOURS[number % 4], f"k = {classes}"
        kernels = own["classes"] * own["kernels_per_class"]
        own = own.assign(kernels=kernels)
        _line(axes[0], own, "ratio_mean", None, colour, "o-", label)
        least, most = (_mean(own, f"ratio_{end}", None) for end in ("least", "largest"))
        axes[0].fill_between(least.index, least, most, color=colour, alpha=0.15, linewidth=0)
        _line(axes[1], own, "set_size", NARROW, colour, "o-")
        _line(axes[1], own, "set_size", WIDE, colour, "s--")
        shared = own.assign(value=1 - own["value"])
        _line(axes[2], shared, "disjoint_sets", NARROW, colour, "o-")
        _line(axes[2], shared, "disjoint_sets", WIDE, colour, "s--")
        for ax, quantity, constant, frame in (
            (axes[0], "ratio_mean", None, own),
            (axes[1], "set_size", NARROW, own),
            (axes[2], "disjoint_sets", NARROW, shared),
        ):
            at = _mean(frame, quantity, constant)
            ax.plot(at.index[0], at.iloc[0], "o", markersize=10, markerfacecolor="none",
                    markeredgecolor=COLOURS["ink"], markeredgewidth=1)  # fmt: skip
    axes[0].axhline(1, color=COLOURS["ink"], linewidth=0.9)
    axes[0].set(title="Initial correlation", ylim=(0, 1.5))
    axes[0].set_ylabel(r"$\Lambda_{i,l}\,/\,(\sigma_0\sqrt{2\ln km})$")
    axes[1].set(title="Kernels of a lottery set", yscale="log")
    axes[1].set_ylabel(r"mean size of $\mathcal{M}_{i,l}$")
    axes[1].set_yticks([1, 3, 10, 30, 100], ["1", "3", "10", "30", "100"])
    axes[1].minorticks_off()
    axes[2].set(title="Sets that share a kernel", ylim=(-0.03, 1.05))
    axes[2].set_ylabel("share of the 2k sets")
    for ax in axes:
        ax.set(xscale="log")
        ax.set_xlabel("kernels in all, km")
    handles, _ = axes[0].get_legend_handles_labels()
    handles += [
        axes[1].plot([], [], "o-", color=COLOURS["grey"], label=r"$C_M=0.25$")[0],
        axes[1].plot([], [], "s--", color=COLOURS["grey"], label=r"$C_M=1$")[0],
        axes[1].plot([], [], "o", markersize=9, markerfacecolor="none",
                     markeredgecolor=COLOURS["ink"], label=r"$m=\lceil\sqrt{k}\,\rceil$")[0],
    ]  # fmt: skip
    drawn.legend(handles=handles, loc="outside lower center", ncols=6)
    return drawn


def _mean(frame: pd.DataFrame, quantity: str, constant: float | None) -> pd.Series:
    own = frame[frame["quantity"] == quantity]
    if constant is not None:
        own = own[np.isclose(own["constant"], constant)]
    return own.groupby("kernels")["value"].mean()


def _line(
    ax: Axes,
    frame: pd.DataFrame,
    quantity: str,
    constant: float | None,
    colour: str,
    style: str,
    label: str | None = None,
) -> None:
    mean = _mean(frame, quantity, constant)
    ax.plot(mean.index, mean, style, color=colour, markersize=4.5, label=label)
