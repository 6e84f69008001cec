"""Both reports, made from fabricated results, as files and in a real (headless) browser.

Set ``FEATLEARN_REPORT`` to a ``report.html`` to put that one before the browser as well.
"""

import json
import math
import os
import re
import shutil
from html.parser import HTMLParser
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from featlearn.core.evidence.catalogue import catalogue_frame, read_catalogue
from featlearn.core.evidence.claims import COLUMNS, FAILS, HOLDS, NOT_SHOWN, UNDECIDED, VERDICTS
from featlearn.core.files import write_markdown_table, write_parquet
from featlearn.core.publishing.report import INDEX, WHOLE, render, view
from featlearn.core.run.provenance import records, write_record
from featlearn.own_images import analysis
from featlearn.own_images import report as own_report

CATALOGUE = Path(__file__).parents[2] / "config" / "catalogue.yaml"
HOSTILE = "<script>alert(1)</script><img src='https://example.org/x.png' onerror='alert(2)'>"
FIGURES = ("headline", "fig-2", "fig-6")
DRAWING = """<svg xmlns="http://www.w3.org/2000/svg" width="400" height="200" viewBox="0 0 400 200">
<script>alert(3)</script><image href="https://example.org/y.png" width="9" height="9"/>
<rect width="400" height="200" fill="#0072B2"/></svg>"""


SET = "flowers"
SOURCES = {"mrp/two": "Theorem 10", "mrp/three": "Lemmas A.1 to A.3", "icl/four": "Fact 7"}
#: Wider than a narrow screen.
WIDE = (
    r"$\|w_i^{(t)} - w_i\|_2 \leq O \left(t \eta B_1 |a_i| + t \eta^2 B_1^2 \|w_i\|_2 + "
    r"t \eta^2 b \right)$"
)
CLASSES = ["daisy", HOSTILE, "日本の花", "w" * 200]


def fabricate_run(folder: Path) -> dict:
    """A small results folder with hostile words in it; gives the arguments of ``view``."""
    results = folder / "results" / "desk"
    for room in ("figures", "tables"):
        (results / "mrp" / room).mkdir(parents=True)

    evaluation = made(results, "mrp/evaluation.parquet", "mrp_evaluate", config={"note": HOSTILE})
    figures, pages = [], []
    for name in FIGURES:
        figure = made(results, f"mrp/figures/{name}.svg", f"draw_{name}", evaluation)
        figure.write_text(DRAWING, encoding="utf-8")
        # larger than the drawing: the page takes that, and from here its size alone
        Image.effect_noise((400, 200), 99).save(figure.with_suffix(".png"))
        figures.append(figure)
        pages.append(("figure", "mrp", name, f"# Caption of {name} {HOSTILE}\n\n{HOSTILE}\n"))
    table = made(results, "mrp/tables/headline.parquet", "mrp_table", evaluation)
    frame = pd.DataFrame({"model": ["supervised", HOSTILE], "mean": [0.6312, 0.5]})
    write_parquet(frame, table)
    wide = frame.assign(**{f"a column with a long name {n}": "0.123 ± 0.045" for n in range(8)})
    write_markdown_table(wide, table.with_suffix(".md"), "The numbers", HOSTILE)
    pages.append(("table", "mrp", "headline", "# The numbers\n"))
    share = '{{ value("headline", model="supervised") | percent(1) }}'
    story = f"# A story\n\nIt keeps {share} of them.\n\n{HOSTILE}\n"

    made(results, "claims.parquet", "claims", evaluation)
    rows = [
        ("mrp/one", HOLDS, 0.5, 0.8, 0.63, 0.05, HOSTILE),
        ("mrp/two", HOLDS, 0.995, 1.0, 1.0, 0.0, "All are captured."),
        ("mrp/three", UNDECIDED, 0.9, 1.0, 0.7, math.nan, "Nothing is lost."),
        ("mrp/five", FAILS, 0.9, 1.0, 0.7, 0.01, r"$|\alpha| \le d^{-1/2}$ is lost here."),
        ("mrp/six", UNDECIDED, 0.9, 1.0, 0.92, 0.05, f"It may be so: {WIDE}."),
        ("icl/four", NOT_SHOWN, -math.inf, 0.0, 0.2, 0.1, "It falls without bound."),
    ]
    made(results, "catalogue.parquet", "catalogue", *figures)
    items = read_catalogue(CATALOGUE)
    items[7] = items[7] | {"caption": HOSTILE}
    config = {"scale": "desk", "run": "desk", "seed": 0, "note": HOSTILE, "results": str(results)}
    return {
        "claims": pd.DataFrame([claim_row(*row) for row in rows], columns=list(COLUMNS)),
        "catalogue": catalogue_frame(items, results, "snakemake --cores 2"),
        "pages": pages,
        "stories": {"mrp": story},
        "results": results,
        "config": config,
        "command": "snakemake --cores 2",
        "findings": [
            {"id": name, "claim": "mrp/one", "figure": f"mrp/{name}", "question": "Is it so?",
             "paper_says": HOSTILE, "holds": "It is so.", "fails": "It is not so."}
            for name in FIGURES
        ],
    }  # fmt: skip


