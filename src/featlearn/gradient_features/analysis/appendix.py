"""Drift of the weights, cones in the infinity norm, features that stay fixed.

Bands rest on Lemma B.9, Theorem B.65 and Proposition 3.23; pilots are named.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from featlearn.core.claim_methods import Claims, claim, premise
from featlearn.core.claims import OBSERVATION, THEOREM, needs
from featlearn.core.frames import pick
from featlearn.core.plots import COLOURS, PAGE, PALETTE, canvas
from featlearn.core.publish import Config, figure
from featlearn.core.statistical import Look, lines, within
from featlearn.gradient_features.analysis import slopes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: A slope that no loss has, of a replicate that is above its bound.
BEYOND = 10.0


@figure()
def drift(drift: pd.DataFrame) -> Figure:
    r"""Does the printed bound on the drift of weights (Lemma B.9) hold as steps get smaller?

    *What to see:* left, more and smaller steps of the same total length $T \eta B_{x1}$ move a neuron as far. Right,
    {{ said("gradient_features/drift-as-printed", holds="the bound (B.61) keeps pace with it", fails="the bound (B.61) does not keep pace with it") }},
    by the slope of drift over bound; above the line it is broken. XOR, 95 % intervals.
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
def fixed_features(fixed: pd.DataFrame, config: Config) -> Figure:
    r"""Do features after one step have less loss than fixed ones can have?

    *What to see:* in the last panel, at norm 10, {{ said("gradient_features/beyond-fixed-features",
    holds="features after one step go below the bound for fixed ones (dashed)",
    fails="features after one step do not go below the bound for fixed ones (dashed), or by little") }}, by the loss between them. Bands
    reach down to certificates; dots: linear, 1/2. The step is the population's. 95 % intervals.
    """
    blocks = sorted(fixed["block"].unique())
    drawn = canvas(min(PAGE, 2.9 * len(blocks)), 3.4)
    many = drawn.subplots(1, len(blocks), sharey=True, squeeze=False)[0]
    looks = {
        "random": Look("random features", PALETTE["random features"]),
        "first step": Look("after one step", PALETTE["network"], "s"),
    }
    for axes, block in zip(many, blocks, strict=True):
        here = pick(fixed, block=block)
        for arm, look in looks.items():
            mean = pick(here, arm=arm).groupby("norm")[["certified", "value"]].mean()
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


class Appendix(Claims):
    """What the appendix bounds."""

    paper, kind = "gradient_features", THEOREM

    @premise("<=")
    def way_short(self):
        r"""$T \eta B_{x1} \leq 0.1$, for $o(1)$ (Lemma B.9)"""
        return self.config["appendix"]["drift"]["length"], 0.1

    @claim("Lemma B.9, (B.61)", r"slope of log(drift over bound) over $\log T$, at the same $T \eta B_{x1}$",
           high=0.1, premises=("way_short",), out_of_reach=needs(appendix__replicates=3, appendix__drift__steps=300),
           paper_says=r"“$\|\mathbf{w}_i^{(t)} - \mathbf{w}_i^{(1)}\|_2 \leq O \left(t\eta B_{x1} "
           r"|a_i^{(1)}| + t\eta^2 B_{x1}^2 \|\mathbf{w}_i^{(1)}\|_2 + t\eta^2 B_{x1} \tilde{b} "
           r"\right)$”", failure="rate or constant")  # fmt: skip
    def drift_as_printed(self):
        r"""Weights move along the steps by at most a constant times
        $t \eta B_{x1} (|a| + \eta B_{x1} |w| + \eta b)$.

        A bound with a constant may be loose, but its constant cannot grow. We expect 1: smaller
        steps follow the same flow, and the printed bound falls as $1 / T$, as (B.81) drops the
        quadratic term. A pilot on other streams gave a factor of 8 from 30 to 300 steps.
        """
        return slopes(self.drift, "steps", "printed")

    @claim("Lemma B.64, Theorem B.65", "slope over log d of the logarithm of hinge loss over printed "
           f"bound, one neuron a kink; {BEYOND:g} where a loss is above its bound", high=0.0,
           out_of_reach=needs(appendix__replicates=3, appendix__alternative__test=1000),
           paper_says=r"“$\leq \frac{k^2 \sqrt{d \log(d)}}{d - k} + \epsilon$”",
           changed="Stricter since a published run: it asked for the loss to be below the bound, "
           "which it was by 6.5, and which a network that answers 0 passes.")  # fmt: skip
    def theorem_b65(self):
        r"""The loss of directions within $\sqrt{k} / (d - k)$ of $D$ in each entry stays below
        $k^2 \sqrt{d \log d} / (d - k)$, and falls as fast.

        (B.536) with the numbers of Lemma B.64, whose constant is lost in print. The bound is above
        1 at these dimensions, the loss of no network at all; whose slope is above 0, as the bound
        falls.
        """
        single = pick(self.alternative, copies=self.alternative["copies"].min())
        ratio = single.assign(ratio=single["value"] / single["bound"])
        above = ratio.groupby("replicate")["ratio"].max() > 1
        return np.where(above, BEYOND, slopes(ratio, "dimension", "ratio"))

    @claim("Section 3.4.2, Theorem 3.22", "bound of Proposition 3.23 less the test loss after one "
           "closed-form step, as on infinitely many inputs, largest $k$, $B = 10$", low=0.05, high=0.5,
           kind=OBSERVATION,
           out_of_reach=needs(appendix__replicates=3, appendix__fixed__blocks=9),
           paper_says="“Clearly, our framework is beyond the fixed feature methods.”",
           changed="The sentence says since a published run of what the bound is, all parities of a "
           "size, and since 2026-11-25 that the step is in closed form, "
           "which makes it an observation.")  # fmt: skip
    def beyond_fixed_features(self):
        """After one step of the population's gradient, $N$ features have less loss on a parity than $N$
        fixed ones can have on all parities of that size.

        The first step turns every neuron to $D$, along which the parity is a function. A pilot on
        other streams, one replicate, gave .14.
        """
        stepped = pick(self.fixed, arm="first step", block=self.fixed["block"].max())
        norm = stepped["norm"][stepped["norm"] <= 10].max()
        stepped = pick(stepped, norm=norm)
        return (stepped["bound"] - stepped["value"]).to_numpy()
