"""Rows of the ledger in words: one row, and many of them as sentences and counts."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from featlearn.core.evidence import claims
from featlearn.core.evidence.claims import FAILS, FAILURES, HOLDS, THEOREM, UNDECIDED, VERDICTS
from featlearn.core.evidence.stats import decimals, figure, fixed, in_powers, number
from featlearn.core.publishing.compare_runs import differing

Row = Mapping[str, Any]

#: Most claims that a paper's section shows; the explorer has all of them.
HEADLINES = 8
#: How a text asks for the number of a claim: its factor, its unit and its most decimals.
FORMS = {"value": (1, "", 6), "percent": (100, " %", 1), "points": (100, " percentage points", 1)}
_NUMBER = re.compile(r"\{(-?)(value|percent|points)\}")
#: Theorems, figures and the like with their numbers, one or several: `tables 7.2, F.6 and F.7`.
_PLACE = r"(?:[a-z]\.)?\d+(?:\.\d+)*(?:\([a-z\d]\))?"
_PLACES = re.compile(
    r"\b(theorem|lemma|proposition|corollary|claim|fact|definition|remark|hypothesis|algorithm|figure"
    r"|table|section|appendix|footnote|message|equation|eq)s?\.? "
    rf"\(?({_PLACE}(?:(?:, and |, | and | to | / ){_PLACE})*)"
)
#: How the story of a chapter begins.
_CHAPTER = re.compile(r"#[^\n]*\n\s*Chapter \d+ of ")
#: How the reason of a band says that its claim was expected to fail.
_EXPECTED = re.compile(r"\bexpect[^.]*\bfail|\bfail[^.]*\bexpect")
_WORDS = (
    "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
    "twelve",
)  # fmt: skip


def anchor(row: Row) -> str:
    """Of a claim, on the page of its paper and in the report."""
    return f"claim-{row['claim'].replace('/', '-')}"


def band(row: Row) -> str:
    """The band of a row of the ledger in words."""
    low, high = row["low"], row["high"]
    if math.isinf(low):
        return f"at most {number(high)}"
    if math.isinf(high):
        return f"at least {number(low)}"
    if low == high:
        return f"exactly {number(low)}"
    if max(abs(low), abs(high)) < 1e-6:
        return f"{in_powers(f'{low:.1g}')} to {in_powers(f'{high:.1g}')}"
    if number(low) == number(high):  # so narrow that both ends look like one number
        ends = f"{low:.6g}", f"{high:.6g}"
        if ends[0] != ends[1]:
            return " to ".join(ends)
        return f"{number((low + high) / 2)} ± {number((high - low) / 2, 1)}"
    return f"{number(low)} to {number(high)}"


def measured(row: Row, form: str = "value", *, negated: bool = False) -> str:
    """Number and 95 % interval of a row, or why it has none; ``form``: of :data:`FORMS`."""
    times, unit, most = FORMS[form]
    sign = -times if negated else times
    value, *ends = (sign * row[key] for key in ("measured", "interval_low", "interval_high"))
    low, high = sorted(ends)
    if row["spread_kind"].startswith("none"):
        return f"{figure(value)}{unit} (computed)"
    if math.isnan(low):
        return f"{figure(value)}{unit} (no interval)"
    half = (high - low) / 2
    if 0 < max(abs(value), half) < 1e-6:
        value, low, high = (in_powers(f"{one:.2g}") for one in (value, low, high))
        return f"{value}{unit} ({low} to {high})"
    if half < 1e-9 * max(1.0, abs(value)):
        return f"{number(value, 4)}{unit} (in every replicate)"
    digits = min(most, decimals(half))
    return f"{fixed(value, digits)}{unit} ({fixed(low, digits)} to {fixed(high, digits)})"


def with_numbers(text: str, row: Row, link: Callable[[str], str]) -> str:
    """A sentence with the number of its claim where it asks for it.

    ``{value}`` is the number with its interval, ``{percent}`` a share, ``{points}`` a difference of
    shares in percentage points, ``{-points}`` the same below zero; ``link`` gives each its link.
    """
    return _NUMBER.sub(lambda word: link(measured(row, word[2], negated=bool(word[1]))), text)


def number_as_in(text: str, row: Row) -> str:
    """The number of a row in the form that a sentence asks for first."""
    word = _NUMBER.search(text)
    return measured(row, word[2], negated=bool(word[1])) if word else measured(row)


def places(source: str) -> list[str]:
    """The numbered places that a source names: `Lemmas A.9 to A.11` are three of them."""
    found = []
    for kind, listed in _PLACES.findall(source.lower()):
        for ends in re.split(r", and |, | and | / ", listed):
            first, _, last = ends.partition(" to ")
            found.append(f"{kind} {first}")
            stem, dot, end = last.rpartition(".")
            if end.isdigit() and (start := first.rpartition(".")[2]).isdigit():
                between = range(int(start) + 1, int(end) + 1)
                found += [f"{kind} {stem}{dot}{one}" for one in between]
    return found


def expected(row: Row) -> bool:
    """Whether the reason of a band says that the claim is expected to fail."""
    return bool(_EXPECTED.search(row["reason"]))


def verdict(row: Row) -> str:
    """The verdict of a row; one that holds outside its premises says so."""
    outside = row["verdict"] == HOLDS and row.get("premises_met") == claims.VIOLATED
    return f"{row['verdict']}, outside its premises" if outside else row["verdict"]


def answer(ledger: Sequence[Row], stories: Mapping[str, str], *seeds: int) -> list[str]:
    """Sentences on the whole ledger; ``*seeds``: of the run, and of those that signed it."""
    if not ledger:
        return ["This run judged no claim."]
    papers = list(dict.fromkeys(row["paper"] for row in ledger))
    printed = [row for row in ledger if row["kind"] == THEOREM]
    failing = [row for row in printed if row["verdict"] == FAILS]
    places = {(row["paper"], row["source"]) for row in printed}
    lines = [
        f"{works(papers, stories).capitalize()} make {_many(len(places), 'statement')} "
        f"(theorems, lemmas, figures, tables, passages) that {_many(len(printed), 'claim')} "
        f"{'test' if len(printed) != 1 else 'tests'}: {tally(printed)}."
    ]
    reasons = {
        "were expected when the band was set": sum(map(expected, failing)),
        "concern limits beyond any computer": sum(bool(row.get("asymptotic")) for row in failing),
        "have premises that were computed, all met": sum(
            row.get("premises_met") == claims.MET for row in failing
        ),
    }
    turned = sum(bool(row.get("turns_with")) and row["verdict"] == UNDECIDED for row in ledger)
    if texts := [f"{count} {text}" for text, count in reasons.items() if count]:
        lines.append(f"Of the {_many(len(failing), 'failure')}, {listed(texts)}.")
    if failures(printed):
        lines.append(f"What failed: {failures(printed)}.")
    if turned:
        lines.append(f"A neighbour turns the verdicts of {_many(turned, 'claim')}: they are open.")
    lines.append(
        f"With our controls, identities and observations there are {_many(len(ledger), 'claim')}: "
        f"{tally(ledger)}."
    )
    if withdrawn := sum(bool(row.get("withdrawn")) for row in ledger):
        lines.append(
            f"The verdicts of {_many(withdrawn, 'claim')} are withdrawn and count as open: a "
            "longer run, a stronger baseline or an unmet premise reversed them."
        )
    return [*lines, _seeds(ledger, *seeds)]


def failures(rows: Iterable[Row]) -> str:
    """Of how many claims that fail what failed, in words; nothing of a ledger that does not say."""
    said = Counter(row.get("what_failed") for row in rows if row["verdict"] == FAILS)
    return ", ".join(f"{one} {said[one]}" for one in FAILURES if said[one])


def tally(rows: Sequence[Row]) -> str:
    """How many claims hold, fail and are open."""
    holds, fails = count(rows, HOLDS), count(rows, FAILS)
    return f"{holds} hold, {fails} fail, {len(rows) - holds - fails} are open"


def _seeds(ledger: Sequence[Row], first: int, *others: int) -> str:
    if not others:
        return f"One base seed, {first}: intervals are over the replicates of one run."
    seeds, made = (first, *others), commits(ledger)
    by_number = Counter(1 + len(row.get("others", ())) for row in ledger)
    shares = listed(
        f"{_many(number, 'claim')} with {_WORDS[runs]}"
        for runs, number in sorted(by_number.items(), reverse=True)
    )
    at = ""
    if all(seed in made for seed in seeds) and any(row.get("others") for row in ledger):
        at = f" (at the commits {listed(made[seed] for seed in seeds)})"
    newer = " Claims with fewer were added or changed after a run."
    return (
        f"Base seeds {listed(seeds)}{at} judged {shares}."
        f"{newer if min(by_number) < len(seeds) else ''} In "
        f"{_many(sum(bool(differing(row)) for row in ledger), 'claim')} the seeds disagree; these "
        f"count as open. Numbers are those of seed {first}."
    )


def listed(words: Iterable[object]) -> str:
    """One, one and two, one, two and three."""
    *most, last = map(str, words)
    return f"{', '.join(most)} and {last}" if most else last


def commits(ledger: Sequence[Row]) -> dict[int, str]:
    """Of each base seed that signs a ledger the commits of its runs, as code."""
    rows = [one for row in ledger for one in (row, *row.get("others", ())) if "commit" in one]
    pairs = dict.fromkeys((one["seed"], f"`{one['commit'][:12]}`") for one in rows)
    seeds = dict.fromkeys(seed for seed, _ in pairs)
    return {seed: listed(told for one, told in pairs if one == seed) for seed in seeds}


def verb(verdict: str, number: int) -> str:
    """A verdict as what so many claims do: one holds, two hold."""
    return verdict.removesuffix("s") if number != 1 and verdict in (HOLDS, FAILS) else verdict


def title(paper: str, stories: Mapping[str, str]) -> str:
    """Short title of a paper: that of its story, up to a colon."""
    if paper not in stories:
        return paper
    return stories[paper].partition("\n")[0].removeprefix("# ").partition(":")[0].strip()


def works(papers: Sequence[str], stories: Mapping[str, str]) -> str:
    """How many papers, and how many chapters of a thesis: those whose stories begin so."""
    chapters = sum(bool(_CHAPTER.match(stories.get(paper, ""))) for paper in papers)
    counts = {"paper": len(papers) - chapters, "chapter": chapters}
    text = " and ".join(_many(number, word) for word, number in counts.items() if number)
    return text + (" of a thesis" if chapters else "")


def count(rows: Iterable[Row], verdict: str) -> int:
    return sum(row["verdict"] == verdict for row in rows)


def _many(number: int, word: str) -> str:
    text = _WORDS[number] if number < len(_WORDS) else f"{number:,}"
    return f"{text} {word}{'s' * (number != 1)}"


def cells(rows: Sequence[Row]) -> dict[str, dict[str, int]]:
    """By kind of evidence, how many claims have which verdict; kinds and verdicts that occur."""
    counts = Counter((row["kind"], row["verdict"]) for row in rows)
    by_kind = {
        kind: {one: n for one in VERDICTS if (n := counts[kind, one])} for kind in claims.KINDS
    }
    return {kind: verdicts for kind, verdicts in by_kind.items() if verdicts}


def headlines(rows: Sequence[Row], first: Sequence[str] = ()) -> list[Row]:
    """At most :data:`HEADLINES` claims of a paper, those that findings name ``first``.

    Then theorems, observations, controls, identities; within a kind the first claim on each file of
    raw numbers, then the second on each: so each experiment has its word.
    """
    turn: Counter[tuple[str, str]] = Counter()
    ranks = []
    for row in rows:
        key = (row["kind"], row["artefact"])
        order = (THEOREM, "observation", "control", "identity").index(row["kind"])
        ranks.append((row["claim"] not in first, order, turn[key]))
        turn[key] += 1
    ranked = sorted(range(len(rows)), key=ranks.__getitem__)
    return [rows[place] for place in ranked[:HEADLINES]]
