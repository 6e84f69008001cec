"""What the pages in docs/ say of claims is what the published ledger says."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from featlearn.core.claims import FAILS, HOLDS, NOT_SHOWN, UNDECIDED
from featlearn.core.errors import FeatlearnError
from featlearn.core.publishing.ledger import FRONT
from featlearn.core.publishing.markdown_pages import (
    LINK,
    LIST,
    LISTS,
    in_words,
    quoted,
    read_ledgers,
)

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs").glob("*.md"))
LEDGERS = read_ledgers(ROOT)
#: Verdicts by the words that tell them.
SAID = {
    "holds": HOLDS, "hold": HOLDS, "fails": FAILS, "fail": FAILS, "undecided": UNDECIDED,
    "not shown": NOT_SHOWN,
}  # fmt: skip
WORD = re.compile(r"\b(holds?|fails?|undecided|not shown)\b", re.IGNORECASE)
#: Sections that tell of earlier runs.
EARLIER = ("# Changed after a result", "## Settings, lengths and data", "## Several seeds")


def sentences(text: str) -> Iterator[str]:
    """Of prose, list entries and rows of tables; without code and what tells of earlier runs."""
    text = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    text = LIST.sub("", text)  # what is written by code tells of earlier runs, too
    text = LINK.sub("it", text)  # what stands in one is held by another test; no line is left empty
    for section in re.split(r"^(?=#)", text, flags=re.MULTILINE):
        if not section.startswith(EARLIER):
            for block in re.split(r"\n\s*\n|\n(?=\s*(?:[-|#]|\d+\.) ?)", section):
                yield from re.split(
                    r"(?<=[.:])\s+(?=[A-Z`*(\[])|(?<=;)\s+", " ".join(block.split())
                )


def of_one_claim(ledger: dict[str, dict]) -> Iterator[tuple[str, str, dict, str]]:
    """Page, sentence, row and verdict of each sentence with one claim and one verdict."""
    by_claim = {row["claim"]: row for row in ledger.values()}
    short = {name.partition("/")[2] for name in by_claim}
    for page in PAGES:
        for sentence in sentences(page.read_text(encoding="utf-8")):
            named = re.findall(r"`([\w./*-]+)`", sentence)
            whole = [name for name in named if name in by_claim]
            others = [name for name in named if name in short or "*" in name]
            said = {SAID[word.lower()] for word in WORD.findall(sentence)}
            if len({*whole, *others}) == 1 and whole and len(said) == 1:
                yield page.name, sentence, by_claim[whole[0]], said.pop()


@pytest.mark.skipif(FRONT not in LEDGERS, reason="nothing is published yet")
def test_verdicts_of_the_pages_are_those_of_the_published_ledger():
    found = [*of_one_claim(LEDGERS[FRONT])]
    wrong = [
        f"{page}: {row['claim']} {row['verdict']}, and not: {sentence}"
        for page, sentence, row, said in found
        if said != row["verdict"]
    ]
    assert not wrong, "\n".join(wrong)
    assert len(found) > 20


@pytest.mark.skipif(FRONT not in LEDGERS, reason="nothing is published yet")
def test_pages_quote_the_published_ledger():
    texts = {page.name: page.read_text(encoding="utf-8") for page in PAGES}
    stale = [name for name, text in texts.items() if quoted(text, LEDGERS, name) != text]
    assert not stale, f"{stale}: run `python -m featlearn.core.publishing.markdown_pages`"
    # each list is on one page
    named = [found["name"] for text in texts.values() for found in LIST.finditer(text)]
    assert sorted(named) == sorted(LISTS)


def test_a_link_keeps_its_form_and_gets_its_number():
    row = {"claim": "toy/mean", "paper": "toy", "verdict": "holds", "measured": 0.84,
           "spread": 0.097, "interval_low": 0.743, "interval_high": 0.937}  # fmt: skip
    forms = {"fails": "holds", "0.1": "0.84", "1 (0 to 2)": "0.84 (0.74 to 0.94)", "9 %": "84 %"}
    assert {form: in_words(form, row) for form in forms} == forms
    link = "see [{}](../results/published/desk/toy/claims.md#claim-toy-mean), and [this](other.md)"
    told = link.format("0.1 (0 to 1)")
    found = quoted(told, {"desk": {"toy-mean": row}}, "page.md")
    assert found == link.format("0.84 (0.74 to 0.94)")
    with pytest.raises(FeatlearnError, match=r"page\.md: no claim toy-mean in the run desk"):
        quoted(told, {}, "page.md")
