"""Regression by rank."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from featlearn.core.plots import COLOURS, canvas
from featlearn.core.publish import figure
from featlearn.core.statistical import Look, share_interval
from featlearn.icl.figures.points import lines_and_points

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLOURED = ("blue", "green", "orange", "red", "purple", "sky")


@figure()
def rank_and_noise(curves: pd.DataFrame) -> Figure:
    """The best rank falls with the noise

    Left the evaluation loss of the optimal rank-r model in closed form (Theorem 5.4.2) over the rank, a line a
    deviation of label noise, for a task along all directions; the ring is the best rank. Right its pieces at the
    second deviation: bias, noise of the examples, noise of their labels. *What to see:* the bias falls with
    the rank and the noise rises, so that the loss is a U, and
    {{ said("icl/best-rank-falls", holds="its bottom moves to smaller ranks, from no noise to the most by this many",
            fails="its bottom does not move to smaller ranks with more noise, but by this many") }}.
    """
    own = curves[curves["directions"] == curves["directions"].max()]
    drawn = canvas(7.8, 3.3)
    left, right = drawn.subplots(1, 2)
    sigmas = sorted(own["sigma"].unique())
    for place, sigma in enumerate(sigmas):
        part, colour = own[own["sigma"] == sigma], COLOURS[COLOURED[place % len(COLOURED)]]
        left.plot(part["rank"], part["value"], color=colour, label=rf"$\sigma$ = {sigma:g}")
        best = part.loc[part["value"].idxmin()]
        left.plot(best["rank"], best["value"], "o", color=colour, markerfacecolor="white")
    part = own[own["sigma"] == sigmas[1]]
    words = {"bias": "bias", "inputs": "noise of examples", "labels": "noise of labels"}
    right.stackplot(part["rank"], *(part[key] for key in words), labels=list(words.values()),
                    colors=[COLOURS[name] for name in ("grey", "sky", "orange")])  # fmt: skip
    left.set(xlabel="rank $r$", ylabel="evaluation loss", yscale="log")
    right.set(
        xlabel="rank $r$", ylabel="evaluation loss", title=rf"pieces at $\sigma$ = {sigmas[1]:g}"
    )
    left.legend()
    right.legend(loc="upper right")
    return drawn


@figure()
def trained_ranks(trained: pd.DataFrame) -> Figure:
    """Trained networks of limited rank

    Evaluation loss on a task along the first direction of networks after training (a small dot a replicate, and their
    mean with its 95 % interval) and of the closed form of their rank (dashed), a colour a deviation of label noise.
    *What to see:*
    {{ said("icl/theorem-5-4-1", holds="training reaches the theorem's optimum, above which its own loss ends by this share at most",
            fails="training does not reach the theorem's optimum, above which its own loss ends by this share") }}, and
    {{ said("icl/trained-larger-loses", holds="networks of larger rank lose more to noise, of examples and of labels: at the second deviation the largest has this many times the loss of the smallest",
            fails="networks of larger rank do not lose far more to noise: at the second deviation the largest has this many times the loss of the smallest") }}.
    """
    drawn = canvas(4.8, 3.3)
    ax = drawn.subplots()
    sigmas = sorted(trained["sigma"].unique())
    colours = {s: COLOURS[COLOURED[k % len(COLOURED)]] for k, s in enumerate(sigmas)}
    found = {s: Look(rf"$\sigma$ = {s:g}", colours[s]) for s in sigmas}
    lines_and_points(ax, trained, "rank", "sigma", looks=found, value="evaluation")
    for _, part in trained.groupby("sigma"):
        exact = part.groupby("rank")["predicted"].mean()
        (closed,) = ax.plot(exact.index, exact, "--", color=COLOURS["ink"], linewidth=1)
    closed.set_label("closed form")
    ax.set(xlabel="rank $r$", ylabel="evaluation loss", yscale="log")
    drawn.legend(*ax.get_legend_handles_labels(), loc="outside right center")
    return drawn


@figure()
def flipped_signs(flips: pd.DataFrame) -> Figure:
    """Ours: flipped labels in the world of the theory

    Accuracy of the sign of the answer when labels are signs of which a share is flipped: a dot a replicate, a line a
    rank with 95 % intervals. The task lies in the first two directions: rank 1 misses a part of it, larger ranks add
    noise. *What to see:* linear attention is odd in its labels. With all of them flipped each rank is right as often
    as it was wrong with none, so that the order of the ranks turns round, and
    {{ said("icl/small-rank-keeps-as-printed",
            holds="rank 2, the task's own, is then not behind the largest, by this difference in accuracy",
            fails="the theory does not explain the flat lines of small language models (Figures 5.1 and 5.2): rank 2, the task's own, is then behind the largest, by this difference in accuracy") }}.
    """
    drawn = canvas(4.8, 3.3)
    ax = drawn.subplots()
    ranks = sorted(flips["rank"].unique())
    found = {r: Look(f"rank {r}", COLOURS[COLOURED[k % len(COLOURED)]])
             for k, r in enumerate(ranks)}  # fmt: skip
    lines_and_points(ax, flips, "share", "rank", looks=found, errorbar=share_interval)
    ax.axhline(0.5, color=COLOURS["grey"], linestyle="--", linewidth=1)
    ax.set(xlabel="share of flipped labels", ylabel="accuracy", ylim=(0, 1))
    ax.legend()
    return drawn
