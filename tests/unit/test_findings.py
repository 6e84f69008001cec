"""Findings: what is wrong is refused by name; and pictures and maths of the report."""

from __future__ import annotations

import base64
import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from featlearn.core.asked import (
    asked_for,
    is_known,
    refuse_unknown,
    refuse_unknown_findings,
)
from featlearn.core.claims import FAILS, HOLDS, NOT_SHOWN, UNDECIDED
from featlearn.core.digest import HEADLINES, answer, cells, expected, headlines, works
from featlearn.core.embedding import maths, picture
from featlearn.core.errors import FeatlearnError
from featlearn.core.findings import kind_of, of_run, read_findings, sentence_of
from featlearn.core.prose import band, brief, figure, measured
from featlearn.core.publish import KINDS, PACKAGE, exhibits, story

FILE = Path(__file__).parents[2] / "config" / "findings.yaml"
ENTRY = {
    "id": "one",
    "claim": "mrp/a",
    "question": "Is it so?",
    "holds": "It is so.",
    "fails": "It is not so.",
}


def rows(number: int, kind: str = "theorem") -> list[dict]:
    return [
        {
            "claim": f"mrp/{n}",
            "paper": "mrp",
            "kind": kind,
            "artefact": "x",
            "verdict": "holds",
            "source": f"Theorem {n // 2}",
            "reason": "",
        }
        for n in range(number)
    ]


def test_the_findings_of_the_repository_are_valid():
    assert len(read_findings(FILE)) >= 8


def test_figures_of_the_repository_are_known_to_their_papers():
    for entry in read_findings(FILE):
        if "figure" in entry:
            paper, _, figure = entry["figure"].partition("/")
            rooms = (PACKAGE / paper).glob("figures/*.py")
            names = {one.name for room in rooms for one in exhibits(paper, room.stem)}
            assert figure in names, entry["figure"]


def papers():
    return sorted(file.parent.name for file in PACKAGE.glob("*/claims"))


def test_claims_that_findings_captions_and_stories_ask_for_are_declared():
    refuse_unknown_findings(read_findings(FILE), papers())
    for paper in papers():
        rooms = {
            file.stem for kind in KINDS for file in (PACKAGE / paper / f"{kind}s").glob("*.py")
        }
        refuse_unknown((one.code, one.page) for room in rooms for one in exhibits(paper, room))
        refuse_unknown([(paper, story(paper))])


@pytest.mark.parametrize(
    "claim",
    [
        "mrp/headline-captured",
        "mrp/t14-noise-background-mae",
        "contrastive/shapes-fig-1-shape-adversarial",
        "noncontrastive/images-digits-collapse",
        "looped/tight-as-printed",
    ],
)
def test_a_claim_is_known_by_what_its_paper_spells(claim):
    assert is_known(claim)
    assert not is_known(f"{claim}y")
    assert not is_known(f"nuclear/{claim.partition('/')[2]}")


def test_a_text_that_asks_for_no_claim_is_refused_by_name():
    text = 'so {{ verdict("mrp/no-such-claim") }}, {{ said("mrp/images-transfer", holds="") }}'
    assert asked_for(text) == ["mrp/no-such-claim", "mrp/images-transfer"]
    with pytest.raises(FeatlearnError, match="figure x: asks for the claim mrp/no-such-claim"):
        refuse_unknown([("figure x", text)])
    with pytest.raises(FeatlearnError, match="finding one: no claims module declares mrp/none"):
        refuse_unknown_findings([{**ENTRY, "claim": "mrp/none-such"}], ["mrp"])
    refuse_unknown_findings([ENTRY], ["looped"])


def test_a_wrong_entry_is_named(tmp_path):
    file = tmp_path / "findings.yaml"
    file.write_text("findings:\n- {id: one, claim: a/b, question: x?, holds: 3, fails: x}\n")
    with pytest.raises(FeatlearnError, match="finding one: holds: 3"):
        read_findings(file)


def test_entries_without_their_claim_are_told_and_another_papers_are_left_out():
    assert of_run([ENTRY], {"mrp/b": {"paper": "mrp"}}) == ([], [ENTRY])
    assert of_run([ENTRY], {"looped/b": {"paper": "looped"}}) == ([], [])
    assert of_run([ENTRY], {"mrp/a": {"paper": "mrp"}}) == ([ENTRY], [])


@pytest.mark.parametrize(
    ("more", "verdict", "is_", "says"),
    [
        ({}, HOLDS, "confirms", "It is so."),
        ({}, FAILS, "contradicts", "It is not so."),
        ({"misprint": True}, FAILS, "corrects", "It is not so."),
        ({"misprint": True}, UNDECIDED, "open", "Is it so?"),
        ({}, NOT_SHOWN, "open", "Is it so?"),
    ],
)
def test_what_a_finding_says_follows_the_verdict(more, verdict, is_, says):
    row = {"verdict": verdict}
    assert kind_of({**ENTRY, **more}, row) == is_
    assert sentence_of(ENTRY, row) == says


