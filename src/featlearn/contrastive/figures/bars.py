"""What several figures share: a mean with its interval and its replicates."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from featlearn.core.plots import COLOURS
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
