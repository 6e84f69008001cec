"""Parts of report and pages: numbers, maths, captions, findings, lineage, what docs/ says."""

import ast
import base64
import io
import math
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from PIL import Image

from featlearn.core.errors import FeatlearnError
from featlearn.core.evidence.claims import FAILS, HOLDS, NOT_SHOWN, UNDECIDED
from featlearn.core.evidence.stats import number, percent, plus_minus
from featlearn.core.publishing.captions import fill_in, reader
from featlearn.core.publishing.findings import kind_of, of_run, read_findings, sentence_of
from featlearn.core.publishing.html_assets import parse_page, picture
from featlearn.core.publishing.ledger import FRONT, distinct
from featlearn.core.publishing.markdown_pages import (
    LINK,
    LIST,
    LISTS,
    in_words,
    quoted,
    read_ledgers,
)
from featlearn.core.publishing.maths import FORMULA, escaped, mathml, maths, plain, without_tags
from featlearn.core.publishing.report import bar, by_rule, installed
from featlearn.core.publishing.summary import band, measured, number_as_in, places, with_numbers
from featlearn.core.run.exhibits import (
    PACKAGE,
    TABLE,
    exhibits,
    refuse_unknown,
    refuse_unknown_findings,
    story,
)
from featlearn.core.run.provenance import lineage, write_record
from unit import ROOT

#: Code in Markdown, where a dollar is one of a shell.
CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)
FINDINGS = ROOT / "config/findings.yaml"
ENTRY = {"id": "one", "claim": "mrp/a", "paper_says": "so it is", "question": "Is it so?",
         "holds": "It is so.", "fails": "It is not so."}  # fmt: skip
ROW = {"claim": "mrp/a", "measured": 0.31, "interval_low": 0.24, "interval_high": 0.38,
       "spread_kind": "half-width", "low": 0.05, "high": math.inf}  # fmt: skip
LINKED = "[0.31 (0.24 to 0.38)](#claim-mrp-a)"


NUMBERS = {
    0.63149: "0.631", 1.0: "1", -0.5: "−0.5", 12345.6: "12,346", 8.4e-17: "0", 0.00002: "2·10⁻⁵",
    1e-10: "10⁻¹⁰", -2.5e7: "−2.5·10⁷", math.inf: "∞", -math.inf: "−∞",
}  # fmt: skip
#: Not rounded to all or nothing.
SHARES = {0.631: "63 %", 1.0: "100 %", 0.0: "0 %", -0.2: "−20 %", 1 - 1e-13: "100 %",
          0.996: "99.6 %", 0.0004: "0.04 %"}  # fmt: skip
#: A mean has the decimals that its spread deserves.
SPREADS = {
    (0.63391, 0.01707): "0.634 ± 0.017", (0.00412, 0.0061): "0.0041 ± 0.0061", (1.0, 0.0): "1",
    (0.996, 8.4e-17): "0.996", (0.5, 2e-8): "0.500000 ± <.000001",
    (3.2e-8, 4e-9): "3.2·10⁻⁸ ± 4·10⁻⁹", (-0.5, math.nan): "−0.5", (1234.5, 40.0): "1,234 ± 40",
}  # fmt: skip


def test_numbers_shares_and_means_in_words():
    assert {given: number(given) for given in NUMBERS} == NUMBERS
    assert {given: percent(given).replace("\N{NO-BREAK SPACE}", " ") for given in SHARES} == SHARES
    assert {given: plus_minus(*given) for given in SPREADS} == SPREADS


@pytest.mark.parametrize(("numbers", "text", "ends"), [
    ((0.5, 0.4, 0.6, 0.1, 1.0), "0.50 (0.40 to 0.60)", "0.1 to 1"),
    ((1.1e-15, 1e-15, 1.2e-15, 0.0, 1e-13), "1.1·10⁻¹⁵ (10⁻¹⁵ to 1.2·10⁻¹⁵)", "0 to 10⁻¹³"),
    ((0.0, 0.0, 0.0, -1e-13, 1e-13), "0 (in every replicate)", "−10⁻¹³ to 10⁻¹³"),
    ((1.0, 1.0, 1.0, 1 - 1e-9, 1 + 1e-9), "1 (in every replicate)", "1 ± 10⁻⁹"),
    ((1.0, 1.0, 1.0, 0.9999, 1 + 1e-9), "1 (in every replicate)", "0.9999 to 1"),
])  # fmt: skip
def test_a_number_and_its_band_do_not_look_like_zero_by_rounding(numbers, text, ends):
    names = ("measured", "interval_low", "interval_high", "low", "high")
    row = ROW | dict(zip(names, numbers, strict=True))
    assert (measured(row), band(row)) == (text, ends)


