"""The training of the stand-in."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import pandas as pd

from featlearn.core.plots import COLOURS, canvas
from featlearn.core.publish import figure
from featlearn.core.statistical import FEW, history, share_interval

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@figure()
def training(curves: pd.DataFrame, config: Mapping[str, Any]) -> Figure:
    """How the trained stand-in learned to find needles

    Share of values that are answered right, by the body of the sequence, over the steps; means of the
    networks, as many as the title says, and each of them pale (of many, 95 % intervals). Vertical lines part
    the stages; above each stands the longest body that is trained on in it, so that what the curve of a longer
    one gains there is carried over. Networks do not begin to find needles at one step: their mean rises more
    slowly than each of them. *What to see:* short bodies come first and long ones last, as far as a run trains;
    {{ said("gemfilter/trained-full", holds="at the end the networks find the needles of the experiment's "
    "shortest prompts, with a share of exact answers of", fails="at the end the networks do not find the "
    "needles of the experiment's shortest prompts, with a share of exact answers of") }}.
    """
    drawn = canvas(6.4, 3.4)
    ax = drawn.subplots()
    count, colours = curves["replicate"].nunique(), ("blue", "orange", "green", "purple")
    ends = [0, *accumulate(stage["steps"] for stage in config["stages"])]
    for first, last, stage in zip(ends, ends[1:], config["stages"], strict=False):
        if last < ends[-1]:
            ax.axvline(last, color=COLOURS["grey"], linewidth=0.8, linestyle="--")
        ax.annotate(f"up to {stage['longest']} tokens", ((first + last) / 2, 1.03),
                    xycoords=ax.get_xaxis_transform(), ha="center", fontsize=8)  # fmt: skip
    for place, body in enumerate(sorted(curves["body"].unique())):
        own = curves[curves["body"] == body]
        colour, few = COLOURS[colours[place % 4]], count <= FEW
        history(ax, own, f"{body} tokens", colour, errorbar=None if few else share_interval)
        for _, one in own.groupby("replicate") if few else ():
            ax.plot(one["step"], one["value"], color=colour, linewidth=0.6, alpha=0.4)
    ax.set(xlabel="step", ylabel="share of values answered right", ylim=(-0.03, 1.03))
    ax.set_title(f"{count} network{'s' * (count > 1)}", pad=16)
    ax.legend(loc="center right")
    return drawn
