"""Figures of the teacher-student experiment. Reads frames, imports no torch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from featlearn.core.plots import COLOURS, FILLS, PALETTE, canvas
from featlearn.core.publish import Config, figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FRAMEWORKS = {"ts": "Teacher-student", "mae": "MAE"}


def _sorted_matrix(frame: pd.DataFrame) -> np.ndarray:
    """Kernels by features, kernels in the order of the feature that each holds most at the end."""
    grids = {
        when: own.pivot_table(index="kernel", columns="feature", values="correlation").to_numpy()
        for when, own in frame.groupby("when")
    }
    last = grids["after"]
    order = np.lexsort((-last.max(axis=1), last.argmax(axis=1)))
    return np.stack([grids["before"][order], last[order]])


@figure()
def kernel_matrix(matrix: pd.DataFrame, config: Config) -> Figure:
    """What kernels hold, before and after: teacher-student against MAE

    Each row is a kernel that holds a feature at the end, each column a feature (two a class, between
    thin lines); colour is the correlation. Rows are sorted by the feature that they end with. Left pair:
    teacher-student pre-training, stopped at the step that captured the last feature; right pair: MAE
    pre-training on the clean data. First replicate of each. Triangles mark kernels that hold more than one
    feature. *What to see:* MAE ends with one kernel a feature and cleans everything else away.
    Teacher-student kernels do not interact, so several share a feature, what they started with stays,
    and {{ value("teacher-student", "mean", model="pretrained", quantity="impure_share") | percent }} of the winners (mean over replicates) hold features that theorem 1(b), (c) says they do not.
    That a teacher-student winner holds no other feature, as printed,
    {{ verdict("mrp/t8-purity-as-printed") }}.
    """
    varrho = config["network"]["varrho"]
    drawn = canvas(8.2, 5.0)
    halves: Any = drawn.subfigures(1, 2)
    panels = []
    for half, (framework, name) in zip(halves, FRAMEWORKS.items(), strict=True):
        both = _sorted_matrix(matrix[matrix["framework"] == framework])
        impure = np.nonzero((both[1] >= varrho).sum(axis=1) > 1)[0]
        half.suptitle(f"{name}: the {both.shape[1]} kernels that win", fontsize=10)
        axes = half.subplots(1, 2)
        panels += list(axes)
        for ax, grid, when in zip(axes, both, ("before", "after"), strict=True):
            image = ax.imshow(grid, vmin=-1, vmax=1, cmap="RdBu_r", aspect="auto")
            _feature_axis(ax, grid.shape[1])
            ax.set_title(when, fontsize=9)
            ax.set_yticks([])
        axes[0].set_ylabel("kernel, sorted by its strongest feature")
        edge = both.shape[2] - 0.5
        (marks,) = axes[1].plot(np.full(len(impure), edge + 0.6), impure, "<",
                                color=COLOURS["ink"], markersize=4, clip_on=False)  # fmt: skip
        marks.set_in_layout(False)
        axes[1].set_xlim(-0.5, edge)
        axes[1].set_ylim(both.shape[1] - 0.5, -0.5)
    bar = halves[1].colorbar(image, ax=panels[2:], shrink=0.8, pad=0.03)
    bar.set_label(r"correlation $\langle w_r, v_{i,l}\rangle$")
    return drawn


def _feature_axis(ax: Axes, features: int, views: int = 2) -> None:
    """Features along x, the views of a class between thin lines."""
    classes = features // views
    shown = range(0, classes, max(1, classes // 5))
    ax.set_xticks([views * c + (views - 1) / 2 for c in shown], [str(c + 1) for c in shown])
    ax.set_xticks(np.arange(-0.5, features, views), minor=True)
    ax.grid(visible=False)
    ax.grid(which="minor", axis="x", color=FILLS["rule"], linewidth=0.4)
    ax.tick_params(which="both", length=0)
    ax.set_xlabel("class")


@figure()
def winners_and_losers(growth: pd.DataFrame, purity: pd.DataFrame, config: Config) -> Figure:
    """Winners and losers of teacher-student pre-training

    Left: over the features of one replicate, the median, with a band from the least to the most, of the
    largest correlation with a kernel (purple) and of the largest |correlation| with a kernel whose strongest
    feature is another one (grey). Right: numbers of kernels that hold a feature, two features of one
    class, features of two classes: medians over replicates, with a band from the least to the most. A run
    ends when its last feature is captured (triangles: a run each); after that its numbers stand still.
    *What to see:* losers hardly move while winners grow, as the proof
    says, but as soon as kernels hold a feature some of them are lifted over the threshold for a second
    one. At the end, in the mean over replicates,
    {{ value("teacher-student", "mean", model="pretrained", quantity="sibling") | number(2) }} kernels hold both features of a class and
    {{ value("teacher-student", "mean", model="pretrained", quantity="cross") | number(2) }} hold features of two classes, of
    {{ value("teacher-student", "mean", model="pretrained", quantity="winners") | number(2) }} winners.
    That every feature of every class is captured {{ verdict("mrp/t6-captured-teacher-student") }}; that
    a winner holds no other feature, as printed, {{ verdict("mrp/t8-purity-as-printed") }}.
    """
    drawn = canvas(8.2, 3.3)
    left, right = drawn.subplots(1, 2, width_ratios=[1.35, 1])
    ends = {replicate: _last_change(line) for replicate, line in purity.groupby("replicate")}
    own = growth[(growth["replicate"] == 0) & (growth["step"] <= ends[0])]
    for quantity, colour, label in (
        ("strength", PALETTE["teacher-student"], r"winner, $\Lambda_{i,l}$"),
        ("off_diagonal", COLOURS["grey"], "best other kernel"),
    ):
        _middle(left, own, quantity, colour, label)
    _threshold(left, config["network"]["varrho"])
    left.set(xlabel="step of gradient descent (full batch)", title="One replicate, its features")
    left.set_ylabel("correlation with the feature")
    left.set_ylim(bottom=0)
    left.legend(loc="upper left", fontsize=8)
    running = purity[purity["step"] <= max(ends.values())]
    for kind, colour, label in (
        ("winners", PALETTE["teacher-student"], "hold a feature"),
        ("sibling", COLOURS["red"], "two of a class"),
        ("cross", COLOURS["ink"], "of two classes"),
    ):
        _middle(right, running, kind, colour, label)
    right.plot([*ends.values()], np.zeros(len(ends)), "^", color=COLOURS["grey"], markersize=5,
               alpha=0.8, label="a run ends", clip_on=False, zorder=4)  # fmt: skip
    right.set(xlabel="step of gradient descent (full batch)", ylabel="number of kernels")
    right.set(title="What kernels hold", yscale="symlog")
    ticks = [0, 1, 2, 5, 10, 20, 50, 100, 200]
    right.set_yticks(ticks, map(str, ticks))
    right.legend(loc="upper left", fontsize=8)
    return drawn


def _middle(ax: Axes, frame: pd.DataFrame, quantity: str, colour: str, label: str) -> None:
    """Median along the steps, and a band from the least to the most."""
    steps = frame.groupby("step")[quantity]
    ax.plot(steps.median().index, steps.median(), color=colour, label=label)
    ax.fill_between(
        steps.min().index, steps.min(), steps.max(), color=colour, alpha=0.2, linewidth=0
    )


def _last_change(line: pd.DataFrame) -> int:
    """The step after which a replicate's record stands still, as it has ended."""
    largest = line["largest"].to_numpy()
    moving = np.nonzero(largest != largest[-1])[0]
    place = min(len(line) - 1, moving[-1] + 1) if moving.size else 0
    return int(line["step"].iloc[place])


def _threshold(ax: Axes, varrho: float) -> None:
    ax.axhline(varrho, color=COLOURS["ink"], linewidth=0.9, linestyle="--")
    ax.annotate(
        r"captured: $\geq\varrho$", (0.01, varrho), xycoords=("axes fraction", "data"),
        ha="left", va="bottom", fontsize=8,
    )  # fmt: skip
