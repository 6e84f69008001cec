"""Figures of the three stages: curves, alignment of neurons with atoms, decoupling."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from matplotlib.colors import TwoSlopeNorm

from featlearn.core.plots import COLOURS, canvas

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ARMS = {"masked": "RandomMask", "unmasked": "No augmentation"}
#: Panels of the curves: title, then quantity -> (colour, label).
PANELS: dict[str, dict[str, tuple[str, str]]] = {
    "Norm of a neuron": {
        "signal_norm": (COLOURS["blue"], "within span(M)"),
        "dense_norm": (COLOURS["orange"], "outside, noise"),
    },
    "Singletons": {
        "singletons": (COLOURS["blue"], "share of neurons"),
        "covered": (COLOURS["green"], "share of atoms covered"),
    },
    "Threshold": {"bias_over_norm": (COLOURS["purple"], r"$b/\|w\|$, mean")},
    "Loss": {"loss": (COLOURS["ink"], "contrastive loss")},
}
MOMENTS = {"start": "start", "t1": "T1", "t2": "T2", "end": "end"}
#: Without thresholds there is neither T1 nor T2.
PLAIN_MOMENTS = {"start": "start", "t1": "a third", "t2": "two thirds", "end": "end"}


def stages(histories: pd.DataFrame, moments: pd.DataFrame) -> Figure:
    """Norms, singletons, thresholds and loss over the steps; a row an arm, every replicate."""
    drawn = canvas(8.2, 4.4)
    axes = drawn.subplots(len(ARMS), len(PANELS), sharey="col")
    times = _times(moments)
    for row, (arm, name) in enumerate(ARMS.items()):
        own = histories[histories["arm"] == arm]
        for ax, (title, lines) in zip(axes[row], PANELS.items(), strict=True):
            for quantity, (colour, label) in lines.items():
                _lines(ax, own[own["quantity"] == quantity], colour, label)
            if row == 0:
                ax.set_title(title)
            else:
                ax.set_xlabel("step")
            if arm == "masked":
                _mark(ax, times, named=title == "Norm of a neuron")
        axes[row, 0].set_ylabel(name, fontweight="bold")
    axes[0, 0].set(yscale="log")
    axes[0, 1].set(ylim=(-0.03, 1.05))
    axes[1, 0].legend(fontsize=7.5, loc="center right")
    axes[1, 1].legend(fontsize=7.5, loc="upper left")
    axes[1, 2].legend(fontsize=7.5, loc="upper left")
    axes[1, 3].legend(fontsize=7.5, loc="upper right")
    floor = moments[(moments["quantity"] == "floor") & (moments["arm"] == "masked")]["value"].mean()
    for row, ax in enumerate(axes[:, 3]):
        ax.axhline(floor, color=COLOURS["grey"], linewidth=0.9, linestyle="--")
        if row == 0:
            ax.annotate("floor of a code of z", (1, floor), xycoords=("axes fraction", "data"),
                        ha="right", va="bottom", fontsize=7.5)  # fmt: skip
    return drawn


def _times(moments: pd.DataFrame) -> dict[str, float]:
    """Mean steps of T1 and T2 with RandomMask, over the replicates in which they came."""
    own = moments[(moments["arm"] == "masked") & (moments["quantity"] == "step")]
    came = own[own["value"] >= 0]
    return {
        str(name): float(value) for name, value in came.groupby("moment")["value"].mean().items()
    }


def _lines(ax: Axes, frame: pd.DataFrame, colour: str, label: str) -> None:
    """Every replicate thin, the mean thick."""
    wide = frame.pivot_table(index="step", columns="replicate", values="value")
    ax.plot(wide.index, wide.to_numpy(), color=colour, linewidth=0.5, alpha=0.35)
    ax.plot(wide.index, wide.mean(axis=1), color=colour, linewidth=1.8, label=label)


def _mark(ax: Axes, times: dict[str, float], *, named: bool) -> None:
    for name, step in times.items():
        ax.axvline(step, color=COLOURS["ink"], linewidth=0.8, linestyle=":")
        if named:
            ax.annotate(MOMENTS[name], (step, 0.02), xycoords=("data", "axes fraction"),
                        xytext=(2, 0), textcoords="offset points", fontsize=7.5)  # fmt: skip


def singletons(alignment: pd.DataFrame, moments: pd.DataFrame) -> Figure:
    """``|<w_i, M_j>| / ||w_i||`` of every neuron and atom, at four moments."""
    drawn = canvas(8.2, 5.2)
    axes = drawn.subplots(len(ARMS), len(MOMENTS), sharex=True, sharey=True)
    for row, (arm, name) in enumerate(ARMS.items()):
        own = alignment[alignment["arm"] == arm]
        grids = {
            moment: own[own["moment"] == moment]
            .pivot_table(index="neuron", columns="atom", values="alignment")
            .to_numpy()
            for moment in MOMENTS
        }
        order = np.argsort(grids["end"].argmax(1), kind="stable")
        words = MOMENTS if arm == "masked" else PLAIN_MOMENTS
        for ax, moment in zip(axes[row], MOMENTS, strict=True):
            image = ax.imshow(grids[moment][order], vmin=0, vmax=1, cmap="Blues", aspect="auto",
                              interpolation="nearest")  # fmt: skip
            ax.grid(visible=False)
            ax.set_title(f"{words[moment]}{_step(moments, arm, moment)}", fontsize=9)
            if row == len(ARMS) - 1:
                ax.set_xlabel("atom")
        axes[row, 0].set_ylabel(f"{name}\nneuron", fontweight="bold")
    bar = drawn.colorbar(image, ax=axes, shrink=0.8, pad=0.01)
    bar.set_label(r"$|\langle w_i, M_j\rangle| / \|w_i\|$")
    return drawn


def _step(moments: pd.DataFrame, arm: str, moment: str) -> str:
    chosen = moments[
        (moments["arm"] == arm)
        & (moments["moment"] == moment)
        & (moments["quantity"] == "step")
        & (moments["replicate"] == 0)
    ]["value"]
    return f", step {chosen.iloc[0]:.0f}" if len(chosen) and chosen.iloc[0] >= 0 else ""


MASKINGS = {
    "complementary": "RandomMask",
    "independent": "Two independent masks",
    "none": "No augmentation",
}


def decoupling(frame: pd.DataFrame) -> Figure:
    """``E[<x+, v> <x++, v'>]`` for sparse and dense directions under each way of masking."""
    drawn = canvas(8.2, 3.2)
    axes = drawn.subplots(1, len(MASKINGS))
    grids = {name: _grid(frame[frame["masking"] == name], "measured") for name in MASKINGS}
    top = max(float(np.abs(grid).max()) for grid in grids.values())
    for ax, (masking, title) in zip(axes, MASKINGS.items(), strict=True):
        grid, exact = grids[masking], _grid(frame[frame["masking"] == masking], "exact")
        image = ax.imshow(grid, cmap="RdBu_r", norm=TwoSlopeNorm(0, -top, top))
        half = len(grid) // 2
        places = [half / 2 - 0.5, 1.5 * half - 0.5]
        ax.set_xticks(places, ["atoms", "dense"])
        ax.set_yticks(places, ["atoms", "dense"])
        ax.tick_params(length=0)
        ax.axhline(half - 0.5, color=COLOURS["ink"], linewidth=0.8)
        ax.axvline(half - 0.5, color=COLOURS["ink"], linewidth=0.8)
        ax.grid(visible=False)
        ax.set_title(title)
        pairs = np.stack([grid.diagonal(), exact.diagonal()], -1)
        words = [
            "{}: {:.4f} (exact {:.4f})".format(kind, *part.mean(0))
            for kind, part in (("atom", pairs[:half]), ("dense", pairs[half:]))
        ]
        ax.set_xlabel("\n".join(words).replace("-", "−"), fontsize=8)
    bar = drawn.colorbar(image, ax=axes, shrink=0.85, pad=0.01)
    bar.set_label(r"$E\,\langle x^+,v\rangle\langle x^{++},v'\rangle$")
    return drawn


def _grid(frame: pd.DataFrame, column: str) -> np.ndarray:
    """Means over replicates, a row and a column a direction, in the order of the frame."""
    names = list(dict.fromkeys(frame["first"]))
    grid = frame.pivot_table(index="first", columns="second", values=column)
    return grid.loc[names, names].to_numpy()
