"""XOR: the network against fixed features."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from featlearn.core.plots import COLOURS, FILLS, PAGE, PALETTE, canvas
from featlearn.core.publish import Config, figure
from featlearn.core.statistical import Look, lines, share_interval

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LOOKS = {
    "bayes": Look("Bayes", PALETTE["bayes"], "D", (4, 2)),
    "network": Look("network", PALETTE["network"]),
    "RBF kernel": Look("RBF kernel", PALETTE["kernel"], "s"),
    "tangent kernel": Look("tangent kernel", PALETTE["tangent kernel"], "^"),
    "random features": Look("random features", PALETTE["random features"], "v"),
    "linear": Look("linear", PALETTE["raw input"], "X"),
}


@figure()
def xor_opponents(accuracies: pd.DataFrame, config: Config) -> Figure:
    """XOR of four Gaussians: who learns it from the same inputs

    Test accuracy over the dimension, a panel a standard deviation of the noise, with 95 % intervals. All
    methods have the same inputs, the kernels are solved exactly, and every choice is made on validation
    data. *What to see,* at the one noise and dimension of the claims (shaded): the methods that share the network's start (random
    features and tangent kernel) {{ said("gradient_features/xor-beats-own-start", holds="stay behind it",
    fails="do not stay behind it by so much") }} and
    {{ said("gradient_features/xor-beats-best-opponent", holds="so does the RBF kernel, the strongest of all",
    fails="the RBF kernel, the strongest of all, keeps up") }}, by the difference of accuracies. Its gap is one of noise:
    {{ said("gradient_features/xor-kernel-gains", holds="with the dimension it gets better, as the centres, of norm sqrt(d), move apart",
    fails="with the dimension it does not get better") }}, by the growth of its accuracy. A linear classifier
    {{ said("gradient_features/xor-needs-features", holds="knows nothing",
    fails="knows something") }}, by its accuracy beyond 1/2. Where these inputs are too few for the noise, every method is
    far below the best possible (Bayes), and the RBF kernel may be ahead of the network: the claims
    compare at one noise and one dimension.
    """
    noises = sorted(accuracies["noise"].unique())
    drawn = canvas(min(PAGE, 2.9 * len(noises)), 3.5)
    axes = drawn.subplots(1, len(noises), sharey=True, squeeze=False)[0]
    for ax, noise in zip(axes, noises, strict=True):
        lines(ax, accuracies[accuracies["noise"] == noise], "dimension", "method", looks=LOOKS,
              errorbar=share_interval)  # fmt: skip
        ax.axhline(0.5, color=COLOURS["ink"], linewidth=0.8, linestyle=":")
        if noise == config["judged"]["noise"]:
            ax.axvline(config["judged"]["dimension"], color=FILLS["light"], linewidth=8, zorder=0)
        ax.set(xscale="log", xlabel="dimension d", ylim=(0.42, 1.02))
        ax.set_xticks(sorted(accuracies["dimension"].unique()))
        ax.get_xaxis().set_major_formatter("{x:.0f}")
        ax.minorticks_off()
        ax.set_title(rf"$\sigma_B$ = {noise:g}")
    axes[0].set_ylabel("test accuracy")
    drawn.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=6)
    return drawn
