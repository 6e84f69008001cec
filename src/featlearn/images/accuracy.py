"""Accuracy on multi-view and single-view images apart, and its differences between methods."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
from torch import Tensor

from featlearn.core.stats import estimate

ESTIMATE_COLUMNS = ("mean", "half_width", "replicates")


def accuracies(predicted: Tensor, labels: Tensor, view: Tensor | None = None) -> dict[str, float]:
    """Share of right predictions.

    Parameters
    ----------
    predicted, labels : int64 (N,)
    view : int64 (N,) or None
        Which part of its class a single-view image shows, -1 in a multi-view one; None for images
        of which this is not known.

    Returns
    -------
    dict
        ``all`` if ``view`` is None. Else, of the kinds of images that there are: ``multi_view``;
        ``single_view``; ``single_view_1``, ``single_view_2``, ... for each part alone (counted from
        1); and ``worst_view``, the least of these: low if one part of a class is all that was
        learned.
    """
    right = (predicted.cpu() == labels.cpu()).double()
    if view is None:
        return {"all": float(right.mean())}
    view = view.cpu()
    kinds = {"multi_view": view < 0, "single_view": view >= 0}
    found = {name: float(right[rows].mean()) for name, rows in kinds.items() if rows.any()}
    views = sorted(set(view.tolist()) - {-1})
    each = {f"single_view_{one + 1}": float(right[view == one].mean()) for one in views}
    worst = {"worst_view": min(each.values())} if each else {}
    return found | each | worst


def summary(rows: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Mean over replicates with a 95 % t-interval.

    Parameters
    ----------
    rows
        Columns ``replicate``, ``value`` and those of ``by``; one row a replicate in each group.
    by
        What tells groups apart, e.g. ``["labels", "method", "quantity"]``.

    Returns
    -------
    DataFrame
        The columns of ``by``, then mean, half_width, replicates; groups in the order of ``rows``.
    """
    found = []
    for key, group in rows.groupby(list(by), sort=False):
        twice = group["replicate"].duplicated()
        if twice.any():
            replicate = group.loc[twice, "replicate"].iloc[0]
            raise ValueError(f"rows: replicate {replicate} of {key} twice; is `by` complete?")
        found.append((*key, *_columns(group["value"])))
    return pd.DataFrame(found, columns=[*by, *ESTIMATE_COLUMNS])


def paired_differences(rows: pd.DataFrame, reference: str, by: Sequence[str]) -> pd.DataFrame:
    """How much better than ``reference`` each other method is, replicate by replicate.

    A replicate is one draw of data and initial weights that all methods share, so that what is
    common to them cancels.

    Parameters
    ----------
    rows
        Columns ``method``, ``replicate``, ``value`` and those of ``by``.
    reference
        A method of ``rows``.
    by
        What else tells groups apart, e.g. ``["labels", "quantity"]``.

    Returns
    -------
    DataFrame
        The columns of ``by``, then method, reference, mean, half_width, replicates.

    Raises
    ------
    ValueError
        If a method has other replicates than the reference.
    """
    found: list[tuple[Any, ...]] = []
    for key, group in rows.groupby(list(by), sort=False):
        values = {
            str(method): own.set_index("replicate")["value"].sort_index()
            for method, own in group.groupby("method", sort=False)
        }
        if reference not in values:
            raise ValueError(f"{key}: no rows of the reference {reference!r}, only {list(values)}")
        against = values.pop(reference)
        for method, own in values.items():
            if list(own.index) != list(against.index):
                raise ValueError(
                    f"{key}: the replicates of {method!r} and {reference!r} differ: "
                    f"{list(own.index)} and {list(against.index)}"
                )
            found.append((*key, method, reference, *_columns(own - against)))
    return pd.DataFrame(found, columns=[*by, "method", "reference", *ESTIMATE_COLUMNS])


def _columns(values: pd.Series[float]) -> tuple[float, float, int]:
    found = estimate(values.to_numpy())
    return found.mean, found.half_width, found.replicates