@pytest.mark.parametrize(("text", "shown"), [
    ("by {value}.", "by [0.31 (0.24 to 0.38)]."),
    ("by {percent}, {value}", "by [31 % (24 to 38)], [0.31 (0.24 to 0.38)]"),
    ("by {-points}", "by [−31 percentage points (−38 to −24)]"),
    ("{x} of none", "{x} of none"),
])  # fmt: skip
def test_a_sentence_has_its_number_where_its_word_is(text, shown):
    assert with_numbers(text, ROW, lambda number: f"[{number}]") == shown
    number = number_as_in(text, ROW)
    assert f"[{number}]" in shown or number == "0.31 (0.24 to 0.38)"


@pytest.mark.parametrize(("source", "found"), [
    ("Lemma 2.6, Lemmas A.9 to A.11", ["lemma 2.6", "lemma a.9", "lemma a.10", "lemma a.11"]),
    ("Theorem 1(b), (c) with Lemma C.1 / B.1", ["theorem 1(b)", "lemma c.1", "lemma b.1"]),
    ("Theorems 2.1 and A.20, Table A.1", ["theorem 2.1", "theorem a.20", "table a.1"]),
    ("Section 3, bias schedule (kb = 1)", ["section 3"]),
    ("ours (eq. 4.2)", ["eq 4.2"]),
    ("ours", []),
])  # fmt: skip
def test_a_source_names_places_by_their_numbers(source, found):
    assert places(source) == found


def test_formulas_in_html():
    html = maths("x_1 < 2 & $x_1 < 2$ `no`, costs $")
    assert html.startswith("x_1 &lt; 2 &amp; <math")
    assert html.endswith("</math> `no`, costs $")
    assert "<msub><mi>x</mi><mn>1</mn></msub><mo>&#x0003C;</mo>" in html
    page = parse_page("# On $a_1$\n\nOf $w_*$ *and* $v_*\\,c$: `$b_2$`, [$d$](#x_1).\n", "story", 2)
    assert "</math> <em>and</em> <math" in page.body
    assert '<code>$b_2$</code>, <a href="#x_1"><math' in page.body


def test_a_long_formula_may_break_before_relations_and_sums_and_a_short_one_not():
    short, long = "$a + b = c$", r"$a \le \left(b + c_{i - 1}\right) + d + e + f + g + h + k$"
    assert maths(short) == mathml(short[1:-1])
    parts = maths(long).split("<wbr>")
    assert [part.count('<mo form="infix">') for part in parts] == [0] + 8 * [1]
    assert without_tags(maths(f"So {long}.")) == plain(f"So {long}.")


@pytest.mark.parametrize(
    "latex", ["x^{2", "x}", "}x{", r"\nosuch x", r"\frac", r"\left( x", "\x1bll_2"]
)
def test_bad_latex_is_refused(latex):
    with pytest.raises(FeatlearnError, match="formula"):
        mathml(latex)


class Filled(ast.NodeTransformer):
    """Values in f-strings are ones."""

    def visit_JoinedStr(self, node):
        parts = (part.value if isinstance(part, ast.Constant) else "1" for part in node.values)  # noqa: PD011
        return ast.copy_location(ast.Constant("".join(parts)), node)


def test_the_formulas_of_all_texts_are_latex():
    texts = [(str(page), CODE.sub("", page.read_text(encoding="utf-8")))
             for page in (ROOT / "docs").glob("*.md")]  # fmt: skip
    texts += [(f"finding {entry['id']}", str(text))
              for entry in read_findings(FINDINGS) for text in entry.values()]  # fmt: skip
    for file in [*PACKAGE.glob("*/__init__.py"), *PACKAGE.glob("*/analysis/*.py")]:
        nodes = ast.walk(Filled().visit(ast.parse(file.read_bytes())))
        texts += [(f"{file}:{one.lineno}", one.value) for one in nodes
                  if isinstance(one, ast.Constant) and isinstance(one.value, str)]  # fmt: skip
    for where, text in texts:
        try:
            rest = FORMULA.sub(lambda match: mathml(match[1])[:0], text)
        except FeatlearnError as error:
            pytest.fail(f"{where}: {error}")
        assert "$" not in rest, f"{where}: a dollar without its other one: {rest}"


