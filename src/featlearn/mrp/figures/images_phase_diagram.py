"""Gain of pre-training on pictures, one dial turned at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from featlearn.core.plots import COLOURS, canvas
from featlearn.core.publish import figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure, FigureBase

#: Dials of the phase diagram in words.
DIALS = {
    "mask_size": "side of a mask cell (px)",
    "second_contrast": "contrast of the second part",
    "sparsity": "expected distractors",
    "background": "strength of the background",
    "noise": "noise of a pixel",
    "classes": "classes",
    "epochs": "epochs of pre-training",
    "part_size": "diameter of a part (px)",
    "rotation": "largest turn of a part (°)",
}


@figure()
def images_phase_diagram(phase_diagram: pd.DataFrame) -> Figure:
    """Where pre-training helps on pictures

    Each panel turns one dial and leaves the others; rows are its positions, columns the numbers of
    labelled pictures. A cell gives the single-view accuracy of supervised training, then that of SimMIM
    with fine-tuning; blue is a gain, red a loss. The replicates here are used for nothing else, so that
    what is reported elsewhere was not chosen by looking at it. The first row of the first panel is the
    setting of the comparison. *What to see:* whether a background that varies, which masked pixels tell of
    as well, takes from the gain; mask cells larger than the parts leave nothing from which a part could be
    filled in; where few labels suffice to see all parts there is nothing to gain.
    """
    return phase_diagrams(phase_diagram, {"single_view": "single-view accuracy"})


def phase_diagrams(frame: pd.DataFrame, quantities: Mapping[str, str]) -> Figure:
    """Gain of pre-training over supervised training: a row a quantity, a column a dial."""
    dials = [dial for dial in DIALS if dial in set(frame["dial"])]
    shown = {name: words for name, words in quantities.items() if name in set(frame["quantity"])}
    heights = [
        1.3 + 0.45 * max(frame[frame["dial"] == dial]["position"].nunique() for dial in dials)
    ] * len(shown)
    drawn = canvas(2.8 * len(dials) + 0.6, max(2.9, sum(heights)))
    parts = drawn.subfigures(len(shown), 1, squeeze=False)[:, 0]
    for part, (name, words) in zip(parts, shown.items(), strict=True):
        _gain_row(part, frame[frame["quantity"] == name], dials, words)
    return drawn


def _gain_row(part: FigureBase, frame: pd.DataFrame, dials: Sequence[str], words: str) -> None:
    axes = part.subplots(1, len(dials), squeeze=False)[0]
    tables = {dial: _gains(frame[frame["dial"] == dial]) for dial in dials}
    most = max(float(np.abs(gain.to_numpy()).max()) for gain, _, _ in tables.values())
    for ax, dial in zip(axes, dials, strict=True):
        gain, supervised, pretrained = tables[dial]
        image = ax.imshow(gain, vmin=-most, vmax=most, cmap="RdBu", aspect="auto")
        for (row, column), value in np.ndenumerate(gain.to_numpy()):
            both = f"{supervised[row, column]:.2f}\n→ {pretrained[row, column]:.2f}"
            ink = "white" if abs(value) > 0.6 * most else COLOURS["ink"]
            ax.text(column, row, both, ha="center", va="center", color=ink, fontsize=8)
        ax.set_yticks(range(len(gain)), [f"{position:g}" for position in gain.index])
        ax.set_xticks(range(gain.shape[1]), [str(count) for count in gain.columns])
        ax.set(title=DIALS[dial], xlabel="labelled images")
        ax.tick_params(length=0)
        ax.grid(visible=False)
    bar = part.colorbar(image, ax=axes, pad=0.01)
    bar.set_label(f"gain: {words}", fontsize=8)


def _gains(frame: pd.DataFrame) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """Pre-trained less supervised, and both: a row a position, a column a number of labels."""
    both = {
        method: own.pivot_table(index="position", columns="labels", values="value")
        for method, own in frame.groupby("method")
    }
    supervised, pretrained = both["supervised"], both["SimMIM, fine-tuned"]
    return pretrained - supervised, supervised.to_numpy(), pretrained.to_numpy()
