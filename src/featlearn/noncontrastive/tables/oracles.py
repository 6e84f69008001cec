"""The closed forms beside brute force, and the roles of section 5.3."""

from __future__ import annotations

import pandas as pd

from featlearn.core.publish import Table, table
from featlearn.core.stats import SPREAD_KIND, plus_minus, readable, summary

#: What is listed of the closed forms, in words.
CLOSED_FORMS = {
    "gradient_2": "gradient of the objective (A.1), two neurons: relative error",
    "gradient_4": "the same for four neurons: relative error",
    "gradient_2_live_target": "without StopGrad: relative error",
    "named_terms": "terms of the appendix, corrected, put together: relative error",
    "printed_signal": "(A.2) as printed: its signal part over the true one",
    "printed_noise": "(A.2) as printed: its noise part over the true one",
    "printed_head": "head gradient as printed: relative error",
    "printed_xi": "Xi as printed (Fact D.2): relative error",
    "printed_view_noise": "loss of a large batch over the formula with C_2 as printed, minus 1",
    "radial": "Lemma B.8(a), corrected gradient: radial part",
    "printed_radial": "Lemma B.8(a), printed gradient: radial part",
    "batch_radial": "Lemma B.8(a) on a single batch: violation",
    "batch_exchange": "exchange between neuron and head on a single batch: violation",
    "batch_frozen": "radial gradient of each neuron, frozen head, single batch: violation",
    "monte_carlo_gaussian": "loss of a large batch over the population's, minus 1: Gaussian noise",
    "monte_carlo_sphere": "the same: noise on a sphere",
    "monte_carlo_both": "the same: both features in each sample",
    "monte_carlo_frequent": "the same: the strong feature more often",
}


@table()
def closed_forms(instances: pd.DataFrame) -> Table:
    """Closed forms against brute force

    *What to see:* the population gradient and the appendix's terms agree with automatic differentiation to
    rounding once four misprints are corrected: the signal part of (A.2) lacks a factor 3, its noise
    part is twice too large, C_2 counts the noise patches of a whole sample instead of a view, and Xi lacks
    a cross term. The printed gradient also violates the paper's own Lemma B.8(a). None of this changes a
    statement about orders of magnitude.
    """
    found = summary(instances, ["quantity"])
    found = found[found["quantity"].isin(list(CLOSED_FORMS))]
    order = {name: place for place, name in enumerate(CLOSED_FORMS)}
    found = found.sort_values("quantity", key=lambda names: names.map(order), ignore_index=True)
    found.insert(1, "text", found["quantity"].map(CLOSED_FORMS))
    cells = [
        f"{largest:.1e}" if abs(largest) < 1e-6 else plus_minus(mean, half)
        for mean, half, largest in found[["mean", "half_width", "largest"]].to_numpy()
    ]
    return Table(
        found, pd.DataFrame({"what": found["text"], "value": cells}),
        f"{int(found['replicates'].max())} random instances in float64. Where the value is below "
        f"1e-6 it is the largest of them, else mean and {SPREAD_KIND}.",
    )  # fmt: skip


@table()
def roles(roles: pd.DataFrame) -> Table:
    """Roles of StopGrad and normalisation

    Exact pushes of neuron 2 along both features, before (E_21 = 0) and after the head has substituted.
    *What to see:* before, the strong feature is pushed more in nearly all states, in every variant.
    After it, the weak feature wins with both StopGrad and batch normalisation, and not without either.
    """
    wins = (roles["weak"] > roles["strong"]) & (roles["weak"] > 0)
    by = ["variant", "e21"]
    share = roles.assign(value=wins.astype(float)).groupby([*by, "replicate"], sort=False)["value"]
    found = summary(share.mean().reset_index(), by)
    shown = readable(found, "states in which the weak feature is pushed more")
    for name, words in (("strong", "push along v_1"), ("weak", "push along v_2")):
        middle = roles.groupby(by, sort=False)[name].median().reset_index(drop=True)
        found[f"{name}_median"] = middle
        shown[f"{words}, median"] = [f"{value:.3g}" for value in middle]
    states = int(roles.groupby([*by, "replicate"]).size().max())
    return Table(
        found, shown.rename(columns={"e21": "|E_21|"}),
        f"Exact population gradients of neuron 2 at {states} random states in each of "
        f"{int(found['replicates'].max())} replicates, once neuron 1 has the strong feature; after "
        f"the sign: {SPREAD_KIND}. A negative push shrinks the product.",
    )  # fmt: skip
