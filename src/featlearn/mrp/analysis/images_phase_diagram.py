"""Gain of pre-training on pictures, one dial turned at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from featlearn.core.frames import pick
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
#: Quantities, in words: a column each.
QUANTITIES = {
    "single_view": "single-view\naccuracy",
    "hits": "parts hit\na picture",
    "entropy": "evenness of heat\nover the parts",
    "flipped": "wrong after\nerasing a part",
}


@figure()
def images_phase_diagram(phase_diagram: pd.DataFrame) -> Figure:
    """Where does pre-training help on pictures?

    *What to see:* right of the line pre-training helps, in the last panel left of it; a gain needs all four panels to
    agree.

    SimMIM and fine-tuning minus supervised training, with 95 % intervals, by labels. A row turns one setting; behind
    its name is supervised single-view accuracy. Panels: single-view accuracy, parts hit, evenness of heat, answers
    lost by erasing a part.

    ---

    The first row is the setting of the comparison. These replicates are used for nothing else, so that numbers
    elsewhere were not chosen by looking at them. A varying background, which masked pixels show as well, can take
    from the gain; mask cells larger than the parts leave nothing from which to fill one in; where few labels suffice
    there is nothing to gain. In the comparison, that SimMIM gains with few labels {{
    verdict("mrp/images-simmim-single-view-few-labels") }}; with all labels {{
    verdict("mrp/images-simmim-single-view-all-labels") }}; that maps hit more parts {{ verdict("mrp/cam-more-parts")
    }}; that erasing a part turns fewer answers wrong {{ verdict("mrp/cam-stands-erasure") }}.
    """
    frame = pick(phase_diagram, dial=list(DIALS))
    settings = frame.drop_duplicates(["dial", "position"])[["dial", "position"]]
    places = {
        (dial, position): place
        for place, (dial, position) in enumerate(settings.itertuples(index=False, name=None))
    }
    counts = sorted(frame["labels"].unique())
    drawn = canvas(8.6, 1.3 + 0.34 * len(places))
    axes = drawn.subplots(1, len(QUANTITIES), sharey=True)
    for ax, (name, words) in zip(axes, QUANTITIES.items(), strict=True):
        own = pick(frame, quantity=name)
        gains = paired(own, ["dial", "position", "labels"], "method", {PRETRAINED: SUPERVISED})
        for number, (count, (colour, marker)) in enumerate(zip(counts, MARKS, strict=False)):
            some = pick(gains, labels=count)
            at = [
                places[key] + 0.18 * (number - (len(counts) - 1) / 2)
                for key in zip(some["dial"], some["position"], strict=True)
            ]
            whiskers(ax, some["difference"], at, some["difference_half_width"], COLOURS[colour],
                     marker=marker, label=f"{count} labelled pictures", across=True)  # fmt: skip
        ax.axvline(0, color=COLOURS["ink"], linewidth=0.8)
        ax.set_xlabel(f"gain: {words}", fontsize=8)
        ax.grid(axis="y", visible=False)
    first = pick(frame, quantity="single_view", labels=counts[-1], method=SUPERVISED)
    level = first.groupby(["dial", "position"])["value"].mean()
    names = [
        f"{DIALS[dial]}: {position:g}  ({level[dial, position]:.2f})" for dial, position in places
    ]
    axes[0].set_yticks(range(len(places)), names)
    axes[0].set_ylim(len(places) - 0.5, -0.5)
    drawn.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return drawn
