"""The ledger: what a paper says must hold, the band fixed before looking, and the verdict.

``holds``: the whole interval of what was measured lies in the band; ``fails``: all of it outside;
``undecided``: it straddles an end. Of a miss ``not shown at this scale`` says that the band was
derived for larger sizes, ``outside premises`` that a premise is violated: it refutes no theorem. A
verdict is on the sizes of the run; ``asymptotic`` says where a statement is of a limit beyond them.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from importlib import import_module
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd

from featlearn.core.errors import FeatlearnError
from featlearn.core.evidence.stats import (
    SPREAD_KIND,
    Estimate,
    estimate,
    estimate_exponent,
    estimate_median,
    estimate_share,
    number,
    standard_error,
    t_quantile,
)

HOLDS, FAILS, UNDECIDED = "holds", "fails", "undecided"
OUTSIDE, NOT_SHOWN = "outside premises", "not shown at this scale"
MET, VIOLATED = "met", "violated"
#: At a point far from the run's config, where training diverged or a sample lacks a case.
NOT_MEASURED = "not measured"
VERDICTS = (HOLDS, FAILS, UNDECIDED, OUTSIDE, NOT_SHOWN)

#: What a claim is: a statement that the paper proves or a number that it prints; what must be so if
#: the experiment is to mean anything; a formula held against another way to compute it; and what
#: was seen here and is said nowhere.
THEOREM, CONTROL, IDENTITY, OBSERVATION = "theorem", "control", "identity", "observation"
KINDS = (THEOREM, CONTROL, IDENTITY, OBSERVATION)

#: What failed of a statement of a paper that does not hold, as somebody who read both says;
#: ``outside premises`` is said by the verdict alone.
FAILURES = (
    "misprint", "one word too strong", "rate or constant", "printed number", "limit only", OUTSIDE,
    "not reproduced",
)  # fmt: skip

#: Values that a quantity can take; an end of a band that lies there is none.
SHARE, DIFFERENCE_OF_SHARES, POSITIVE = (0.0, 1.0), (-1.0, 1.0), (0.0, math.inf)

#: Columns of ``claims.parquet``, one row a claim.
COLUMNS = (
    "claim", "paper", "kind", "source", "statement", "paper_says", "quantity", "low", "high",
    "reason", "asymptotic", "changed", "measured", "interval_low", "interval_high", "spread",
    "spread_kind", "replicates", "effect", "would_decide", "verdict", "artefact",
    "premises", "premises_met", "turns_with", "what_failed", "baselines",
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
    "exponent": (
        estimate_exponent,
        "half-width of the 95 % t-interval of the local exponent at the largest size, and its last "
        "change",
    ),
    "exact": (_computed, "none: the quantity is computed, not sampled"),
}
#: Power with which ``effect`` would be told, and the most replicates that are worth naming.
POWER, MOST_REPLICATES = 0.8, 10_000

#: Gives the measured quantity, one number a replicate, from the frames of a run.
Measure = Callable[[Mapping[str, pd.DataFrame]], np.ndarray]
#: Says of a paper's section of the config why that scale cannot show a claim, or None if it can.
OutOfReach = Callable[[Mapping[str, Any]], str | None]
#: Things whose shares several replicates may have in common; settings of a column of a frame.
FEW = 100
#: Numbers, no shares of a few things, that two replicates have in common if they share a stream.
TELLING = 3
#: Keys of a config that say how many replicates there are.
COUNTS = ("replicates", "prompts", "starts", "trials")
#: Most words that a claim quotes of its paper.
MOST_WORDS = 20
#: Of claims that :func:`original` was added to, for their ``changed``.
REFUTES_NOTHING = "A miss on a stand-in refutes nothing since such claims had failed in a run."
#: Replicates below which a band on a mean over replicates was not derived.
LEAST_REPLICATES = 10


@dataclass(frozen=True)
class Premise:
    """An assumption of a theorem, computed from the config or the frames of a run.

    ``text``: as the paper writes it, e.g. ``m <= sqrt(k)``. ``relation``: ``<=`` or ``>=``, between
    the number of the run and the one that is needed. ``measure``: gives both, in this order.
    """

    text: str
    relation: str
    measure: Callable[[Mapping[str, pd.DataFrame]], tuple[float, float]]

    def __post_init__(self) -> None:
        if self.relation not in ("<=", ">="):
            raise ValueError(
                f"premise {self.text!r}: relation must be <= or >=, got {self.relation!r}"
            )

    def read(self, frames: Mapping[str, pd.DataFrame]) -> tuple[str, bool]:
        """A line that says what is needed and used, and whether it is met."""
        used, needed = map(float, self.measure(frames))
        if math.isnan(used) or math.isnan(needed):
            raise ValueError(f"premise {self.text!r}: must be numbers, got {used} and {needed}")
        met = used <= needed if self.relation == "<=" else used >= needed
        limit = "at most" if self.relation == "<=" else "at least"
        line = f"{self.text}: {limit} {number(needed)} needed, {number(used)} used"
        return f"{line}, {MET if met else VIOLATED}", met


@dataclass(frozen=True)
class Claim:
    """One statement of a paper that a number can confirm or refute.

    ``claim``: ``paper/name``. ``kind``: one of :data:`KINDS`. ``source``: theorem, equation or
    page. ``statement``: what must hold. ``quantity``: what is measured. ``low``, ``high``: the
    band, both ends included, fixed before the measurement; ``reason``: why. ``measure``: one number
    a replicate, off the frames of a run. ``artefact``: file with the raw numbers, below
    ``results/<scale>/``; empty for that of the frame that ``measure`` reads first.
    ``out_of_reach``: gives of a config the reason why a miss is ``not shown at this scale``.
    ``possible``: least and largest value of the quantity, to which the interval is cut.
    ``statistic``: one of :data:`STATISTICS`; a ``share`` has 0 or 1 a replicate, an ``exponent``
    local ones over sizes, what is ``exact`` no sampling error. ``asymptotic``: of a statement with
    o(1) or an unnamed constant, the calculation by which it misses the band at every size that a
    computer holds. ``changed``: what was changed after which result had been seen. ``paper_says``:
    at most :data:`MOST_WORDS` words of the paper. ``premises``: assumptions that a run can compute.
    ``failure``: of a theorem that does not hold, one of :data:`FAILURES`; ``outside premises``
    follows from ``premises``. ``baselines``: from the frames, what the quantity is compared with,
    by name.
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
    artefact: str = ""
    out_of_reach: OutOfReach | None = None
    possible: tuple[float, float] = (-math.inf, math.inf)
    statistic: str = "mean"
    asymptotic: str = ""
    changed: str = ""
    paper_says: str = ""
    premises: tuple[Premise, ...] = ()
    failure: str = ""
    baselines: Callable[[Mapping[str, pd.DataFrame]], Mapping[str, Any]] | None = None

    def __post_init__(self) -> None:
        band = f"band [{self.low}, {self.high}]"
        for wrong, fault in (
            ("/" not in self.claim, "expected paper/name"),
            (self.kind not in KINDS, f"kind {self.kind!r}, expected one of {', '.join(KINDS)}"),
            (
                self.statistic not in STATISTICS,
                f"statistic {self.statistic!r}, expected one of {', '.join(STATISTICS)}",
            ),
            (
                len(self.paper_says.split()) > MOST_WORDS,
                f"quotes more than {MOST_WORDS} words of the paper",
            ),
            (
                self.failure not in ("", *FAILURES),
                f"failure must be one of {', '.join(FAILURES)}, got {self.failure!r}",
            ),
            (self.failure == OUTSIDE, "its premises must say that a run is outside of them"),
            (self.failure and self.kind != THEOREM, f"a {self.kind} must have no failure"),
            (not self.low <= self.high, f"{band} is empty"),
            (self.low <= self.high and not self.ends, f"{band} holds all possible values"),
        ):
            if wrong:
                raise ValueError(f"claim {self.claim}: {fault}")

    @property
    def ends(self) -> tuple[float, ...]:
        """The ends of the band that the quantity can cross."""
        least, most = self.possible
        return tuple(
            end
            for end, free in ((self.low, self.low > least), (self.high, self.high < most))
            if free
        )