def made(results: Path, name: str, rule: str, *inputs: Path, **other) -> Path:
    artefact = results / name
    artefact.write_text("fabricated", encoding="utf-8")
    content = {
        "rule": rule, "code": "0123456789abcdef", "config": {}, "seed": 0, "contains": "measured",
        "inputs": {str(path): "0" * 64 for path in inputs}, "threads": 1, "seconds": 1.25,
        "peak_memory_mb": 300, "versions": {"python": "3.11.7"},
        "machine": {"system": "Linux", "processor": HOSTILE},
    }  # fmt: skip
    write_record(results, artefact, content | other)
    return artefact


def claim_row(claim, verdict, low, high, measured, spread, statement):
    return {
        "claim": claim, "paper": claim.partition("/")[0], "kind": "theorem",
        "source": SOURCES.get(claim, "Theorem 1"),
        "statement": statement, "paper_says": "", "quantity": "share of the features",
        "low": low, "high": high, "reason": "Because. " + HOSTILE, "measured": measured,
        "interval_low": measured - spread, "interval_high": measured + spread, "spread": spread,
        "spread_kind": "half-width", "replicates": 10, "effect": 1.4 * spread, "verdict": verdict,
        "would_decide": 40.0 if verdict == UNDECIDED else math.nan,
        "artefact": "mrp/evaluation.parquet",
    }  # fmt: skip


