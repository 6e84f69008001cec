"""What a reader sees of many claims at once: sentences, a matrix of papers, headline claims."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from featlearn.core.claims import FAILS, HOLDS, KINDS, NOT_SHOWN, THEOREM, UNDECIDED, VERDICTS
from featlearn.core.two_runs import differing

#: Most claims that a paper's section shows; the rest stands in the explorer.
HEADLINES = 8
#: How the story of a chapter begins.
_CHAPTER = re.compile(r"#[^\n]*\n\s*Chapter \d+ of ")
#: How the reason of a band tells that its claim was expected to fail.
_EXPECTED = re.compile(r"\bexpect[^.]*\bfail|\bfail[^.]*\bexpect")
_WORDS = (
    "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
    "twelve",
)  # fmt: skip

Row = Mapping[str, Any]


def answer(ledger: Sequence[Row], stories: Mapping[str, str], *seeds: int) -> list[str]:
    """Sentences on the whole ledger.

    Parameters
    ----------
    ledger
        Its rows. Columns that an older one lacks (``asymptotic``) are not told of.
    stories
        Of a paper its story, which gives its title; one without goes by the name of its package.
    *seeds
        Base seed of the run, and those of others with which the ledger was signed, see
        :func:`featlearn.core.two_runs.of_seeds`.
    """
    if not ledger:
        return ["This run judged no claim."]
    papers = list(dict.fromkeys(row["paper"] for row in ledger))
    printed = [row for row in ledger if row["kind"] == THEOREM]
    failing = [row for row in printed if row["verdict"] == FAILS]
    places = _many(len(results(printed)), "result")
    told = [
        f"{places[:1].upper()}{places[1:]} (theorems, lemmas, figures, tables and passages) of "
        f"{works(papers, stories)}, tested by "
        f"{_many(len(printed), 'claim')}: of these {count(printed, HOLDS)} hold here, "
        f"{len(failing)} fail, and {_open(printed)} are left open. Of the results "
        f"{len(results(failing))} have a claim that fails."
    ]
    foreseen = [row for row in failing if expected(row)]
    limits = [row for row in failing if row.get("asymptotic")]
    both = sum(map(expected, limits))
    among = f" ({both} of them among these)" if both else ""
    texts = [
        text
        for rows, text in (
            (foreseen, f"{len(foreseen)} were expected to by the reason beside their band"),
            (limits, f"{len(limits)}{among} speak of a limit that no computer comes near"),
        )
        if rows
    ]
    if texts:
        told.append(f"Of the {len(failing)} that fail, {', and '.join(texts)}.")
    told.append(
        f"Of all {len(ledger)} claims, with the controls, identities and observations of this "
        f"software, {count(ledger, HOLDS)} hold, {count(ledger, FAILS)} fail, and {_open(ledger)} "
        "are undecided or need a larger run."
    )
    told.append(_seeds(ledger, *seeds))
    return told


def _seeds(ledger: Sequence[Row], first: int, *others: int) -> str:
    if not others:
        return (
            f"All of it is one run with one base seed, {first}: intervals are over its replicates."
        )
    seeds = (first, *others)
    by_number = Counter(1 + len(row.get("others", ())) for row in ledger)
    shares = [
        f"{_many(number, 'claim')} by {_WORDS[runs] if runs > 1 else 'one alone'}"
        for runs, number in sorted(by_number.items(), reverse=True)
    ]
    newer = (
        ", because settings, quantities or bands are newer than a run or were changed since"
        if min(by_number) < len(seeds)
        else ""
    )
    open_ = sum(bool(differing(row)) for row in ledger)
    return (
        f"Claims were run with {_WORDS[len(seeds)]} base seeds, {listed(seeds)}"
        f"{_at_commits(ledger, seeds)}: {listed(shares)}{newer}. What two seeds judge differently, "
        f"{_many(open_, 'claim')}, counts as undecided. Numbers are those of the first, intervals "
        "are over its replicates."
    )


def listed(words: Sequence[object]) -> str:
    """One, one and two, one, two and three."""
    *most, last = map(str, words)
    return f"{', '.join(most)} and {last}" if most else last


def commits(ledger: Sequence[Row]) -> dict[int, str]:
    """Of each base seed that signs a ledger the commit of its run."""
    return {one["seed"]: one["commit"] for row in ledger for one in (row, *row.get("others", ()))}


def _at_commits(ledger: Sequence[Row], seeds: Sequence[int]) -> str:
    """At which commits the runs were made, told where claims have several."""
    made = commits(ledger) if any(row.get("others") for row in ledger) else {}
    told = [f"`{made[seed][:12]}`" for seed in seeds if seed in made]
    return f" (at the commits {listed(told)})" if told else ""


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
    told = [
        _many(number, word)
        for number, word in ((len(papers) - chapters, "paper"), (chapters, "chapter"))
        if number
    ]
    return " and ".join(told) + (" of a thesis" if chapters else "")


def results(rows: Iterable[Row]) -> set[tuple[str, str]]:
    """What is printed and tested: a place of a paper, however many claims there are on it."""
    return {(row["paper"], row["source"]) for row in rows}


def expected(row: Row) -> bool:
    """Whether the reason of a band says that the claim is expected to fail."""
    return bool(_EXPECTED.search(row["reason"]))


def count(rows: Sequence[Row], verdict: str) -> int:
    """How many of the rows have the verdict."""
    return sum(row["verdict"] == verdict for row in rows)


def _open(rows: Sequence[Row]) -> int:
    return count(rows, NOT_SHOWN) + count(rows, UNDECIDED)


def _many(number: int, word: str) -> str:
    told = _WORDS[number] if number < len(_WORDS) else f"{number:,}"
    return f"{told} {word}{'s' * (number != 1)}"


def cells(rows: Sequence[Row]) -> dict[str, dict[str, int]]:
    """By kind of evidence, how many claims have which verdict; kinds and verdicts that occur."""
    found = {kind: [row for row in rows if row["kind"] == kind] for kind in KINDS}
    return {
        kind: {verdict: n for verdict in VERDICTS if (n := count(own, verdict))}
        for kind, own in found.items()
        if own
    }


def headlines(rows: Sequence[Row], first: Sequence[str] = ()) -> list[Row]:
    """At most :data:`HEADLINES` claims of a paper.

    Those that the findings name come first (picked by hand, with results in view), then by rule
    theorems, observations, controls and identities;
    within a kind the first claim on each file of raw numbers, then the second on each, in the order
    of the paper's package: so each experiment has its word.
    """
    turn: dict[tuple[str, str], int] = {}
    ranked = []
    for place, row in enumerate(rows):
        key = (row["kind"], row["artefact"])
        turn[key] = turn.get(key, -1) + 1
        order = (THEOREM, "observation", "control", "identity").index(row["kind"])
        ranked.append(((row["claim"] not in first, order, turn[key], place), row))
    ranked.sort(key=lambda pair: pair[0])
    return [row for _, row in ranked[:HEADLINES]]