def needs(at: str = "", exactly: Mapping[str, Any] = {}, /, **sizes: float) -> OutOfReach:
    """Out of reach where a number, or a list's largest, is below ``section__key=least``.

    ``at``: the section, or a part of it, that all keys are in. ``exactly``: keys whose only value
    within reach is this one.
    """
    least = {f"{at}__{key}" if at else key: size for key, size in sizes.items()}
    problem = {f"{at}__{key}" if at else key: value for key, value in exactly.items()}

    def reason(config: Mapping[str, Any]) -> str | None:
        own = {place: _at(config, place) for place in problem}
        if own != problem:
            return f"{_sizes(own)}; the band was derived for {_sizes(problem)}."
        own = {place: _at(config, place) for place in least}
        own = {place: max(one) if isinstance(one, list) else one for place, one in own.items()}
        if all(own[place] >= least[place] for place in least):
            return None
        return f"{_sizes(own)}; the band was derived for at least {_sizes(least)}."

    return reason


def _at(config: Any, place: str) -> Any:
    """What a config has at a place, whose levels are divided by ``__``."""
    return reduce(lambda part, key: part[key], place.split("__"), config)


def needs_replicates(section: str, least: int = LEAST_REPLICATES) -> OutOfReach:
    """Out of reach with fewer than ``least`` replicates in a section of the config."""
    return needs(section, replicates=least)


