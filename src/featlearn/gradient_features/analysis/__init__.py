"""Figures, tables and claims of this paper, a module an experiment. Imports no torch."""

from __future__ import annotations

from math import log
from typing import ClassVar

import numpy as np
import pandas as pd

from featlearn.core.evidence.claim_methods import Claims, premise
from featlearn.gradient_features.printed import TAU

LAWS = {
    "linear": "linear", "mixture": "mixture", "xor": "XOR", "parity": "parity, one block",
    "parity_blocks": "parity, blocks", "uniform_parity": "uniform parity",
    "multi_index": "multiple index",
}  # fmt: skip


def slopes(frame: pd.DataFrame, x: str, y: str) -> np.ndarray:
    """Least-squares slope of log y over log x, a replicate each."""
    return np.array([
        np.polyfit(np.log(part[x]), np.log(part[y].clip(lower=1e-9)), 1)[0]
        for _, part in frame.groupby("replicate")
    ])  # fmt: skip


def best_of_panel(frame: pd.DataFrame) -> np.ndarray:
    """Test score, a replicate each, of the member of the panel that validation chose there."""
    return frame[frame["best"]].sort_values("replicate")["value"].to_numpy()


class ParityClaims(Claims):
    """Claims on structured parities, with the premises of Assumption 3.19, its constants as 1."""

    #: Keys that lead to the settings of the parity.
    place: ClassVar[tuple[str, ...]]

    def settings(self):
        """k, d, r, p_A and p_o."""
        of = self.config
        for key in self.place:
            of = of[key]
        return of["block"], of["dimension"], of.get("blocks", 1), of["structured"], of["background"]

    @premise(">=")
    def block_large(self):
        r"""$k \geq \tau \log d$ (Assumption 3.19, $\tau = 8$, constant as 1)"""
        k, d, *_ = self.settings()
        return k, TAU * log(d)

    @premise(">=")
    def dimension_large(self):
        r"""$d \geq rk + \tau r \log d$ (Assumption B.43, $\tau = 8$, constant as 1)"""
        k, d, r, *_ = self.settings()
        return d, r * k + TAU * r * log(d)

    @premise("<=")
    def background_rare(self):
        r"""$p_o \leq rk / (d - rk)$ (Assumption 3.19, constant as 1)"""
        k, d, r, _, background = self.settings()
        return background, r * k / (d - r * k)

    @premise(">=")
    def structure_likely(self):
        r"""$p_A \geq 1 / d$ (Assumption 3.19)"""
        _, d, _, structured, _ = self.settings()
        return structured, 1 / d
