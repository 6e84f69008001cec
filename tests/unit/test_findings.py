"""Findings: what is wrong is refused by name; and pictures and maths of the report."""

from __future__ import annotations

from pathlib import Path

import pytest

from featlearn.core.digest import HEADLINES, answer, cells, headlines
from featlearn.core.embedding import maths
from featlearn.core.errors import FeatlearnError
from featlearn.core.findings import of_run, read_findings

FILE = Path(__file__).parents[2] / "config" / "findings.yaml"
ENTRY = {"id": "one", "claim": "mrp/a", "kind": "confirms", "sentence": "It is so."}


def rows(number: int, kind: str = "theorem") -> list[dict]:
    return [
        {"claim": f"mrp/{n}", "paper": "mrp", "kind": kind, "artefact": "x", "verdict": "holds"}
        for n in range(number)
    ]


def test_the_findings_of_the_repository_are_valid():
    assert len(read_findings(FILE)) >= 8


def test_a_wrong_entry_is_named(tmp_path):
    file = tmp_path / "findings.yaml"
    file.write_text("findings:\n- {id: one, claim: a/b, kind: maybe, sentence: x}\n")
    with pytest.raises(FeatlearnError, match="finding one: kind: 'maybe'; expected one of"):
        read_findings(file)


def test_an_unknown_claim_is_refused_and_another_papers_is_left_out():
    with pytest.raises(FeatlearnError, match="finding one: no claim 'mrp/a'"):
        of_run([ENTRY], {"mrp/b"}, set(), {"mrp"})
    assert of_run([ENTRY], {"looped/b"}, set(), {"looped"}) == []
    assert of_run([ENTRY], {"mrp/a"}, set(), {"mrp"}) == [ENTRY]


def test_headlines_are_few_and_those_of_findings_come_first():
    found = headlines(rows(20), ["mrp/15"])
    assert len(found) == HEADLINES
    assert found[0]["claim"] == "mrp/15"
    assert cells(rows(3)) == {"theorem": {"holds": 3}}
    assert answer(rows(3))[0].startswith("Of 3 statements that 1 paper")


def test_maths_is_mathml_and_hostile_text_stays_text():
    assert "<math" in maths("a $x_1$ b")
    assert maths("<b> costs $") == "&lt;b&gt; costs $"
