"""From the replicates of a tidy frame to a mean with its interval, and how numbers are told."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from featlearn.core.evidence.frames import pick

#: Digits of an exponent.
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
#: What the ``spread`` of an :class:`Estimate` is, in words, for tables and the ledger.
SPREAD_KIND = "half-width of the 95 % t-interval over replicates"


@dataclass(frozen=True)
class Estimate:
    """What replicates say together; the 95 % interval of a single one is not a number."""

    mean: float
    low: float
    high: float
    replicates: int

    @property
    def half_width(self) -> float:
        return (self.high - self.low) / 2


def estimate(values: np.ndarray) -> Estimate:
    """Mean and 95 % t-interval of replicates (R,); ValueError if one is lost or not finite."""
    values = _replicates(values)
    mean = float(values.mean())
    if values.size == 1:
        return Estimate(mean, math.nan, math.nan, 1)
    half = t_quantile(0.975, values.size - 1) * standard_error(values)
    return Estimate(mean, mean - half, mean + half, values.size)


def estimate_share(values: np.ndarray) -> Estimate:
    """Share of replicates (R,) that are 1 and not 0, with Wilson's 95 % interval."""
    values = _replicates(values)
    if not np.isin(values, (0, 1)).all():
        raise ValueError(f"values: expected 0 or 1 a replicate, got {values.tolist()}")
    n, share, z = values.size, float(values.mean()), 1.959963984540054
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    # at 0 and 1 the interval ends there, which rounding must not hide
    low, high = centre - half, centre + half
    return Estimate(share, 0.0 if share == 0 else low, 1.0 if share == 1 else high, n)


def estimate_median(values: np.ndarray) -> Estimate:
    """Median with the distribution-free 95 % interval of order statistics, NaN below six."""
    values = np.sort(_replicates(values))
    n = values.size
    median = float(np.median(values))
    # P(the median lies below the k-th smallest) = P(Binomial(n, 1/2) < k)
    below = np.cumsum([math.comb(n, k) for k in range(n + 1)]) / 2.0**n
    ranks = np.flatnonzero(below <= 0.025)
    if not len(ranks):
        return Estimate(median, math.nan, math.nan, n)
    k = int(ranks[-1])
    return Estimate(median, float(values[k]), float(values[n - 1 - k]), n)


def standard_error(values: np.ndarray) -> float:
    """Of the mean of independent replicates, at least two."""
    return float(values.std(ddof=1)) / math.sqrt(values.size)


def t_quantile(share: float, freedom: int) -> float:
    """Of Student's t with so many degrees of freedom."""
    from scipy.special import stdtrit  # slow to import

    return float(stdtrit(freedom, share))


def _replicates(values: np.ndarray) -> np.ndarray:
    values = np.asarray(values, dtype=np.float64).ravel()
    if values.size == 0:
        raise ValueError("values: expected one number a replicate, got none")
    if not np.isfinite(values).all():
        first = int(np.flatnonzero(~np.isfinite(values))[0])
        raise ValueError(
            "values: expected finite numbers; "
            f"number {first + 1} of {values.size} is {values[first]}"
        )
    return values


def per_replicate(frame: pd.DataFrame, column: str = "value", **where: Any) -> np.ndarray:
    """The numbers of one row a replicate, in the order of the replicates.

    ``column``: which number. ``**where``: as :func:`featlearn.core.evidence.frames.pick` takes it.
    Returns float64. Raises KeyError if no row is like that, ValueError if a replicate has several.
    """
    frame = pick(frame, **where)
    if frame["replicate"].duplicated().any():
        raise ValueError(f"several rows a replicate with {where}")
    return frame.sort_values("replicate")[column].to_numpy(dtype=np.float64)


# Exponents: between neighbouring sizes, and judged at the largest: a line through all would give
# small ones as much weight, and would not say whether the exponent still moves.


def local_exponents(frame: pd.DataFrame, size: str, by: Sequence[str] = ()) -> pd.DataFrame:
    """``d log(value) / d log(size)`` between neighbouring sizes, each replicate by itself.

    ``frame``: columns ``by``, ``size``, replicate, value > 0. Returns DataFrame: ``by``, replicate,
    smaller and ``size`` (the two sizes), value.
    """
    parts = []
    for key, own in frame.sort_values(size, kind="stable").groupby([*by, "replicate"], sort=False):
        sizes = own[size].to_numpy(dtype=float)
        value = np.diff(np.log(own["value"].to_numpy())) / np.diff(np.log(sizes))
        about = dict(zip([*by, "replicate"], key, strict=True))
        parts.append(
            pd.DataFrame({**about, "smaller": sizes[:-1], size: sizes[1:], "value": value})
        )
    return pd.concat(parts, ignore_index=True)


