"""How the sweeps over one parameter are drawn, as small multiples."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from featlearn.core.plots import COLOURS, canvas
from featlearn.core.publish import figure
from featlearn.mrp.figures.shares import intervals

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Columns of the figure.
PARAMETERS = {
    "q": "exponent of the\nactivation, $q$",
    "kernels_per_class": "kernels a class, $m$",
    "feature_noise": r"feature noise, $\gamma$",
    "theta": "probability that a\npatch is kept, $\\theta$",
    "sigma_0": "size of the initial\nkernels, $\\sigma_0$",
}
#: Rows of the figure, with the quantity of each line: what, of which model, in which style.
ROWS = {
    "features\ncaptured": (
        ("captured", "supervised", "supervised"),
        ("captured", "pretrained", "pretrained"),
    ),
    "winners that\nare impure": (
        ("impure_share", "supervised", "supervised"),
        ("impure_share", "pretrained", "pretrained"),
        ("impure_share", "at_capture", "at_capture"),
    ),
    "single-view\naccuracy": (
        ("accuracy_single_view", "supervised", "supervised"),
        ("accuracy_single_view", "finetuned", "pretrained"),
    ),
}
STYLES = {
    "supervised": ("supervised", COLOURS["orange"], "o", "-"),
    "pretrained": ("mask reconstruction (+ fine-tuning)", COLOURS["blue"], "s", "-"),
    "at_capture": ("the same, when the last feature is captured", COLOURS["blue"], "^", ":"),
}  # fmt: skip


def sigma_sweep(grid: pd.DataFrame) -> pd.DataFrame:
    """The cells of the phase diagram without single-view data, as a sweep over sigma_0."""
    alone = grid[grid["single_view_share"] == grid["single_view_share"].min()]
    alone = alone.rename(columns={"sigma_0": "at"}).assign(parameter="sigma_0")
    return alone[["parameter", "at", "model", "replicate", "quantity", "value"]]


def with_impure_share(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame with a further quantity: impure winners as a share of all winners."""
    keys = [name for name in frame.columns if name not in ("quantity", "value")]
    wide = frame[frame["quantity"].isin(["winners", "impure_winners"])].pivot_table(
        index=keys, columns="quantity", values="value"
    )
    share = (wide["impure_winners"] / wide["winners"].clip(lower=1)).rename("value").reset_index()
    return pd.concat([frame, share.assign(quantity="impure_share")], ignore_index=True)


@figure()
def sweeps(supervised: pd.DataFrame, pretrained: pd.DataFrame, grid: pd.DataFrame) -> Figure:
    """One parameter at a time

    Rows: share of features captured, share of winning kernels that hold more than one feature, accuracy
    on single-view test images. Columns: exponent of the activation, kernels a class, feature noise,
    probability that a patch is kept (mask reconstruction only: supervised training masks nothing), size of the initial kernels (the column of the phase diagram without single-view data); the other
    parameters stay at their usual values. Points are means over replicates, lines 95 % t-intervals.
    *What to see:* mask reconstruction captures every feature everywhere but where there are no more
    kernels than features. The supervised lottery is at home at large exponents, few kernels, little
    feature noise and small initial kernels, as the theory assumes, and fades elsewhere. At the step at
    which the last feature is captured (dotted), a small exponent leaves more impure winners; trained
    on, mask reconstruction sorts them out, unless kernels begin near the threshold of several features
    (right-hand column), which does no harm to the accuracy.
    """
    frame = with_impure_share(pd.concat([supervised, pretrained, sigma_sweep(grid)]))
    drawn = canvas(8.2, 5.6)
    axes = drawn.subplots(len(ROWS), len(PARAMETERS), sharex="col", sharey="row")
    for column, (parameter, words) in enumerate(PARAMETERS.items()):
        own = frame[frame["parameter"] == parameter]
        points = np.sort(own["at"].unique())
        for row, (label, lines) in enumerate(ROWS.items()):
            ax = axes[row, column]
            for quantity, model, style in lines:
                _line(ax, own, points, quantity, model, style)
            ax.set_ylim(-0.05, 1.07)
            if column == 0:
                ax.set_ylabel(label)
        names = [f"{point:g}" for point in points]
        axes[-1, column].set_xticks(range(len(points)), names, rotation=45 * (len(points) > 3))
        axes[-1, column].set_xlim(-0.35, len(points) - 0.65)
        axes[-1, column].set_xlabel(words)
    handles = {
        style: axes[1, 0].plot([], [], color=colour, marker=marker, linestyle=dash, markersize=5)[0]
        for style, (_, colour, marker, dash) in STYLES.items()
    }
    drawn.legend(
        handles.values(),
        [STYLES[style][0] for style in handles],
        loc="outside lower center",
        ncols=3,
    )
    return drawn


def _line(
    ax: Axes, frame: pd.DataFrame, points: np.ndarray, quantity: str, model: str, style: str
) -> None:
    """Means with 95 % intervals at evenly spaced places, one a point."""
    chosen = frame[(frame["quantity"] == quantity) & (frame["model"] == model)]
    if chosen.empty:
        return
    means, lines = intervals(chosen, "at", points)
    _, colour, marker, dash = STYLES[style]
    ax.errorbar(
        range(len(points)),
        means,
        lines,
        color=colour, marker=marker, linestyle=dash, markersize=5, capsize=2, clip_on=False,
    )  # fmt: skip
