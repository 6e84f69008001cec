"""One neuron alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import seaborn as sns

from featlearn.core.plots import COLOURS, PAGE, canvas
from featlearn.core.publish import figure
from featlearn.fourier.words import task

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOMENTS = {"start": ("at the start", "grey"), "end": ("in the end", "blue")}


@figure()
def neuron_ascent(ascent: pd.DataFrame, neurons: pd.DataFrame) -> Figure:
    """From any start, one neuron climbs to a cosine of one frequency

    Gradient ascent on the sphere of a single neuron's share in the margin (Lemma C.14), a line a random
    start; below, the share of power at its strongest frequency that the least pure of the k + 1 weight
    vectors has, at the start and in the end. *What to see:*
    {{ said("fourier/best-neuron", holds="no start stays below the maximum of the thesis (dashed) and none passes it: the least is this share of it",
            fails="not every start ends at the maximum of the thesis (dashed): the least is this share of it") }}. Of
    {{ value("neuron-ascent", "starts", k=3, p=7) | number }} starts of three numbers modulo 7
    {{ value("neuron-ascent", "single", k=3, p=7) | percent }} end with all vectors at one frequency, as Lemma
    4.10 says of the best neuron; that no start ends elsewhere is more than it says.
    """
    sizes = list(ascent[["k", "p"]].drop_duplicates().itertuples(index=False, name=None))
    drawn = canvas(min(PAGE, 2.3 * len(sizes)), 4.2)
    axes = drawn.subplots(2, len(sizes), sharey="row", squeeze=False)
    bins = np.linspace(0, 1, 26)
    for (k, p), (above, below) in zip(sizes, axes.T, strict=True):
        own = ascent[(ascent["k"] == k) & (ascent["p"] == p)]
        sns.lineplot(own, x="step", y="value", units="replicate", estimator=None, ax=above,
                     color=COLOURS["blue"], linewidth=0.5, alpha=0.4)  # fmt: skip
        above.axhline(1, color=COLOURS["ink"], linestyle="--", linewidth=0.8)
        # the first steps are where starts differ
        above.set_xscale("symlog", linthresh=10)
        above.set(title=task(k, p), xlabel="step", ylabel="objective / maximum",
                  xlim=(0, ascent["step"].max()))  # fmt: skip
        ends = neurons[(neurons["k"] == k) & (neurons["p"] == p)]
        for moment, (words, colour) in MOMENTS.items():
            peaks = ends[ends["moment"] == moment]["peak"]
            below.hist(peaks, bins, weights=np.full(len(peaks), 1 / len(peaks)), label=words,
                       color=COLOURS[colour], alpha=0.7)  # fmt: skip
        below.set_xlabel("smallest share of power")
    axes[1, 0].set_ylabel("share of the starts")
    drawn.legend(*axes[1, 0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return drawn