def test_the_name_of_a_row_or_claim_stays_on_its_line():
    for file in [*PACKAGE.glob("*/__init__.py"), *PACKAGE.glob("*/analysis/*.py")]:
        text = file.read_text(encoding="utf-8")
        for call in re.findall(r"\b(?:value|verdict)\(([^()]*)\)", text):
            broken = [name for name in re.findall(r'"([^"]*)"', call) if "\n" in name]
            assert broken == [], f"{file}: matches no row: {broken}"


def test_pages_bring_formulas_headings_and_no_html_pictures_or_scripts():
    page = parse_page("# Of *masks* & `m`\n\nOne *word*.\n\n## Below\n", "story", 2)
    assert (page.title, page.body) == (
        "Of masks & m", "<p>One <em>word</em>.</p>\n<h3>Below</h3>\n"
    )  # fmt: skip
    for text in ("", "no title", "## too low"):
        with pytest.raises(FeatlearnError, match="story: expected `# Title`"):
            parse_page(text, "story", 2)
    page = parse_page(
        "# <script>alert(1)</script>\n\n<script>alert(2)</script>\n\n<img src=x onerror=alert(3)>\n"
        "\n![picture](https://example.org/x.png) [link](javascript:alert(4))\n",
        "story",
        2,
    )
    assert not re.search('<script|<img|href="javascript', page.body)
    assert escaped("M*_j <= |a|") == r"M\*\_j &lt;= \|a\|"
    assert escaped("$x_1 < 2$ & <b>") == r"$x_1 \lt  2$ &amp; &lt;b>"


def test_a_large_svg_becomes_webp_without_loss_and_a_small_one_stays(tmp_path):
    pixels = np.full((200, 300, 4), 255, dtype=np.uint8)
    pixels[50:150, 50:250, :3] = (0, 114, 178)
    Image.fromarray(pixels).save(tmp_path / "figure.png")
    svg = tmp_path / "figure.svg"
    svg.write_text("<svg/>" + " " * 10_000)
    uri, size = picture(svg)
    kind, _, content = uri.partition(";base64,")
    assert (kind, size) == ("data:image/webp", (300, 200))
    with Image.open(io.BytesIO(base64.b64decode(content))) as back:
        assert np.array_equal(np.asarray(back), pixels[..., :3])
    svg.write_text("<svg/>")
    assert picture(svg)[0].startswith("data:image/svg+xml;")


@pytest.fixture
def value():
    rows = [("supervised", "captured", 0.631), ("finetuned", "captured", 0.996),
            ("supervised", "accuracy", 0.75), ("probe", "captured", math.nan)]  # fmt: skip
    headline = pd.DataFrame(rows, columns=["model", "quantity", "mean"]).assign(replicates=10)
    other = pd.DataFrame({"mean": [12345.678]})
    return reader({("mrp", "headline"): headline, ("icl", "sizes"): other}, "mrp")


def test_a_story_quotes_measured_numbers(value):
    text = (
        '{{ value("headline", model="supervised", quantity="captured") | percent }}, '
        '{{ value("headline", "mean", model="finetuned") }}, '
        '{{ value("headline", "replicates", model="finetuned") }}, '
        '{{ value("icl/sizes") | number(2) }}, '
        '{{ (value("headline", model="finetuned") - value("headline", quantity="accuracy")) '
        "| percent(1) }}"
    )
    shown = fill_in(text, "story", value).replace("\N{NO-BREAK SPACE}", " ")
    assert shown == "63 %, 0.996, 10, 12,346, 24.6 %"


@pytest.mark.parametrize(("asked", "fault"), [
    ('value("headline", model="nobody")', "'nobody'): 0 rows match; expected exactly one"),
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
])  # fmt: skip
def test_a_number_that_is_not_there_is_an_error_with_the_file_and_the_filter(value, asked, fault):
    with pytest.raises(FeatlearnError, match=r"^mrp/story\.md: ") as error:
        fill_in(f"text {{{{ {asked} }}}}", "mrp/story.md", value)
    assert fault in str(error.value)


