"""Figure 5: what channels respond to, with a head and without. Reads frames, imports no torch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from featlearn.core.plots import COLOURS, PALETTE, canvas
from featlearn.core.publish import Config, figure
from featlearn.images.figures.mosaic import bare, mosaic
from featlearn.noncontrastive.images.cells import ROBUST_ARMS
from featlearn.noncontrastive.images.words import ARMS, ordered, set_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ARM_COLOURS = dict(
    zip(
        ROBUST_ARMS,
        (PALETTE["identity head"], PALETTE["no head"], PALETTE["untrained"]),
        strict=True,
    )
)


@figure()
def fig_5(values: pd.DataFrame, pictures: pd.DataFrame, config: Config) -> Figure:
    """Figure 5: what channels respond to

    Networks trained as BYOL against an attack (BYORL) with a prediction head (a) and without (b), and the
    same network before training (c): images that maximise one channel each of the last layer, all from
    the same grey start. Right: the mean absolute cosine of the pictures of two channels, a point a
    replicate. *What to see:*
    {{ said("noncontrastive/robust-digits-more-varied", holds="(a) is more varied than (b)", fails="(a) is no more varied than (b)",
            left="that (a) is more varied than (b) is not seen here") }}. It would count in a network that has
    learned something: the probe of the features, below the pictures, is
    {{ said("noncontrastive/robust-digits-training-helps", holds="better than that of the random start",
            fails="worse than that of the random start", left="no better than that of the random start") }},
    and the random start (c), which has learned nothing, is varied as well. The measure
    takes a picture and the same one moved by some pixels for different.
    """
    names = list(ordered(config))
    drawn = canvas(8.6, 3.1 * len(names) + 0.3)
    axes = drawn.subplots(len(names), len(ROBUST_ARMS) + 1, squeeze=False,
                          width_ratios=[3] * len(ROBUST_ARMS) + [2.4])  # fmt: skip
    for name, row in zip(names, axes, strict=True):
        own = values[values["data_set"] == name]
        for panel, (ax, arm) in enumerate(zip(row, ROBUST_ARMS, strict=False)):
            shown = pictures[(pictures["data_set"] == name) & (pictures["run"] == arm)]
            ax.imshow(mosaic(shown, "feature"), interpolation="nearest")
            bare(ax)
            ax.set_title(f"({'abc'[panel]}) {ARMS[arm]}")
            told = own[own["run"] == arm].groupby("quantity")["value"].mean()
            ax.set_xlabel(
                f"likeness {told['likeness']:.2f}, distinct {told['distinct']:.1f}\n"
                f"probe accuracy {told['accuracy']:.2f}"
            )
        row[0].set_ylabel(set_name(name))
        _replicates(row[-1], own[own["quantity"] == "likeness"])
    return drawn


def _replicates(ax: Axes, values: pd.DataFrame) -> None:
    """A point a replicate; lines join what shares images and start."""
    for _, one in values.groupby("replicate"):
        heights = [one.loc[one["run"] == arm, "value"].iloc[0] for arm in ROBUST_ARMS]
        ax.plot(range(len(heights)), heights, color=COLOURS["grey"], linewidth=0.8)
        ax.scatter(range(len(heights)), heights, s=22, zorder=3,
                   color=[ARM_COLOURS[arm] for arm in ROBUST_ARMS])  # fmt: skip
    ax.set_xticks(range(len(ROBUST_ARMS)), [ARMS[arm].replace(" ", "\n", 1) for arm in ROBUST_ARMS])
    ax.set(title="likeness of\ntwo pictures", ylim=(0, 1.02), xlim=(-0.4, len(ROBUST_ARMS) - 0.6))
    ax.grid(axis="x", visible=False)