def fabricate_own(folder: Path) -> dict:
    """Results with hostile words in them; gives the arguments of ``render``."""
    own = folder / "own"
    for room in ("figures", "tables", "measurements"):
        (own / room).mkdir(parents=True)
    rng = np.random.default_rng(0)
    said, values = [], []
    kinds = ("fine-tuned", "linear probe", "nearest neighbours")
    starts = {"random": "none", "pretrained": "simmim"}
    for start, replicate, kind, fraction in product(starts, range(2), kinds, (1.0, 0.5)):
        key = {"data_set": SET, "start": start, "method": starts[start], "replicate": replicate,
               "evaluation": kind, "fraction": fraction}  # fmt: skip
        labels = np.array(CLASSES)[np.arange(12) % 4]
        answers = np.where(rng.random(12) < 0.7, labels, CLASSES[0])
        files = [f"{HOSTILE}/{number}.jpg" for number in range(12)]
        rows = {"image": range(12), "file": files, "label": labels, "said": answers}
        said.append(pd.DataFrame({**rows, **key}))
        values.append(
            {**key, "labels": round(40 * fraction), "value": (labels == answers).mean(),
             "quantity": "accuracy", "test_images": 12}
        )  # fmt: skip
    predictions, evaluations = pd.concat(said, ignore_index=True), pd.DataFrame(values)
    summaries = pd.DataFrame(
        {"data_set": SET, "role": ["train"] * 4 + ["test"] * 4, "class": CLASSES * 2,
         "images": [10] * 4 + [4, 4, 4, 0], "repeated": 1, "contradicted": 1}
    )  # fmt: skip
    for name in own_report.FIGURES:
        (own / "figures" / f"{name}.svg").write_text(DRAWING, encoding="utf-8")
    made = {
        "accuracy": analysis.accuracies(evaluations, predictions),
        "gains": analysis.gains(evaluations, predictions),
        "classes": analysis.classes(predictions),
        "pictures": analysis.pictures(summaries),
    }
    for name, table in made.items():
        write_parquet(table.frame, own / "tables" / f"{name}.parquet")
        write_markdown_table(table.shown, own / "tables" / f"{name}.md", name, table.notes)
    faults = own / "measurements" / "faults.parquet"
    left = [f"{HOSTILE}/{'x' * 200}{number}.jpg" for number in range(203)]
    write_parquet(pd.DataFrame({"split": "all", "file": left, "reason": HOSTILE}), faults)
    twice = own / "measurements" / "twice.parquet"
    files = [f"{HOSTILE}/twin.jpg", f"daisy/{'z' * 200}.jpg"]
    write_parquet(pd.DataFrame({"same": "ab", "role": ["test", "train"], "class": CLASSES[:2],
                                "file": files}), twice)  # fmt: skip
    captions = {f"figure/{name}": f"# Figure {name}\n\n{HOSTILE}\n" for name in own_report.FIGURES}
    captions |= {f"table/{name}": f"# Table {name}\n\n{HOSTILE}\n" for name in made}
    return {
        "folder": own, "captions": captions, "faults": {SET: faults}, "twice": {SET: twice},
        "config": {"run": "mine", "seed": 0},
        "settings": {SET: {"data": {"path": HOSTILE}, "note": "y" * 300}},
        "command": "snakemake real_images --cores 2 --configfile " + "long/" * 60,
    }  # fmt: skip


class Outline(HTMLParser):
    """Tags with their attributes, in order, and the text."""

    def __init__(self, html: str):
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.text += data

    @property
    def ids(self) -> list[str]:
        return [attributes["id"] for _, attributes in self.tags if attributes.get("id")]

    def of(self, *names):
        return [attributes for tag, attributes in self.tags if tag in names]


@pytest.fixture
def inputs(tmp_path):
    return fabricate_run(tmp_path)


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    """Files of the report of a run, of that on own images, and of one that is given."""
    run = fabricate_run(tmp_path_factory.mktemp("report"))
    own = fabricate_own(tmp_path_factory.mktemp("own"))
    files = {"run": run["results"] / "report.html", "own": own["folder"] / "report.html"}
    (run["results"] / "report").mkdir()
    shown, names = view(**run), (INDEX, "mrp", "icl")
    files |= {name: run["results"] / f"report/{name}.html" for name in names}
    for name in (WHOLE, *names):
        files[name or "run"].write_text(render(shown, name), encoding="utf-8")
    files["own"].write_text(own_report.render(**own), encoding="utf-8")
    return files | ({"real": Path(REAL).resolve()} if REAL else {})


@pytest.fixture(params=["run", "own", INDEX, "mrp"])
def outline(request, reports):
    return Outline(reports[request.param].read_text(encoding="utf-8"))


def test_what_a_file_says_is_escaped_and_nothing_is_loaded(outline):
    assert len(outline.of("script")) == ("claim-q" in outline.ids)  # that on images has none
    assert outline.text.count("alert(1)") >= 10
    assert len(outline.of("img")) >= 3
    for image in outline.of("img"):
        assert image["src"].startswith(("data:image/", "../mrp/figures/"))
        assert image["alt"] or "findings" in outline.ids  # a small picture beside its words
    assert not outline.of("iframe", "object", "embed", "form", "base", "audio", "video")
    assert {link["href"] for link in outline.of("link")} <= {"data:,"}
    assert not any(name.startswith("on") for _, attributes in outline.tags for name in attributes)


