"""Drift of the weights, cones in the infinity norm, and features that stay fixed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from featlearn.core.plots import COLOURS, PAGE, canvas
from featlearn.core.publish import Config, figure
from featlearn.core.statistical import Look, lines

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@figure()
def drift(drift: pd.DataFrame) -> Figure:
    """Lemma B.9: how far weights move

    Algorithm 5 on the XOR after its first step: T steps that together have the same length, T eta
    B_x1, which the lemma wants small. Left: the largest distance of a neuron from where the first
    step had put it. Right: that distance over its bound, for the neuron that comes nearest to its own;
    above the line the bound is broken. 95 % intervals. *What to see:* more and smaller steps move a
    neuron as far, as they follow the same flow, and
    {{ said("gradient_features/drift-as-printed", holds="(B.61) keeps pace with it", fails="(B.61) does not keep pace with it") }}, by the
    slope of their ratio: the binomial approximation (B.81) drops the term of second order, which is the largest. The bound that
    keeps it is quadratic in the length; Theorem B.11 survives it, with more neurons by a power of log m.
    """
    drawn = canvas(7.4, 3.2)
    left, right = drawn.subplots(1, 2)
    one = drift.assign(quantity="drift")
    lines(left, one, "steps", "quantity", looks={"drift": Look("drift", COLOURS["blue"])})
    left.set(xscale="log", xlabel="steps T", ylabel="largest drift")
    left.set_ylim(0, 1.3 * left.get_ylim()[1])
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
    parity (k) in 16 k dimensions: random ones, and the same after one step of descent (closed form). The
    band goes from a certificate that no head does better on the training inputs to the test loss. Dashes:
    the lower bound for fixed features; dots: the linear classifier, exactly 1/2 at every norm.
    *What to see:* {{ said("gradient_features/proposition-3.23", holds="no head on random features comes below the bound",
    fails="heads on random features come below the bound") }}, which the linear classifier nearly meets: one half of the inputs is
    solved by a direction. {{ said("gradient_features/beyond-fixed-features",
    holds="After one step as many features of the same norm go below it, which is what learning features means",
    fails="Nor do as many features of the same norm after one step") }}.
    """
    blocks = sorted(fixed["block"].unique())
    drawn = canvas(min(PAGE, 2.9 * len(blocks)), 3.4)
    many = drawn.subplots(1, len(blocks), sharey=True, squeeze=False)[0]
    looks = {"random": ("random features", "orange"), "first step": ("after one step", "blue")}
    for axes, block in zip(many, blocks, strict=True):
        here = fixed[fixed["block"] == block]
        for arm, (name, colour) in looks.items():
            mean = here[here["arm"] == arm].groupby("norm")[["certified", "value"]].mean()
            axes.fill_between(mean.index, mean["certified"], mean["value"], color=COLOURS[colour],
                              alpha=0.3, linewidth=0)  # fmt: skip
            axes.plot(mean.index, mean["value"], color=COLOURS[colour], marker="o", label=name)
        said = here.groupby("norm")["bound"].first()
        axes.plot(said.index, said, color=COLOURS["ink"], linestyle="--", label="printed bound")
        axes.axhline(0.5, color=COLOURS["ink"], linestyle=":", label="linear, exact")
        axes.set(xscale="log", ylim=(-0.03, 1.03), xlabel="norm B", title=f"k = {block}")
    many[0].set_ylabel(f"hinge loss, {config['fixed']['features']} features")
    drawn.legend(*many[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return drawn
