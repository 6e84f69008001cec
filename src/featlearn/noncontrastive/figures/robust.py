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
    the same grey start. *Likeness* is the mean absolute cosine of the pictures of two channels; *distinct* tells
    how many different pictures they make, the exponential of the entropy of the spectrum of these cosines: 1 if
    all are the same, the number of channels if none resembles another. Both take a picture and the same one moved
    by some pixels for different. Below the pictures means over replicates; right: a point a replicate, lines join
    those that share images and start. *What to see:*
    {{ said("noncontrastive/robust-digits-more-varied", holds="in most replicates (a) is more varied than (b), and its probe better than that of (c): in a share of",
            fails="it is not in most replicates that (a) is more varied than (b) and its probe better than that of (c): in a share of",
            left="that (a) is more varied than (b), in a network whose probe is better than that of (c), is so in a share of the replicates of") }}.
    Both are asked for, as the random start (c), which has learned nothing, is varied as well. The accuracy of the probe
    {{ said("noncontrastive/robust-digits-training-helps", holds="is larger with a head than at the random start, by",
            fails="is smaller with a head than at the random start: it changes by",
            left="with a head is no clear gain on the random start: it changes by") }}.
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


def _two_lines(words: str) -> str:
    """Words for a tick: one that has no second line stands as high as those that have one."""
    return "\n".join((*words.split(" ", 1), "")[:2])


def _replicates(ax: Axes, values: pd.DataFrame) -> None:
    """A point a replicate; lines join what shares images and start."""
    for _, one in values.groupby("replicate"):
        heights = [one.loc[one["run"] == arm, "value"].iloc[0] for arm in ROBUST_ARMS]
        ax.plot(range(len(heights)), heights, color=COLOURS["grey"], linewidth=0.8)
        ax.scatter(range(len(heights)), heights, s=22, zorder=3,
                   color=[ARM_COLOURS[arm] for arm in ROBUST_ARMS])  # fmt: skip
    ax.set_xticks(range(len(ROBUST_ARMS)), [_two_lines(ARMS[arm]) for arm in ROBUST_ARMS])
    ax.set(title="likeness of\ntwo pictures", ylim=(0, 1.02), xlim=(-0.4, len(ROBUST_ARMS) - 0.6))
    ax.grid(axis="x", visible=False)
