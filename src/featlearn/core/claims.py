"""The ledger: what a paper says must hold, the band fixed before looking, and the verdict.

A verdict is formed from the interval of what was measured, and not from its mean alone: ``holds``
where the whole interval lies in the band, ``fails`` where all of it lies outside, ``undecided``
where it straddles an end. What a run cannot show because its declared sizes, lengths or replicates
are below those that the band was derived for is ``not shown at this scale``. A verdict is always
one on the sizes of the run: where a statement is of a limit that no computer comes near,
``asymptotic`` tells so beside it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
import pandas as pd

from featlearn.core.errors import FeatlearnError
from featlearn.core.stats import (
    SPREAD_KIND,
    Estimate,
    estimate,
    estimate_median,
    estimate_share,
    per_replicate,
    standard_error,
    t_quantile,
)

HOLDS, FAILS, UNDECIDED = "holds", "fails", "undecided"
NOT_SHOWN = "not shown at this scale"
VERDICTS = (HOLDS, FAILS, UNDECIDED, NOT_SHOWN)

#: What a claim is: a statement that the paper proves or a number that it prints; what must be so if
#: the experiment is to mean anything; a formula held against another way to compute it; and what
#: was seen here and is said nowhere.
THEOREM, CONTROL, IDENTITY, OBSERVATION = "theorem", "control", "identity", "observation"
KINDS = (THEOREM, CONTROL, IDENTITY, OBSERVATION)

#: Values that a quantity can take; an end of a band that lies there is none.
SHARE, DIFFERENCE_OF_SHARES, POSITIVE = (0.0, 1.0), (-1.0, 1.0), (0.0, math.inf)

#: Columns of ``claims.parquet``, one row a claim.
COLUMNS = (
    "claim", "paper", "kind", "source", "statement", "quantity", "low", "high", "reason",
    "asymptotic", "changed", "measured", "interval_low", "interval_high", "spread", "spread_kind",
    "replicates", "effect", "would_decide", "verdict", "artefact",
)  # fmt: skip


def _computed(values: np.ndarray) -> Estimate:
    mean = float(values.mean())
    return Estimate(mean, mean, mean, len(values))


#: How the numbers of the replicates become one with an interval, and what its half-width is called.
STATISTICS: dict[str, tuple[Callable[[np.ndarray], Estimate], str]] = {
    "mean": (estimate, SPREAD_KIND),
    "share": (estimate_share, "half-width of Wilson's 95 % interval of a share of the replicates"),
    "median": (
        estimate_median,
        "half-width of the 95 % interval of the median, from order statistics",
    ),
    "exact": (_computed, "none: the quantity is computed, not sampled"),
}
#: Power with which ``effect`` would be told, and the most replicates that are worth naming.
POWER, MOST_REPLICATES = 0.8, 10_000

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
    kind
        One of :data:`KINDS`.
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
        What is not inside its band is ``not shown at this scale`` if this gives a reason. It reads
        the config: a larger one closes it.
    possible
        Least and largest value that the quantity can take: the interval is cut to it.
    statistic
        What the replicates say together, one of :data:`STATISTICS`: ``mean`` (t-interval),
        ``share`` of the replicates in which something is so (0 or 1 a replicate; Wilson),
        ``median`` (order statistics), or ``exact`` for what is computed and has no sampling error.
    asymptotic
        Of a statement with o(1) or an unnamed constant: the calculation, from its formulas and
        without a run, by which it misses the band at every size that a computer holds. The verdict
        is that of these sizes all the same.
    changed
        What of the claim was changed after a result had been seen, and which; empty if nothing.
    """

    claim: str
    kind: str
    source: str
    statement: str
    quantity: str
    low: float
    high: float
    reason: str
    measure: Measure
    artefact: str
    out_of_reach: OutOfReach | None = None
    possible: tuple[float, float] = (-math.inf, math.inf)
    statistic: str = "mean"
    asymptotic: str = ""
    changed: str = ""

    def __post_init__(self) -> None:
        if "/" not in self.claim:
            raise ValueError(f"claim {self.claim!r}: expected paper/name")
        if self.kind not in KINDS:
            raise ValueError(
                f"claim {self.claim}: kind {self.kind!r}, expected one of {', '.join(KINDS)}"
            )
        if self.statistic not in STATISTICS:
            raise ValueError(
                f"claim {self.claim}: statistic {self.statistic!r}, expected one of "
                f"{', '.join(STATISTICS)}"
            )
        if not self.low <= self.high:
            raise ValueError(f"claim {self.claim}: band [{self.low}, {self.high}] is empty")
        if not self.ends:
            raise ValueError(
                f"claim {self.claim}: band [{self.low}, {self.high}] holds all possible values"
            )

    @property
    def ends(self) -> tuple[float, ...]:
        """The ends of the band that the quantity can cross."""
        least, most = self.possible
        return tuple(
            end
            for end, free in ((self.low, self.low > least), (self.high, self.high < most))
            if free
        )


def read(frame: str, **where: Any) -> Measure:
    """The numbers of one frame; see :func:`featlearn.core.stats.per_replicate`."""
    return lambda frames: per_replicate(frames[frame], **where)


def difference(first: Measure, second: Measure) -> Measure:
    """First minus second, in pairs: what a replicate shares cancels."""
    return lambda frames: first(frames) - second(frames)