def test_links_lead_to_parts_of_the_page_and_to_files_of_the_run(outline):
    names = outline.ids
    assert len(set(names)) == len(names)
    links = {link["href"] for link in outline.of("a")}
    # what follows a question mark is a choice of claims
    inner = {link[1:].partition("?")[0] for link in links if link.startswith("#")}
    assert inner <= set(names)
    outer = {Path(link).parts[0] for link in links if not link.startswith("#")}
    assert outer
    pages = {"..", "index.html", "mrp.html", "icl.html"}
    assert {name.partition("#")[0] for name in outer} <= {"mrp", "icl", "figures", "tables", *pages}


def test_links_between_the_pages_lead_to_what_is_there(reports):
    ids = {name: Outline(reports[name].read_text("utf-8")) for name in (INDEX, "mrp", "icl")}
    crossed = set()
    for name, outline in ids.items():
        for link in (one["href"] for one in outline.of("a") if not one["href"].startswith("#")):
            file, _, part = link.partition("#")
            assert (reports[name].parent / file).is_file(), link
            if part:
                assert part in ids[file.removesuffix(".html")].ids, link
                crossed.add((name, file))
    assert {(INDEX, "mrp.html"), ("mrp", "index.html"), (INDEX, "icl.html")} <= crossed


def test_a_page_has_its_paper_alone_and_the_index_every_claim(reports):
    pages = {name: Outline(reports[name].read_text("utf-8")) for name in (INDEX, "mrp", "icl")}
    papers = {name: [one["data-paper"] for one in page.of("li") if "data-paper" in one]
              for name, page in pages.items()}  # fmt: skip
    assert papers == {INDEX: ["mrp"] * 5 + ["icl"], "mrp": ["mrp"] * 5, "icl": ["icl"]}
    figures = [one["id"] for one in pages["mrp"].of("article")]
    # the figure of the first finding, then the numbers of the paper
    assert figures == ["figure-mrp-headline", "figure-mrp-fig-2", "figure-mrp-fig-6"]
    assert "table-mrp-headline" in pages["mrp"].ids


def test_all_items_and_all_claims_are_there_without_a_script(reports):
    of_run = Outline(reports["run"].read_text(encoding="utf-8"))
    rows = [row for row in of_run.of("tr") if "data-status" in row]
    claims = [claim for claim in of_run.of("li") if "data-verdict" in claim]
    assert len(rows) == len(read_catalogue(CATALOGUE))
    assert [claim["data-verdict"] for claim in claims] == [
        *(HOLDS, HOLDS, UNDECIDED, FAILS, UNDECIDED, NOT_SHOWN)
    ]
    assert not any("hidden" in row for row in rows + claims)
    # the story quotes the table, and nothing ends in a spread of zero
    assert "It keeps 63.1\N{NO-BREAK SPACE}% of them." in of_run.text
    assert "± 0" not in re.sub(r"± 0\.", "", of_run.text)


def test_the_same_inputs_give_the_same_page_but_for_the_costs(inputs):
    first = render(view(**inputs))
    paper = render(view(**inputs), "mrp")
    assert render(view(**inputs)) == first
    for artefact, record in list(records(inputs["results"])):
        write_record(inputs["results"], artefact, record | {"seconds": 99.9, "peak_memory_mb": 1})
    made(inputs["results"], "checksums.txt", "a_rule_that_comes_after_the_report")
    assert render(view(**inputs), "mrp") == paper
    lines = zip(first.splitlines(), render(view(**inputs)).splitlines(), strict=True)
    changed = [line for pair in lines if len({*pair}) == 2 for line in pair]
    assert changed
    assert all(line.startswith('<tr id="rule-') for line in changed)


