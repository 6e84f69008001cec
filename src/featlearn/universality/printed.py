"""Tables of means, alone and beside what the thesis prints. No torch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from featlearn.core.evidence.stats import plus_minus, summary
from featlearn.core.run.exhibits import Table

OURS = "Ours"

NAMED = (
    "thesis: printed there, in per cent, standard deviation after the sign. here: measured in this "
    "run on the encoders and data that a config gave these names, in per cent, 95 % interval after "
    "the sign; a probe converges, and adapters are trained by Adam."
)
NOTE = (
    "thesis: printed there, in per cent, standard deviation after the sign. here: measured in this "
    "run on its own data and networks, in per cent, 95 % interval after the sign; it shows the "
    "protocol and cannot confirm a printed number."
)


def beside(
    quoted: Mapping[str, Any], which: str, measured: pd.DataFrame, index: Sequence[str],
    rows: Sequence[Mapping[str, Any]] | None = None, named: bool = False,
) -> Table:  # fmt: skip
    """A table of the thesis and measurements of the same shape below it.

    ``quoted``: ``config/paper_values/universality.yaml``; ``which``: the table's name in it.
    ``measured``: columns row (its words), column, replicate, value (a share). ``index``: what names
    a row of the thesis. ``rows``: of the thesis' table; by default all. ``named``: whether a row
    and column that both have are the same encoder and data, and stand together.
    """
    printed = pd.DataFrame(rows if rows is not None else quoted[which]["rows"])
    printed = printed.assign(row=printed[list(index)].astype(str).agg(", ".join, axis=1))
    spreads = printed["spread"] if "spread" in printed else pd.Series(float("nan"), printed.index)
    printed["cell"] = [f"{value:.2f}" + ("" if pd.isna(spread) else f" ± {spread:.2f}")
                       for value, spread in zip(printed["paper_value"], spreads, strict=True)
                       ]  # fmt: skip
    means = summary(measured.assign(value=100 * measured["value"]), ["row", "column"])
    means["cell"] = [plus_minus(mean, half) for mean, half in
                     zip(means["mean"], means["half_width"], strict=True)]  # fmt: skip
    parts = []
    for who, frame in (("here", means), ("thesis", printed)):
        wide = frame.pivot_table(index="row", columns="column", values="cell", aggfunc="first",
                                 sort=False)  # fmt: skip
        parts.append(wide.reset_index().assign(**{"": who}))
    shown = pd.concat(parts).fillna("-")
    columns = ["", "row", *(name for name in shown.columns if name not in ("", "row"))]
    means = means.drop(columns="cell").rename(columns={"mean": "measured"})
    printed = printed.drop(columns="cell")
    if not named or means.merge(printed, on=["row", "column"]).empty:
        both = pd.concat([means, printed], ignore_index=True)
        return Table(both, shown[columns], NOTE)
    places = {row: float(place) for place, row in enumerate(dict.fromkeys(printed["row"]))}
    before = -1.0
    for row in dict.fromkeys(means["row"]):  # what is not printed stands behind what is measured
        before = places.setdefault(row, before)
        before += 0.5 * float(before).is_integer()
    shown = shown.sort_values("row", key=lambda rows: rows.map(places), kind="stable")
    both = printed.merge(means, on=["row", "column"], how="outer", sort=False)
    return Table(both, shown[columns], NAMED)
