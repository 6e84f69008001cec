"""What the report is put together from: numbers in words, quoted numbers, drawings, lineage."""

from __future__ import annotations

import math
from pathlib import Path

import pandas as pd
import pytest

from featlearn.core.described import described
from featlearn.core.errors import FeatlearnError
from featlearn.core.prose import fill_in, parse_page, percent, reader
from featlearn.core.provenance import write_record
from featlearn.core.report import bar, by_rule, distinct, lineage
from featlearn.core.stats import number, plus_minus

STORY = Path("workflow/report/mrp/story.md")


@pytest.fixture
def value():
    headline = pd.DataFrame(
        {
            "model": ["supervised", "finetuned", "supervised", "probe"],
            "quantity": ["captured", "captured", "accuracy", "captured"],
            "mean": [0.631, 0.996, 0.75, math.nan],
            "replicates": [10, 10, 10, 10],
        }
    )
    other = pd.DataFrame({"mean": [12345.678]})
    return reader({("mrp", "headline"): headline, ("icl", "sizes"): other}, "mrp")


ROW = {
    **{"measured": 0.31, "spread": 0.072, "spread_kind": "half-width"},
    **{"low": 0.05, "high": math.inf},
}


@pytest.mark.parametrize(
    ("verdict", "text"),
    [
        ("holds", "It is so ([0.310 ± 0.072](#claim-mrp-a))"),
        ("fails", "It is not so ([0.310 ± 0.072](#claim-mrp-a))"),
        ("undecided", "*Left open whether* it is so ([0.310 ± 0.072](#claim-mrp-a))"),
        (
            "not shown at this scale",
            "*Not shown at this scale whether* it is so ([0.310 ± 0.072](#claim-mrp-a))",
        ),
        (None, "*not part of this run:* It is so"),
    ],
)
def test_a_text_says_what_was_concluded(value, verdict, text):
    ledger = {"mrp/a": {**ROW, "verdict": verdict}} if verdict else {}
    asked = '{{ said("mrp/a", holds="It is so", fails="It is not so") }}'
    assert fill_in(asked, STORY, value, ledger) == text
    for clause in ("MAE is", "SimMIM is", "it is", "Q and P are"):  # names keep their capitals
        told = fill_in(asked.replace("It is so", clause), STORY, value, ledger)
        assert clause in told or verdict == "fails"
    other = '{{ said("mrp/a", holds="Yes", fails="No", left="Who knows") }}'
    if verdict not in ("holds", "fails"):
        assert fill_in(other, STORY, value, ledger).startswith("Who knows")
    said = fill_in('{{ verdict("mrp/a") }}', STORY, value, ledger)
    verb = verdict if verdict in ("holds", "fails") else f"is {verdict}"
    band = f"**{verb}** ([0.310 ± 0.072](#claim-mrp-a); band at least 0.05)"
    assert said == (band if verdict else "not part of this run")


# --------------------------------------------------------------------------- numbers in words


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (0.63149, "0.631"),
        (1.0, "1"),
        (-0.5, "−0.5"),
        (12345.6, "12,346"),
        (8.4e-17, "0"),
        (0.00002, "2·10⁻⁵"),
        (1e-10, "10⁻¹⁰"),
        (-2.5e7, "−2.5·10⁷"),
        (math.inf, "∞"),
        (-math.inf, "−∞"),
    ],
)
def test_number(given, text):
    assert number(given) == text


@pytest.mark.parametrize(
    ("given", "digits", "text"),
    [
        (0.631, 0, "63 %"),
        (0.631, 1, "63.1 %"),
        (1.0, 0, "100 %"),
        (0.0, 0, "0 %"),
        (-0.2, 0, "−20 %"),
    ],
)
def test_percent(given, digits, text):
    assert percent(given, digits) == text.replace(" ", "\N{NO-BREAK SPACE}")


def test_nearly_all_is_not_rounded_to_all():
    assert percent(0.996) == "99.6\N{NO-BREAK SPACE}%"
    assert percent(0.0004) == "0.04\N{NO-BREAK SPACE}%"
    assert percent(1 - 1e-13) == "100\N{NO-BREAK SPACE}%"


