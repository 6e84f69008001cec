"""Schematics of the model, and the theorems in numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import seaborn as sns

from featlearn.core.plots import COLOURS, canvas
from featlearn.core.publish import Config, figure
from featlearn.core.statistical import interval
from featlearn.universality.regularised import predicted

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLOURED = ("ink", "blue", "green", "orange", "red", "purple", "sky")


@figure("fig-7-2", contains="drawn")
def features() -> Figure:
    """Figure 7.2: shared, private and spurious features

    Drawn, not measured. A sample of task t has the shared features S and its own P_t; the private features
    of other tasks are zero, and an augmentation draws the spurious ones U anew.
    """
    drawn = canvas(6.4, 1.5)
    ax = drawn.subplots()
    blocks = [("S\nall tasks", 2.0, "blue"), (r"$P_1$", 1.2, "orange"), (r"$P_2$", 1.2, "orange"),
              ("...", 0.8, "grey"), (r"$P_T$", 1.2, "orange"), ("U\nspurious", 2.0, "grey")]  # fmt: skip
    left = 0.0
    for words, width, colour in blocks:
        ax.barh(0, width - 0.08, left=left, height=0.6, color=COLOURS[colour], alpha=0.45)
        ax.text(left + width / 2 - 0.04, 0, words, ha="center", va="center")
        left += width
    ax.annotate("", (0, -0.45), (3.2, -0.45), arrowprops={"arrowstyle": "<->"})
    ax.text(1.6, -0.6, r"$R_1$: what task 1 depends on", ha="center", va="top")
    ax.set(ylim=(-0.8, 0.32), xlim=(-0.1, left + 0.1))
    ax.axis("off")
    return drawn


@figure("fig-f-1", contains="drawn")
def xor() -> Figure:
    """Figure F.1: an optimum of pre-training that no linear probe can use

    Drawn, not measured. Four states of two bits on the unit circle; colours are the first bit. Left the
    arrangement of the thesis, an XOR; right another square with the same loss, which a line separates. All
    squares are optimal (`tables/square.md`); in three dimensions the optimum is a simplex, and each labelling
    of it is separable.
    """
    places = {"an XOR": [(-1, 0), (1, 0), (0, -1), (0, 1)],
              "as good, separable": [(-1, 0), (0, 1), (0, -1), (1, 0)]}  # fmt: skip
    states = [(-1, -1), (-1, 1), (1, -1), (1, 1)]
    drawn = canvas(6.4, 2.7)
    around = np.linspace(0, 2 * np.pi, 200)
    for ax, (words, points) in zip(drawn.subplots(1, 2), places.items(), strict=True):
        ax.plot(np.cos(around), np.sin(around), color=COLOURS["grey"], linewidth=0.8)
        for state, (x, y) in zip(states, points, strict=True):
            colour = COLOURS["blue" if state[0] > 0 else "red"]
            ax.plot(x, y, "o", color=colour, markersize=9)
            ax.text(1.5 * x, 1.2 * y, f"{state}".replace("-", "−"), ha="center", va="center")
        ax.set(title=words, xlim=(-1.8, 1.8), ylim=(-1.3, 1.3), aspect="equal")
        ax.axis("off")
    return drawn


@figure()
def thresholds(thresholds: pd.DataFrame) -> Figure:
    """A feature is encoded from a norm on

    Three states, two of them rare, of probability *b* each, and told apart by one feature: 1 − cos between these
    two at the optimum, against the norm of the representation over the threshold *B*\\* = √(log(1/*b* − 3)/2).
    Dots are minimised numerically, lines are where the loss is stationary. *What to see:* up to the threshold
    both states have one point; it falls with the probability of the states, as Theorem 7.2 says.
    """
    drawn = canvas(5.4, 3.2)
    ax = drawn.subplots()
    for colour, (_, own) in zip(COLOURED, thresholds.groupby("probability"), strict=False):
        b = float(own["probability"].iloc[0])
        closed = own["threshold"].iloc[0]
        ax.plot(own["ratio"], own["value"], "o", color=COLOURS[colour], markersize=4,
                label=f"$b$ = {b:g}, $B^*$ = {closed:.2f}")  # fmt: skip
        ratio, value = np.meshgrid(np.linspace(own["ratio"].min(), own["ratio"].max(), 241),
                                   np.linspace(0, own["value"].max(), 241)[1:])  # fmt: skip
        # the slope of the loss in the angle between the rare states, over what has no zero
        x, cos = (ratio * closed) ** 2, np.sqrt(1 - value / 2)
        slope = 2 * b * cos * (1 + np.exp(x * (1 + cos))) - (1 - 2 * b) * (1 + np.exp(x * value))
        ax.contour(ratio, value, slope, [0], colors=COLOURS[colour], linewidths=1.4)
    ax.use_sticky_edges = False  # those of the contours, which would cut the dots
    ax.plot([thresholds["ratio"].min(), 1], [0, 0], color=COLOURS["ink"], zorder=1)
    ax.set(xlabel="norm over its threshold", ylabel="1 − cos of the rare states")
    ax.legend()
    return drawn


@figure()
def probe_risks(risks: pd.DataFrame) -> Figure:
    """What a smaller weight of private features costs a probe

    Mean squared error of least squares of bounded norm on features weighted as by pre-training on T tasks,
    against the number of noisy labels, with 95 % intervals. *What to see:* more tasks cost labels while there
    are about as many as features; with many labels the curves meet.
    """
    drawn = canvas(5.4, 3.4)
    ax = drawn.subplots()
    tasks = sorted(risks["tasks"].unique())
    sns.lineplot(
        risks, x="labels", y="value", hue="tasks", hue_order=tasks, errorbar=interval, marker="o",
        palette=[COLOURS[name] for name in COLOURED[: len(tasks)]], err_style="bars", ax=ax,
    )  # fmt: skip
    ax.set(xscale="log", yscale="log", xlabel="labels", ylabel="mean squared error")
    ax.legend(title="tasks T")
    return drawn


@figure()
def proposition_f_9(updates: pd.DataFrame, config: Config) -> Figure:
    """The target's contrastive loss gives its private features their weight back (Proposition F.9)

    Weights of the features after projected gradient descent of the target's loss, from the optimum of a
    pre-training on all tasks, against the distance γ that the representation may go; dots are draws of samples,
    lines the proposition's closed form, min(1, 1/√*T* + γ/√*q*)² for the *q* private features of the target. *What to see:* private features of the target gain, nothing else moves.
    """
    drawn = canvas(5.4, 3.3)
    ax = drawn.subplots()
    q, tasks = config["update"]["features"], config["update"]["tasks"]
    looks = {"shared": "ink", "target": "blue", "others": "grey"}
    words = {"shared": "shared", "target": "private, target", "others": "private, other tasks"}
    for part, colour in looks.items():
        own = updates[updates["features"] == part].sort_values("radius")
        ax.plot(own["radius"], own["value"], "o", color=COLOURS[colour], markersize=4)
        line = np.linspace(0, own["radius"].max(), 301)
        weights = {
            "shared": 1.0,
            "others": 1 / tasks,
            "target": [predicted(q, tasks, one) for one in line],
        }
        ax.plot(
            line,
            np.broadcast_to(weights[part], line.shape),
            color=COLOURS[colour],
            label=words[part],
        )
    ax.set(xlabel=r"distance $\gamma$", ylabel="weight of a feature")
    ax.legend()
    return drawn