def needs(**least: float) -> OutOfReach:
    """Out of reach where a number of the config is smaller than the band was derived for.

    Parameters
    ----------
    **least
        Place of a number in the paper's section, levels divided by ``__``, and its least value; of
        a list of numbers its largest counts.

    Examples
    --------
    >>> reach = needs(runaway__data__classes=5, runaway__replicates=10)
    >>> reach({"runaway": {"data": {"classes": 2}, "replicates": 10}})
    '2 classes and 10 replicates; the band was derived for at least 5 classes and 10 replicates.'
    """

    def reason(config: Mapping[str, Any]) -> str | None:
        own: dict[str, Any] = {}
        for place in least:
            own[place] = config
            for key in place.split("__"):
                own[place] = own[place][key]
            if isinstance(own[place], list):
                own[place] = max(own[place])
        if all(own[place] >= least[place] for place in least):
            return None
        return f"{_sizes(own)}; the band was derived for at least {_sizes(least)}."

    return reason


def needs_replicates(section: str, least: int = LEAST_REPLICATES) -> OutOfReach:
    """Out of reach with fewer than ``least`` replicates in a section of the config."""
    return needs(**{f"{section}__replicates": least})


def _sizes(sizes: Mapping[str, Any]) -> str:
    return " and ".join(
        f"{size} {place.rpartition('__')[2].replace('_', ' ')}" for place, size in sizes.items()
    )


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


def measured(claim: Claim, values: np.ndarray) -> Estimate:
    """What the replicates say together; the interval is cut to what is possible."""
    of, _ = STATISTICS[claim.statistic]
    seen = of(values)
    least, most = claim.possible
    slack = 1e-12 * max(1.0, abs(seen.mean))
    if not least - slack <= seen.mean <= most + slack:
        raise ValueError(f"{seen.mean} is none of the possible values {least} to {most}")
    if math.isnan(seen.low):
        return seen
    return Estimate(seen.mean, max(seen.low, least), min(seen.high, most), seen.replicates)


def judge(claim: Claim, seen: Estimate, config: Mapping[str, Any]) -> str:
    """The verdict on what was measured.

    What equals an end of the band up to rounding lies in it. A mean without an interval (a single
    replicate) decides nothing.
    """
    slack = 1e-12 * max(1.0, abs(seen.mean))
    low, high = claim.low - slack, claim.high + slack
    if low <= seen.low and seen.high <= high:
        return HOLDS
    if claim.out_of_reach is not None and claim.out_of_reach(config):
        return NOT_SHOWN
    return FAILS if seen.high < low or seen.low > high else UNDECIDED


def smallest_effect(claim: Claim, values: np.ndarray) -> float:
    """How far from an end of its band a mean must lie so that these replicates tell it apart.

    With the probability :data:`POWER`, if they scatter as they did. Not a number for other
    statistics than a mean, and for a single replicate.
    """
    if claim.statistic == "exact":
        return 0.0
    if claim.statistic != "mean" or len(values) < 2:
        return math.nan
    freedom = len(values) - 1
    return (t_quantile(0.975, freedom) + t_quantile(POWER, freedom)) * standard_error(values)


def would_decide(claim: Claim, values: np.ndarray) -> float:
    """Replicates whose interval would clear the ends of the band, if mean and scatter stay.

    Infinite if no :data:`MOST_REPLICATES` would; not a number for other statistics than a mean, and
    for a single replicate.
    """
    if claim.statistic != "mean" or len(values) < 2:
        return math.nan
    deviation = float(values.std(ddof=1))
    distance = min(abs(float(values.mean()) - end) for end in claim.ends)
    for replicates in range(2, MOST_REPLICATES + 1):
        if t_quantile(0.975, replicates - 1) * deviation <= distance * math.sqrt(replicates):
            return float(replicates)
    return math.inf


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
            values = np.asarray(claim.measure(frames), dtype=np.float64).ravel()
            seen = measured(claim, values)
        except (KeyError, ValueError) as error:
            raise ValueError(f"claim {claim.claim}: cannot be measured: {error}") from error
        beyond = claim.out_of_reach(config) if claim.out_of_reach else None
        verdict = judge(claim, seen, config)
        rows.append(
            {
                "claim": claim.claim,
                "paper": claim.claim.partition("/")[0],
                "kind": claim.kind,
                "source": claim.source,
                "statement": claim.statement,
                "quantity": claim.quantity,
                "low": claim.low,
                "high": claim.high,
                "reason": claim.reason + (f" Out of reach here: {beyond}" if beyond else ""),
                "asymptotic": claim.asymptotic,
                "changed": claim.changed,
                "measured": seen.mean,
                "interval_low": seen.low,
                "interval_high": seen.high,
                # before it was cut to what is possible: as tables tell it
                "spread": STATISTICS[claim.statistic][0](values).half_width,
                "spread_kind": STATISTICS[claim.statistic][1],
                "replicates": seen.replicates,
                "effect": smallest_effect(claim, values),
                "would_decide": would_decide(claim, values) if verdict == UNDECIDED else math.nan,
                "verdict": verdict,
                "artefact": claim.artefact,
            }
        )
    return pd.DataFrame(rows, columns=list(COLUMNS))
