"""Figures, tables and claims of this paper, a module an experiment. Imports no torch.

Bands rest on the theory and on validation replicates from a base seed that no reported run has.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from featlearn.core.evidence.claim_methods import Claims, premise
from featlearn.core.evidence.claims import THEOREM
from featlearn.core.evidence.frames import pick
from featlearn.core.evidence.stats import per_replicate

#: Of claims that were excused at every size.
EXCUSED = (
    "Was `not shown at this scale`, whatever the config; the verdict counts since, as the excuse "
    "named no size of the run."
)


def lines(
    ax: Axes, history: pd.DataFrame, colour: str, label: str, style: str = "-", **where: str
) -> None:
    """Some rows of a history over the steps: every replicate thin, the mean thick."""
    seen = pick(history, **where).pivot_table(index="step", columns="replicate", values="value")
    ax.plot(seen.index, seen.to_numpy(), color=colour, linewidth=0.5, alpha=0.35)
    ax.plot(seen.index, seen.mean(axis=1), color=colour, linewidth=1.8, label=label,
            linestyle=style)  # fmt: skip


def nmse(evaluation: pd.DataFrame, model: str) -> float:
    """Mean over the replicates of a model."""
    return float(per_replicate(evaluation, model=model, quantity="nmse").mean())


class Trainings(Claims):
    """Claims on trainings, with two assumptions of the proofs that hardly any run here meets."""

    kind = THEOREM
    premises: ClassVar[tuple[str, ...]] = ("wide_input", "anchors")
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
        return per_replicate(self.evaluation, model=model, quantity=quantity)

    def nmse_over_linear(self, model: str, linear: str = "linear-exact") -> Any:
        """NMSE of a model over that of the best linear predictor."""
        return self.of_model(model) / self.of_model(linear)
