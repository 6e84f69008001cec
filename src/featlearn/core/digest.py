"""What a reader sees of many claims at once: sentences, a matrix of papers, headline claims."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from featlearn.core.claims import FAILS, HOLDS, KINDS, NOT_SHOWN, THEOREM, UNDECIDED, VERDICTS

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
        Base seed of the run, and that of a second one with which the ledger was signed, see
        :func:`featlearn.core.two_runs.of_two_seeds`.
    """
    if not ledger:
        return ["This run judged no claim."]
    papers = list(dict.fromkeys(row["paper"] for row in ledger))
    printed = [row for row in ledger if row["kind"] == THEOREM]
    failing = [row for row in printed if row["verdict"] == FAILS]
    places = _many(len(results(printed)), "result")
    told = [
        f"{places[:1].upper()}{places[1:]} of {works(papers, stories)}, tested by "
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
    losses = [
        f"{title(paper, stories)} ({number})"
        for paper in papers
        if (number := count([row for row in ledger if row["paper"] == paper], FAILS))
    ]
    told.append(f"Claims that fail: {', '.join(losses)}." if losses else "Nothing fails.")
    told.append(_seeds(ledger, *seeds))
    return told


def _seeds(ledger: Sequence[Row], first: int, *second: int) -> str:
    if not second:
        return (
            f"All of it is one run with one base seed, {first}: intervals are over its replicates."
        )
    both = [row for row in ledger if row.get("second")]
    differ = sum(row["second"]["verdict"] != row["alone"] for row in both)
    return (
        f"{of_one_seed(ledger) or 'All of it was run with two base seeds'}, {first} and "
        f"{second[0]}{_at_commits(ledger)}: what they judge differently, {_many(differ, 'claim')}, "
        "counts as undecided. Numbers are those of the first, intervals are over its replicates."
    )


def of_one_seed(ledger: Sequence[Row]) -> str:
    """How many claims have a second seed and how many have not; nothing if all have."""
    both = count_both(ledger)
    alone = len(ledger) - both
    if not alone:
        return ""
    return (
        f"{_many(alone, 'claim').capitalize()} {'is' if alone == 1 else 'are'} judged by one seed, "
        "because their settings, quantities or bands are newer than the second run or were changed "
        f"since; {_many(both, 'claim')} {'was' if both == 1 else 'were'} run with two base seeds"
    )


def count_both(ledger: Sequence[Row]) -> int:
    """How many claims have a second seed."""
    return sum(bool(row.get("second")) for row in ledger)


def _at_commits(ledger: Sequence[Row]) -> str:
    """At which commits the two runs were made."""
    row = next((row for row in ledger if row["second"]), None)
    if row is None:
        return ""
    return f" (at the commits `{row['commit'][:12]}` and `{row['second']['commit'][:12]}`)"


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