def _sizes(sizes: Mapping[str, Any]) -> str:
    return " and ".join(
        f"{size} {place.rpartition('__')[2].replace('_', ' ')}" for place, size in sizes.items()
    )


def original(place: str) -> OutOfReach:
    """Out of reach on a stand-in for the paper's data: where the key at ``place`` is not true."""
    return lambda config: (
        None if _at(config, place) else "a stand-in; the paper prints this of its data."
    )


def first_of(*reasons: OutOfReach) -> OutOfReach:
    """The first reason why a scale is out of reach."""

    def reason(config: Mapping[str, Any]) -> str | None:
        return next((said for test in reasons if (said := test(config))), None)

    return reason


class Frames(Mapping[str, pd.DataFrame]):
    """The frames of an experiment, each read when a claim first asks; ``asked`` names those."""

    def __init__(
        self,
        read: Callable[[str], pd.DataFrame],
        names: Iterable[str],
        derived: Mapping[str, pd.DataFrame],
        files: Mapping[str, str] = MappingProxyType({}),
    ):
        self._read, self._names, self._known = read, tuple(names), dict(derived)
        self.files, self.asked = files, list[str]()

    def __getitem__(self, name: str) -> pd.DataFrame:
        self.asked.append(name)
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
    """The claims of a module's classes that name a paper; FeatlearnError if there are none."""
    from featlearn.core.evidence.claim_methods import of_module

    found = of_module(module, config)
    if not found:
        raise FeatlearnError(f"{module.__name__}: no claims; expected a class with a paper")
    return found


def check(experiments: Iterable[Mapping[str, Any]]) -> None:
    """Refuse claims that could be judged only in vain.

    ``experiments``: of each the ``module``, ``paper`` and ``config`` of its claims, and its
    ``files`` below ``results/<scale>/``. Raises FeatlearnError naming a module whose claims cannot
    be made, a claim of another paper, one declared twice, and one of a file that no rule makes.
    """
    homes: dict[str, str] = {}
    for one in experiments:
        module, known = one["module"], sorted(one["files"])
        try:
            claims = declared(import_module(module), one["config"])
            for claim in claims:
                if claim.out_of_reach:
                    claim.out_of_reach(one["config"])
        except (KeyError, ValueError) as error:
            raise FeatlearnError(f"{module}: {_fault(error)}") from error
        for claim in claims:
            if claim.claim in homes:
                raise FeatlearnError(f"claim {claim.claim}: in {homes[claim.claim]} and {module}")
            homes[claim.claim] = module
            if not claim.claim.startswith(f"{one['paper']}/"):
                raise FeatlearnError(
                    f"claim {claim.claim} of {module}: expected {one['paper']}/..."
                )
            if claim.artefact and claim.artefact not in known:
                raise FeatlearnError(
                    f"claim {claim.claim}: its artefact {claim.artefact} is none of what its "
                    f"experiment gives: {', '.join(known)}"
                )


def _fault(error: Exception) -> str:
    """An error in words; that of a dictionary or a frame is only the key."""
    return f"no {error}" if isinstance(error, KeyError) else str(error)


def judged(
    module: Any,
    read: Callable[[str], pd.DataFrame],
    files: Mapping[str, str],
    config: Mapping[str, Any],
    tolerant: bool = False,
) -> pd.DataFrame:
    """The ledger of an experiment; if ``tolerant``, what has no number is :data:`NOT_MEASURED`."""
    derived = getattr(module, "derived", None)
    inside = {name: file for name, file in files.items() if file}
    frames = Frames(read, files, derived(config) if derived else {}, inside)
    claims = declared(module, config)
    if not tolerant:
        return ledger(claims, frames, config)
    rows: list[dict[str, Any]] = []
    for claim in claims:
        try:
            rows.append(dict(ledger([claim], frames, config).iloc[0]))
        except (ValueError, LookupError, ArithmeticError) as error:
            none = {"verdict": NOT_MEASURED, "premises_met": "", "baselines": ""}
            none["premises"] = "\n".join([*_known(claim.premises, frames), str(error)])
            rows.append(_said(claim) | none)
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _said(claim: Claim) -> dict[str, Any]:
    """What of a row of the ledger is declared."""
    said = {name: getattr(claim, name) for name in COLUMNS if hasattr(claim, name)}
    return said | {"paper": claim.claim.partition("/")[0]}


