"""Drift of the weights, cones in the infinity norm, features that stay fixed."""

from __future__ import annotations

import numpy as np

from featlearn.core.evidence.claim_methods import Claims, claim, premise
from featlearn.core.evidence.claims import OBSERVATION, THEOREM, needs
from featlearn.core.evidence.frames import pick
from featlearn.gradient_features.analysis import slopes

#: A slope that no loss has, of a replicate that is above its bound.
BEYOND = 10.0


class Appendix(Claims):
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
        r"""Weights move along the steps by at most a constant times $t \eta B_{x1} (|a| + \eta B_{x1} |w| + \eta b)$.

        A bound with a constant may be loose, but its constant cannot grow. We expect 1: smaller steps follow the same
        flow, and the printed bound falls as $1 / T$, as (B.81) drops the quadratic term. A pilot on other streams
        gave a factor of 8 from 30 to 300 steps.
        """
        return slopes(self.drift, "steps", "printed")

    @claim("Lemma B.64, Theorem B.65", "slope over log d of the logarithm of hinge loss over printed "
           f"bound, one neuron a kink; {BEYOND:g} where a loss is above its bound", high=0.0,
           out_of_reach=needs(appendix__replicates=3, appendix__alternative__test=1000),
           paper_says=r"“$\leq \frac{k^2 \sqrt{d \log(d)}}{d - k} + \epsilon$”",
           changed="Stricter since a published run: it asked for the loss to be below the bound, "
           "which it was by 6.5, and which a network that answers 0 passes.")  # fmt: skip
    def theorem_b65(self):
        r"""The loss of directions within $\sqrt{k} / (d - k)$ of $D$ in each entry stays below $k^2 \sqrt{d \log d} /
        (d - k)$, and falls as fast.

        (B.536) with the numbers of Lemma B.64, whose constant is lost in print. The bound is above 1 at these
        dimensions, the loss of no network at all; whose slope is above 0, as the bound falls.
        """
        single = pick(self.alternative, copies=self.alternative["copies"].min())
        ratio = single.assign(ratio=single["value"] / single["bound"])
        above = ratio.groupby("replicate")["ratio"].max() > 1
        return np.where(above, BEYOND, slopes(ratio, "dimension", "ratio"))

    @claim("Section 3.4.2, Theorem 3.22", "bound of Proposition 3.23 less the test loss after one closed-form step, "
           "as on infinitely many inputs, largest $k$, $B = 10$", low=0.05, high=0.5, kind=OBSERVATION,
           out_of_reach=needs(appendix__replicates=3, appendix__fixed__blocks=9),
           paper_says="“Clearly, our framework is beyond the fixed feature methods.”", changed="The sentence says "
           "since a published run of what the bound is, all parities of a size, and since 2026-11-25 that the step "
           "is in closed form, which makes it an observation.")  # fmt: skip
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
