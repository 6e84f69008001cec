"""Tables of means with intervals, from tidy measurements."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

import pandas as pd

from featlearn.core.prose import plus_minus
from featlearn.core.stats import estimate


def summary(frame: pd.DataFrame, by: Sequence[str], value: str = "value") -> pd.DataFrame:
    """Mean and 95 % interval of ``value`` over the rows of each group.

    Returns
    -------
    DataFrame
        Columns ``by``, mean, low, high, half_width, largest, replicates; groups in the order of
        their first row.
    """
    rows = []
    for key, values in frame.groupby(list(by), sort=False, observed=True)[value]:
        seen = estimate(values.to_numpy())
        rows.append((*key, seen.mean, seen.low, seen.high, seen.half_width,
                     float(values.max()), seen.replicates))  # fmt: skip
    columns = [*by, "mean", "low", "high", "half_width", "largest", "replicates"]
    return pd.DataFrame(rows, columns=columns)


def paired(
    frame: pd.DataFrame, by: Sequence[str], column: str, references: Mapping[Hashable, Hashable]
) -> pd.DataFrame:
    """Mean and 95 % interval of differences, replicate by replicate.

    A replicate is one draw of data and initial weights that all share who are compared, so that
    what is common to them cancels.

    Parameters
    ----------
    frame
        Columns ``by``, ``column``, replicate, value; one row a replicate in each group.
    column
        Tells apart what is compared.
    references
        Of each value of ``column`` the one that is taken off. A pair of which a group lacks either
        is left out.

    Returns
    -------
    DataFrame
        Columns ``by``, ``column``, difference, difference_half_width.

    Raises
    ------
    ValueError
        If a replicate of a pair is missing, or is there twice.
    """
    rows = []
    for key, group in frame.groupby(list(by), sort=False, observed=True):
        # not pivot_table, which would take the mean of a replicate that is there twice
        wide = group.pivot(index="replicate", columns=column, values="value")  # noqa: PD010
        for name, reference in references.items():
            if name in wide and reference in wide:
                seen = estimate((wide[name] - wide[reference]).to_numpy())
                rows.append((*key, name, seen.mean, seen.half_width))
    columns = [*by, column, "difference", "difference_half_width"]
    return pd.DataFrame(rows, columns=columns)


def side_by_side(
    table: pd.DataFrame, index: Sequence[str], columns: str, heads: Mapping[str, str]
) -> pd.DataFrame:
    """A summary for reading: ``mean ± half-width`` in the cells, ``-`` where there is none.

    Parameters
    ----------
    index
        Columns of ``table`` that name a row.
    columns
        Column whose values become columns.
    heads
        Which of these values are shown, in this order, and what their columns are called.
    """
    shown = table[table[columns].isin(list(heads))]
    cells = [plus_minus(m, h) for m, h in zip(shown["mean"], shown["half_width"], strict=True)]
    frame = shown.assign(cell=cells).pivot_table(
        index=list(index), columns=columns, values="cell", aggfunc="first", sort=False
    )
    present = [name for name in heads if name in frame.columns]
    frame = frame[present].rename(columns=dict(heads)).fillna("-").reset_index()
    # in the order of the summary, which a pivot over several columns does not keep
    ordered = shown[list(index)].drop_duplicates().merge(frame, on=list(index))
    return ordered.rename_axis(columns=None)


def readable(table: pd.DataFrame, head: str) -> pd.DataFrame:
    """A summary for reading, all in one column: ``mean ± half-width``, called ``head``."""
    spans = ["mean", "low", "high", "half_width", "largest", "replicates"]
    cells = [plus_minus(m, h) for m, h in zip(table["mean"], table["half_width"], strict=True)]
    return table.drop(columns=spans).assign(**{head: cells})
