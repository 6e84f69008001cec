"""Means with intervals over replicates, drawn by seaborn straight from a tidy frame.

A whisker or band is the 95 % t-interval over replicates from :data:`LEAST` on (that of two is 12.7
times as long as their distance), cut to what is possible (:func:`within`). Up to :data:`FEW`
replicates are points with a line at their mean, more a bar from zero. Pairs are drawn as
:func:`differences`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
import seaborn as sns

from featlearn.core.drawing.plots import COLOURS, FILLS
from featlearn.core.evidence.stats import estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes


#: Replicates from which on figures draw an interval.
LEAST = 3
#: Replicates up to which points stand where bars would.
FEW = 5


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


def within(least: float, most: float = np.inf) -> Callable[[Any], tuple[float, float]]:
    """:func:`interval`, cut to the values that are possible: a distance is at least 0."""

    def cut(values: Any) -> tuple[float, float]:
        low, high = np.clip(interval(values), least, most)
        return float(low), float(high)

    return cut


#: That of a share or accuracy.
share_interval = within(0, 1)


def column(
    ax: Axes, at: float, values: Any, colour: str, *,
    width: float = 0.8, label: str | None = None, errorbar: Any = interval,
) -> None:  # fmt: skip
    """Replicates at ``at``: dots, and their mean with its interval, of many as a bar."""
    seen = np.asarray(values, dtype=np.float64)
    few = seen.size <= FEW
    if few:
        ax.hlines(seen.mean(), at - width / 2, at + width / 2, color=colour, linewidth=2.5)
    else:
        ax.bar(at, seen.mean(), width, color=colour, label=label)
    low, high = errorbar(seen)
    if np.isfinite(low):
        ax.vlines(at, low, high, color=COLOURS["ink"], linewidth=1.2)
    ax.scatter(
        at + np.linspace(-0.28, 0.28, seen.size) * width if seen.size > 1 else [at], seen,
        s=16 if few else 7, color=colour if few else COLOURS["ink"], alpha=0.8 if few else 0.55,
        linewidths=0, zorder=3, label=label if few else None,
    )  # fmt: skip


def rows(
    ax: Axes, frame: pd.DataFrame, by: str, *,
    looks: Mapping[Any, Look], value: str = "value", first: int = 0, errorbar: Any = interval,
) -> None:  # fmt: skip
    """A row for each value of ``by`` from ``first`` on: dots are replicates, ticks means."""
    shown = {key: look for key, look in looks.items() if (frame[by] == key).any()}
    for place, (key, look) in enumerate(shown.items(), first):
        seen = frame[frame[by] == key][value].to_numpy(dtype=np.float64)
        spread = np.linspace(-0.22, 0.22, seen.size) if seen.size > 1 else np.zeros(1)
        ax.scatter(seen, place + spread, s=11, color=look.colour, alpha=0.5, linewidths=0)
        ax.vlines(seen.mean(), place - 0.34, place + 0.34, color=look.colour, linewidth=2.2)
        low, high = errorbar(seen)
        if np.isfinite(low):
            ax.hlines(place, low, high, color=COLOURS["ink"], linewidth=1.2, zorder=3)
    ax.set_yticks(range(first, first + len(shown)), [look.words for look in shown.values()])
    ax.set_ylim(first + len(shown) - 0.5, -0.5)
    ax.grid(axis="y", visible=False)


def whiskers(
    ax: Axes, x: Any, mean: Any, half_width: Any, colour: str, *, marker: str = "o",
    line: str = "", filled: bool = True, across: bool = False, label: str | None = None,
) -> None:  # fmt: skip
    """Points with intervals, joined by a ``line`` or not; ``across`` lays these along x."""
    ends: dict[str, Any] = {
        "xerr" if across else "yerr": np.nan_to_num(np.asarray(half_width, dtype=np.float64))
    }
    ax.errorbar(
        x, mean, **ends, color=colour,
        fmt=f"{marker}", linestyle=line or "none", markersize=4.5, linewidth=1.4, elinewidth=1.2,
        markerfacecolor=colour if filled else FILLS["white"], label=label,
    )  # fmt: skip


def differences(
    ax: Axes, gains: pd.DataFrame, x: str, hue: str, *, looks: Mapping[Any, Look]
) -> None:
    """Paired differences (:func:`.stats.paired`) in groups by ``x``, with a line at zero."""
    at = sorted(gains[x].unique())
    shown = [key for key in looks if key in set(gains[hue])]
    step = 0.8 / max(1, len(shown))
    for number, key in enumerate(shown):
        own = gains[gains[hue] == key]
        places = [at.index(value) + step * (number - (len(shown) - 1) / 2) for value in own[x]]
        look = looks[key]
        whiskers(ax, places, own["difference"], own["difference_half_width"], look.colour,
                 marker=look.marker, label=look.words)  # fmt: skip
    ax.axhline(0, color=COLOURS["ink"], linewidth=0.8)
    ax.set_xticks(range(len(at)), [f"{value:g}" if not isinstance(value, str) else value
                                   for value in at])  # fmt: skip
    ax.set_xlim(-0.6, len(at) - 0.4)
    ax.grid(axis="x", visible=False)


def bars(
    ax: Axes, frame: pd.DataFrame, x: str, hue: str, *,
    groups: Mapping[Any, str], looks: Mapping[Any, Look], errorbar: Any = interval,
) -> None:  # fmt: skip
    """The mean ``value`` in groups, with 95 % intervals and a dot a replicate: bars, or points.

    ``x``, ``hue``: columns that name the group and the bar in it; may be the same. ``groups``:
    values of ``x`` from left to right, with the words below them; others are left out. ``looks``:
    of each value of ``hue``, in the order of the bars.
    """
    room = 0.8 / (1 if x == hue else len(looks))
    for number, (key, look) in enumerate(looks.items()):
        label: str | None = look.words
        for place, group in enumerate(groups):
            own = frame[(frame[hue] == key) & (frame[x] == group)]["value"]
            if len(own):
                at = place if x == hue else place + room * (number - (len(looks) - 1) / 2)
                column(ax, at, own, look.colour, width=0.84 * room, label=label,
                       errorbar=errorbar)  # fmt: skip
                label = None
    ax.set_xticks(range(len(groups)), list(groups.values()))
    ax.set_xlim(-0.5, len(groups) - 0.5)
    ax.grid(axis="x", visible=False)


def lines(
    ax: Axes, frame: pd.DataFrame, x: str, hue: str, *,
    looks: Mapping[Any, Look], value: str = "value", errorbar: Any = interval, apart: float = 1.0,
) -> None:  # fmt: skip
    """Mean ``value`` of each look, with 95 % intervals, ``apart`` by a factor on a log axis."""
    shown = frame[frame[hue].isin(list(looks))]
    if apart != 1:
        places = {key: place - (len(looks) - 1) / 2 for place, key in enumerate(looks)}
        shown = shown.assign(**{x: shown[x] * apart ** shown[hue].map(places)})
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
    ax: Axes, frame: pd.DataFrame, words: str, colour: str, dash: str = "-", *,
    x: str = "step", errorbar: Any = share_interval,
) -> None:  # fmt: skip
    """A line of the mean ``value`` along a training, with the band of its 95 % intervals."""
    sns.lineplot(
        frame, x=x, y="value", color=colour, linestyle=dash, label=words,
        legend=False, errorbar=errorbar, err_kws={"linewidth": 0, "alpha": 0.2}, ax=ax,
    )  # fmt: skip