def drawn(folder: Path, svg: str) -> Path:
    """A figure of 300 x 200 pixels, and the given text as its SVG."""
    pixels = np.full((200, 300, 4), 255, dtype=np.uint8)
    pixels[50:150, 50:250, :3] = (0, 114, 178)
    Image.fromarray(pixels).save(folder / "figure.png")
    (folder / "figure.svg").write_text(svg, encoding="utf-8")
    return folder / "figure.svg"


def test_a_large_svg_becomes_webp_without_loss_and_a_small_one_stays(tmp_path):
    uri, size = picture(drawn(tmp_path, "<svg/>" + " " * 10_000))
    assert size == (300, 200)
    kind, _, content = uri.partition(";base64,")
    assert kind == "data:image/webp"
    assert picture(tmp_path / "figure.svg") == (uri, size)
    with (
        Image.open(io.BytesIO(base64.b64decode(content))) as back,
        Image.open(tmp_path / "figure.png") as drawing,
    ):
        assert np.array_equal(np.asarray(back), np.asarray(drawing.convert("RGB")))
    assert picture(drawn(tmp_path, "<svg/>"))[0].startswith("data:image/svg+xml;")
    (tmp_path / "figure.png").unlink()
    assert picture(tmp_path / "figure.svg")[1] is None


def test_headlines_are_few_and_those_of_findings_come_first():
    found = headlines(rows(20), ["mrp/15"])
    assert len(found) == HEADLINES
    assert found[0]["claim"] == "mrp/15"
    assert cells(rows(3)) == {"theorem": {"holds": 3}}


def test_the_answer_counts_results_beside_claims_and_names_what_was_expected():
    told = rows(3)
    told[2].update(verdict="fails", reason="A pilot gave 0.2; a failure is expected.")
    said = " ".join(answer(told, {"mrp": "# Masks: why they help\n\nA story"}, 7))
    assert said.startswith(
        "Two results (theorems, lemmas, figures, tables and passages) of one paper, tested by "
        "three claims: of these 2 hold here, 1 fail, and 0 are left open. Of the results 1 have a "
        "claim that fails."
    )
    assert "Of the 1 that fail, 1 were expected to by the reason beside their band." in said
    assert "one base seed, 7" in said
    told[2]["asymptotic"] = "(log d) / d is above 1 for every d below 1e9."
    known = answer(told, {}, 0)[1]
    assert known.endswith(
        "band, and 1 (1 of them among these) speak of a limit that no computer comes near."
    )
    assert answer([], {}, 0) == ["This run judged no claim."]


def test_papers_and_chapters_are_counted_apart():
    stories = {paper: story(paper) for paper in papers()}
    assert works(papers(), stories) == "three papers and eight chapters of a thesis"
    assert works(["toy"], {}) == "one paper"


def test_an_expected_failure_is_told_by_the_reason_alone():
    for reason in ("so that we expect it to fail.", "a failure is expected.", "the claim to fail"):
        assert expected({"reason": reason}) == ("expect" in reason)
    assert not expected({"reason": "We expect 1. A run that fails says nothing."})


def test_maths_is_mathml_and_hostile_text_stays_text():
    assert "<math" in maths("a $x_1$ b")
    assert maths("<b> costs $") == "&lt;b&gt; costs $"


@pytest.mark.parametrize(
    ("numbers", "told", "range_"),
    [
        ((0.5, 0.4, 0.6, 0.1, 1.0), "0.50 (0.40 to 0.60)", "0.1 to 1"),
        ((1.1e-15, 1e-15, 1.2e-15, 0.0, 1e-13), "1.1·10⁻¹⁵ (10⁻¹⁵ to 1.2·10⁻¹⁵)", "0 to 10⁻¹³"),
        ((0.0, 0.0, 0.0, -1e-13, 1e-13), "0 in every replicate", "−10⁻¹³ to 10⁻¹³"),
        ((1.0, 1.0, 1.0, 1 - 1e-9, 1 + 1e-9), "1 in every replicate", "1 ± 10⁻⁹"),
    ],
)
def test_a_number_and_its_band_are_told_so_that_no_rounding_looks_like_zero(numbers, told, range_):
    names = ("measured", "interval_low", "interval_high", "low", "high")
    row = dict(zip(names, numbers, strict=True), spread_kind="half-width")
    assert measured(row) == told
    assert band(row) == range_


def test_the_report_tells_a_number_of_rounding_with_its_exponent_too():
    row = {"measured": 1.1e-15, "spread": 5e-17, "spread_kind": "half-width"}
    assert brief(row) == "1.1·10⁻¹⁵"
    assert brief(row | {"spread_kind": "none: computed"}) == "1.1·10⁻¹⁵"
    assert brief(row | {"measured": 1.0, "spread": 0.0}) == "1"
    assert [figure(value) for value in (1e-13, 0.0, 0.25)] == ["10⁻¹³", "0", "0.25"]
