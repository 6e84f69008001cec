"""Gain of pre-training on pictures, one dial turned at a time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import pandas as pd

from featlearn.core.plots import COLOURS, canvas
from featlearn.core.publish import figure
from featlearn.core.statistical import whiskers
from featlearn.core.stats import paired

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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


#: Colour and mark of each number of labelled pictures, from the fewest on.
MARKS = (("blue", "o"), ("orange", "s"), ("green", "^"), ("purple", "D"))
SUPERVISED, PRETRAINED = "supervised", "SimMIM, fine-tuned"


@figure()
def images_phase_diagram(phase_diagram: pd.DataFrame) -> Figure:
    """Where pre-training helps on pictures

    Single-view accuracy after SimMIM and fine-tuning, less that of supervised training of the same replicate:
    means with 95 % intervals, for each number of labelled pictures. A row is a setting: one dial is turned,
    the others stay; the first row is the setting of the comparison. Behind the names stands the accuracy of
    supervised training with the most labels. The replicates here are used for nothing else, so that what is
    reported elsewhere was not chosen by looking at it. *What to see:* to the right of the line pre-training
    helps. A background that varies, which masked pixels tell of as well, can take from the gain; mask cells
    larger than the parts leave nothing from which a part could be filled in; where few labels suffice to see
    all parts there is nothing to gain.
    That SimMIM gains with few labels, in the comparison and on its replicates,
    {{ verdict("mrp/images-simmim-single-view-few-labels") }}; that it gains with all labels
    {{ verdict("mrp/images-simmim-single-view-all-labels") }}.
    """
    return phase_diagrams(phase_diagram, {"single_view": "single-view accuracy"})


def phase_diagrams(frame: pd.DataFrame, quantities: Mapping[str, str]) -> Figure:
    """Paired gain of pre-training over supervised training: a row a setting, a column a quantity."""
    shown = {name: words for name, words in quantities.items() if name in set(frame["quantity"])}
    settings = frame.drop_duplicates(["dial", "position"])[["dial", "position"]]
    settings = settings[settings["dial"].isin(list(DIALS))]
    places = {
        (dial, position): place
        for place, (dial, position) in enumerate(settings.itertuples(index=False, name=None))
    }
    counts = sorted(frame["labels"].unique())
    drawn = canvas(8.6, 1.3 + 0.34 * len(places))
    axes = drawn.subplots(1, len(shown), sharey=True, squeeze=False)[0]
    for ax, (name, words) in zip(axes, shown.items(), strict=True):
        own = frame[frame["quantity"] == name]
        gains = paired(own, ["dial", "position", "labels"], "method", {PRETRAINED: SUPERVISED})
        for number, (count, (colour, marker)) in enumerate(zip(counts, MARKS, strict=False)):
            some = gains[gains["labels"] == count]
            at = [
                places[key] + 0.18 * (number - (len(counts) - 1) / 2)
                for key in zip(some["dial"], some["position"], strict=True)
            ]
            whiskers(ax, some["difference"], at, some["difference_half_width"], COLOURS[colour],
                     marker=marker, label=f"{count} labelled pictures", across=True)  # fmt: skip
        ax.axvline(0, color=COLOURS["ink"], linewidth=0.8)
        ax.set_xlabel(f"gain: {words}")
        ax.grid(axis="y", visible=False)
    first = frame[frame["quantity"].isin(list(shown)[:1]) & (frame["labels"] == counts[-1])]
    level = first[first["method"] == SUPERVISED].groupby(["dial", "position"])["value"].mean()
    names = [
        f"{DIALS[dial]}: {position:g}  ({level[dial, position]:.2f})" for dial, position in places
    ]
    axes[0].set_yticks(range(len(places)), names)
    axes[0].set_ylim(len(places) - 0.5, -0.5)
    drawn.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return drawn
