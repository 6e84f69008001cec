"""Small transformers by size, which stand in for language models: labels and words."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from featlearn.core.drawing.plots import canvas
from featlearn.core.evidence.frames import pick
from featlearn.core.run.exhibits import figure
from featlearn.icl.analysis import flipped, looks


@figure("small-noise", contains="measured")
def noise(flips: pd.DataFrame) -> Figure:
    """Which size follows noisy labels or words?

    *What to see:* how far a size is from the crosses, an optimal model: a Bayesian who knows the corpus follows the
    majority. Dots are replicates, lines means with 95 % intervals; dashed is chance. Rows: more (base) and fewer (chat)
    inverted documents.
    """
    families = list(dict.fromkeys(flips["family"]))
    drawn = canvas(7.2, 2.6 * len(families))
    axes = drawn.subplots(len(families), 2, sharex=True, sharey=True, squeeze=False)
    for row, family in zip(axes, families, strict=True):
        for ax, kind in zip(row, ("labels", "words"), strict=True):
            flipped(ax, pick(flips, family=family, noise=kind), looks(flips))
            ax.set(title=f"{family}, noise of {kind}")
        row[0].set_ylabel("accuracy")
    for ax in axes[-1]:
        ax.set_xlabel("share of examples with noise")
    drawn.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return drawn