def by_size(exponents: pd.DataFrame, size: str) -> np.ndarray:
    """Local exponents of one quantity, shape (replicates, sizes - 1): the largest size last."""
    wide = exponents.pivot(index="replicate", columns=size, values="value")  # noqa: PD010
    return wide.to_numpy()


def estimate_exponent(values: np.ndarray) -> Estimate:
    """The local exponent at the largest size.

    ``values``: as :func:`by_size` gives them. The t-interval is wider by the last change at either
    end: one that still moves is known no better. A single local exponent has no interval.
    """
    last = estimate(values[:, -1])
    move = float(np.ptp(values[:, -2:].mean(axis=0))) if values.shape[1] > 1 else math.nan
    return Estimate(last.mean, last.low - move, last.high + move, last.replicates)


def number(value: float, digits: int = 3) -> str:
    """``value`` with so many significant digits, powers of ten from a million on."""
    value = 0.0 if abs(value) < 1e-12 else value
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    text = f"{value:,.0f}" if 1000 <= abs(value) < 1e6 else f"{value:.{digits}g}"
    return in_powers(text)


def in_powers(text: str) -> str:
    """``1e-10`` as ``10⁻¹⁰``, ``-2.5e+07`` as ``−2.5·10⁷``; other numbers with a true minus."""
    number, sign, exponent = text.partition("e")
    if sign:
        raised = str(int(exponent)).translate(RAISED)
        one = number.removeprefix("-") == "1"
        number = f"{number[:-1]}10{raised}" if one else f"{number}·10{raised}"
    return number.replace("-", "−")


def figure(value: float, digits: int = 3) -> str:
    """A number with so many digits; below a millionth as a power, where :func:`number` shows 0."""
    return in_powers(f"{value:.2g}") if 0 < abs(value) < 1e-6 else number(value, digits)


def fixed(value: float, decimals: int) -> str:
    """A number with so many decimals, a real minus, and no minus before zero."""
    text = f"{value:,.{decimals}f}"
    zero = float(text.replace(",", "")) == 0
    return text.removeprefix("-") if zero else text.replace("-", "−")


def decimals(half: float) -> int:
    """Decimals whose last step is between a fifth and a fiftieth of an interval's half-width."""
    return max(0, 1 - math.floor(math.log10(2 * half))) if half > 1e-9 else 3


def percent(value: float, digits: int = 0) -> str:
    """A share as an unbreakable percentage: 0.631 gives ``63 %``; 0.996 gives ``99.6 %``."""
    text = f"{100 * value:.{digits}f}"
    if digits < 3 and float(text) in (0, 100) and abs(100 * value - float(text)) > 1e-9:
        return percent(value, digits + 1)
    return f"{text}\N{NO-BREAK SPACE}%".replace("-", "−")


def plus_minus(value: float, spread: float) -> str:
    """A mean with its spread, if any, in as many decimals as that deserves: ``0.634 ± 0.017``."""
    if math.isnan(spread) or spread < max(1e-12, 1e-9 * abs(value)):
        return number(value, 4)
    if spread < 5e-7:
        small = abs(value) < 1e-3
        told = f"{number(value)} ± {number(spread, 1)}" if small else f"{value:,.6f} ± <.000001"
        return told.replace("-", "−")
    decimals = min(6, max(0, 1 - math.floor(math.log10(spread))))
    return f"{value:,.{decimals}f} ± {spread:,.{decimals}f}".replace("-", "−")


def summary(frame: pd.DataFrame, by: Sequence[str], value: str = "value") -> pd.DataFrame:
    """Mean, low, high, half_width, largest and replicates of ``value``, a row a group."""
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

    ``frame``: columns ``by``, ``column``, replicate, value. ``references``: of each value of
    ``column`` the one that is taken off, where a group has both. Returns DataFrame: ``by``,
    ``column``, difference, difference_half_width. Raises ValueError if a replicate of a pair is
    missing, or is there twice.
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

    ``index``: columns of ``table`` that name a row. ``columns``: whose values become columns.
    ``heads``: of these values those shown, in this order, and what their columns are called.
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
