"""The first step: cones, sure starts, the XOR over the dimension, sampled gradients."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from featlearn.core.plots import COLOURS, canvas
from featlearn.core.publish import Config, figure
from featlearn.core.statistical import Look, lines, share_interval
from featlearn.gradient_features.words import LAWS

if TYPE_CHECKING:
    from matplotlib.figure import Figure


#: Shares from which on a logarithmic axis has a place for them.
RARE = 1e-4


@figure()
def cones(neurons: pd.DataFrame, config: Config) -> Figure:
    """The first step turns neurons into directions of the data

    How well a neuron is aligned with a direction of its data, before and after one step of Algorithm 1
    (or 6, 7) on a sample, all neurons of all replicates; black is the closed form G(w, b) with the
    noise of so large a sample. The dashed line is the edge of the cone. Of multiple-index data the
    alignment is the share of the weight's length in the relevant space. *What to see:* after one step
    a share of the neurons that depends on the law lies in a cone: on linear data
    {{ said("gradient_features/cones-linear", holds="half of them, as predicted", fails="not the half that is predicted") }}, by their share, on
    uniform parity {{ said("gradient_features/cones-uniform-parity", holds="those that start constant on the block",
    fails="not all that start constant on the block, or others") }}, by the ratio of both numbers, on the XOR
    {{ value("cones", law="xor", quantity="sampled") | percent }}. Of a single block of parity
    {{ value("cones", law="parity", quantity="sampled") | percent }} do, because the label has a linear part there (E[y x] is
    not 0); of three blocks, which share it, {{ value("cones", law="parity_blocks", quantity="sampled") | percent }}.
    """
    laws = [name for name in LAWS if (neurons["law"] == name).any()]
    drawn = canvas(8.6, 4.4)
    axes = drawn.subplots(2, 4, sharex=True).ravel()
    bins = np.linspace(0, 1, 41)
    for ax, name in zip(axes, laws, strict=False):
        own = neurons[neurons["law"] == name]
        weights = np.full(len(own), 1 / len(own))
        ax.hist(own["start"], bins, weights=weights, color=COLOURS["grey"], alpha=0.6,
                label="at the start")  # fmt: skip
        ax.hist(own["sampled"], bins, weights=weights, color=COLOURS["blue"], alpha=0.7,
                label="after the first step")  # fmt: skip
        ax.hist(own["predicted"], bins, weights=weights, color=COLOURS["ink"], histtype="step",
                linewidth=1, label="closed form")  # fmt: skip
        ax.axvline(1 - config["gamma"], color=COLOURS["red"], linestyle="--", linewidth=0.8)
        ax.set_title(LAWS[name])
    for ax in axes[len(laws) :]:
        ax.set_axis_off()
    for ax in axes[len(laws) - 4 : 4]:  # no panel below
        ax.tick_params(labelbottom=True)
    drawn.legend(*axes[0].get_legend_handles_labels(), loc="lower right")
    drawn.supxlabel("alignment with the nearest direction", fontsize=9)
    drawn.supylabel("share of the neurons", fontsize=9)
    return drawn


@figure()
def sure_starts(sure: pd.DataFrame) -> Figure:
    """A higher threshold: fewer neurons, and purer ones

    Over the threshold, in closed form: the share of all starts with positive threshold that land in a
    cone, the probability of the event that the proofs call sure, of the sure starts those in the cone,
    and the same of their partners (-w, -b); below, the median length of G over the printed B_G. Means of the replicates.
    Hollow triangles at the lower edge stand for shares below 1e-4, none at all among them. *What to see:* the proofs' price for purity. Sure starts get as rare as e to the minus square of the
    threshold. From about 1.5 on, where most sure starts lie in a cone, far more starts do than are
    sure. At the highest threshold
    {{ said("gradient_features/cones-mixture", holds="those of the mixture lie in the cone",
    fails="not all of the mixture lie in the cone") }}, by their share;
    {{ said("gradient_features/cones-mixture-size", holds="their length is that of the lemma", fails="their length is not that of the lemma") }} and
    {{ said("gradient_features/cones-parity-size", holds="so is that of the parity of one block", fails="that of the parity of one block is not") }}, by the
    length over B_G. The thesis has (D_j, -1) among
    the features: {{ said("gradient_features/cones-parity-negative", holds="with three blocks the partners lie in a cone, too",
    fails="with three blocks the partners do not lie in a cone") }}, by the share that does; E[y x], which its proof takes for 0, points at the other blocks too.
    """
    laws = [name for name in LAWS if (sure["law"] == name).any()]
    looks = {
        "hit": ("blue", "o", "all starts in a cone"),
        "probability": ("grey", "s", "sure starts"),
        "sure_hit": ("green", "D", "of the sure, in the cone"),
        # may lie on the one before: an open ring around it
        "partner_hit": ("red", "o", "of their partners, in a cone"),
    }
    drawn = canvas(8.6, 4.6)
    axes = drawn.subplots(2, len(laws), sharex=True, sharey="row", height_ratios=[2, 1])
    for place, name in enumerate(laws):
        own = sure[sure["law"] == name].groupby("ratio")
        ax, below = axes[0, place], axes[1, place]
        for shift, (column, (colour, marker, words)) in enumerate(looks.items()):
            mean = own[column].mean()
            ring = {"markersize": 8, "markerfacecolor": "none", "linestyle": "--"}
            ax.plot(mean.where(mean >= RARE), color=COLOURS[colour], marker=marker, label=words,
                    **(ring if column == "partner_hit" else {"markersize": 4}))  # fmt: skip
            rarer = mean.index[mean < RARE] + 0.12 * (shift - 1.5)
            ax.plot(rarer, [0.7 * RARE] * len(rarer), "v", color=COLOURS[colour], markersize=5,
                    markerfacecolor="none")  # fmt: skip
        ax.set(yscale="log", ylim=(0.5 * RARE, 1.8))
        ax.set_title(LAWS[name])
        size = own["sure_size"].mean()
        below.plot(size.index, size, color=COLOURS["green"], marker="^", markersize=4)
        below.axhline(1, color=COLOURS["ink"], linewidth=0.8, linestyle="--")
        below.set(ylim=(0, 1.3), xlabel="threshold, std")
    axes[0, 0].set_ylabel("share")
    axes[1, 0].set_ylabel(r"$|G| \,/\, B_G$")
    drawn.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return drawn


@figure()
def xor_dimension(dimensions: pd.DataFrame) -> Figure:
    """XOR: sure neurons leave the printed cone

    Starts that Lemma B.37 calls sure, at its own threshold, in closed form. Left the share in the cone
    of its width, gamma = sigma / sqrt(d), and a line of slope -1/4 through the first point; right the median of 1 - |cos|
    against gamma. 95 % intervals over the replicates. *What to see:* the lemma says all of them, at every dimension; it is
    {{ value("xor-dimension", "in_cone", dimension=100) | percent }} at d = 100, and at the largest d
    {{ said("gradient_features/cones-xor-as-printed", holds="nearly all do so", fails="not nearly all do so") }}, by their share.
    From d = 1000 on {{ said("gradient_features/cones-xor-decay", holds="the share falls about as d^(-1/4)",
    fails="the share does not fall as d^(-1/4)") }}, by the slope. The other pair of clusters leaves a part of order sqrt(d) in G, which the
    step from (B.386) to (B.388) drops: where the angle hardly falls, the cone closes.
    """
    drawn = canvas(7.2, 3.1)
    left, right = drawn.subplots(1, 2)
    looks = {
        "in_cone": Look("share in the cone", COLOURS["blue"]),
        "off": Look(r"median of 1 $-$ |cos|", COLOURS["blue"]),
        "gamma": Look(r"$\gamma = \sigma/\sqrt{d}$", COLOURS["ink"], "s", (4, 2)),
    }
    long = dimensions.melt(["dimension", "replicate"], ["in_cone", "off", "gamma"], "quantity")
    lines(left, long[long["quantity"] == "in_cone"], "dimension", "quantity",
          looks={"in_cone": looks.pop("in_cone")}, errorbar=share_interval)  # fmt: skip
    lines(right, long, "dimension", "quantity", looks=looks)
    mean = dimensions.groupby("dimension")["in_cone"].mean()
    guide = mean.iloc[0] * (mean.index / mean.index[0]) ** -0.25
    left.plot(mean.index, guide, color=COLOURS["grey"], linestyle=":", label=r"slope $-1/4$")
    left.set(xscale="log", yscale="log", xlabel="dimension d", ylabel="share of sure starts")
    left.set_yticks((0.1, 0.2, 0.3, 0.5, 0.7, 1))
    left.get_yaxis().set_major_formatter("{x:g}")
    left.minorticks_off()
    left.set_ylim(0.8 * min(guide.min(), mean.min()), 1.05)
    left.set_xticks(mean.index)
    left.set_title("In the printed cone")
    right.set(xscale="log", yscale="log", xlabel="dimension d")
    right.set_title("Angle and width")
    right.legend()
    left.legend()
    return drawn


@figure()
def concentration(concentration: pd.DataFrame) -> Figure:
    """The error of a sampled gradient

    Root mean square of |G_n - G| over the neurons of a start on the XOR, in units of sqrt(E|x|^2), over
    the number of inputs n, with 95 % intervals. *What to see:*
    {{ said("gradient_features/cones-concentration", holds="it falls as n^(-1/2), as a mean does",
    fails="it does not fall as n^(-1/2)") }}, by the slope; Lemma B.18 claims n^(-1/3).
    """
    drawn = canvas(4.4, 3.2)
    ax = drawn.subplots()
    shown = concentration.assign(line="measured")
    lines(ax, shown, "samples", "line", looks={"measured": Look("measured", COLOURS["blue"])})
    mean = concentration.groupby("samples")["value"].mean()
    for power, style, words in ((-1 / 2, "--", r"slope $-1/2$"), (-1 / 3, ":", r"slope $-1/3$")):
        guide = mean.iloc[0] * (mean.index / mean.index[0]) ** power
        ax.plot(mean.index, guide, color=COLOURS["ink"], linestyle=style, linewidth=1, label=words)
    ax.set(xscale="log", yscale="log", xlabel="inputs n", ylabel="error of the gradient")
    ax.legend()
    return drawn
