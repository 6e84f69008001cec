"""What pre-training brings on real images, drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from featlearn.core.plots import COLOURS, PALETTE, canvas
from featlearn.core.publish import figure
from featlearn.core.statistical import whiskers
from featlearn.mrp.images.real_config import GIVEN, RANDOM
from featlearn.mrp.tables.real_images import real_table

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LOOKS = {"fine-tuned": "-", "linear probe": ":", "nearest neighbours": "--"}
START_COLOURS = {
    "from scratch": PALETTE["supervised"],
    "random": PALETTE["untrained"],
    "pretrained": PALETTE["mask reconstruction"],
}
#: Of weights that the config names.
GIVEN_COLOURS = [COLOURS["green"], COLOURS["purple"], COLOURS["red"], COLOURS["sky"]]


@figure()
def real_images(evaluations: pd.DataFrame) -> Figure:
    """Real images

    Quality on test images by the number of labelled training images; every bar is a 95 % interval over
    replicates, which differ in their initial weights and in which images keep their labels. Training and
    test images are the same for all replicates. Solid lines are networks trained with labels to the end:
    from scratch (orange), or from the weights that training on all images without labels gave (blue), on
    the same labelled images in the same order for the same number of steps. Dotted and dashed lines are
    the linear probe and the nearest neighbours on frozen features; of a random encoder they show what
    needs no training. Settings are those of the config, or its defaults, and were not tuned to these
    images. *What to see:* blue above orange, where labels are few, is what pre-training brings.
    """
    table = real_table(evaluations)
    names = list(dict.fromkeys(table["data_set"]))
    drawn = canvas(max(3.4 * len(names), 6.6), 3.9)
    axes = drawn.subplots(1, len(names), squeeze=False, sharey=True)[0]
    for ax, name in zip(axes, names, strict=True):
        _panel(ax, table[table["data_set"] == name])
        ax.set_title(name)
        ax.set_xlabel("labelled training images")
    axes[0].set_ylabel(" or ".join(dict.fromkeys(table["quantity"])) + " on test images")
    entries: dict[str, Artist] = {}
    for ax in axes:
        handles, labels = ax.get_legend_handles_labels()
        entries |= dict(zip(labels, handles, strict=True))
    drawn.legend(list(entries.values()), list(entries), loc="outside lower center", ncols=3)
    return drawn


def _panel(ax: Axes, table: pd.DataFrame) -> None:
    given = [start for start in table["start"].unique() if start.startswith(GIVEN)]
    colours = START_COLOURS | dict(zip(given, GIVEN_COLOURS * len(given), strict=False))
    for (start, evaluation, method), own in table.groupby(
        ["start", "evaluation", "method"], sort=False
    ):
        seen = own.sort_values("labels")
        whiskers(
            ax, seen["labels"], seen["mean"], seen["half_width"],
            colours[str(method if start == RANDOM else start)], line=LOOKS[str(evaluation)],
            label=f"{method}, {evaluation}" if method != "from scratch" else method,
        )  # fmt: skip
    counts = sorted(table["labels"].unique())
    ax.set_xscale("log")
    ax.set_xticks(counts, [str(count) for count in counts])
    ax.set_xticks([], minor=True)
    ax.set_ylim(0, 1.03)
