"""One comparison in full, drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from featlearn.core.plots import COLOURS, PALETTE, canvas
from featlearn.core.publish import Config, figure
from featlearn.core.statistical import Look, lines, rows, share_interval
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

#: By what was done before the labels.
COLOURS_OF = {
    PIXELS: PALETTE["raw input"],
    RANDOM: PALETTE["random features"],
    FROZEN: PALETTE["mask reconstruction, frozen"],
    SUPERVISED: PALETTE["supervised"],
    PRETRAINED: PALETTE["mask reconstruction"],
}
GROUPS = {"multi_view": "all parts shown", "worst_view": "the worse part alone"}


@figure()
def images_gain(gain: pd.DataFrame, config: Config) -> Figure:
    """What pre-training brings over every supervised opponent

    The same few labelled pictures, all of them multi-view, for every row and line; replicates differ in
    parts, pictures and initial weights. Left and middle: accuracy on fresh pictures with all parts of the
    class, and on those that show only that part which the network recognises worse; dots are replicates, a
    tick is their mean with its 95 % interval, dotted is chance. *Equal steps* is supervised training for as
    many steps as the longest pre-training and fine-tuning together; *augmented* mirrors the labelled pictures
    at random, in fine-tuning as well. Right: the worse part by the length of the pre-training; zero is
    supervised training of the length of fine-tuning. *What to see:* with all parts shown supervised training,
    augmented, is right on
    {{ value("images-gain", "mean", arm="supervised, augmented", quantity="multi_view") | percent }}, on its worse part alone on
    {{ value("images-gain", "mean", arm="supervised, augmented", quantity="worst_view") | percent }}.
    In brackets the difference in accuracy:
    {{ said("mrp/images-gain-worse-part",
            holds="pre-training is better on the worse part than the best supervised opponent",
            fails="pre-training is not better on the worse part than the best supervised opponent") }};
    {{ said("mrp/images-gain-length", holds="longer pre-training brings more",
            fails="longer pre-training does not bring more") }}.
    """
    seen = named(gain)
    arms = seen.drop_duplicates("arm").set_index("arm")["start"]
    looks = {str(arm): Look(str(arm), COLOURS_OF[start]) for arm, start in arms.items()}
    drawn = canvas(8.6, 1.0 + 0.27 * len(looks))
    *both, right = drawn.subplots(1, 3, width_ratios=[1.1, 1.1, 1])
    chance = 1 / config["world"]["classes"]
    for ax, (quantity, words) in zip(both, GROUPS.items(), strict=True):
        rows(ax, seen[seen["quantity"] == quantity], "arm", looks=looks, errorbar=share_interval)
        ax.axvline(chance, color=COLOURS["ink"], linewidth=0.8, linestyle=":")
        ax.set(xlim=(0, 1.03), title=words, xlabel="accuracy on fresh pictures")
    both[1].tick_params(labelleft=False)

    trained = seen[
        seen["start"].isin([SUPERVISED, PRETRAINED]) & (seen["quantity"] == "worst_view")
    ]
    by_length = trained[trained["steps"] == trained["steps"].min()]
    lines(
        right,
        by_length,
        "epochs",
        "augmentation",
        looks={
            PLAIN: Look("pictures as they are", PALETTE["mask reconstruction"]),
            AUGMENTED: Look("augmented", COLOURS["sky"], "s", (2, 1)),
        },
        errorbar=share_interval,
    )
    right.set(xlabel="epochs of pre-training", title="the worse part alone", ylim=(0, 1.03))
    right.legend(*right.get_legend_handles_labels(), fontsize=8, loc="lower center")
    return drawn
