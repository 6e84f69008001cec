"""Closed forms against automatic differentiation, enumeration and sampling."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import pandas as pd

from featlearn.core.publish import Table, table
from featlearn.core.stats import SPREAD_KIND, plus_minus, side_by_side, summary

PRINTED_HEADS = {
    "printed": "relative error, as the gradient",
    "printed_against_descent": "as the descent direction",
    "printed_cosine": "cosine with the gradient",
    "without_stop_gradient": "error without StopGrad",
}


@table()
def printed_gradient(instances: pd.DataFrame) -> Table:
    """Printed against true gradient

    Appendix A.1 and Definition E.4 print a sum of the positive and the negative term where the gradient has
    their difference. *What to see:* the printed vector is neither the gradient nor its negative, whatever the size of the
    weights; at standard deviation 1 its relative error is
    {{ value("printed-gradient", scale=1.0, quantity="printed") | number }}. The recursions of the proofs use the
    correct direction. Without StopGrad the gradient is another one as well.
    """
    own = instances[instances["quantity"].isin(list(PRINTED_HEADS))]
    found = summary(own, ["scale", "quantity"])
    wide = side_by_side(found, ["scale"], "quantity", PRINTED_HEADS)
    return Table(
        found,
        wide.rename(columns={"scale": "standard deviation of a weight"}),
        "Random instances in float64. "
        f"{int(found['replicates'].max())} replicates; after the sign: {SPREAD_KIND}.",
    )


@table()
def identities(instances: pd.DataFrame, sampled: pd.DataFrame) -> Table:
    """Closed forms, checked

    Gradient, decomposition and pseudo-network against automatic differentiation in float64; the pull of the
    positive by enumeration of all masks; expectations by sampling. *What to see:* all hold to rounding or
    within sampling error, except the lines called as printed.
    """
    exact = instances[~instances["quantity"].isin(list(PRINTED_HEADS))]
    first = summary(exact.rename(columns={"scale": "setting"}), ["quantity", "setting"])
    keys = ["check", "setting"]
    second = summary(sampled, keys, "measured").rename(columns={"check": "quantity"})
    predicted = sampled.groupby(keys, sort=False)["predicted"].mean().to_numpy()
    found = pd.concat(
        [first.assign(part="exact"), second.assign(part="sampled", predicted=predicted)],
        ignore_index=True,
    )
    return Table(
        found,
        pd.DataFrame([_row(row) for row in found.to_dict("records")]),
        "Above: relative errors in float64, the largest of all instances. Below: means of "
        f"sampled quantities beside what the closed form gives; after the sign: {SPREAD_KIND}.",
    )


def _row(row: dict[Hashable, Any]) -> dict[str, str]:
    """A quantity and setting, for reading."""
    exact, predicted = row["part"] == "exact", row["predicted"]
    known = "-" if predicted != predicted else f"{predicted:.4g}"
    spread = plus_minus(row["mean"], row["half_width"])
    return {
        "quantity": row["quantity"].replace("_", " "),
        "setting": f"{row['setting']:g}",
        "measured": f"{row['largest']:.1e}" if exact else spread,
        "closed form": "0" if exact else known,
    }
