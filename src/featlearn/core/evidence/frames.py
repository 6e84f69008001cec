"""Rows of a tidy frame by their values, and rows and tidy frames of tensors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd


def pick(frame: pd.DataFrame, **where: Any) -> pd.DataFrame:
    """The rows with these values, in their order.

    ``**where``: of each column its value: a float up to rounding, None where there is none, of a
    list or tuple any. Raises KeyError if no row has them, or there is no such column.
    """
    for name, wanted in where.items():
        frame = frame[_like(frame[name], wanted)]
    if frame.empty:
        raise KeyError(f"no row with {where}")
    return frame


def _like(seen: pd.Series[Any], wanted: Any) -> Any:
    if wanted is None:
        return seen.isna()
    if isinstance(wanted, (list, tuple)):
        return seen.isin(wanted)
    return np.isclose(seen, wanted) if isinstance(wanted, float) else seen == wanted


def stacked(parts: Iterable[Mapping[str, pd.DataFrame]]) -> dict[str, pd.DataFrame]:
    """The frames of each name one below the other; every part has the same names."""
    kept = [*parts]
    return {name: pd.concat([part[name] for part in kept], ignore_index=True) for name in kept[0]}


def tidy(axes: Mapping[str, Sequence[Any]], **values: Any) -> pd.DataFrame:
    """A row for each point of ``axes``, the last of which runs fastest.

    ``axes``: name and places of each axis; they become the first columns. ``**values``: a column
    each: numbers, arrays or tensors that broadcast to the lengths of the axes. Numbers of any
    precision become float64; whole numbers and truth values stay what they are.
    """
    index = pd.MultiIndex.from_product([list(axis) for axis in axes.values()], names=list(axes))
    shape = tuple(len(axis) for axis in axes.values())
    columns = {name: np.broadcast_to(_array(value), shape).ravel()
               for name, value in values.items()}  # fmt: skip
    return pd.DataFrame(columns, index=index).reset_index()


def rows(
    columns: Mapping[str, Any], replicates: Iterable[int] | None = None, **same: Any
) -> Iterator[dict[str, Any]]:
    """A row a replicate of columns, tensors (R,), behind what is the ``same`` in all rows.

    ``replicates``: their numbers, 0, 1, ... if left out.
    """
    values = zip(*(own.tolist() for own in columns.values()), strict=True)
    numbered: Iterator[tuple[int, Any]]
    numbered = enumerate(values) if replicates is None else zip(replicates, values, strict=True)
    for replicate, row in numbered:
        yield {**same, "replicate": replicate, **dict(zip(columns, row, strict=True))}


def _array(value: Any) -> np.ndarray:
    if hasattr(value, "detach"):  # a tensor, of any device and precision
        value = value.detach().cpu()
        value = (value.double() if value.is_floating_point() else value).numpy()
    array = np.asarray(value)
    return array.astype(np.float64) if array.dtype.kind == "f" else array
