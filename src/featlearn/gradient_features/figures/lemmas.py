"""Lemmas 3.13, 3.14 and those on activation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from matplotlib.ticker import EngFormatter

from featlearn.core.plots import COLOURS, canvas
from featlearn.core.publish import figure
from featlearn.core.statistical import Look, lines, share_interval
from featlearn.gradient_features.words import LAWS

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@figure()
def existence(nice: pd.DataFrame, existence: pd.DataFrame) -> Figure:
    """Lemmas 3.13 and 3.14: nice neurons, and a network of them

    Left: share of networks in which a cluster of the XOR has fewer than m p / 4 nice neurons, and
    2 r exp(-c m p) with Chernoff's c = (1 - log 2) / 4. Right, on the XOR and on a mixture of clusters: the
    network that the proof of Lemma 3.14 builds of nice neurons whose scale fits, its mean distance from the comparator g*, its hinge loss, and
    the printed bound on that, constants as 1. 95 % intervals. *What to see:*
    {{ said("gradient_features/lemma-3.13", holds="failures stay below what Chernoff says",
    fails="there are more failures than Chernoff says") }}, by their ratio at the largest m.
    {{ said("gradient_features/lemma-3.14", holds="The built network comes to g* at least as fast as the lemma says",
    fails="The built network does not come to g* as fast as the lemma says") }}, by the slope: the errors of its neurons
    cancel, where the proof adds them up. Its bound is beyond 1, the loss of no network.
    """
    drawn = canvas(8.6, 3.3)
    left, *others = drawn.subplots(1, 3)
    hits = nice.groupby("neurons")["hits"].transform("mean")
    long = nice.assign(hits=hits, bound=nice["bound"].clip(upper=1)).melt(["hits", "replicate"], ["value", "bound"], "quantity",
                                       value_name="share")  # fmt: skip
    lines(left, long, "hits", "quantity", value="share", errorbar=share_interval, looks={
        "value": Look("measured", COLOURS["blue"]),
        "bound": Look("Chernoff", COLOURS["ink"], "s", (4, 2)),
    })  # fmt: skip
    left.set(ylim=(-0.02, 1.05), xlabel="m p", ylabel="share of networks that lack some")
    left.set_title("Lemma 3.13")
    left.legend()
    for ax, law in zip(others, ("xor", "mixture"), strict=True):
        drop = existence[existence["law"] == law].melt(
            ["neurons", "replicate"], ["bound", "value", "loss"], "quantity", value_name="size"
        )
        # a loss of zero lies at the lower edge
        lines(ax, drop.assign(size=drop["size"].clip(lower=1e-5)), "neurons", "quantity",
              value="size", looks={
            "bound": Look("printed bound", COLOURS["ink"], "s", (4, 2)),
            "value": Look("distance from g*", COLOURS["green"], "^"),
            "loss": Look("hinge loss", COLOURS["blue"]),
        })  # fmt: skip
        ax.axhline(1, color=COLOURS["grey"], linewidth=0.8)
        ax.set(xscale="log", yscale="log", ylim=(0.8e-5, 300), xlabel="neurons m", ylabel="")
        ax.set_xticks(sorted(drop["neurons"].unique()))
        ax.get_xaxis().set_major_formatter(EngFormatter(sep=""))
        ax.minorticks_off()
        ax.set_title(f"Lemma 3.14, {LAWS[law]}")
    others[1].legend(loc="lower left")
    return drawn


@figure()
def activation(activation: pd.DataFrame, tails: pd.DataFrame) -> Figure:
    """When sure neurons are active, and how far a background reaches

    Mean probability of sure starts to be active, by component of the data, over the threshold: on their
    own, on the other structured one that they like best, and on the uniform inputs of a parity (all in
    closed form). Right: the exact tail of the background's sum, over its deviations, at a variance that
    does not depend on the dimension, and the Gaussian tail that (B.428) claims. *What to see:* the own
    activation of the XOR begins at
    {{ value("printed", "measured", statement="Lemma B.39") | percent }}, and uniform inputs of a parity
    keep activating a sure neuron at any threshold, as some lie near the all-one block: the proofs need
    k of order tau log d. Of the background, {{ said("gradient_features/tails-as-printed", holds="tails are Gaussian",
    fails="tails are heavier than Gaussian ones") }}, by the power of the deviation: few of its coordinates are not 0, and how many varies.
    """
    looks = {
        "own": Look("own component", COLOURS["green"]),
        "others": Look("another", COLOURS["red"], "v"),
        "uniform": Look("uniform inputs", COLOURS["orange"], "s"),
    }
    drawn = canvas(8.6, 3.5)
    axes = drawn.subplots(1, 3)
    for ax, (law, title) in zip(axes, {"xor": "XOR", "parity": "parity, one block"}.items(),
                                strict=False):  # fmt: skip
        lines(ax, activation[activation["law"] == law], "ratio", "component", looks=looks,
              errorbar=None)  # fmt: skip
        ax.set(title=title, ylim=(-0.02, 1.02), xlabel="threshold, std",
               ylabel="activation of sure neurons")  # fmt: skip
    axes[1].set_ylabel("")
    far = axes[2]
    for place, (dimension, own) in enumerate(tails.groupby("dimension")):
        shade = ("sky", "blue", "green", "purple", "orange", "red")[place % 6]
        far.plot(own["deviation"], own["value"] / np.log(10), color=COLOURS[shade], marker="o",
                 markersize=3, label=f"d = {dimension}")  # fmt: skip
    gaussian = tails.drop_duplicates("deviation")
    far.plot(gaussian["deviation"], gaussian["gaussian"] / np.log(10), color=COLOURS["ink"],
             linestyle="--", label="Gaussian")  # fmt: skip
    far.set(title="background", xlabel="deviations", ylabel=r"$\log_{10}$ of the tail",
            ylim=(-40, 1))  # fmt: skip
    far.legend(loc="upper right")
    drawn.legend(*axes[1].get_legend_handles_labels(), loc="outside lower left", ncols=3)
    return drawn