def _known(premises: Iterable[Premise], frames: Frames) -> Iterator[str]:
    """The lines of those that can be read where the claim cannot."""
    for premise in premises:
        with suppress(ValueError, LookupError, ArithmeticError):
            yield premise.read(frames)[0]


def measured(claim: Claim, values: np.ndarray) -> Estimate:
    """What the replicates say together; the interval is cut to what is possible."""
    of, _ = STATISTICS[claim.statistic]
    seen = of(values)
    least, most = claim.possible
    if claim.statistic == "exact" and len(set(values)) > 1:
        raise ValueError(f"what is exact must be one number, got {len(set(values))} that differ")
    slack = 1e-12 * max(1.0, abs(seen.mean))
    if not least - slack <= seen.mean <= most + slack:
        raise ValueError(f"{seen.mean} is none of the possible values {least} to {most}")
    if math.isnan(seen.low):
        return seen
    return Estimate(seen.mean, max(seen.low, least), min(seen.high, most), seen.replicates)


def alike(claim: Claim, values: np.ndarray) -> bool:
    """Whether replicates give one number to the last bit, no share of a few: one stream for all."""
    if claim.statistic in ("exact", "share") or len(values) < 2 or np.any(values != values[0]):
        return False
    return any(map(_telling, np.ravel(values[0])))


def _telling(value: float) -> bool:
    """Whether a number is no limit and, in single precision, no share of a few things."""
    if not math.isfinite(value):
        return False
    return abs(value - Fraction(value).limit_denominator(FEW)) > 1e-7 * abs(value)


def shared_streams(name: str, frame: pd.DataFrame) -> str:
    """Two replicates that hold the same numbers, in words; ValueError if one lacks some."""
    if "replicate" not in getattr(frame, "columns", ()):
        return ""
    held, replicate = frame.drop(columns="replicate"), frame["replicate"].to_numpy()
    if (
        lost := {*range(int(replicate.max()))} - {*replicate}
        if len({*replicate}) > 1
        else set[int]()
    ):
        raise ValueError(f"frame {name} lacks replicate {min(lost)}")
    # hitting times, of runs that ``ended`` at a step, are empty where none came
    empty = held.isna().sum(axis=1) * ("ended" not in held)
    of_each = empty.groupby(replicate).agg(["size", "sum"])
    for _, lacks in of_each.groupby("size")["sum"]:
        if lacks.min() < lacks.max():
            raise ValueError(f"replicate {lacks.idxmax()} of {name} lacks a number of the others")
    rows = pd.util.hash_pandas_object(held, index=False)
    first: dict[bytes, Any] = {}
    for one, own in rows.groupby(replicate):
        other = first.setdefault(own.to_numpy().tobytes(), one)
        if other != one:
            numbers = held[replicate == one].select_dtypes("floating").to_numpy().ravel()
            if sum(map(_telling, set(numbers.tolist()))) >= TELLING:
                return (
                    f" Replicates {other} and {one} of {name} hold the same numbers: no interval."
                )
    return ""


def check_count(
    values: np.ndarray, frames: Collection[pd.DataFrame], config: Mapping[str, Any]
) -> None:
    """Raise ValueError where numbers are not one a replicate of the frames or the config."""
    counts: set[int] = set()
    for frame in frames:
        if "replicate" in getattr(frame, "columns", ()):
            counts.add(most := frame["replicate"].nunique())
            for name in frame.columns.drop("replicate"):
                if frame[name].nunique() <= FEW:
                    some = frame.groupby(name, observed=True)["replicate"].nunique()
                    # a number that was measured is no setting; one by name may have one replicate
                    least = 1 if pd.api.types.is_numeric_dtype(frame[name]) else 0
                    counts |= {*some[some > least]} if most > 1 else set()
    named = {*_counts(config)} if frames and len(values) > 1 else set[int]()
    for known, place in ((counts, ""), (named, " in the config")):
        if known and len(values) not in known:
            allowed = ", ".join(map(str, sorted(known)))
            raise ValueError(
                f"must be one number a replicate ({allowed} of them{place}), got {len(values)}"
            )


