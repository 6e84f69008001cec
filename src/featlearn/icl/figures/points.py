"""Lines of the means of few replicates, which are drawn as well."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

from featlearn.core.plots import COLOURS
from featlearn.core.statistical import FEW, Look, lines

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def lines_and_points(
    ax: Axes,
    frame: pd.DataFrame,
    x: str,
    hue: str,
    *,
    looks: Mapping[Any, Look],
    value: str = "value",
    aside: float = 0.0,
    **further: Any,
) -> None:
    """:func:`featlearn.core.statistical.lines`, and a dot a replicate where they are few.

    ``aside`` is the distance between neighbouring lines on a linear axis, in units of ``x``, so
    that their intervals stand beside each other.
    """
    places = {key: aside * (place - (len(looks) - 1) / 2) for place, key in enumerate(looks)}
    shown = frame[frame[hue].isin(list(looks))]
    shown = shown.assign(**{x: shown[x] + shown[hue].map(places)})
    lines(ax, shown, x, hue, looks=looks, value=value, **further)
    if shown["replicate"].nunique() <= FEW:
        ax.plot(shown[x], shown[value], "o", color=COLOURS["ink"], markersize=2.4, alpha=0.6,
                markeredgewidth=0, zorder=3)  # fmt: skip
