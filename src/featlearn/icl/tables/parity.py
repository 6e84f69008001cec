"""Numbers of the parities."""

from __future__ import annotations

import pandas as pd

from featlearn.core.publish import Table, table


@table()
def constructions(constructions: pd.DataFrame) -> Table:
    """Constructions: hinge loss by kind of task, share of other tasks unsolved, norm"""
    named = {"low": "ν₁", "high": "ν₂", "arm": "network", "heads": "heads", "margin": "least margin",
             "important": "loss, important", "rare": "loss, others", "unsolved": "others unsolved",
             "norm": "norm · 16γ²"}  # fmt: skip
    shown = constructions[list(named)].rename(columns=named).round(4)
    return Table(constructions, shown, "Computed, not sampled.")
