"""Figures, tables and claims of this paper, a module an experiment. Imports no torch.

Bands rest on the theory and on validation replicates, drawn from another base seed than any run
that is reported. Here is what several of them share.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd
import seaborn as sns

from featlearn.core.claim_methods import Claims, premise
from featlearn.core.frames import pick
from featlearn.core.plots import COLOURS
from featlearn.core.statistical import FEW, column, interval
from featlearn.core.stats import per_replicate

if TYPE_CHECKING:
    from matplotlib.axes import Axes


#: Of claims that were excused at every size.
EXCUSED = (
    "Was `not shown at this scale`, whatever the config; the verdict counts since, as the excuse "
    "named no size of the run."
)


def bar(ax: Axes, x: float, seen: np.ndarray, colour: str) -> None:
    """The group of one model; see :func:`featlearn.core.statistical.column`."""
    column(ax, x, seen, colour, width=0.7)


def lines(
    ax: Axes, history: pd.DataFrame, colour: str, label: str, style: str = "-", **where: str
) -> None:
    """Some rows of a history over the steps: every replicate thin, the mean thick."""
    seen = pick(history, **where).pivot_table(index="step", columns="replicate", values="value")
    ax.plot(seen.index, seen.to_numpy(), color=colour, linewidth=0.5, alpha=0.35)
    ax.plot(seen.index, seen.mean(axis=1), color=colour, linewidth=1.8, label=label,
            linestyle=style)  # fmt: skip


def over_sizes(
    ax: Axes,
    frame: pd.DataFrame,
    x: str,
    quantity: str,
    looks: Mapping[str, tuple[str, str]],
    errorbar: Any = interval,
) -> None:
    """Means with 95 % intervals over a size, on a logarithmic axis; a line a model, dots if few.

    ``looks``: name in words and colour of each model. ``errorbar``: of
    seaborn; the t-interval if left out.
    """
    own = frame[(frame["quantity"] == quantity) & frame["model"].isin(list(looks))]
    sns.lineplot(
        own.assign(model=own["model"].map({model: words for model, (words, _) in looks.items()})),
        x=x, y="value", hue="model", palette=dict(looks.values()),
        hue_order=[words for words, _ in looks.values()], errorbar=errorbar,
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


class Trainings(Claims):
    """Claims on trainings, with two assumptions of the proofs that no run here meets."""

    #: Of the config, where data and training are described.
    section: ClassVar[str] = ""

    def setting(self) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        """Data and training that a claim is about."""
        own = self.config[self.section]
        return own["data"], own["training"]

    @premise(">=")
    def wide_input(self) -> tuple[float, float]:
        r"""$d_1 \gg d^2$, read as $d_1 \geq d^2$"""
        data, _ = self.setting()
        return data["dimension"], data["atoms"] ** 2

    @premise(">=")
    def anchors(self) -> tuple[float, float]:
        r"""Fact A.1, gradients within $\|w_i\| / d_1$: $K \geq \sigma^4 d_1^3$"""
        data, training = self.setting()
        variance = data.get("noise", 1.0) * math.sqrt(math.log(data["atoms"])) / data["atoms"]
        return training["anchors"], variance**2 * data["dimension"] ** 3


def ten_times(t2: Any) -> float:
    """Ten times the mean of the steps at which stage II ended; infinite where it did not."""
    return 10 * float(np.mean(t2)) if np.min(t2) > 0 else math.inf


class OfModels(Trainings):
    """Claims on the frame ``evaluation``: quantities of models."""

    def of_model(self, model: str, quantity: str = "nmse") -> Any:
        """A quantity of a model."""
        return per_replicate(self.evaluation, model=model, quantity=quantity)

    def nmse_over_linear(self, model: str, linear: str = "linear-exact") -> Any:
        """NMSE of a model over that of the best linear predictor."""
        return self.of_model(model) / self.of_model(linear)


def wide(frame: pd.DataFrame, columns: str, **where: Any) -> pd.DataFrame:
    """Some rows of a frame: a row a replicate, a column a value of ``columns``."""
    return pick(frame, **where).pivot_table(index="replicate", columns=columns, values="value")
