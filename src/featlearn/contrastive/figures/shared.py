"""What several figures share: means with their replicates, and levels to compare them with."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from featlearn.core.plots import COLOURS
from featlearn.core.rows import per_replicate
from featlearn.core.stats import estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def bar(ax: Axes, x: float, seen: np.ndarray, colour: str, width: float = 0.7) -> None:
    """Mean as a bar, 95 % interval as a line, replicates as dots spread over the bar."""
    mean = estimate(seen)
    ax.bar(x, mean.mean, width, color=colour)
    if seen.size > 1:
        ax.errorbar(x, mean.mean, mean.half_width, color=COLOURS["ink"], linewidth=1.2)
    spread = x + np.linspace(-0.28, 0.28, seen.size) * width
    ax.scatter(spread, seen, s=6, color=COLOURS["ink"], alpha=0.55, linewidths=0, zorder=3)


def wide(frame: pd.DataFrame, index: str, **where: str) -> pd.DataFrame:
    """The values of some rows: a row an ``index``, a column a replicate."""
    for column, wanted in where.items():
        frame = frame[frame[column] == wanted]
    return frame.pivot_table(index=index, columns="replicate", values="value")


def lines(ax: Axes, seen: pd.DataFrame, colour: str, label: str, dots: bool = False) -> None:
    """Every replicate thin, the mean thick, or as dots where the index is coarse."""
    ax.plot(seen.index, seen.to_numpy(), color=colour, linewidth=0.5, alpha=0.35)
    mean = seen.mean(axis=1)
    if dots:
        ax.plot(seen.index, mean, "o-", color=colour, markersize=3.5, label=label)
    else:
        ax.plot(seen.index, mean, color=colour, linewidth=1.8, label=label)


def level(ax: Axes, evaluation: pd.DataFrame, model: str) -> float:
    """A dashed line at the NMSE of a model: what an encoder is compared with."""
    at = float(per_replicate(evaluation, model=model, quantity="nmse").mean())
    ax.axhline(at, color=COLOURS["ink"], linewidth=0.9, linestyle="--", zorder=4)
    return at