@pytest.mark.parametrize(("scale", "number"), [("real", 30), ("tour", 33)])
def test_a_finding_quotes_the_ledger_whose_verdict_comes_first(inputs, tmp_path, scale, number):
    desk = tmp_path / "published" / "desk"
    desk.mkdir(parents=True)
    settings = {"scale": "desk", "run": "desk", "seed": 0}
    (desk / "provenance.json").write_text(json.dumps({"commit": "a" * 40, "config": settings}))
    frame = inputs["claims"].head(1).reset_index(drop=True)
    write_parquet(frame.assign(measured=0.33), desk / "claims.parquet")
    finding = inputs["findings"][0] | {"holds": "It gains {points}."}
    shown = view(**inputs | {
        "claims": frame.assign(measured=0.30), "findings": [finding], "published": desk,
        "config": inputs["config"] | {"scale": scale, "run": scale},
    })  # fmt: skip
    text = Outline(render(shown, INDEX)).text
    assert {*re.findall(r"It gains (\d+) percentage points", text)} == {str(number)}


CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
REAL = os.environ.get("FEATLEARN_REPORT")
browser_test = pytest.mark.browser
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--hide-scrollbars",
)  # fmt: skip


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    if CHROMIUM is None or DRIVER is None:
        pytest.skip("needs Debian's chromium and chromium-driver on the PATH")
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('chromium')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    yield driver
    driver.quit()


def opened(browser, file: Path) -> str:
    """A report, freshly loaded in a window of 1280 px; its URL."""
    for log in ("browser", "performance"):
        browser.get_log(log)
    resize(browser, 1280)
    prefer(browser, "light")
    browser.get("about:blank")
    browser.get(file.as_uri())
    return file.as_uri()


@pytest.fixture(params=["run", "own", INDEX, "mrp", *(["real"] if REAL else [])])
def page(request, browser, reports):
    return opened(browser, reports[request.param])


@pytest.fixture(params=["run", *(["real"] if REAL else [])])
def of_claims(request, browser, reports):
    """A page with claims, which filters them."""
    return opened(browser, reports[request.param])


def in_time(browser, condition) -> None:
    """Wait for what the page does when it is told of a new address, which is not at once."""
    from selenium.webdriver.support.ui import WebDriverWait

    WebDriverWait(browser, 20).until(lambda _: condition())


def asked_for(browser) -> list[str]:
    """URLs that documents asked for since the log was read, but those of the browser's new tab.

    That tab may still be loading when the first page is opened.
    """
    messages = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    sent = [m["params"] for m in messages if m["method"] == "Network.requestWillBeSent"]
    return [one["request"]["url"] for one in sent if not one["documentURL"].startswith("chrome")]


def script_errors(browser) -> list[str]:
    """What documents but the browser's new tab told as severe since the log was read."""
    told = [one["message"] for one in browser.get_log("browser") if one["level"] == "SEVERE"]
    return [message for message in told if not message.startswith("chrome")]


def resize(browser, width: int) -> None:
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)


def prefer(browser, scheme: str) -> None:
    """A light or dark page, on which nothing moves of itself."""
    wishes = {"prefers-color-scheme": scheme, "prefers-reduced-motion": "reduce"}
    features = [{"name": name, "value": value} for name, value in wishes.items()]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})


def run(browser, script: str, *arguments):
    return browser.execute_script(f"return {script};", *arguments)


def unfold(browser) -> None:
    browser.execute_script(
        "document.querySelectorAll('details').forEach((part) => { part.open = true; });"
    )


def shown(browser, selector: str) -> list[str]:
    """Text of the elements that take up room on the page."""
    return run(
        browser,
        "[...document.querySelectorAll(arguments[0])]"
        ".filter((element) => element.getClientRects().length)"
        ".map((element) => element.innerText)",
        selector,
    )


