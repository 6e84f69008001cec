"""The ledger: what a paper says must hold, the band fixed before looking, and the verdict."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from featlearn.core.stats import SPREAD_KIND, estimate

HOLDS, FAILS, NOT_SHOWN = "holds", "fails", "not shown at this scale"

#: Columns of ``claims.parquet``, one row a claim.
COLUMNS = (
    "claim", "paper", "source", "statement", "quantity", "low", "high", "reason", "measured",
    "spread", "spread_kind", "replicates", "verdict", "artefact",
)  # fmt: skip

#: Gives the measured quantity, one number a replicate, from the frames of a run.
Measure = Callable[[Mapping[str, pd.DataFrame]], np.ndarray]


@dataclass(frozen=True)
class Claim:
    """One statement of a paper that a number can confirm or refute.

    Parameters
    ----------
    claim
        ``paper/name``, e.g. ``mrp/theorem-1a-mae``.
    source
        Theorem, equation or page.
    statement
        What must hold, in words.
    quantity
        What is measured.
    low, high
        The band, both ends included, fixed before the measurement.
    reason
        Why this band.
    measure
        Reads the quantity off the frames of a run, one number a replicate.
    artefact
        File with the raw numbers, below ``results/<scale>/``.
    out_of_reach
        None, or a function of the config that says why this scale cannot show the claim, or None
        if it can. A band missed out of reach is ``not shown at this scale``; within, ``fails``.
    """

    claim: str
    source: str
    statement: str
    quantity: str
    low: float
    high: float
    reason: str
    measure: Measure
    artefact: str
    out_of_reach: Callable[[Mapping[str, Any]], str | None] | None = None

    def __post_init__(self) -> None:
        if "/" not in self.claim:
            raise ValueError(f"claim {self.claim!r}: expected paper/name")
        if not self.low <= self.high:
            raise ValueError(f"claim {self.claim}: band [{self.low}, {self.high}] is empty")


def judge(measured: float, claim: Claim, config: Mapping[str, Any]) -> str:
    """The verdict on a measured mean; one that equals an end up to rounding lies in the band."""
    slack = 1e-12 * max(1.0, abs(measured))
    if claim.low - slack <= measured <= claim.high + slack:
        return HOLDS
    if claim.out_of_reach is not None and claim.out_of_reach(config):
        return NOT_SHOWN
    return FAILS


def ledger(
    claims: Sequence[Claim], frames: Mapping[str, pd.DataFrame], config: Mapping[str, Any]
) -> pd.DataFrame:
    """Measure and judge every claim.

    Parameters
    ----------
    claims
        In the order in which they shall be read.
    frames
        The measurements, by the names that the claims use.
    config
        The paper's section of the config, for ``out_of_reach``.

    Returns
    -------
    DataFrame
        One row a claim, with the columns of :data:`COLUMNS`.

    Raises
    ------
    ValueError
        If two claims have the same name, or a measure gives no or non-finite numbers.
    """
    names = [claim.claim for claim in claims]
    if len(set(names)) != len(names):
        raise ValueError(f"claims: names appear twice in {names}")
    rows = []
    for claim in claims:
        try:
            seen = estimate(claim.measure(frames))
        except (KeyError, ValueError) as error:
            raise ValueError(f"claim {claim.claim}: cannot be measured: {error}") from error
        beyond = claim.out_of_reach(config) if claim.out_of_reach else None
        rows.append(
            {
                "claim": claim.claim,
                "paper": claim.claim.partition("/")[0],
                "source": claim.source,
                "statement": claim.statement,
                "quantity": claim.quantity,
                "low": claim.low,
                "high": claim.high,
                "reason": claim.reason + (f" Out of reach here: {beyond}" if beyond else ""),
                "measured": seen.mean,
                "spread": seen.half_width,
                "spread_kind": SPREAD_KIND,
                "replicates": seen.replicates,
                "verdict": judge(seen.mean, claim, config),
                "artefact": claim.artefact,
            }
        )
    return pd.DataFrame(rows, columns=list(COLUMNS))