def _counts(config: Any) -> Iterator[int]:
    """What a config says of how many replicates there are."""
    for key, value in config.items() if isinstance(config, Mapping) else enumerate(config):
        if isinstance(value, (Mapping, list)):
            yield from _counts(value)
        elif key in COUNTS and isinstance(value, int):
            yield value


def judge(
    claim: Claim, seen: Estimate, config: Mapping[str, Any], premises_met: bool = True
) -> str:
    """The verdict; a band's end is met up to rounding; a tie or no interval decides nothing."""
    slack = 1e-12 * max(1.0, abs(seen.mean))
    low, high = claim.low - slack, claim.high + slack
    if seen.low == seen.high == 0 in claim.ends and claim.low < claim.high:
        return UNDECIDED
    if low <= seen.low and seen.high <= high:
        return HOLDS
    if claim.out_of_reach is not None and claim.out_of_reach(config):
        return NOT_SHOWN
    if (low <= seen.high and seen.low <= high) or math.isnan(seen.low):
        return UNDECIDED
    return FAILS if premises_met else OUTSIDE


def _means(others: Mapping[str, Any]) -> str:
    """JSON with the mean of each baseline; empty if there is none."""
    means = {name: float(f"{np.mean(values):.6g}") for name, values in others.items()}
    return json.dumps(means, ensure_ascii=False) if means else ""


def smallest_effect(claim: Claim, values: np.ndarray) -> float:
    """Distance from an end of the band that a mean resolves with :data:`POWER`; NaN if no mean."""
    if claim.statistic == "exact":
        return 0.0
    if claim.statistic != "mean" or len(values) < 2:
        return math.nan
    freedom = len(values) - 1
    return (t_quantile(0.975, freedom) + t_quantile(POWER, freedom)) * standard_error(values)


def would_decide(claim: Claim, values: np.ndarray) -> float:
    """Replicates whose interval would clear the band, if mean and scatter stay; or infinite."""
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

    ``frames``: the measurements by name. ``config``: the paper's section. Returns DataFrame: a row
    a claim, in their order, with the columns of :data:`COLUMNS`. Raises ValueError if a measure
    gives no or non-finite numbers.
    """
    rows = []
    streams: dict[str, str] = {}
    for claim in claims:
        asked: list[str] = getattr(frames, "asked", [])
        files: Mapping[str, str] = getattr(frames, "files", {})
        asked.clear()
        try:
            values = np.asarray(claim.measure(frames), dtype=np.float64)
            values = values if claim.statistic == "exponent" else values.ravel()
            read = {name: frames[name] for name in dict.fromkeys(asked)}
            if not read and files:
                raise ValueError("must read a frame")
            for name in read.keys() - streams.keys():
                streams[name] = shared_streams(name, read[name])
            check_count(values, read.values(), config)
            seen = measured(claim, values)
            same = "".join({streams[name]: None for name in read})
            if alike(claim, values):
                same = " All replicates give the same number: its interval is not known."
            if same:
                seen = Estimate(seen.mean, math.nan, math.nan, seen.replicates)
            source = claim.artefact or next((files[name] for name in asked if name in files), "")
            premises = [premise.read(frames) for premise in claim.premises]
            others = claim.baselines(frames) if claim.baselines else {}
            beyond = claim.out_of_reach(config) if claim.out_of_reach else None
        except (KeyError, ValueError) as error:
            raise ValueError(f"claim {claim.claim}: cannot be measured: {_fault(error)}") from error
        met = all(met for _, met in premises)
        verdict = judge(claim, seen, config, met)
        violated = OUTSIDE if verdict == OUTSIDE and claim.kind == THEOREM else ""
        rows.append(
            {
                **_said(claim),
                "reason": claim.reason + (f" Out of reach here: {beyond}" if beyond else "") + same,
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
                "artefact": source,
                "premises": "\n".join(line for line, _ in premises),
                "premises_met": (MET if met else VIOLATED) if premises else "",
                "turns_with": "",
                # as it was said by hand; a violated premise speaks for itself
                "what_failed": "" if verdict == HOLDS else claim.failure or violated,
                "baselines": _means(others),
            }
        )
    return pd.DataFrame(rows, columns=list(COLUMNS))
