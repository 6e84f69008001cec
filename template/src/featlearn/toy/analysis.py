"""Figures, tables and claims: reads frames, imports no torch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import seaborn as sns

from featlearn.core.drawing.plots import COLOURS, canvas
from featlearn.core.evidence.claim_methods import Claims, claim
from featlearn.core.evidence.claims import POSITIVE, THEOREM, needs_replicates
from featlearn.core.evidence.stats import readable, summary
from featlearn.core.run.exhibits import Table, figure, table

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@figure("alignment")
def draw(alignment: pd.DataFrame) -> Figure:
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


@table("alignment")
def cosines(alignment: pd.DataFrame) -> Table:
    """Cosine between feature and sum of views"""
    means = summary(alignment, ["views", "predicted"])
    return Table(means, readable(means, "cosine"))


class Averaging(Claims):
    paper, kind, possible = "toy", THEOREM, POSITIVE
    out_of_reach = needs_replicates("averaging")

    @claim("Lemma 1", "measured over predicted cosine, mean over the views", low=0.9, high=1.1)
    def closed_form(self):
        """The sum of n views has the cosine 1 / sqrt(1 + noise^2 d / n) with the feature.

        Fluctuations of a cosine are of order 1 / sqrt(d): a tenth at d = 100.
        """
        ratio = self.alignment["value"] / self.alignment["predicted"]
        return ratio.groupby(self.alignment["replicate"]).mean()
