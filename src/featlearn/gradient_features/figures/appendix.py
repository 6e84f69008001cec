"""Drift of the weights, cones in the infinity norm, and features that stay fixed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from featlearn.core.plots import COLOURS, PAGE, PALETTE, canvas
from featlearn.core.publish import Config, figure
from featlearn.core.statistical import Look, lines, within

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@figure()
def drift(drift: pd.DataFrame) -> Figure:
    """Lemma B.9: how far weights move

    Algorithm 5 on the XOR after its first step: T steps that together have the same length, T eta
    B_x1, which the lemma wants small. Left: the largest distance of a neuron from where the first
    step had put it, over that after the fewest steps in the same replicate, as starts differ.
    Right: that distance over its bound, for the neuron that comes nearest to its own;
    above the line the bound is broken; its intervals are those over the starts. 95 % intervals. *What to see:* more and smaller steps move a
    neuron as far, as they follow the same flow, and
    {{ said("gradient_features/drift-as-printed", holds="the bound (B.61) keeps pace with it", fails="the bound (B.61) does not keep pace with it") }}, by the
    slope of their ratio: the binomial approximation (B.81) drops the term of second order, which is the largest. The bound that
    keeps it is quadratic in the length; Theorem B.11 survives it, with more neurons by a power of log m.
    """
    drawn = canvas(7.4, 3.2)
    left, right = drawn.subplots(1, 2)
    fewest = drift.sort_values("steps").groupby("replicate")["value"].transform("first")
    one = drift.assign(quantity="drift", value=drift["value"] / fewest)
    lines(left, one, "steps", "quantity", looks={"drift": Look("drift", COLOURS["blue"])})
    left.set(xscale="log", xlabel="steps T", ylabel="largest drift, over that of fewest steps",
             ylim=(0, 1.3 * one["value"].max()))  # fmt: skip
    long = drift.melt(["steps", "replicate"], ["printed", "corrected"], "bound", value_name="over")
    lines(right, long, "steps", "bound", value="over", looks={
        "printed": Look("as printed (B.61)", COLOURS["red"], "s", (4, 2)),
        "corrected": Look("with the quadratic term", COLOURS["green"], "^"),
    })  # fmt: skip
    right.axhline(1, color=COLOURS["grey"], linewidth=0.8)
    right.set(xscale="log", yscale="log", xlabel="steps T", ylabel="drift over its bound")
    right.legend(loc="center right")
    return drawn


@figure()
def infinity_cones(alternative: pd.DataFrame) -> Figure:
    """Theorem B.65: a parity of neurons whose entries are nearly right

    Hinge loss of the network g* of Lemma B.64 with directions that the first step finds in place of the
    exact one, one neuron for each kink or many that are averaged; what Theorem B.65 allows, at the
    constant it prints. 95 % intervals. *What to see:*
    {{ said("gradient_features/theorem-b65",
    holds="one neuron a kink stays below its bound and falls at least as fast",
    fails="one neuron a kink does not stay below its bound or falls less fast") }}, by the slope of
    their ratio.
    The bound says nothing before it falls under 1, the loss of no network. The errors of several
    neurons cancel between the kinks and not at them, where the inputs lie: half of the loss stays.
    """
    drawn = canvas(4.8, 3.4)
    axes = drawn.subplots()
    copies = sorted(alternative["copies"].unique())
    looks = {
        count: Look(f"{count} a kink", COLOURS[colour], marker)
        for count, colour, marker in zip(copies, ("blue", "green", "purple"), "o^D", strict=False)
    }
    lines(axes, alternative, "dimension", "copies", looks=looks)
    said = alternative.drop_duplicates("dimension").sort_values("dimension")
    axes.plot(said["dimension"], said["bound"], color=COLOURS["ink"], linestyle="--",
              label="printed bound")  # fmt: skip
    axes.axhline(1, color=COLOURS["grey"], linewidth=0.8)
    axes.set(xscale="log", yscale="log", xlabel="dimension d", ylabel="hinge loss")
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1))
    return drawn


@figure()
def fixed_features(fixed: pd.DataFrame, config: Config) -> Figure:
    """Proposition 3.23: features that stay as they are

    Least hinge loss of ReLU features, each at most 1, under a head of norm B, a panel a block of the
    parity (k) in 16 k dimensions: random ones, and the same after one step of descent (closed form). Means of the
    test loss, with 95 % intervals over the replicates; the band goes down to a certificate that no head does better on
    the training inputs. Dashes:
    the lower bound for fixed features, 1/2 - sqrt(N) B / (2^k sqrt(2)): where k is small and B large it is negative, leaves
    the panel and says nothing; dots: the linear classifier, exactly 1/2 at every norm.
    *What to see:* {{ said("gradient_features/proposition-3.23", holds="no head on random features comes below the bound",
    fails="heads on random features come below the bound") }}, by what is between them where they are nearest; the linear
    classifier nearly meets it: one half of the inputs is
    solved by a direction. With the largest block, in the last panel, and at norm 10
    {{ said("gradient_features/beyond-fixed-features",
    holds="as many features of the same norm go below it after one step, which is what learning features means",
    fails="as many features of the same norm do not go below it after one step, or by little") }}, by the loss that is between them.
    With smaller blocks the bound is lower, and learned features may stay above it: nothing follows from that.
    """
    blocks = sorted(fixed["block"].unique())
    drawn = canvas(min(PAGE, 2.9 * len(blocks)), 3.4)
    many = drawn.subplots(1, len(blocks), sharey=True, squeeze=False)[0]
    looks = {
        "random": Look("random features", PALETTE["random features"]),
        "first step": Look("after one step", PALETTE["network"], "s"),
    }
    for axes, block in zip(many, blocks, strict=True):
        here = fixed[fixed["block"] == block]
        for arm, look in looks.items():
            mean = here[here["arm"] == arm].groupby("norm")[["certified", "value"]].mean()
            axes.fill_between(mean.index, mean["certified"], mean["value"], color=look.colour,
                              alpha=0.3, linewidth=0)  # fmt: skip
        lines(axes, here, "norm", "arm", looks=looks, errorbar=within(0))
        said = here.groupby("norm")["bound"].first()
        axes.plot(said.index, said, color=COLOURS["ink"], linestyle="--", label="printed bound")
        axes.axhline(0.5, color=COLOURS["ink"], linestyle=":", label="linear, exact")
        axes.set(xscale="log", ylim=(-0.03, 1.03), xlabel="norm B", title=f"k = {block}")
    many[0].set_ylabel(f"hinge loss, {config['fixed']['features']} features")
    drawn.legend(*many[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return drawn
