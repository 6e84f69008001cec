"""The general setting of appendix A.8: accuracies and directions over the noise."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from featlearn.core.plots import COLOURS, PAGE, PALETTE, canvas
from featlearn.core.publish import figure
from featlearn.core.statistical import Look, lines
from featlearn.emergence.tables.general import outcomes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ARMS = {
    "network": Look("network", PALETTE["network"], "o"),
    "two_step": Look("head after two steps", COLOURS["sky"], "X"),
    "ntk": Look("tangent kernel (NTK)", PALETTE["tangent kernel"], "s"),
    "rf": Look("random features", PALETTE["random features"], "^"),
    "rbf": Look("RBF kernel", PALETTE["kernel"], "D"),
    "linear": Look("linear", PALETTE["raw input"], "v"),
    "known patterns": Look("patterns known", COLOURS["ink"], "P"),
}
MOMENTS = {
    "start": Look("start", COLOURS["grey"], "o"),
    "one_step": Look("after one step", COLOURS["sky"], "s"),
    "two_step": Look("after two steps", COLOURS["blue"], "D"),
    "network": Look("at the end", COLOURS["orange"], "^"),
}


@figure("general-setting")
def general_setting(values: pd.DataFrame) -> Figure:
    """The general setting: patterns that overlap, inputs with noise

    Parity labels in the general setting of appendix A.8: the patterns have length one and overlap, by
    far more than the theorem allows, and each coordinate of the input has noise. Left: test accuracy
    over the standard deviation of the noise; head after two steps: solved to its optimum on the network's features; dotted: the best threshold on the number of relevant patterns,
    without noise; patterns known: by least squares with the true dictionary, rounded and counted. Right:
    cosine of the median neuron with the sum of the relevant patterns. Means of
    {{ value("general", "replicates", arm="network", noise=0.1) }} replicates with 95 % intervals. *What to see:* {{ said("emergence/general-beats-fixed",
    holds="at noise 0.1 the network is ahead of all these fixed features",
    fails="at noise 0.1 the network is not ahead of all these fixed features") }}, by its lead over the best of them:
    {{ value("general", arm="network", noise=0.1) | percent }}, of these the RBF kernel, by 300 Fourier features,
    {{ value("general", arm="rbf", noise=0.1) | percent }} and a linear classifier
    {{ value("general", arm="linear", noise=0.1) | percent }}. The claims are of that noise alone. At the largest,
    {{ value("general", "noise", which="most noise", arm="network") | number }}, the network has
    {{ value("general", which="most noise", arm="network") | percent }}, a head on its features after two steps
    {{ value("general", which="most noise", arm="two_step") | percent }}, the RBF kernel
    {{ value("general", which="most noise", arm="rbf") | percent }} and a linear classifier
    {{ value("general", which="most noise", arm="linear") | percent }}, where the best threshold, without noise, has
    {{ value("general", which="most noise", arm="threshold") | percent }}: the count of relevant patterns, read off
    their sum, blurs with the noise, however well the weights are aligned.
    {{ said("emergence/general-aligns", holds="after two steps the weights have the direction of the patterns",
    fails="after two steps the weights do not have the direction of the patterns") }}, by the cosine at noise 0.1.
    """
    drawn = canvas(PAGE, 3.6)
    left, right = drawn.subplots(1, 2)
    own = outcomes(values)
    lines(left, own, "noise", "arm", looks=ARMS)
    threshold = own.loc[own["arm"] == "threshold", "value"].iloc[0]
    left.axhline(threshold, color=COLOURS["ink"], linestyle=":", linewidth=1)
    left.set(xlabel="noise in a coordinate", ylabel="test accuracy", ylim=(0.45, 1.03))
    cosines = values[values["quantity"] == "median_cosine"]
    lines(right, cosines, "noise", "arm", looks=MOMENTS)
    right.set(xlabel="noise in a coordinate", ylabel="cosine, median neuron", ylim=(0, 1.05))
    for ax in (left, right):
        ax.set_xticks(sorted(own["noise"].unique()))
        ax.legend(*ax.get_legend_handles_labels(), loc="upper center", ncols=2,
                  bbox_to_anchor=(0.5, -0.18))  # fmt: skip
    return drawn
