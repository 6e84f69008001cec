"""Fitting and generalising."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, NullFormatter

from featlearn.core.plots import COLOURS, FILLS, PAGE, canvas
from featlearn.core.publish import Config, figure
from featlearn.core.statistical import Look, lines
from featlearn.fourier.config import ANSWERED, FITTED
from featlearn.fourier.words import MODELS, SPLITS, task_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PARTS: dict[str, tuple[str, str, Any]] = {
    "train": ("training", "blue", "-"),
    "test": ("test", "red", "-"),
    "known": ("test, a permutation was taught", "orange", "--"),
    "new": ("test, none was taught", "green", ":"),
}
#: Shares of known test inputs between which both kinds are drawn.
BOTH = (0.02, 0.98)
LOOKS = {
    "tuples": Look("split at random", COLOURS["blue"]),
    "orbits": Look("split by orbits", COLOURS["red"], "s", (3, 2)),
}


@figure("fig-4-4")
def grokking(curves: pd.DataFrame, leaks: pd.DataFrame, config: Config) -> Figure:
    """Figure 4.4: fitting and generalising as more numbers are added, by two splits

    Best accuracy so far of two-layer transformers along their training, a line a replicate: with such weight decay
    accuracies fall again for a while, which is left out here since first passages are what is judged. A line ends when the replicate
    has been right on 99 % of its training inputs and on 95 % of all others (dot), or at the last step: it
    is trained no further. Above the thesis' split, a random half of all
    ordered inputs; below, all permutations of an input are on the same side. Dashed and dotted: of the
    test inputs those of which a permutation is in the training set, and the rest, if there are more than
    a few. *What to see:* with 2 numbers, above,
    {{ said("fourier/grokking", holds="networks generalise long after they fit, by so many octaves of steps",
            fails="networks generalise as they fit, after so many octaves of steps") }};
    {{ said("fourier/grokking-weakens", holds="the delay weakens with more numbers, as in the thesis, with 4 by so many octaves",
            fails="the delay does not weaken with more numbers, but with 4 changes by so many octaves") }}. But with 4 numbers
    {{ value("splits", cell="four", split="tuples", quantity="known") | percent(1) }} of the test set are
    permutations of what was taught, and
    {{ said("fourier/permutations-leak", holds="at the first fit with 2 such inputs are answered better than others, by this difference in accuracy",
            fails="at the first fit with 2 such inputs are answered no better than others, by this difference in accuracy") }}. Below, where none is known,
    {{ said("fourier/split-matters-three", holds="with 3 numbers the delay is longer than above, by so many octaves",
            fails="with 3 numbers the delay is not longer than above, but by so many octaves") }};
    {{ said("fourier/split-matters-four", holds="with 4 it is, too, by so many", fails="with 4 it is not longer than above, but by so many") }};
    {{ said("fourier/grokking-weakens-by-orbits", holds="from 2 numbers to 4 it does not weaken there, but changes by so many",
            fails="from 2 numbers to 4 it weakens there, too, by so many") }}.
    """
    cells = list(dict.fromkeys(curves.sort_values("k")["cell"]))
    drawn = canvas(min(PAGE, 2.9 * len(cells)), 4.8)
    axes = drawn.subplots(2, len(cells), sharey=True, squeeze=False)
    for cell, column in zip(cells, axes.T, strict=True):
        for split, ax in zip(SPLITS, column, strict=True):
            own = curves[(curves["cell"] == cell) & (curves["split"] == split)
                         & (curves["model"] == "transformer") & (curves["step"] > 0)]  # fmt: skip
            own = own.sort_values("step")
            own = own.assign(value=own.groupby(["replicate", "part"])["value"].cummax())
            shares = leaks[(leaks["cell"] == cell) & (leaks["split"] == split)]["value"]
            known = shares.mean()
            for part, (_, colour, dash) in PARTS.items():
                if part in ("known", "new") and not BOTH[0] < known < BOTH[1]:
                    continue
                sns.lineplot(own[own["part"] == part], x="step", y="value", color=COLOURS[colour],
                             units="replicate", estimator=None, linestyle=dash,
                             linewidth=0.6 if part == "train" else 0.9, alpha=0.8, ax=ax,
                             legend=False)  # fmt: skip
            best = own.pivot_table(index="replicate", columns="part", values="value", aggfunc="max")
            done = best.index[(best["train"] >= FITTED) & (best["test"] >= ANSWERED)]
            ends = own[own["part"] == "test"].groupby("replicate").tail(1)
            there = ends[ends["replicate"].isin(done)]
            ax.plot(there["step"], there["value"], "o", color=COLOURS["red"], markersize=3)
            ax.set(title=f"{task_of(config, cell)}, {SPLITS[split]}", xscale="log", xlabel="step",
                   ylabel="accuracy", ylim=(-0.02, 1.02))  # fmt: skip
            ax.title.set_fontsize(8.5)
            # the same kind of ticks in all panels, of whatever length
            ax.xaxis.set_major_locator(LogLocator(subs=(1, 3)))
            ax.xaxis.set_major_formatter("{x:.0f}")
            ax.xaxis.set_minor_formatter(NullFormatter())
    handles = [Line2D([], [], color=COLOURS[colour], linestyle=dash, label=words)
               for words, colour, dash in PARTS.values()]  # fmt: skip
    drawn.legend(handles=handles, loc="outside lower center", ncols=4)
    return drawn


@figure()
def grokking_delays(passages: pd.DataFrame) -> Figure:
    """How much later networks generalise than they fit

    Steps until a network answers, with 95 % of the test inputs right, over steps until it fits, with 99 %
    of the training inputs right, in octaves (log2): a small dot a replicate, and their mean with its 95 % interval. The two
    marks differ; what equal ones say is in the table of marks. Hollow: at least one network never answered,
    and its last step is taken, which is too little; where the splits meet, the circle lies in the square.
    Below 0 a network answers before it fits, as the marks have it. *What to see:* of the transformer
    {{ said("fourier/grokking-weakens", holds="the delay shrinks from 2 numbers to 4 where they are split at random, by so many octaves",
            fails="the delay does not shrink from 2 numbers to 4 where they are split at random, but changes by so many octaves") }};
    {{ said("fourier/grokking-weakens-by-orbits", holds="it does not where they are split by orbits, but changes by so many",
            fails="it does where they are split by orbits, too, by so many") }}. To the polynomial
    network a permutation of an input is another input. Yet, where one that never answers counts as 10,
    {{ said("fourier/split-is-nothing-to-the-polynomial-two", holds="with two numbers it makes no difference between the splits, but for so many octaves",
            fails="with two numbers it answers later by one of the splits, by so many octaves") }};
    {{ said("fourier/split-is-nothing-to-the-polynomial-three", holds="with three it makes none either, but for so many",
            fails="with three it does, by so many: whole orbits are harder to generalise to in themselves") }}.
    """
    drawn = canvas(6.6, 3.0)
    axes = drawn.subplots(1, 2, sharey=True)
    shown = passages.assign(value=np.log2(passages["answered"] / passages["fitted"]))
    for ax, (model, words) in zip(axes, MODELS.items(), strict=True):
        own = shown[shown["model"] == model]
        lines(ax, own, "k", "split", looks=LOOKS)
        ax.plot(own["k"], own["value"], "o", color=COLOURS["ink"], markersize=2.4, alpha=0.6,
                markeredgewidth=0, zorder=7)  # fmt: skip
        for split, look in LOOKS.items():
            ends = own[own["split"] == split].groupby("k")[["value", "censored"]].mean()
            hollow = ends[ends["censored"] > 0]
            # where the splits meet a circle lies within a larger square
            size, above = (5, 6) if look.marker == "o" else (9, 5)
            ax.plot(hollow.index, hollow["value"], look.marker, color=look.colour, zorder=above,
                    markersize=size, markerfacecolor=FILLS["white"])  # fmt: skip
        ax.axhline(0, color=COLOURS["ink"], linewidth=0.8)
        ax.set(title=words, xlabel="numbers added", ylabel="answers over fits (octaves)")
        ax.set_xticks(sorted(own["k"].unique()))
    drawn.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return drawn
