"""Means with intervals over replicates, drawn by seaborn straight from a tidy frame.

One rule for the figures of all papers: an interval is drawn from :data:`LEAST` replicates on. That
of two is 12.7 times as long as they lie apart: it leaves the axes, covers what stands beside it and
says less than both values do. Tables and the ledger tell it all the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
import seaborn as sns

from featlearn.core.plots import COLOURS
from featlearn.core.stats import estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes


#: Replicates from which on figures draw an interval.
LEAST = 3


class Look(NamedTuple):
    """How one line or kind of bar is drawn; ``dash`` as lengths of strokes and gaps, if any."""

    words: str
    colour: str
    marker: str = "o"
    dash: tuple[float, ...] | str = ""


def interval(values: Any) -> tuple[float, float]:
    """Ends of the 95 % t-interval, for ``errorbar`` of seaborn; of too few values not a number."""
    if len(values) < LEAST:
        return np.nan, np.nan
    seen = estimate(np.asarray(values))
    return seen.low, seen.high


def share_interval(values: Any) -> tuple[float, float]:
    """The same of what lies between 0 and 1, cut there."""
    low, high = np.clip(interval(values), 0, 1)
    return float(low), float(high)


def bars(
    ax: Axes,
    frame: pd.DataFrame,
    x: str,
    hue: str,
    *,
    groups: Mapping[Any, str],
    looks: Mapping[Any, Look],
) -> None:
    """Bars of the mean ``value`` in groups, with 95 % intervals and a dot a replicate.

    Parameters
    ----------
    x, hue
        Columns that name the group and the bar in it; may be the same.
    groups
        Values of ``x`` from left to right, with the words below them; others are left out.
    looks
        Of each value of ``hue``, in the order of the bars.
    """
    shown = frame[frame[x].isin(list(groups)) & frame[hue].isin(list(looks))]
    words = {key: look.words for key, look in looks.items()}
    shared: dict[str, Any] = {
        "data": shown.assign(group=shown[x].map(groups), bar=shown[hue].map(words)),
        "x": "group", "y": "value", "hue": "bar", "order": list(groups.values()),
        "hue_order": list(words.values()), "dodge": x != hue, "ax": ax,
    }  # fmt: skip
    sns.barplot(
        **shared, palette=[look.colour for look in looks.values()], saturation=1, gap=0.08,
        errorbar=interval, legend=True,
        err_kws={"color": COLOURS["ink"], "linewidth": 1.2, "solid_capstyle": "butt"},
    )  # fmt: skip
    sns.stripplot(
        **shared, palette=[COLOURS["ink"]] * len(looks), jitter=False, size=2.8, alpha=0.55,
        linewidth=0, legend=False,
    )  # fmt: skip
    # seaborn's jitter is drawn at random; spread evenly, the dots leave the interval visible
    room = 0.8 / (1 if x == hue else len(looks))
    for dots in ax.collections:
        at = np.asarray(dots.get_offsets())
        dots.set_offsets(at + np.c_[np.linspace(-0.28, 0.28, len(at)) * room, np.zeros(len(at))])
    ax.set(xlabel=None, ylabel=None)
    ax.grid(axis="x", visible=False)
    if legend := ax.get_legend():
        legend.remove()


def lines(
    ax: Axes,
    frame: pd.DataFrame,
    x: str,
    hue: str,
    *,
    looks: Mapping[Any, Look],
    value: str = "value",
    errorbar: Any = interval,
) -> None:
    """A line of the mean ``value`` for each ``hue`` that has a look, with 95 % intervals."""
    shown = frame[frame[hue].isin(list(looks))]
    words = {key: look.words for key, look in looks.items()}
    sns.lineplot(
        data=shown.assign(line=shown[hue].map(words)), x=x, y=value, hue="line", style="line",
        hue_order=list(words.values()), style_order=list(words.values()),
        palette=[look.colour for look in looks.values()],
        markers=[look.marker for look in looks.values()],
        dashes=[look.dash for look in looks.values()],
        err_style="bars", errorbar=errorbar, markersize=6, markeredgewidth=0, ax=ax,
    )  # fmt: skip
    ax.set(xlabel=None, ylabel=None)
    if legend := ax.get_legend():
        legend.remove()


def history(
    ax: Axes,
    frame: pd.DataFrame,
    words: str,
    colour: str,
    dash: str = "-",
    *,
    x: str = "step",
    marker: str = "",
    errorbar: Any = share_interval,
) -> None:
    """A line of the mean ``value`` along a training, with the band of its 95 % intervals."""
    sns.lineplot(
        frame, x=x, y="value", color=colour, linestyle=dash, marker=marker or None, label=words,
        legend=False, errorbar=errorbar, err_kws={"linewidth": 0, "alpha": 0.2}, ax=ax,
    )  # fmt: skip
