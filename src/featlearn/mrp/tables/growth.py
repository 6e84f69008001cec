"""Measured against predicted hitting times: fits and ratios. Reads frames, imports no torch."""

from __future__ import annotations

import numpy as np
import pandas as pd

from featlearn.core.publish import Table, table
from featlearn.core.stats import SPREAD_KIND, side_by_side, summary

#: The runs, in words.
CASES = {
    "mae": "MAE",
    "teacher_student": "Teacher-student",
    "teacher_student_alone": "Teacher-student, undisturbed",
}
#: What :func:`growth_table` lists, in words.
QUANTITIES = {
    "r_squared": "R², measured against predicted times",
    "slope": "slope of measured against predicted times",
    "r_squared_nearest": "R², if every nearest kernel won",
    "median_ratio": "measured over predicted, median",
    "first_ratio": "first arrival of a run over the first predicted",
    "later_ratio": "measured over predicted, later features, median",
    "delayed": "share of features later than their nearest kernel by 10 %",
    "scaling": "ratio of times at the two smallest sigma_0, over the formula",
    "reached": "share of features that arrived",
}


def timed(hits: pd.DataFrame, case: str) -> pd.DataFrame:
    """Rows of a case with both times, which are a step or more.

    A feature that was to come before its run ended and did not counts with the end of the run. Left
    out are those that began at the target, that no kernel points to, and that neither came before
    the end nor were to.
    """
    own = hits[hits["case"] == case]
    missed = own["measured"].isna() & (own["predicted"] <= own["ended"])
    own = own.assign(measured=own["measured"].mask(missed, own["ended"]))
    own = own[own["measured"] >= 1]
    return own[np.isfinite(own["predicted"]) & np.isfinite(own["nearest"])]


def fits(hits: pd.DataFrame, case: str, against: str = "predicted") -> pd.DataFrame:
    """Straight line through a replicate's times at all ``sigma_0``: replicate, slope, r_squared."""
    rows = []
    for replicate, own in timed(hits, case).groupby("replicate"):
        x, y = own[against].to_numpy(), own["measured"].to_numpy()
        slope = np.polyfit(x, y, 1)[0]
        rows.append((replicate, slope, np.corrcoef(x, y)[0, 1] ** 2))
    return pd.DataFrame(rows, columns=["replicate", "slope", "r_squared"])


def with_ratio(hits: pd.DataFrame, case: str) -> pd.DataFrame:
    """Rows of :func:`timed` with ``ratio``, measured over predicted, and ``first``.

    ``first`` marks the feature that was the first to arrive in its run.
    """
    own = timed(hits, case)
    earliest = own.groupby(["sigma_0", "replicate"])["measured"].transform("min")
    return own.assign(ratio=own["measured"] / own["predicted"], first=own["measured"] == earliest)


def first_arrivals(hits: pd.DataFrame, case: str) -> pd.DataFrame:
    """The first arrival of each run over the first predicted one: sigma_0, replicate, value."""
    runs = timed(hits, case).groupby(["sigma_0", "replicate"])[["measured", "predicted"]].min()
    return (runs["measured"] / runs["predicted"]).rename("value").reset_index()


def delayed(hits: pd.DataFrame, case: str, by: float = 1.1) -> pd.DataFrame:
    """Share of features that arrive later than their nearest kernel would: replicate, value."""
    own = timed(hits, case)
    late = (own["measured"] > by * own["nearest"]).astype(float)
    return late.groupby(own["replicate"]).mean().rename("value").reset_index()


def scaling(hits: pd.DataFrame, case: str) -> pd.DataFrame:
    """Does time scale with ``sigma_0`` as predicted? Columns replicate, value.

    ``value``: a feature's time at the smallest ``sigma_0`` over that at the next, divided by the
    same ratio of the formula; the median over the features of a replicate.
    """
    own = timed(hits, case)
    least, following = sorted(own["sigma_0"].unique())[:2]
    keys = ["replicate", "feature"]
    small = own[own["sigma_0"] == least].set_index(keys)
    large = own[own["sigma_0"] == following].set_index(keys)
    ratio = (small["measured"] / large["measured"]) / (small["predicted"] / large["predicted"])
    value = ratio.dropna().groupby("replicate").median().rename("value")
    return value.reset_index()


def growth_table(hits: pd.DataFrame) -> pd.DataFrame:
    """Mean and interval of every fit: columns case, quantity, mean, ..., one row each."""
    rows = []
    for case, own in hits.groupby("case", sort=False):
        ratios = with_ratio(hits, str(case))
        grouped = ratios.groupby("replicate")
        later = ratios[~ratios["first"]].groupby("replicate")
        straight = fits(hits, str(case)).set_index("replicate")
        nearest = fits(hits, str(case), "nearest").set_index("replicate")
        quantities = {
            "r_squared": straight["r_squared"],
            "slope": straight["slope"],
            "r_squared_nearest": nearest["r_squared"],
            "median_ratio": grouped["ratio"].median(),
            "first_ratio": first_arrivals(hits, str(case)).groupby("replicate")["value"].mean(),
            "later_ratio": later["ratio"].median(),
            "delayed": delayed(hits, str(case)).set_index("replicate")["value"],
            "scaling": scaling(hits, str(case)).set_index("replicate")["value"],
            "reached": own["measured"].notna().groupby(own["replicate"]).mean(),
        }
        for quantity, values in quantities.items():
            rows += [(str(case), quantity, value) for value in values.to_numpy()]
    frame = pd.DataFrame(rows, columns=["case", "quantity", "value"])
    return summary(frame, ["case", "quantity"])


@table()
def growth_laws(hits: pd.DataFrame) -> Table:
    """Growth laws"""
    found = growth_table(hits)
    return Table(
        found,
        side_by_side(found.replace({"quantity": QUANTITIES}), ["quantity"], "case", CASES),
        f"Fits over all features and all sigma_0 of a replicate. After the sign: {SPREAD_KIND}.",
    )
