"""How the measurements are drawn: reads frames, imports no torch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import seaborn as sns

from featlearn.core.plots import COLOURS, canvas
from featlearn.core.publish import figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@figure()
def alignment(alignment: pd.DataFrame) -> Figure:
    """The feature appears out of the noise

    Cosine between the feature and the sum of the views: dots are replicates, the line is the closed
    form. *What to see:* one view says little, and
    {{ value("alignment", views=32) | percent }} of the length lie along the feature at last.
    """
    drawn = canvas(5, 3)
    axes = drawn.subplots()
    sns.stripplot(
        alignment,
        x="views",
        y="value",
        native_scale=True,
        jitter=False,
        color=COLOURS["blue"],
        ax=axes,
    )
    axes.plot(alignment["views"], alignment["predicted"], color=COLOURS["ink"])
    axes.set(xscale="log", ylim=(0, 1), xlabel="number of views", ylabel="cosine")
    return drawn
