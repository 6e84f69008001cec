"""The printed gradient of the MAE loss against the gradient; the lottery sets.

The closed forms are unit tests: sums over all masks and automatic differentiation agree with them to rounding.
"""

from __future__ import annotations

from featlearn.core.evidence.claim_methods import Claims, claim, premise
from featlearn.core.evidence.claims import POSITIVE, THEOREM, needs
from featlearn.core.evidence.frames import pick
from featlearn.core.evidence.stats import per_replicate


class Oracles(Claims):
    paper, kind, possible = "mrp", THEOREM, POSITIVE

    @claim("Fact 2.2 (later version), as printed", "relative error of the printed vector against the gradient, random "
           "inputs, mean over q and over the size of the kernels", low=0.0, high=1e-10, failure="misprint")  # fmt: skip
    def t2_gradient_mae_as_printed(self):
        r"""The gradient of the expected MAE loss is $\sum_p A_{rp} \Delta_p$.

        An identity: formula and automatic differentiation differ by float64 rounding only. The second printed term
        swaps the roles of $x_p$ and $\Delta_p$.
        """
        printed = pick(self.instances, quantity="printed_relative_error")
        return printed.groupby("replicate")["value"].mean().to_numpy()

    @premise("<=")
    def few_kernels(self):
        r"""$m \leq \sqrt{k}$ (Assumption 1)"""
        of = self.config["initialisation"]
        return of["kernels_per_class"], of["classes"] ** 0.5

    @claim("Theorem 1(b), (c)", "kernels in more than one set ($C_M = 0.25$)", low=0.0, high=0.0,
           premises=("few_kernels",), failure="one word too strong", changed="15 kernels a class at $k = 200$, where "
           "14 are admitted, until 2026-11-27; band kept.",
           out_of_reach=needs(initialisation__classes=200, initialisation__replicates=10))  # fmt: skip
    def t5_disjoint_sets_as_assumed(self):
        r"""With as many kernels as the theorems admit, a kernel belongs to one lottery set at most.

        The premise under which a kernel of $\mathcal{M}_{i,l}$ captures no other feature.
        """
        return per_replicate(self.lottery, "shared_kernels")