@browser_test
def test_no_script_error_no_hostile_script_and_nothing_is_asked_for_elsewhere(browser, page):
    from selenium.common.exceptions import NoAlertPresentException

    with pytest.raises(NoAlertPresentException):
        _ = browser.switch_to.alert.text
    assert script_errors(browser) == []
    assert run(browser, "document.documentElement.lang") == "en"
    entries = run(browser, "performance.getEntriesByType('resource').map((entry) => entry.name)")
    asked = asked_for(browser)
    assert page in asked
    figures = f"{Path(page).parents[1]}/mrp/figures/".replace("file:/", "file:///")
    others = [url for url in asked + entries if url != page and not url.startswith("data:")]
    assert [url for url in others if not url.startswith(figures) or "/report/" not in page] == []


@browser_test
def test_every_picture_is_drawn(browser, page):
    unfold(browser)
    browser.execute_async_script(
        "Promise.all([...document.images].map((i) => { i.loading = 'eager'; return i.decode(); }))"
        ".then(arguments[0], arguments[0])"
    )
    widths = run(browser, "[...document.images].map((i) => [i.complete, i.naturalWidth, i.width])")
    assert len(widths) >= 2
    assert all(complete and natural > 0 and width > 100 for complete, natural, width in widths)


@browser_test
@pytest.mark.parametrize("width", [360, 768, 1280])
def test_the_page_never_scrolls_sideways(browser, page, width):
    resize(browser, width)
    assert run(browser, "document.documentElement.scrollWidth") <= width
    unfold(browser)
    browser.execute_script("document.querySelectorAll('.zoom').forEach((box) => box.click());")
    assert run(browser, "document.documentElement.scrollWidth") <= width


@browser_test
def test_a_verdict_chip_shows_its_claims_alone_and_all_again(browser, of_claims):
    from selenium.webdriver.common.keys import Keys

    every = len(shown(browser, "li[data-verdict]"))
    for verdict in VERDICTS:
        chip = browser.find_element("css selector", f"a[data-verdict='{verdict}']")
        wanted = run(browser, f"document.querySelectorAll(\"li[data-verdict='{verdict}']\").length")
        assert chip.text.endswith(f"{verdict}: {wanted}")
        chip.send_keys(Keys.ENTER)
        own = f"li[data-verdict='{verdict}']"
        in_time(browser, lambda own=own: shown(browser, "li[data-verdict]") == shown(browser, own))
        assert len(shown(browser, own)) == wanted
        assert shown(browser, "#claims-shown") == [f"{wanted} of {every} shown"]
    browser.find_element("css selector", "#claim-verdict option[value='']").click()
    assert len(shown(browser, "li[data-verdict]")) == every


@browser_test
def test_filter_and_search_of_claims_stand_in_the_address(browser, of_claims):
    browser.find_element("css selector", "#claim-q").send_keys("xyzzy plugh")
    assert shown(browser, "li[data-verdict]") == []
    assert run(browser, "location.hash") == "#claims?q=xyzzy+plugh"
    browser.execute_script("location.hash = '#claims?paper=mrp&kind=theorem'")
    own = "li[data-paper='mrp'][data-kind='theorem']"
    in_time(browser, lambda: shown(browser, "li[data-verdict]") == shown(browser, own) != [])


@browser_test
@pytest.mark.parametrize(("typed", "found"), [
    ("Theorem 1", ["mrp/one", "mrp/five", "mrp/six"]),
    ("thm. 10 captured", ["mrp/two"]),
    ("lemma a.2", ["mrp/three"]),
    ("Theorem 9", []),
    ("features", ["mrp/one", "mrp/two", "mrp/three", "mrp/five", "mrp/six", "icl/four"]),
])  # fmt: skip
def test_a_claim_is_found_by_its_theorem_number(browser, reports, typed, found):
    opened(browser, reports[INDEX])
    browser.find_element("css selector", "#claim-q").send_keys(typed)
    ids = "[...document.querySelectorAll('li[data-verdict]')].filter((one) => !one.hidden)"
    wanted = [f"claim-{one.replace('/', '-')}" for one in found]
    assert run(browser, f"{ids}.map((one) => one.id)") == wanted
    top = run(browser, "document.querySelector('#claims').getBoundingClientRect().top")
    assert 0 <= top < 900


