"""Numbers of the parities."""

from __future__ import annotations

import pandas as pd

from featlearn.core.publish import Table, table
from featlearn.core.stats import readable, summary


@table()
def constructions(constructions: pd.DataFrame) -> Table:
    """Constructions: hinge loss by kind of task, share of other tasks unsolved, norm"""
    named = {"low": "ν₁", "high": "ν₂", "arm": "network", "heads": "heads", "margin": "least margin",
             "important": "loss, important", "rare": "loss, others", "unsolved": "others unsolved",
             "norm": "norm · 16γ²"}  # fmt: skip
    shown = constructions[list(named)].rename(columns=named).round(4)
    return Table(constructions, shown, "Computed, not sampled.")


@table()
def noise(noise: pd.DataFrame) -> Table:
    """Noise of finite prompts by examples and term; of energy the mean, of others the mean square's root"""
    means = summary(noise, ["examples", "arm", "term"])
    return Table(means, readable(means, "size"))


@table()
def norms(norms: pd.DataFrame) -> Table:
    """Norms at margin 1 (in units of 1 / 16 gamma^2) that training finds, by replicate"""
    wide = norms.pivot_table(index="replicate", columns="arm", values="value").reset_index()
    return Table(norms, wide.round(2), "Each the best objective of its restarts.")
