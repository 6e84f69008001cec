"""The ledger: what a paper says must hold, the band fixed before looking, and the verdict."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
import pandas as pd

from featlearn.core.errors import FeatlearnError
from featlearn.core.stats import SPREAD_KIND, estimate, per_replicate

HOLDS, FAILS, NOT_SHOWN = "holds", "fails", "not shown at this scale"

#: Columns of ``claims.parquet``, one row a claim.
COLUMNS = (
    "claim", "paper", "source", "statement", "quantity", "low", "high", "reason", "measured",
    "spread", "spread_kind", "replicates", "verdict", "artefact",
)  # fmt: skip

#: Gives the measured quantity, one number a replicate, from the frames of a run.
Measure = Callable[[Mapping[str, pd.DataFrame]], np.ndarray]
#: Says of a paper's section of the config why that scale cannot show a claim, or None if it can.
OutOfReach = Callable[[Mapping[str, Any]], str | None]
#: Replicates below which a band on a mean over replicates was not derived.
LEAST_REPLICATES = 10


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
        A band missed out of reach is ``not shown at this scale``; within, ``fails``.
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
    out_of_reach: OutOfReach | None = None

    def __post_init__(self) -> None:
        if "/" not in self.claim:
            raise ValueError(f"claim {self.claim!r}: expected paper/name")
        if not self.low <= self.high:
            raise ValueError(f"claim {self.claim}: band [{self.low}, {self.high}] is empty")


def read(frame: str, **where: Any) -> Measure:
    """The numbers of one frame; see :func:`featlearn.core.stats.per_replicate`."""
    return lambda frames: per_replicate(frames[frame], **where)


def difference(first: Measure, second: Measure) -> Measure:
    """First minus second, in pairs: what a replicate shares cancels."""
    return lambda frames: first(frames) - second(frames)


def needs_replicates(section: str, least: int = LEAST_REPLICATES) -> OutOfReach:
    """Out of reach with fewer than ``least`` replicates in a section of the config."""

    def reason(config: Mapping[str, Any]) -> str | None:
        replicates = config[section]["replicates"]
        if replicates >= least:
            return None
        return f"{replicates} replicates; the band was derived for at least {least}."

    return reason


def at_least(section: str, replicates: int = LEAST_REPLICATES, **data: int) -> OutOfReach:
    """Out of reach with fewer replicates, or smaller sizes in a section's ``data``.

    Examples
    --------
    >>> reach = at_least("runaway", classes=5)
    >>> reach({"runaway": {"data": {"classes": 2}, "replicates": 10}})
    '2 classes and 10 replicates; the band was derived for at least 5 classes and 10 replicates.'
    """
    least = {**data, "replicates": replicates}

    def too_small(config: Mapping[str, Any]) -> str | None:
        settings = config[section]
        own = {
            **{name: settings["data"][name] for name in data},
            "replicates": settings["replicates"],
        }
        if all(own[name] >= least[name] for name in least):
            return None
        return f"{_sizes(own)}; the band was derived for at least {_sizes(least)}."

    return too_small


def _sizes(sizes: Mapping[str, int]) -> str:
    return " and ".join(f"{size} {name}" for name, size in sizes.items())


def first_of(*reasons: OutOfReach) -> OutOfReach:
    """The first reason why a scale is out of reach."""

    def reason(config: Mapping[str, Any]) -> str | None:
        return next((said for test in reasons if (said := test(config))), None)

    return reason


class Frames(Mapping[str, pd.DataFrame]):
    """The frames of an experiment, each read when a claim first asks for it.

    Parameters
    ----------
    read
        Gives the frame of a name.
    names
        That ``read`` knows.
    derived
        Frames that follow from the config.
    """

    def __init__(
        self,
        read: Callable[[str], pd.DataFrame],
        names: Iterable[str],
        derived: Mapping[str, pd.DataFrame],
    ):
        self._read, self._names, self._known = read, tuple(names), dict(derived)

    def __getitem__(self, name: str) -> pd.DataFrame:
        if name not in self._known:
            if name not in self._names:
                raise KeyError(f"no frame {name!r}; expected one of {', '.join(self)}")
            self._known[name] = self._read(name)
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys((*self._names, *self._known)))

    def __len__(self) -> int:
        return len(list(iter(self)))


def declared(module: Any, config: Mapping[str, Any]) -> Sequence[Claim]:
    """The claims of a module: ``CLAIMS``, or what ``claims(config)`` gives.

    Raises
    ------
    FeatlearnError
        If there are none.
    """
    found = module.claims(config) if hasattr(module, "claims") else getattr(module, "CLAIMS", ())
    if not found:
        raise FeatlearnError(f"{module.__name__}: no claims; expected CLAIMS or claims(config)")
    return tuple(found)


def check(experiments: Iterable[Mapping[str, Any]]) -> None:
    """Refuse claims that could be judged only in vain.

    Parameters
    ----------
    experiments
        Of each the ``module`` with its claims, their ``paper``, the ``config`` that they get, and
        the ``files`` that it gives, below ``results/<scale>/``.

    Raises
    ------
    FeatlearnError
        Naming a claim of another paper, one that is declared twice, and one whose raw numbers
        would lie in a file that no rule makes for its experiment.
    """
    homes: dict[str, str] = {}
    for one in experiments:
        module, known = one["module"], sorted(one["files"])
        for claim in declared(import_module(module), one["config"]):
            if claim.claim in homes:
                raise FeatlearnError(f"claim {claim.claim}: in {homes[claim.claim]} and {module}")
            homes[claim.claim] = module
            if not claim.claim.startswith(f"{one['paper']}/"):
                raise FeatlearnError(
                    f"claim {claim.claim} of {module}: expected {one['paper']}/..."
                )
            if claim.artefact not in known:
                raise FeatlearnError(
                    f"claim {claim.claim}: its artefact {claim.artefact} is none of what its "
                    f"experiment gives: {', '.join(known)}"
                )


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
