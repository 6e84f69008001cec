"""What several figures share: means with their replicates, and levels to compare them with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import seaborn as sns

from featlearn.core.plots import COLOURS
from featlearn.core.statistical import FEW, column, interval
from featlearn.core.stats import per_replicate

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def bar(ax: Axes, x: float, seen: np.ndarray, colour: str) -> None:
    """The group of one model; see :func:`featlearn.core.statistical.column`."""
    column(ax, x, seen, colour, width=0.7)


def wide(frame: pd.DataFrame, index: str, **where: str) -> pd.DataFrame:
    """The values of some rows: a row an ``index``, a column a replicate."""
    for key, wanted in where.items():
        frame = frame[frame[key] == wanted]
    return frame.pivot_table(index=index, columns="replicate", values="value")


def lines(ax: Axes, seen: pd.DataFrame, colour: str, label: str) -> None:
    """Every replicate thin, the mean thick."""
    ax.plot(seen.index, seen.to_numpy(), color=colour, linewidth=0.5, alpha=0.35)
    ax.plot(seen.index, seen.mean(axis=1), color=colour, linewidth=1.8, label=label)


def over_sizes(
    ax: Axes,
    frame: pd.DataFrame,
    x: str,
    quantity: str,
    looks: Mapping[str, tuple[str, str]],
    errorbar: Any = interval,
    estimator: Any = "mean",
) -> None:
    """Means with 95 % intervals over a size, on a logarithmic axis; a line a model, dots if few.

    Parameters
    ----------
    looks
        Name in words and colour of each model.
    errorbar, estimator
        Of seaborn; the mean and its t-interval if left out.
    """
    own = frame[(frame["quantity"] == quantity) & frame["model"].isin(list(looks))]
    sns.lineplot(
        own.assign(model=own["model"].map({model: words for model, (words, _) in looks.items()})),
        x=x, y="value", hue="model", palette=dict(looks.values()),
        hue_order=[words for words, _ in looks.values()], estimator=estimator, errorbar=errorbar,
        err_style="bars", marker="o", markersize=4, markeredgewidth=0, ax=ax,
    )  # fmt: skip
    for model, (_, colour) in looks.items():
        seen = own[own["model"] == model]
        if 1 < seen["replicate"].nunique() <= FEW:
            ax.scatter(seen[x], seen["value"], s=9, color=colour, alpha=0.5, linewidths=0)
    if legend := ax.get_legend():
        legend.remove()
    counts = sorted(frame[x].unique())
    ax.set(xscale="log", ylabel=None)
    ax.set_xticks(counts, [str(count) for count in counts])
    ax.set_xticks([], minor=True)


def level(ax: Axes, evaluation: pd.DataFrame, model: str, words: str) -> None:
    """A dashed line at the NMSE of a model, what an encoder is compared with; named beside it."""
    at = float(per_replicate(evaluation, model=model, quantity="nmse").mean())
    ax.axhline(at, color=COLOURS["ink"], linewidth=0.9, linestyle="--", zorder=4)
    # beside the panel, where nothing else is
    ax.annotate(words, (1.02, at), xycoords=("axes fraction", "data"), va="center", fontsize=8)