@pytest.mark.parametrize(("verdict", "text", "left"), [
    (HOLDS, f"It is so, {LINKED}", "Yes"),
    (FAILS, f"It is not so, {LINKED}", "No"),
    (UNDECIDED, f"*Left open whether* it is so, {LINKED}", "Who knows"),
    (NOT_SHOWN, f"*Not shown at this scale whether* it is so, {LINKED}", "Who knows"),
    (None, "*not part of this run:* It is so", "Who knows"),
])  # fmt: skip
def test_a_text_says_what_was_concluded(value, verdict, text, left):
    ledger = {"mrp/a": {**ROW, "verdict": verdict}} if verdict else {}
    said = '{{ said("mrp/a", holds="It is so", fails="It is not so") }}'
    assert fill_in(said, "story", value, ledger) == text
    other = '{{ said("mrp/a", holds="Yes", fails="No", left="Who knows") }}'
    assert fill_in(other, "story", value, ledger).startswith(left)
    shown = fill_in('{{ verdict("mrp/a") }}', "story", value, ledger)
    assert (verdict or "not part of this run") in shown


def papers() -> list[str]:
    return sorted({file.parent.name for file in PACKAGE.glob("*/analysis")})


def test_what_findings_captions_and_stories_of_the_repository_quote_is_declared():
    entries = read_findings(FINDINGS)
    assert len(entries) >= 8
    refuse_unknown_findings(entries, papers())
    figures = set()
    for paper in papers():
        modules = [file.stem for file in (PACKAGE / paper).glob("analysis/*.py")]
        shown = [one for module in modules for one in exhibits(paper, module)]
        texts = [(one.code, paper, one.page) for one in shown] + [(paper, paper, story(paper))]
        # which tables there are, the rules say
        quoted = {f"{paper}/{name}" for _, _, text in texts for name in TABLE.findall(text)}
        refuse_unknown(texts, quoted)
        figures |= {f"{paper}/{one.name}" for one in shown}
    assert {entry["figure"] for entry in entries if "figure" in entry} <= figures


def test_a_text_that_quotes_what_is_not_there_is_refused_by_name():
    text = 'so {{ verdict("mrp/no-such-claim") }}, {{ said("mrp/images-transfer", holds="") }}'
    with pytest.raises(FeatlearnError, match="figure x: asks for the claim mrp/no-such-claim"):
        refuse_unknown([("figure x", "mrp", text)], ())
    with pytest.raises(FeatlearnError, match="finding one: no claims module declares mrp/none"):
        refuse_unknown_findings([{**ENTRY, "claim": "mrp/none-such"}], ["mrp"])
    refuse_unknown_findings([ENTRY], ["looped"])
    text = '{{ value("sizes", "mean") }} and {{ value("other/sizes") }}'
    refuse_unknown([("figure x", "mrp", text)], {"mrp/sizes"})
    with pytest.raises(FeatlearnError, match="figure x: quotes the table icl/sizes, which no rule"):
        refuse_unknown([("figure x", "icl", text)], {"mrp/sizes"})


@pytest.mark.parametrize(("entries", "withdrawn", "fault"), [
    ([ENTRY | {"holds": 3}], "", "finding one: holds must be text, got 3"),
    ([ENTRY, ENTRY], "", "finding one: is there twice"),
    ([ENTRY | {"holds": "word " * 26}], "", "holds must have at most 25 words, got 26"),
    ([ENTRY], "mrp/a: A longer run turned it.", "the verdict of mrp/a is withdrawn"),
    ([ENTRY], "mrp: A longer run turned it.", "withdrawn claims are not valid"),
])  # fmt: skip
def test_a_wrong_entry_is_refused_by_name(tmp_path, entries, withdrawn, fault):
    (tmp_path / "findings.yaml").write_text(yaml.safe_dump({"findings": entries}))
    (tmp_path / "withdrawn.yaml").write_text(withdrawn)
    with pytest.raises(FeatlearnError, match=fault):
        read_findings(tmp_path / "findings.yaml")


def test_entries_without_their_claim_are_named_and_another_papers_are_left_out():
    assert of_run([ENTRY], {"mrp/b": {"paper": "mrp"}}) == ([], [ENTRY])
    assert of_run([ENTRY], {"looped/b": {"paper": "looped"}}) == ([], [])
    assert of_run([ENTRY], {"mrp/a": {"paper": "mrp"}}) == ([ENTRY], [])


@pytest.mark.parametrize(("more", "verdict", "kind", "says"), [
    ({}, HOLDS, "confirms", "It is so."),
    ({}, FAILS, "contradicts", "It is not so."),
    ({"misprint": True}, FAILS, "corrects", "It is not so."),
    ({"misprint": True}, UNDECIDED, "open", "Is it so?"),
    ({}, NOT_SHOWN, "open", "Is it so?"),
])  # fmt: skip
def test_what_a_finding_says_follows_the_verdict(more, verdict, kind, says):
    row = {"verdict": verdict}
    assert kind_of({**ENTRY, **more}, row) == kind
    assert sentence_of(ENTRY, row) == says


