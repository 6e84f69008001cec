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
    # no jitter and no bootstrapped interval: a figure has the same bytes each time
    sns.scatterplot(alignment, x="views", y="value", color=COLOURS["blue"], ax=axes)
    sns.lineplot(alignment, x="views", y="predicted", color=COLOURS["ink"], errorbar=None, ax=axes)
    axes.set(xscale="log", ylim=(0, 1), xlabel="number of views", ylabel="cosine")
    return drawn
