"""Algorithms 4, 6 and 7: the output layer alone after one step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from featlearn.core.plots import COLOURS, PALETTE, canvas
from featlearn.core.publish import Config, figure
from featlearn.core.statistical import Look, interval, lines

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

READINGS = {
    "printed rate, step 2/k": ("as printed", "red"),
    "twice the rate, step 2/k": ("twice the rate", "green"),
    "printed rate, step 1/k": ("thresholds 1/k apart", "blue"),
    "as printed": ("as printed", "red"),
}
HEADS = {
    "linear": ("linear", PALETTE["raw input"], "--"),
    "random features": ("random features", PALETTE["random features"], ":"),
    "products of two": ("of degree 2", COLOURS["purple"], "-."),
    "quadratic kernel": ("of degree 2", COLOURS["purple"], "-."),
    "tangent kernel": ("tangent kernel", PALETTE["tangent kernel"], (0, (5, 1, 1, 1, 1, 1))),
    "RBF kernel": ("RBF kernel", PALETTE["kernel"], (0, (8, 2))),
}
SHADES = ("sky", "blue", "green", "orange", "red", "purple")


@figure()
def theorem_3_4(smooth: pd.DataFrame) -> Figure:
    """Theorem 3.4: what T steps promise, and what n inputs do

    The output layer alone after one step on the XOR, logistic loss. Left, on the largest number of
    inputs: training loss over the steps of 1 / L and the bound of (B.12) with the measured L,
    min_a (loss + L |a - a_1|^2 / 2 T); and the steps of 1 / t that the main text prints. Right, over n:
    losses after the last step of 1 / L, and the theorem's term for their difference at the comparator of
    that bound. Means. *What to see:* {{ said("gradient_features/theorem-3.4", holds="the training loss stays below the first term",
    fails="the training loss does not stay below the first term") }}, by the largest ratio. The second is larger than the loss of
    no network at all, 1, where test and training loss hardly differ. Steps of 1 / t
    {{ said("gradient_features/theorem-3.4-one-over-t", holds="jump before they descend", fails="descend without a jump") }}, in powers of ten.
    """
    drawn = canvas(7.4, 3.3)
    left, right = drawn.subplots(1, 2)
    most = smooth[smooth["samples"] == smooth["samples"].max()]
    for rule, column, words, colour, dash in (
        ("1 / L", "train", "1 / L, training", "blue", ""),
        ("1 / L", "bound", "1 / L, bound", "ink", (4, 2)),
        ("1 / t", "train", "1 / t, training", "orange", ""),
        ("1 / t", "test", "1 / t, test", "orange", (1, 1.5)),
    ):
        mean = most[most["rule"] == rule].groupby("step")[column].mean()
        left.plot(mean.index, mean, color=COLOURS[colour], label=words,
                  linestyle=(0, dash) if dash else "-")  # fmt: skip
    left.set(xscale="log", yscale="log", xlabel="step T", ylabel="logistic loss")
    left.set_title("Steps")
    left.legend(loc="lower left")
    last = smooth[(smooth["step"] == smooth["step"].max()) & (smooth["rule"] == "1 / L")]
    long = last.melt(["samples", "replicate"], ["train", "test", "rademacher"], "quantity")
    lines(right, long, "samples", "quantity", errorbar=None, looks={
        "rademacher": Look("printed term", COLOURS["ink"], "s", (4, 2)),
        "test": Look("test", COLOURS["green"], "^"),
        # over the line of the test
        "train": Look("training", COLOURS["blue"], "o", (3, 3)),
    })  # fmt: skip
    right.set(xscale="log", yscale="log", xlabel="inputs n")
    _ticks(right, sorted(last["samples"].unique()))
    right.set_title("Inputs")
    right.legend(loc="center right")
    return drawn


@figure()
def algorithms(curves: pd.DataFrame, heads: pd.DataFrame, config: Config) -> Figure:
    """Algorithms 6 and 7 along their steps

    Test error of parities of two and of four coordinates (Algorithm 6; the first step on inputs, and
    by the closed form of its gradient), and the share of the labels' energy that is missed of a
    polynomial of degree 4 of two projections (Algorithm 7, exact for any number of steps). Dashes and dots: fixed
    features on the same inputs, solved to their optimum, several of which may lie on one another at chance. Thin
    lines: each replicate, thick ones: their mean. Thresholds lie 2/k apart, or, at the printed rate too, 1/k.
    *What to see:* products of two coordinates know the parity of two, so that it says nothing about features. That of four
    {{ said("gradient_features/uniform-parity-learned", holds="the network learns and nothing fixed does",
    fails="the network does not learn so much better than what is fixed") }}, by the difference of their errors. With the printed rate the sum of a good neuron
    moves by half a step of the thresholds, and {{ said("gradient_features/uniform-parity-rate", holds="twice the rate gets further",
    fails="twice the rate gets no further") }}, by the difference of hinge losses. Of the polynomial {{ said("gradient_features/multi-index-learned",
    holds="the network learns more than its part of degree 2, which is what fixed features learn",
    fails="the network does not learn so much more than fixed features") }}, by the share of the energy that it misses less.
    """
    parity = config["uniform_parity"]
    panels = {
        "two": f"parity of {parity['two']['block']}, d = {parity['two']['dimension']}",
        "four": f"parity of {parity['four']['block']}, d = {parity['four']['dimension']}",
        "multi_index": f"polynomial, d = {config['multi_index']['dimension']}",
    }
    drawn = canvas(8.6, 3.7)
    axes = drawn.subplots(1, 3)
    for ax, (law, title) in zip(axes, panels.items(), strict=True):
        own = curves[curves["law"] == law]
        for reading, (words, colour) in READINGS.items():
            shown = own[own["reading"] == reading]
            if len(shown):
                wide = shown.pivot_table(index="step", columns="replicate", values="value")
                ax.plot(wide, color=COLOURS[colour], linewidth=0.6, alpha=0.4)
                ax.plot(wide.mean(axis=1), color=COLOURS[colour], label=words)
        for method, (words, colour, dash) in HEADS.items():
            level = heads[(heads["law"] == law) & (heads["method"] == method)]["value"]
            if len(level):
                ax.axhline(level.mean(), color=colour, linestyle=dash, linewidth=1.2, label=words)
        top = 1.1 if law == "multi_index" else 0.56
        ax.set(title=title, xscale="log", xlabel="step", ylim=(-0.02, top),
               ylabel="energy missed" if law == "multi_index" else "test error")  # fmt: skip
    known: dict[str, Artist] = {}
    for ax in axes:
        handles, labels = ax.get_legend_handles_labels()
        known |= dict(zip(labels, handles, strict=True))
    drawn.legend(list(known.values()), list(known), loc="outside lower center", ncols=8)
    return drawn


@figure()
def sample_size(scan: pd.DataFrame) -> Figure:
    """How many inputs the first step needs: d squared

    First step of Algorithm 7 on a quadratic of two projections. The share of its energy that lies in the
    relevant space over n / d^2, with the closed form 1 / (1 + pi d^2 / 2 n); the same over n / d; and
    the energy missed by a ridge regression on the step's features, which has the same inputs at each n.
    95 % intervals. *What to see:* {{ said("gradient_features/multi-index-samples",
    holds="over n / d^2 the dimensions lie on one curve", fails="over n / d^2 the dimensions do not lie on one curve") }}, by the
    power of d that they need.
    """
    drawn = canvas(8.6, 3.4)
    axes = drawn.subplots(1, 3)
    dimensions = sorted(scan["dimension"].unique())
    looks = {
        d: Look(f"d = {d}", COLOURS[shade]) for d, shade in zip(dimensions, SHADES, strict=False)
    }
    for ax, power, column, words in (
        (axes[0], 2, "share", "energy in the relevant space"),
        (axes[1], 1, "share", "energy in the relevant space"),
        (axes[2], 2, "error", "energy missed by a head"),
    ):
        shown = scan.assign(ratio=scan["samples"] / scan["dimension"] ** power)
        lines(ax, shown, "ratio", "dimension", looks=looks, value=column, errorbar=interval)
        ax.set(xscale="log", ylim=(0, 1), xlabel=r"$n / d^2$" if power == 2 else r"$n / d$",
               ylabel=words)  # fmt: skip
        if power == 2:
            _ticks(ax, sorted(shown["ratio"].round(2).unique()))
        else:
            ax.minorticks_off()
    ratios = scan["samples"] / scan["dimension"] ** 2
    grid = np.geomspace(ratios.min(), ratios.max(), 50)
    axes[0].plot(grid, 1 / (1 + np.pi / (2 * grid)), color=COLOURS["ink"], linestyle="--",
                 linewidth=1, label="closed form")  # fmt: skip
    drawn.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=6)
    return drawn


def _ticks(ax: Axes, values: Sequence[float]) -> None:
    """Ticks of a logarithmic axis at the values that were tried."""
    ax.set_xticks(values)
    ax.get_xaxis().set_major_formatter("{x:g}")
    ax.minorticks_off()
