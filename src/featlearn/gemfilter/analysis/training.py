"""The training of the stand-in."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import accumulate
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from featlearn.core.frames import pick
from featlearn.core.plots import COLOURS, canvas
from featlearn.core.publish import figure
from featlearn.core.statistical import FEW, history, share_interval


@figure()
def training(curves: pd.DataFrame, config: Mapping[str, Any]) -> Figure:
    """How does the trained stand-in learn to find needles?

    *What to see:* short bodies come first; {{ said("gemfilter/trained-full", holds="at the end the networks find the
    shortest prompts' needles, exact answers", fails="at the end the networks do not find the shortest prompts'
    needles, exact answers") }}. Share of values answered right by length of the body: means over networks (pale, or
    95 % intervals of many). Vertical lines part stages; the longest body of a stage is above it, so that gains of
    longer ones are carried over.
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
        own = pick(curves, body=body)
        colour, few = COLOURS[colours[place % 4]], count <= FEW
        history(ax, own, f"{body} tokens", colour, errorbar=None if few else share_interval)
        for _, one in own.groupby("replicate") if few else ():
            ax.plot(one["step"], one["value"], color=colour, linewidth=0.6, alpha=0.4)
    ax.set(xlabel="step", ylabel="share of values answered right", ylim=(-0.03, 1.03))
    ax.set_title(f"{count} network{'s' * (count > 1)}", pad=16)
    ax.legend(loc="center right")
    return drawn