def test_marks_lie_in_the_order_of_their_numbers_within_the_drawing():
    band, point, (left, right) = bar(0.49, 0.51, 0.37, interval_low=0.35, interval_high=0.39)
    assert 0 < left < point < right < band[0] < band[1] < 100
    band, point, ends = bar(low=0.0, high=0.005, measured=0.0, interval_low=0.0, interval_high=0.0)
    assert point == band[0] == ends[0]
    # open bands reach the edge, a single replicate has no interval, a point lies in the middle
    assert bar(0.8, math.inf, 12.0, math.nan, math.nan)[0][1] == 100
    assert bar(-math.inf, math.inf, 1.0, math.nan, math.nan)[::2] == ((0, 100), None)
    assert bar(2.0, 2.0, 2.0, 2.0, 2.0) == ((50, 50), 50, (50, 50))


def record(results: Path, name: str, rule: str, *inputs: str, **other) -> Path:
    made = results / name
    content = {"rule": rule, "inputs": {str(results / source): "0" for source in inputs}}
    write_record(results, made, content | other)
    return made


def test_a_lineage_holds_the_makers_first_and_nothing_else(tmp_path):
    record(tmp_path, "w.safetensors", "train", versions={"torch": "2.1"})
    record(tmp_path, "v.safetensors", "train", versions={"torch": "2.1"})
    record(tmp_path, "e.parquet", "evaluate", "w.safetensors", "lost.parquet", "v.safetensors",
           versions={"torch": "2.2"})  # fmt: skip
    record(tmp_path, "unrelated.parquet", "other")
    drawn = record(tmp_path, "f.svg", "draw", "e.parquet", "w.safetensors")
    found = lineage(tmp_path, [drawn, tmp_path / "norecord.svg", Path("workflow/caption.md")])
    assert [one["rule"] for one in found.values()] == ["train", "train", "evaluate", "draw"]
    assert list(found)[-1] == drawn
    made = {rule: len(records) for rule, records in by_rule(found).items()}
    assert made == {"train": 2, "evaluate": 1, "draw": 1}
    assert distinct(found.values(), "versions") == {"torch": ["2.1", "2.2"]}


def test_packages_are_listed_once_as_they_are_locked_with_licence_and_digest():
    found = installed()
    names = [package.name.lower() for package in found]
    assert names == sorted(set(names))
    assert all(package.licence for package in found)
    of = dict(zip(names, found, strict=True))
    assert of["numpy"].licence.startswith("BSD")
    assert re.fullmatch("[0-9a-f]{64}", of["numpy"].digest)
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    for name in ("torch", "numpy", "snakemake", "pyarrow", "safetensors"):
        # one version for each Python that is allowed; torch names its build after a plus sign
        locked = re.findall(rf"^{name}==([^ ;\\]+)", lock, re.MULTILINE)
        assert of[name].version.partition("+")[0] in locked


PAGES = sorted((ROOT / "docs").glob("*.md"))
LEDGERS = read_ledgers(ROOT)
#: Verdicts by the words that tell them.
SAID = {"hold": HOLDS, "fail": FAILS, "undecided": UNDECIDED, "not shown": NOT_SHOWN}
WORD = re.compile(r"\b(hold|fail|undecided|not shown)s?\b", re.IGNORECASE)
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


def test_verdicts_of_the_pages_are_those_of_the_published_ledger():
    verdicts = {row["claim"]: row["verdict"] for row in LEDGERS[FRONT].values()}
    short, found, wrong = {name.partition("/")[2] for name in verdicts}, 0, []
    for page in PAGES:
        for sentence in sentences(page.read_text(encoding="utf-8")):
            named = set(re.findall(r"`([\w./*-]+)`", sentence))
            whole = named & verdicts.keys()
            said = {SAID[word.lower()] for word in WORD.findall(sentence)}
            # of one claim and one verdict
            if len(whole) == len(said) == 1 and not {n for n in named if n in short or "*" in n}:
                found += 1
                if said != {verdicts[(claim := whole.pop())]}:
                    wrong.append(f"{page.name}: {claim} {verdicts[claim]}, and not: {sentence}")
    assert not wrong, "\n".join(wrong)
    assert found > 20


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