@browser_test
def test_a_paper_opens_the_claim_that_is_found_and_hands_on_what_it_has_not(browser, reports):
    from selenium.webdriver.common.keys import Keys

    opened(browser, reports["mrp"])
    field = browser.find_element("css selector", "#claim-q")
    field.send_keys("Theorem 10", Keys.ENTER)
    assert shown(browser, "li[data-verdict] details[open] summary") != []
    field.clear()
    field.send_keys("Fact 7", Keys.ENTER)
    in_time(browser, lambda: "/index.html#claims?q=Fact+7" in run(browser, "location.href"))
    assert len(shown(browser, "li[data-verdict]")) == 1


@browser_test
def test_links_lead_from_a_claim_to_its_figure_and_back(browser, of_claims):
    link = "document.querySelector('li[data-verdict] a[href^=\"#figure-\"]')"
    figure = run(browser, f"{link}.hash")
    claim = run(browser, f"'#' + {link}.closest('li').id")
    for target, back in ((figure, claim), (claim, figure)):
        browser.execute_script("location.hash = arguments[0]", target)
        browser.execute_async_script("setTimeout(arguments[0], 100)")
        assert shown(browser, target)
        assert run(browser, "document.querySelector(arguments[0]).querySelector('a[href=\"' + "
                   "arguments[1] + '\"]') !== null", target, back)  # fmt: skip


@browser_test
def test_the_catalogue_is_filtered_by_paper_status_and_text(browser, of_claims):
    unfold(browser)
    rows = "#catalogue tbody tr"
    assert len(shown(browser, rows)) == len(read_catalogue(CATALOGUE))
    browser.find_element("css selector", "#by-paper option[value='mrp']").click()
    assert len(shown(browser, rows)) == len(shown(browser, f"{rows}[data-paper='mrp']")) > 1
    browser.find_element("css selector", "button[data-status='regenerated']").click()
    wanted = shown(browser, f"{rows}[data-paper='mrp'][data-status='regenerated']")
    assert shown(browser, rows) == wanted
    browser.find_element("css selector", "#by-text").send_keys("no item says this")
    assert shown(browser, rows) == []
    # a link to a row that is filtered away brings it back
    browser.execute_script("location.hash = 'item-mrp-fig-2'")
    assert any("Figure 2" in text for text in shown(browser, "#item-mrp-fig-2"))


CONTRAST = """
const channels = (colour) => colour.match(/[\\d.]+/g).map(Number);
const light = ([r, g, b]) => [r, g, b].map((c) => c / 255)
  .map((c) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
  .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
const behind = (element) => {
  for (let at = element; at; at = at.parentElement) {
    const colour = channels(getComputedStyle(at).backgroundColor);
    if (colour.length < 4 || colour[3] > 0) return colour;
  }
};
const words = 'p, a, h1, h2, h3, h4, summary, th, td, dt, dd, code, .chip, button';
return [...document.querySelectorAll(words)]
  .filter((element) => element.getClientRects().length && !element.closest('.skip'))
  .map((element) => {
    const [a, b] = [light(channels(getComputedStyle(element).color)), light(behind(element))];
    return [(Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), element.outerHTML.slice(0, 80)];
  })
  .filter(([ratio]) => ratio < 4.5);
"""


@browser_test
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_in_light_and_dark(browser, page, scheme):
    prefer(browser, scheme)
    dark = run(browser, "getComputedStyle(document.body).backgroundColor") == "rgb(20, 23, 26)"
    assert dark == (scheme == "dark")
    assert browser.execute_script(CONTRAST) == []