@pytest.mark.parametrize(
    ("mean", "spread", "text"),
    [
        (0.63391, 0.01707, "0.634 ± 0.017"),
        (0.00412, 0.0061, "0.0041 ± 0.0061"),
        (1.0, 0.0, "1"),
        (0.996, 8.4e-17, "0.996"),
        (0.5, 2e-8, "0.500000 ± <.000001"),
        (3.2e-8, 4e-9, "3.2·10⁻⁸ ± 4·10⁻⁹"),
        (-2e-5, 1e-7, "−2·10⁻⁵ ± 10⁻⁷"),
        (-0.5, math.nan, "−0.5"),
        (1234.5, 40.0, "1,234 ± 40"),
    ],
)
def test_a_mean_has_the_decimals_that_its_spread_deserves(mean, spread, text):
    assert plus_minus(mean, spread) == text


# --------------------------------------------------------------------------- quoted numbers


def test_a_story_quotes_measured_numbers(value):
    text = (
        '{{ value("headline", model="supervised", quantity="captured") | percent }}, '
        '{{ value("headline", "mean", model="finetuned") }}, '
        '{{ value("headline", "replicates", model="finetuned") }}, '
        '{{ value("icl/sizes") | number(2) }}, '
        '{{ (value("headline", model="finetuned") - value("headline", quantity="accuracy")) '
        "| percent(1) }}"
    )
    said = fill_in(text, STORY, value).replace("\N{NO-BREAK SPACE}", " ")
    assert said == "63 %, 0.996, 10, 12,346, 24.6 %"


@pytest.mark.parametrize(
    ("asked", "fault"),
    [
        (
            'value("headline", model="nobody")',
            "model='nobody'): 0 rows match; expected exactly one",
        ),
        ('value("headline", quantity="captured")', "3 rows match; expected exactly one"),
        ('value("headline", mdel="supervised")', "no column 'mdel'; there are: model, quantity"),
        ('value("headline", "median", model="finetuned")', "no column 'median'"),
        ('value("headlines")', "no such table; there are: icl/sizes, mrp/headline"),
        ('value("headline", model="probe")', "the cell is empty"),
        ("value(3)", "has no attribute"),
        ("valeu('headline')", "'valeu' is undefined"),
        ("value(", "unexpected"),
        ("value('headline', 'model', model='finetuned') | percent", "format code"),
        ("().__class__.__bases__[0].__subclasses__()", "unsafe"),
    ],
)
def test_a_number_that_is_not_there_is_an_error_with_the_file_and_the_filter(value, asked, fault):
    with pytest.raises(FeatlearnError, match=r"^workflow/report/mrp/story\.md: ") as error:
        fill_in(f"text {{{{ {asked} }}}}", STORY, value)
    assert fault in str(error.value)


# --------------------------------------------------------------------------- Markdown


def test_a_page_is_a_title_and_a_body_with_headings_one_level_down():
    page = parse_page("# Of *masks* & `m`\n\nOne *word*.\n\n## Below\n", STORY, 2)
    assert page.title == "Of masks & m"
    assert page.body == "<p>One <em>word</em>.</p>\n<h3>Below</h3>\n"


def test_a_page_without_a_title_is_an_error():
    for text in ("", "no title", "## too low"):
        with pytest.raises(FeatlearnError, match=r"story\.md: expected `# Title`"):
            parse_page(text, STORY, 2)


def test_markdown_brings_no_html_no_pictures_and_no_scripts():
    page = parse_page(
        "# <script>alert(1)</script>\n\n<script>alert(2)</script>\n\n<img src=x onerror=alert(3)>\n"
        "\n![picture](https://example.org/x.png) [link](javascript:alert(4))\n",
        STORY,
        2,
    )
    assert "<script" not in page.body
    assert "<img" not in page.body
    assert 'href="javascript' not in page.body


def test_a_table_scrolls_in_a_box_of_its_own():
    page = parse_page('# A "b"\n\n| | y |\n|--|--:|\n| <b> | 1 |\n', STORY, 4)
    assert page.body.count('<div class="scroll" role="group" tabindex="0"') == 1
    assert 'aria-label="A &#34;b&#34;"><table>' in page.body
    assert "<td>&lt;b&gt;</td>" in page.body
    assert page.body.count("<th") - page.body.count("<thead") == 1
    assert page.body.rstrip().endswith("</table></div>")


# --------------------------------------------------------------------------- drawing


def test_marks_lie_in_the_order_of_their_numbers_within_the_drawing():
    placed = bar(low=0.49, high=0.51, measured=0.37, interval_low=0.35, interval_high=0.39)
    left, right = placed.interval
    assert 0 < left < placed.point < right < placed.band[0] < placed.band[1] < 100


