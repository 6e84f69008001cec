"""Small transformers by size."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from featlearn.core.plots import COLOURS, canvas
from featlearn.core.publish import figure
from featlearn.core.statistical import lines, share_interval
from featlearn.icl.figures.language import bayesian, looks

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@figure("small-noise", contains="measured")
def noise(flips: pd.DataFrame) -> Figure:
    """Ours: small transformers under noise of labels and of words

    Accuracy with 95 % intervals over the share of examples whose label is flipped (left) or whose word is
    another one of any meaning, its label kept (right), which is wrong for half of them. A row a corpus: "base" has
    more inverted documents than "chat". A cross is what a Bayesian does who knows the corpus and follows the
    majority of the labels, since mixed documents do not occur in it; dashed is chance. *What to see:* no size does what
    loses least. With a quarter of the labels flipped the small and the middle one have lost most of what they will
    lose, and with all of them the large one alone follows the context.
    """
    families = list(dict.fromkeys(flips["family"]))
    drawn = canvas(7.2, 2.6 * len(families))
    axes = drawn.subplots(len(families), 2, sharex=True, sharey=True, squeeze=False)
    for row, family in zip(axes, families, strict=True):
        for ax, kind in zip(row, ("labels", "words"), strict=True):
            own = flips[(flips["family"] == family) & (flips["noise"] == kind)]
            lines(ax, own, "share", "model", looks=looks(flips), errorbar=share_interval)
            bayesian(ax, own)
            ax.axhline(0.5, color=COLOURS["grey"], linestyle="--", linewidth=1)
            ax.set(title=f"{family}, noise of {kind}", ylim=(-0.03, 1.03))
        row[0].set_ylabel("accuracy")
    for ax in axes[-1]:
        ax.set_xlabel("share of examples with noise")
    drawn.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return drawn
