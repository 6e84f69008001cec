"""Figures of the teacher-student experiment. Reads frames, imports no torch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from featlearn.core.plots import COLOURS, canvas

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


def kernel_matrix(matrix: pd.DataFrame, varrho: float) -> Figure:
    """Kernel-by-feature correlations before and after, for both frameworks, in one replicate."""
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
    ax.grid(which="minor", axis="x", color="#D0D0D0", linewidth=0.4)
    ax.tick_params(which="both", length=0)
    ax.set_xlabel("class")


def winners_and_losers(growth: pd.DataFrame, purity: pd.DataFrame, varrho: float) -> Figure:
    """Left: winners and losers of each feature over time. Right: impure winners, all replicates."""
    drawn = canvas(8.2, 3.3)
    left, right = drawn.subplots(1, 2, width_ratios=[1.35, 1])
    ends = {replicate: _last_change(line) for replicate, line in purity.groupby("replicate")}
    own = growth[(growth["replicate"] == 0) & (growth["step"] <= ends[0])]
    for number, (_, line) in enumerate(own.groupby(["class", "view"])):
        left.plot(line["step"], line["strength"], color=COLOURS["blue"], linewidth=1, alpha=0.8,
                  label=None if number else r"winner, $\Lambda_{i,l}$")  # fmt: skip
        left.plot(line["step"], line["off_diagonal"], color=COLOURS["orange"], linewidth=1,
                  alpha=0.8, label=None if number else "best other kernel")  # fmt: skip
    _threshold(left, varrho)
    left.set(xlabel="step of gradient descent (full batch)", title="One replicate, every feature")
    left.set_ylabel("correlation with the feature")
    left.set_ylim(bottom=0)
    left.legend(loc="upper left", fontsize=8)
    for kind, colour, label in (
        ("winners", COLOURS["grey"], "hold a feature"),
        ("sibling", COLOURS["red"], "two of a class"),
        ("cross", COLOURS["purple"], "of two classes"),
    ):
        for replicate, line in purity.groupby("replicate"):
            ended = line[line["step"] <= ends[replicate]]
            right.plot(ended["step"], ended[kind], color=colour, linewidth=1, alpha=0.75,
                       label=None if replicate else label)  # fmt: skip
    right.set(xlabel="step of gradient descent (full batch)", ylabel="number of kernels")
    right.set(title="What kernels hold, all replicates", yscale="symlog")
    right.set_yticks([0, 1, 2, 5, 10, 20, 50, 100], ["0", "1", "2", "5", "10", "20", "50", "100"])
    right.legend(loc="upper left", fontsize=8)
    return drawn


def _last_change(line: pd.DataFrame) -> int:
    """The step after which a replicate's record stands still, as it has ended."""
    largest = line["largest"].to_numpy()
    moving = np.nonzero(largest != largest[-1])[0]
    place = min(len(line) - 1, moving[-1] + 1) if moving.size else 0
    return int(line["step"].iloc[place])


def _threshold(ax: Axes, varrho: float) -> None:
    ax.axhline(varrho, color=COLOURS["ink"], linewidth=0.9, linestyle="--")
    ax.annotate(
        r"captured: $\geq\varrho$", (0.99, varrho), xycoords=("axes fraction", "data"),
        ha="right", va="bottom", fontsize=8,
        bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 1},
    )  # fmt: skip


def noise_alignment(panels: Mapping[str, tuple[pd.DataFrame, pd.DataFrame]]) -> Figure:
    """Largest alignment of a kernel with the noise, by kind of patch, before and after.

    Parameters
    ----------
    panels
        By title: the measurements, and the units of the lemma in one row (``claims.noise.scales``).
    """
    drawn = canvas(8.2, 3.6)
    axes = drawn.subplots(1, len(panels), sharey=True)
    for ax, (title, (noise, units)) in zip(axes, panels.items(), strict=True):
        _noise_panel(ax, noise, units)
        ax.set_title(title)
    axes[0].set_ylabel(r"largest $|\langle w_r, \xi_p\rangle|$ (log scale)")
    drawn.legend(
        *axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize=8
    )
    return drawn


def _noise_panel(ax: Axes, noise: pd.DataFrame, units: pd.DataFrame) -> None:
    kinds = {
        "own": "patches of\nwinner's own\nfeature",
        "other": "patches of\nother\nfeatures",
        "background": "patches\nwithout a\nfeature",
    }
    styles = {
        ("before", "training"): ("o", COLOURS["grey"], "initial kernels, training noise"),
        ("after", "training"): ("o", COLOURS["blue"], "pre-trained kernels, training noise"),
        ("after", "fresh"): ("D", COLOURS["orange"], "pre-trained kernels, fresh noise"),
    }
    for place, kind in enumerate(kinds):
        for shift, ((when, which), (marker, colour, label)) in enumerate(styles.items()):
            chosen = noise[
                (noise["when"] == when) & (noise["samples"] == which) & (noise["patches"] == kind)
            ]
            values = chosen["largest"].to_numpy()
            values = values[values > 0]  # a replicate whose kernels hold nothing yet has no winner
            spread = np.linspace(-0.07, 0.07, values.size)
            ax.plot(place + 0.24 * (shift - 1) + spread, values, marker, color=colour,
                    markersize=4, alpha=0.8, label=None if place else label)  # fmt: skip
    names = {"sigma_0": r"$\sigma_0$", "sigma_0_gamma_k": r"$\sigma_0\gamma k$"}
    for unit, text in names.items():
        value = float(units[unit].iloc[0])
        ax.axhline(value, color=COLOURS["ink"], linewidth=0.9, linestyle="--")
        ax.annotate(text, (1.01, value), xycoords=("axes fraction", "data"), va="center")
    ax.set_xticks(range(len(kinds)), list(kinds.values()))
    ax.set(yscale="log", xlim=(-0.5, len(kinds) - 0.5))
    ax.grid(axis="x", visible=False)
