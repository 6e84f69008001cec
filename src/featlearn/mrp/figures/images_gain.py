"""One comparison in full, drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from featlearn.core.plots import COLOURS, canvas
from featlearn.core.publish import Config, figure
from featlearn.core.statistical import Look, bars, lines
from featlearn.mrp.images.arms import (
    AUGMENTED,
    FROZEN,
    PIXELS,
    PLAIN,
    PRETRAINED,
    RANDOM,
    SUPERVISED,
    named,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Of what stands for itself; trained networks from light to dark, in the order in which they come.
COLOURS_OF = {PIXELS: "#C8C8C8", RANDOM: COLOURS["grey"], FROZEN: COLOURS["green"]}
SHADES = {
    SUPERVISED: (COLOURS["orange"], "#F2C46D", COLOURS["red"], "#B5651D"),
    PRETRAINED: (COLOURS["sky"], COLOURS["blue"], "#9FC5E8", "#1F4E79", COLOURS["purple"]),
}


@figure()
def images_gain(gain: pd.DataFrame, config: Config) -> Figure:
    """What pre-training brings over every supervised opponent

    The same few labelled pictures, all of them multi-view, for every bar and line; replicates differ in
    parts, pictures and initial weights. Left: accuracy on fresh pictures with all parts of the class, and
    on those that show only that part which the network recognises worse. *Equal steps* is supervised
    training for as many steps as the longest pre-training and fine-tuning together; *augmented* mirrors
    the labelled pictures at random, in fine-tuning as well. Right: the worse part by the length of the
    pre-training; zero is supervised training of the length of fine-tuning. *What to see:* with all parts
    shown supervised training, augmented, is right on
    {{ value("images-gain", "mean", arm="supervised, augmented", quantity="multi_view") | percent }}, on its worse part alone on
    {{ value("images-gain", "mean", arm="supervised, augmented", quantity="worst_view") | percent }}; whether any other orange bar does
    better, and how long the pre-training must be for the blue ones to.
    """
    seen = named(gain)
    drawn = canvas(8.2, 4.3)
    left, right = drawn.subplots(1, 2, width_ratios=[2.2, 1], sharey=True)
    shades = {start: iter(colours * len(seen)) for start, colours in SHADES.items()}
    looks = {
        str(arm): Look(str(arm), COLOURS_OF.get(start) or next(shades[start]))
        for arm, start in seen.drop_duplicates("arm").set_index("arm")["start"].items()
    }
    groups = {"multi_view": "all parts shown", "worst_view": "the worse part alone"}
    bars(left, seen, "quantity", "arm", groups=groups, looks=looks)
    chance = 1 / config["world"]["classes"]
    left.axhline(chance, color=COLOURS["ink"], linewidth=0.8, linestyle=":")
    left.annotate("chance", (-0.45, chance), ha="left", va="bottom", fontsize=8)
    left.set(ylim=(0, 1.05), ylabel="accuracy on fresh pictures")

    trained = seen[seen["start"].isin(SHADES) & (seen["quantity"] == "worst_view")]
    by_length = trained[trained["steps"] == trained["steps"].min()]
    lines(
        right,
        by_length,
        "epochs",
        "augmentation",
        looks={
            PLAIN: Look("labelled pictures as they are", COLOURS["blue"]),
            AUGMENTED: Look("augmented", COLOURS["sky"], "s", (2, 1)),
        },
    )
    right.set(xlabel="epochs of pre-training", title="the worse part alone")
    right.legend(*right.get_legend_handles_labels(), fontsize=7.5, loc="lower right")
    drawn.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize=8)
    return drawn
