"""Figure 8.1 and what stands behind it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import seaborn as sns

from featlearn.core.plots import COLOURS, PAGE, PALETTE, canvas
from featlearn.core.publish import figure
from featlearn.core.quoted import quoted_table
from featlearn.core.statistical import Look, history, interval, lines
from featlearn.looped.words import ABLATIONS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Of the numbers of examples, from few to many.
COLOURED = ("red", "orange", "green", "blue", "purple", "sky")
#: ln of the squared error that float64 cannot get below, for coordinates of order one.
FLOOR = 2 * np.log(2.0**-52)
#: From here on a difference is drawn as this one: without the mask some prompts diverge, to infinity.
DIVERGED = 100.0
STEPS = {
    "1 / L": Look(r"$1/L$, reads the prompt", COLOURS["ink"], "D", (4, 2)),
    "1 / n": Look(r"$1/n$", COLOURS["blue"]),
    "edge": Look(r"$1/(\sqrt{n}+\sqrt{d})^2$", COLOURS["green"], "^"),
}
ONE_LOOP = {
    "1 / |y|^2": Look(r"step $1/|y|^2$", COLOURS["red"]),
    "1 / L": Look(r"step $1/L$", COLOURS["ink"], "s", (4, 2)),
}


def _coloured(frame: pd.DataFrame) -> dict[int, str]:
    sizes = sorted(frame["examples"].unique())
    return {n: COLOURS[COLOURED[place % len(COLOURED)]] for place, n in enumerate(sizes)}


@figure()
def fig_8_1(curves: pd.DataFrame, prompts: pd.DataFrame, quoted: Mapping[str, Any]) -> Figure:
    """Figure 8.1: error of the loops and its bound

    Natural logarithm of the squared error of theta over that of the start, along the loops, for so many
    examples n: solid the looped transformer, dashed the bound; means over the trials of these logarithms,
    each with its own condition number. Left as it is printed: run in float64 (the thesis ran gradient
    descent), with the bound of Theorem 8.16 that the caption names (-T / (2 kappa)), which is one of another
    error. Right the exact curve of the same prompts, with the bound of what is drawn, that of Theorem
    8.25 (-T / kappa). The legend has the mean condition number of these trials and in brackets the printed one. *What to
    see:* the error falls exponentially, faster with more examples.
    And {{ said("looped/theorem-8-25", holds="it stays below its bound at every loop, on this share of the prompts",
                fails="it does not stay below its bound on all prompts, but on this share") }};
    {{ said("looped/tight-as-printed", holds="the bound is tight: the true slope over it",
            fails="the bound is not tight, though the thesis says so: the true slope is so many times as steep") }};
    {{ said("looped/kappas-as-printed", holds="the printed condition numbers are what ten trials give, the farthest so many deviations of such a mean from ours",
            fails="the printed condition numbers are not what ten trials give, the farthest so many deviations of such a mean from ours") }}. Left the gap seems to narrow
    with n, as the thesis says, because the error ends where coordinates of order one are rounded (grey).
    """
    printed = quoted_table(quoted, "condition-numbers")[0].set_index("examples")["paper_value"]
    drawn = canvas(8.2, 3.6)
    axes = drawn.subplots(1, 2)
    trials = curves["replicate"].nunique()
    for n, colour in _coloured(curves).items():
        own = curves[curves["examples"] == n].groupby("loop")[["exact", "run", "bound"]].mean()
        kappa = prompts[(prompts["examples"] == n) & (prompts["replicate"] < trials)]["kappa"]
        words = rf"$n$ = {n}, $\kappa$ = {kappa.mean():.2f}"
        if n in printed.index:
            words += f" ({printed[n]:g})"
        for ax, column, share in zip(axes, ("run", "exact"), (0.5, 1), strict=True):
            ax.plot(own.index, own[column], color=colour, label=words)
            ax.plot(own.index, share * own["bound"], color=colour, linestyle="--", linewidth=1)
    axes[0].axhline(FLOOR, color=COLOURS["grey"], linewidth=3, alpha=0.4, zorder=0)
    axes[0].set_title("as printed")
    axes[1].set_title("exact")
    axes[0].set_ylabel("ln of the normalised squared error")
    for ax in axes:
        ax.set_xlabel("loops $T$")
    axes[1].plot([], [], color=COLOURS["grey"], linestyle="--", linewidth=1, label="bound")
    axes[1].legend(loc="lower left")
    return drawn


@figure()
def gaps(prompts: pd.DataFrame) -> Figure:
    """The gap between bound and error over the number of examples

    (Bound minus logarithm of the squared error) over the number of loops, after the last one, with 95 %
    intervals over the prompts: of the exact error with the bound of Theorem 8.25, and as printed, of a run in
    float64 with the bound of Theorem 8.16. *What to see:* the thesis says that it narrows as n grows. But
    {{ said("looped/gap-narrows-as-printed", holds="indeed the exact one does, from the fewest examples to the most by this",
            fails="the exact one widens, from the fewest examples to the most by this") }};
    {{ said("looped/gap-narrows-in-floats", holds="it narrows where rounding stops the error, by this",
            fails="it does not narrow as far as said where rounding stops the error either, but changes by this") }}.
    """
    drawn = canvas(4.8, 3.2)
    ax = drawn.subplots()
    long = prompts.melt(["examples", "replicate"], ["gap", "run_gap"], "line")
    looks = {
        "gap": Look("exact", COLOURS["blue"]),
        "run_gap": Look("as printed, in float64", PALETTE["printed"], "s", (4, 2)),
    }
    lines(ax, long, "examples", "line", looks=looks)
    ax.axhline(0, color=COLOURS["ink"], linewidth=0.8)
    _sizes(ax, prompts)
    ax.set_ylabel("gap over $T$")
    ax.legend()
    return drawn


def _sizes(ax: Axes, frame: pd.DataFrame) -> None:
    ax.set(xscale="log", xlabel="examples $n$")
    ax.set_xticks(sorted(frame["examples"].unique()))
    ax.get_xaxis().set_major_formatter("{x:.0f}")
    ax.minorticks_off()


@figure()
def ablations(ablations: pd.DataFrame) -> Figure:
    """What becomes of gradient descent without a part of the construction

    Largest difference of (-q / alpha) and the theta of gradient descent along the loops, over the prompts:
    boxes are quartiles, whiskers reach 1.5 times as far, dots lie beyond. A difference that grows beyond 100 is
    drawn there. *What to see:*
    {{ said("looped/theorem-8-14", holds="the construction is gradient descent up to rounding, from which it is off by this",
            fails="the construction is not gradient descent, from which it is off by this") }};
    {{ said("looped/ablations", holds="without any of its parts it is not, and off by this at least", fails="not all of its parts are needed, without one it is off by this") }}.
    The thesis calls its mask a causal one:
    {{ said("looped/causal-as-printed", holds="with the usual one it is gradient descent too, off by this",
            fails="with the usual one examples attend too, and are overwritten, and it is not gradient descent, but off by this") }}.
    """
    drawn = canvas(6.2, 3.2)
    ax = drawn.subplots()
    shown = ablations.assign(arm=ablations["arm"].map(ABLATIONS))
    # a difference of 0 has no logarithm, and one that has overflowed no place
    shown["deviation"] = shown["deviation"].clip(2.0**-54, DIVERGED)
    sns.boxplot(shown, x="deviation", y="arm", order=list(ABLATIONS.values()), ax=ax,
                color=COLOURS["sky"], fliersize=2, linewidth=0.8)  # fmt: skip
    ax.set(xscale="log", xlabel="largest difference to gradient descent", ylabel=None)
    return drawn


@figure()
def rates(rates: pd.DataFrame) -> Figure:
    """Steps other than 1 / L

    Change of ln |theta - theta*|^2 a step, over the step in units of 1 / L: dots are the later half of a run
    in float64, mean over the prompts with 95 % intervals; dashed is what the slowest eigenvector gives. The cross is the
    best constant step of each prompt, 2 / (L + mu), at its mean place. *What to see:* the lemma's range up
    to 1 / L suffices and is not needed: below 2 / L all converge, at 2 / L the error stalls, above it
    grows. The best constant step lies between.
    """
    drawn = canvas(4.8, 3.2)
    ax = drawn.subplots()
    best = rates["ratio"].isna()
    tried = rates[~best]
    lines(ax, tried.assign(line="run"), "ratio", "line",
          looks={"run": Look("run", COLOURS["blue"])})  # fmt: skip
    predicted = tried.groupby("ratio")["predicted"].mean()
    ax.plot(predicted.index, predicted, color=COLOURS["ink"], linestyle="--",
            label="slowest eigenvector")  # fmt: skip
    own = rates[best]
    ax.plot(own["best"].mean(), own["value"].mean(), "X", color=COLOURS["green"], markersize=8,
            label="best constant step")  # fmt: skip
    ax.axhline(0, color=COLOURS["grey"], linewidth=0.8)
    ax.set(xlabel=r"step $\eta L$", ylabel="change of ln error a step")
    ax.legend()
    return drawn


@figure()
def condition_numbers(dimensions: pd.DataFrame) -> Figure:
    """Condition numbers at n = O(d)

    Mean condition number of X^T X for Gaussian prompts, with 95 % intervals. Left over the dimension at a
    constant ratio n / d: dashed the Marchenko-Pastur edges with Tracy-Widom means, dotted their limit.
    Right kappa - 1 over n / d at the largest dimension, and a line of slope -1/2. *What to see:* with a
    constant number of examples a dimension the condition number comes up to its limit from below:
    {{ said("looped/kappa-constant", holds="it is what was predicted, of which it has this share", fails="it is not what was predicted, of which it has this share") }}.
    And {{ said("looped/kappa-near-one", holds="kappa - 1 falls as sqrt(d / n), with this power of d / n, so that n of order d / eps^2 gives 1 + O(eps)",
            fails="kappa - 1 does not fall as sqrt(d / n), but with this power of d / n") }}.
    """
    drawn = canvas(8.2, 3.4)
    left, right = drawn.subplots(1, 2)
    ratios = sorted(dimensions["ratio"].unique())
    colours = {one: COLOURS[COLOURED[place % len(COLOURED)]] for place, one in enumerate(ratios)}
    looks = {one: Look(f"$n / d$ = {one}", colour) for one, colour in colours.items()}
    lines(left, dimensions, "dimension", "ratio", looks=looks)
    for one, colour in colours.items():
        own = dimensions[dimensions["ratio"] == one].groupby("dimension")
        predicted, limit = own["predicted"].mean(), own["limit"].mean()
        left.plot(predicted.index, predicted, color=colour, linestyle="--", linewidth=1)
        left.plot(limit.index, limit, color=colour, linestyle=":", linewidth=1)
    left.set(
        xscale="log", yscale="log", xlabel="dimension $d$", ylabel=r"condition number $\kappa$"
    )
    left.set_xticks(sorted(dimensions["dimension"].unique()))
    left.set_yticks([1, 2, 3, 5, 9])
    for axis in (left.get_xaxis(), left.get_yaxis()):
        axis.set_major_formatter("{x:.0f}")
    left.minorticks_off()
    left.legend(loc="center right", bbox_to_anchor=(1.0, 0.66))
    largest = dimensions["dimension"].max()
    own = dimensions[dimensions["dimension"] == largest].copy()
    own["value"] -= 1
    lines(right, own.assign(line="mean"), "ratio", "line",
          looks={"mean": Look(f"$d$ = {largest}", COLOURS["blue"])})  # fmt: skip
    mean = own.groupby("ratio")["value"].mean()
    guide = mean.iloc[-1] * (mean.index / mean.index[-1]) ** -0.5
    right.plot(mean.index, guide, color=COLOURS["ink"], linestyle="--", linewidth=1,
               label=r"slope $-1/2$")  # fmt: skip
    right.set(xscale="log", yscale="log", xlabel="examples a dimension, $n / d$",
              ylabel=r"$\kappa - 1$")  # fmt: skip
    right.set_yticks([0.1, 0.3, 1, 3, 9])
    right.get_yaxis().set_major_formatter("{x:g}")
    right.minorticks_off()
    right.legend()
    return drawn


@figure()
def blind_steps(blind: pd.DataFrame) -> Figure:
    """Steps that read no prompt

    Mean of ln |theta - theta*| along the loops with the band of its 95 % intervals over the prompts, a panel a number
    of examples: the theorem's step, one over
    the largest eigenvalue of the very prompt, and two that all prompts share. *What to see:* the earlier
    work that the thesis compares itself with (Theorem 8.17) has a model that knows the law and not the
    prompt, and a bound that asks for exp(T) examples. But
    {{ said("looped/examples-not-exponential", holds="with a shared step the error falls exponentially with the loops at a fixed number of examples, its ln by this a loop",
            fails="with a shared step the error does not fall as fast as said at a fixed number of examples, its ln by this a loop") }}.
    Where there are enough for 1 / n it falls faster than with 1 / L; with 16 examples 1 / n diverges on
    {{ value("blind-steps", "diverges", examples=16, arm="1 / n") | percent }} of the prompts.
    """
    sizes = sorted(blind["examples"].unique())
    drawn = canvas(min(PAGE, 2.3 * len(sizes)), 3.2)
    axes = drawn.subplots(1, len(sizes), sharey=True, squeeze=False)[0]
    for ax, n in zip(axes, sizes, strict=True):
        own = blind[blind["examples"] == n]
        for arm, look in STEPS.items():
            history(ax, own[own["arm"] == arm], look.words, look.colour,
                    "--" if look.dash else "-", x="loop", errorbar=interval)  # fmt: skip
        ax.set(xlabel="loops", ylabel=None, title=f"$n$ = {n}")
    axes[0].set_ylabel(r"mean of ln $|\theta - \theta^*|$")
    drawn.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return drawn


@figure()
def one_loop(shortcut: pd.DataFrame) -> Figure:
    """The task is solved in one loop

    The construction after a single loop, with step 1 / |y|^2 and with 1 / L, over the number of examples;
    medians over the prompts, with a band between the quartiles. Left the error that the task is defined by, |<q, theta*> - alpha| over |alpha|;
    right the distance of q / alpha to theta*. *What to see:* <X^T y, theta*> is |y|^2, so that
    {{ said("looped/one-loop-solves", holds="q = alpha X^T y / |y|^2 has no error on the task, from one example on and whatever the condition number is, but for this",
            fails="q = alpha X^T y / |y|^2 should have no error on the task, and has this") }}, while of few examples
    it is further from theta* than 0 would be. The thesis says that one has to estimate theta*;
    {{ said("looped/task-needs-theta-as-printed", holds="this output does, of the most examples up to this distance",
            fails="this output does not, and is this far from it even of the most examples") }}.
    What the thesis bounds is that estimate.
    """
    drawn = canvas(7.6, 3.2)
    axes = drawn.subplots(1, 2)
    for ax, column in zip(axes, ("prediction", "parameter"), strict=True):
        groups = shortcut.groupby(["arm", "examples"])[column]
        low, median, high = (groups.quantile(at).clip(lower=2.0**-54) for at in (0.25, 0.5, 0.75))
        for arm, look in ONE_LOOP.items():
            ax.fill_between(low[arm].index, low[arm], high[arm], color=look.colour, alpha=0.15,
                            linewidth=0)  # fmt: skip
            ax.plot(median[arm].index, median[arm], color=look.colour, marker=look.marker,
                    markersize=5, label=look.words, linestyle="--" if look.dash else "-")  # fmt: skip
        _sizes(ax, shortcut)
        ax.set_yscale("log")
    axes[1].set_yticks([0.2, 0.5, 1, 2])
    axes[1].get_yaxis().set_major_formatter("{x:g}")
    axes[1].minorticks_off()
    axes[0].set_ylabel("error of the task")
    axes[1].set_ylabel(r"distance to $\theta^*$")
    axes[0].legend(loc="center right")
    return drawn
