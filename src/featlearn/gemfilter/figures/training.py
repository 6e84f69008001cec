"""The training of the stand-in."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from featlearn.core.plots import COLOURS, canvas
from featlearn.core.publish import figure
from featlearn.core.statistical import history

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@figure()
def training(curves: pd.DataFrame) -> Figure:
    """How the trained stand-in learned to find needles

    Share of values that are answered right, by the body of the sequence, over the steps; means of the
    networks with 95 % intervals. Sequences grow longer from stage to stage. *What to see:* nothing for some
    hundred steps, then short sequences within a hundred, long ones only once they are trained on. On prompts of the
    experiment it finds needles within the length of its training: {{ verdict("gemfilter/trained-full") }}.
    """
    drawn = canvas(5.4, 3.2)
    ax = drawn.subplots()
    colours = ("blue", "orange", "green", "purple")
    for place, body in enumerate(sorted(curves["body"].unique())):
        own = curves[curves["body"] == body]
        history(ax, own, f"{body} tokens", COLOURS[colours[place % 4]])
    ax.set(xlabel="step", ylabel="share of values answered right", ylim=(-0.03, 1.03))
    ax.legend(loc="lower right")
    return drawn
