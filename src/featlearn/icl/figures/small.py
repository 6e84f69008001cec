"""Small transformers by size."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from featlearn.core.plots import COLOURS, canvas
from featlearn.core.publish import figure
from featlearn.core.statistical import share_interval
from featlearn.icl.figures.language import ASIDE, bayesian, looks
from featlearn.icl.figures.points import lines_and_points

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@figure("small-noise", contains="measured")
def noise(flips: pd.DataFrame) -> Figure:
    """Ours: small transformers under noise of labels and of words

    Accuracy over the share of examples whose label is flipped (left) or whose word is
    another one of any meaning, its label kept (right), which is wrong for half of them: a dot a replicate, and their
    mean with its 95 % interval; models stand beside each other. A row a corpus: "base" has
    more inverted documents than "chat". A cross is what a Bayesian does who knows the corpus and follows the
    majority of the labels, since mixed documents do not occur in it; dashed is chance. *What to see:* a size that did
    what loses least would lie on all crosses. Judged is "base" with all labels flipped:
    {{ said("icl/large-overrides", holds="the largest follows the context far below chance, to this accuracy", fails="the largest does not follow the context far below chance, but to this accuracy") }};
    {{ said("icl/small-falls-less", holds="the smallest falls less, and is ahead by this difference in accuracy", fails="the smallest does not fall less, by this difference in accuracy to the largest") }}.
    """
    families = list(dict.fromkeys(flips["family"]))
    drawn = canvas(7.2, 2.6 * len(families))
    axes = drawn.subplots(len(families), 2, sharex=True, sharey=True, squeeze=False)
    for row, family in zip(axes, families, strict=True):
        for ax, kind in zip(row, ("labels", "words"), strict=True):
            own = flips[(flips["family"] == family) & (flips["noise"] == kind)]
            lines_and_points(ax, own, "share", "model", looks=looks(flips), aside=ASIDE,
                             errorbar=share_interval)  # fmt: skip
            bayesian(ax, own)
            ax.axhline(0.5, color=COLOURS["grey"], linestyle="--", linewidth=1)
            ax.set(title=f"{family}, noise of {kind}", ylim=(-0.03, 1.03))
        row[0].set_ylabel("accuracy")
    for ax in axes[-1]:
        ax.set_xlabel("share of examples with noise")
    drawn.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return drawn
