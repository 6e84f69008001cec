"""Trade-off curves of ladders of pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from featlearn.core.plots import COLOURS, PAGE, PALETTE, canvas
from featlearn.core.publish import figure
from featlearn.core.statistical import Look, lines, share_interval
from featlearn.universality.figures.ladders import NAMES, dots
from featlearn.universality.words import RANDOM, RAW

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Of the claims, whatever other methods a config has.
ARM = "moco"
LOOKS = {"average": Look("average over the sets", COLOURS["red"]),
         "target": Look("target", COLOURS["blue"], "s"),
         RAW: Look("target, raw pixels", PALETTE["raw input"], "D"),
         RANDOM: Look("target, random features", PALETTE["random features"], "^")}  # fmt: skip


@figure()
def pictures(pictures: pd.DataFrame) -> Figure:
    """Average and target accuracy on growing mixtures of sets of pictures

    Ours (MoCo): accuracy of converged linear probes against the number of sets in the pre-training, with 95 %
    intervals; a panel a share of the target's labels. By default the target is digits, and glyphs, gratings and
    the digits turned by a quarter are added to it; a view moves a small grey picture by a pixel, in noise. With all labels, and
    differences in brackets, {{ said("universality/pictures-target-falls", holds="the target falls as sets are added",
    fails="the target does not fall by .02 as sets are added") }} and {{ said("universality/pictures-average-rises", holds="the average rises",
    fails="the average does not rise") }}. What was pre-trained on the target is compared with the best of what learns nothing, raw
    pixels or random features: with 5 % of the labels {{ said("universality/pictures-learned-not-raw", holds="it leads by .05 or more",
    fails="it does not lead by .05") }}, with all of them {{ said("universality/pictures-learned-not-raw-all-labels",
    holds="it leads by .05 or more", fails="it does not lead by .05") }}. After all sets the lead is
    {{ value("picture-leads", after="all sets", percent=5) }} with 5 % of the labels and {{ value("picture-leads", after="all sets",
    percent=100) }} with all (below zero: random features or pixels are the better representation of the target).
    """
    return ladder(pictures)


def ladder(pictures: pd.DataFrame) -> Figure:
    """Average and target against the number of sets; a panel a share of the labels."""
    own = pictures[pictures["arm"] == ARM]
    by = ["mixture", "percent", "replicate"]
    curves = [own.groupby(by, as_index=False)["value"].mean().assign(curve="average"),
              own[own["task"] == 0].assign(curve="target")]  # fmt: skip
    mixtures = sorted(own["mixture"].unique())
    rivals = pictures[pictures["arm"].isin([RAW, RANDOM]) & (pictures["task"] == 0)]
    curves += [rivals.assign(curve=rivals["arm"], mixture=mixture) for mixture in mixtures]
    shown = pd.concat(curves, ignore_index=True)
    shares = (5, 20, 100)
    drawn = canvas(min(PAGE, 2.6 * len(shares) + 0.6), 3.2)
    axes = drawn.subplots(1, len(shares), sharey=True)
    for ax, percent in zip(axes, shares, strict=True):
        lines(ax, shown[shown["percent"] == percent], "mixture", "curve", looks=LOOKS,
              errorbar=share_interval)  # fmt: skip
        dots(
            ax,
            shown[shown["percent"] == percent],
            "mixture",
            "curve",
            {key: LOOKS[key] for key in ("average", "target")},
        )
        ax.set(title=f"{NAMES[ARM]}, {percent} % of the labels", xlabel="sets of the pre-training")
        ax.set_xticks(mixtures, [str(mixture) for mixture in mixtures])
    axes[0].set_ylabel(f"accuracy, n = {own['replicate'].nunique()}")
    drawn.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return drawn