def test_a_value_on_the_edge_of_the_band_lies_on_its_mark():
    placed = bar(low=0.0, high=0.005, measured=0.0, interval_low=0.0, interval_high=0.0)
    assert placed.point == placed.band[0] == placed.interval[0]


def test_open_bands_reach_the_edge_and_one_replicate_has_no_interval():
    placed = bar(0.8, math.inf, 12.0, math.nan, math.nan)
    assert placed.band[1] == 100
    assert placed.interval is None
    assert bar(-math.inf, math.inf, 1.0, math.nan, math.nan).band == (0, 100)


def test_a_band_of_one_point_that_is_met_lies_in_the_middle():
    placed = bar(2.0, 2.0, 2.0, 2.0, 2.0)
    assert (placed.band, placed.point, placed.interval) == ((50, 50), 50, (50, 50))


# --------------------------------------------------------------------------- lineage


def record(results: Path, name: str, rule: str, *inputs: str, **other) -> Path:
    made = results / name
    content = {"rule": rule, "inputs": {str(results / source): "0" for source in inputs}}
    write_record(results, made, content | other)
    return made


def test_a_lineage_holds_the_makers_first_and_nothing_else(tmp_path):
    record(tmp_path, "w.safetensors", "train")
    record(tmp_path, "e.parquet", "evaluate", "w.safetensors", "lost.parquet")
    record(tmp_path, "unrelated.parquet", "other")
    drawn = record(tmp_path, "f.svg", "draw", "e.parquet", "w.safetensors")
    found = lineage(tmp_path, [drawn, tmp_path / "norecord.svg", Path("workflow/caption.md")])
    assert [entry["rule"] for entry in found.values()] == ["train", "evaluate", "draw"]
    assert list(found)[-1] == drawn


def test_rules_and_versions_are_named_once(tmp_path):
    parts = [
        record(tmp_path, "a", "train", config={"k": 2}, versions={"torch": "2.1"}),
        record(tmp_path, "b", "train", config={"k": 2}, versions={"torch": "2.1"}),
        record(tmp_path, "c", "evaluate", config={"k": 2}, versions={"torch": "2.2"}),
        record(tmp_path, "d", "draw", config={}, versions={}),
        record(tmp_path, "e", "probe", config={"k": 3}),
    ]
    found = lineage(tmp_path, parts)
    assert {rule: len(made) for rule, made in by_rule(found).items()} == {
        "train": 2,
        "evaluate": 1,
        "draw": 1,
        "probe": 1,
    }
    assert distinct(found.values(), "versions") == {"torch": ["2.1", "2.2"]}


# --------------------------------------------------------------------------- instead of a picture


CLAIM = ROW | {"kind": "theorem", "artefact": "a.parquet"}


def test_the_text_instead_of_a_figure_tells_what_its_caption_concludes():
    caption = (
        "# Growth\n\nEach line is a feature (see Fig. 3 of the paper). Without **noise** "
        "$\\mu$ grows ([0.31 ± 0.07](#claim-mrp-a)). The dots are means.\n\n| a |\n|---|\n| 1 |\n"
    )
    row = CLAIM | {"claim": "mrp/a", "statement": "It grows.", "verdict": "holds"}
    text = described("growth", parse_page(caption, "a caption", 4), [row])
    assert text == "Growth. Without noise mu grows (0.31 ± 0.07). Claims on these numbers: holds 1."


def test_where_a_caption_concludes_nothing_it_is_what_to_see_and_the_nearest_claim():
    rows = [
        CLAIM | {"claim": f"mrp/{name}", "statement": f"{what} is $x$.", "quantity": "share",
                 "verdict": verdict}
        for name, what, verdict in (("a", "Time", "holds"), ("b", "Late growth", "fails"))
    ]  # fmt: skip
    page = parse_page("# Growth\n\nEach line is one. *What to see:* it ends.\n", "a caption", 4)
    assert described("growth", page, rows) == (
        "Growth. It ends. Late growth is x (0.310 ± 0.072: fails). "
        "Claims on these numbers: holds 1, fails 1."
    )
    page = parse_page("# Growth\n\nEach line is one.\n", "a caption", 4)
    assert described("growth", page, []) == "Growth. Each line is one."
    assert "Late growth is x (0.310 ± 0.072: fails). Time is x" in described("growth", page, rows)
