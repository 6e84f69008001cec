"""The printed gradient of the MAE loss against the gradient; sampled masks; the lottery sets.

The closed forms are unit tests: sums over all masks and automatic differentiation agree with them to
rounding.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from featlearn.core.claim_methods import Claims, claim
from featlearn.core.claims import CONTROL, POSITIVE, THEOREM, first_of, needs
from featlearn.core.frames import pick
from featlearn.core.publish import Table, table
from featlearn.core.stats import SPREAD_KIND, side_by_side, summary
from featlearn.mrp.labels import by_replicate

#: Classes that the band was derived for.
LEAST_CLASSES = 200
#: Column heads for readers.
PRINTED_HEADS = {"relative_error": "relative error", "cosine": "cosine"}


def printed_gradient_table(instances: pd.DataFrame, gradients: pd.DataFrame) -> pd.DataFrame:
    """Columns inputs, quantity (relative_error, cosine), mean, ..., largest, replicates."""
    printed = instances[instances["quantity"].str.startswith("printed_")]
    stds = [f"random, kernels of standard deviation {std:g}" for std in printed["kernel_std"]]
    random = printed.assign(inputs=stds, quantity=printed["quantity"].str.removeprefix("printed_"))
    parallel = instances[instances["quantity"].str.startswith("parallel_")]
    parallel = parallel.assign(
        inputs="random, one kernel and patches along it",
        quantity=parallel["quantity"].str.removeprefix("parallel_"),
    )
    trained = gradients.assign(
        inputs=["multi-view data, " + moment for moment in gradients["moment"]]
    )
    rows = pd.concat([random, parallel, trained], ignore_index=True)
    # the mean over q is a replicate's number
    keys = ["inputs", "quantity", "replicate"]
    rows = rows.groupby(keys, sort=False)["value"].mean().reset_index()
    return summary(rows, ["inputs", "quantity"])


@table()
def printed_gradient(instances: pd.DataFrame, gradients: pd.DataFrame) -> Table:
    """Printed against true gradient

    *What to see:* the vector of Fact 2.2 is the gradient only for one kernel and patches along it.

    Relative error and cosine. While kernels are small both agree to leading order; they part from the first captures
    on.
    """
    found = printed_gradient_table(instances, gradients)
    notes = (
        "Random inputs, and multi-view data along a training with the true gradient. "
        f"After the sign: {SPREAD_KIND}."
    )
    return Table(found, side_by_side(found, ["inputs"], "quantity", PRINTED_HEADS), notes)


class Oracles(Claims):
    paper = "mrp"

    @claim("Fact 2.2 (later version), as printed",
           "relative error of the printed vector against the gradient, random inputs, mean over q and over the size of "
           "the kernels", kind=THEOREM, low=0.0, high=1e-10, possible=POSITIVE,
           failure="misprint")  # fmt: skip
    def t2_gradient_mae_as_printed(self):
        r"""The gradient of the expected MAE loss is $\sum_p A_{rp} \Delta_p$.

        An identity: formula and automatic differentiation differ by float64 rounding only. The second printed term
        swaps the roles of $x_p$ and $\Delta_p$.
        """
        return by_replicate(pick(self.instances, quantity="printed_relative_error"))


class SampledMasks(Claims):
    paper = "mrp"
    out_of_reach = needs(
        sampled_masks__data__classes=5, sampled_masks__replicates=10, sampled_masks__masks=64
    )

    @claim("Equation (2): the gradient is the expectation over masks", "slope of log error over log number of masks",
           kind=CONTROL, low=-0.55, high=-0.45)  # fmt: skip
    def t1_sampled_masks_rate(self):
        """The mean gradient over sampled masks tends to the exact gradient, at the rate of a mean.

        Independent masks and no bias: $-1/2$; each slope is fitted to few points.
        """
        slopes = self.errors.groupby(["replicate", "theta"])[["masks", "error"]].apply(
            lambda rows: np.polyfit(np.log(rows["masks"]), np.log(rows["error"]), 1)[0]
        )
        return slopes.groupby("replicate").mean()


def _few_classes(config: Mapping[str, Any]) -> str | None:
    classes = config["initialisation"]["classes"]
    if classes >= LEAST_CLASSES:
        return None
    return f"{classes} classes; the band was derived for at least {LEAST_CLASSES}."


class Initialisation(Claims):
    paper = "mrp"
    out_of_reach = first_of(_few_classes, needs(initialisation__replicates=10))

    @claim(r"Theorem 1(b), (c) with $m \le \sqrt{k}$ (premise)",
           r"kernels in more than one set ($C_M = 0.25$) at the largest $k$, $m = \lceil\sqrt{k}\rceil$", kind=THEOREM,
           low=0.0, high=0.0, possible=POSITIVE,
           failure="one word too strong")  # fmt: skip
    def t5_disjoint_sets_as_assumed(self):
        r"""With as many kernels as the theorems admit, a kernel belongs to one lottery set at most.

        The premise under which a kernel of $\mathcal{M}_{i,l}$ captures no other feature.
        """
        return by_replicate(self.lottery, "shared_kernels")
