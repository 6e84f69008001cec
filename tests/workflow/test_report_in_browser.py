"""The report, made from fabricated results, as a file and in a real (headless) browser.

Set ``FEATLEARN_REPORT`` to a ``report.html`` to put that one before the browser as well.
"""

from __future__ import annotations

import json
import math
import os
import re
import shutil
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pandas as pd
import pytest
from PIL import Image

from featlearn.core.catalogue import catalogue_frame, read_catalogue
from featlearn.core.claims import COLUMNS, FAILS, HOLDS, NOT_SHOWN, UNDECIDED, VERDICTS
from featlearn.core.errors import FeatlearnError
from featlearn.core.files import write_markdown_table, write_parquet
from featlearn.core.provenance import records, write_record
from featlearn.core.publishing.report import render

CATALOGUE = Path(__file__).parents[2] / "config" / "catalogue.yaml"
HOSTILE = "<script>alert(1)</script><img src='https://example.org/x.png' onerror='alert(2)'>"
FIGURES = ("headline", "fig-2", "fig-6")
DRAWING = """<svg xmlns="http://www.w3.org/2000/svg" width="400" height="200" viewBox="0 0 400 200">
<script>alert(3)</script><image href="https://example.org/y.png" width="9" height="9"/>
<rect width="400" height="200" fill="#0072B2"/></svg>"""


# --------------------------------------------------------------------------- fabricated results


def fabricate(folder: Path) -> dict:
    """A small results folder with hostile words in it; gives the arguments of ``render``."""
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
        (
            "mrp/five",
            FAILS,
            0.9,
            1.0,
            0.7,
            0.01,
            r"$|\alpha| \le d^{-1/2}$ is lost here either.",
        ),
        ("mrp/six", UNDECIDED, 0.9, 1.0, 0.92, 0.05, "It may be so."),
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
    """An artefact with a provenance record."""
    artefact = results / name
    artefact.write_text("fabricated", encoding="utf-8")
    content = {
        "rule": rule,
        "code": "0123456789abcdef",
        "config": {},
        "seed": 0,
        "contains": "measured",
        "inputs": {str(path): "0" * 64 for path in inputs},
        "threads": 1,
        "seconds": 1.25,
        "peak_memory_mb": 300,
        "versions": {"python": "3.11.7"},
        "machine": {"system": "Linux", "processor": HOSTILE},
    }
    write_record(results, artefact, content | other)
    return artefact


def claim_row(claim, verdict, low, high, measured, spread, statement):
    return {
        "claim": claim,
        "paper": claim.partition("/")[0],
        "kind": "theorem",
        "source": "Theorem 1",
        "statement": statement,
        "paper_says": "",
        "quantity": "share of the features",
        "low": low,
        "high": high,
        "reason": "Because. " + HOSTILE,
        "measured": measured,
        "interval_low": measured - spread,
        "interval_high": measured + spread,
        "spread": spread,
        "spread_kind": "half-width",
        "replicates": 10,
        "effect": 1.4 * spread,
        "would_decide": 40.0 if verdict == UNDECIDED else math.nan,
        "verdict": verdict,
        "artefact": "mrp/evaluation.parquet",
    }


# --------------------------------------------------------------------------- as a file


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

    def of(self, *names):
        return [attributes for tag, attributes in self.tags if tag in names]


@pytest.fixture
def inputs(tmp_path):
    return fabricate(tmp_path)


@pytest.fixture(scope="module")
def outline(fabricated):
    return Outline(fabricated.read_text(encoding="utf-8"))


def test_what_a_file_says_is_escaped_and_nothing_is_loaded(outline):
    assert len(outline.of("script")) == 1
    assert outline.text.count("alert(1)") >= 10
    images = outline.of("img")
    assert len(images) == 3  # each figure once
    for image in images:
        assert image["loading"] == "lazy"
        assert image["src"].startswith("data:image/svg+xml;base64,")
        assert image["alt"].startswith("Caption of")
        # room is kept for what is drawn later
        assert (image["width"], image["height"]) == ("400", "200")
    assert not outline.of("iframe", "object", "embed", "form", "base", "audio", "video")
    assert [link["href"] for link in outline.of("link")] == ["data:,"]
    assert not any(name.startswith("on") for _, attributes in outline.tags for name in attributes)


def test_links_lead_to_parts_of_the_page_and_to_files_of_the_run(outline):
    names = [attributes["id"] for _, attributes in outline.tags if "id" in attributes]
    assert len(set(names)) == len(names)
    links = {link["href"] for link in outline.of("a")}
    inner = {link[1:] for link in links if link.startswith("#")}
    # what follows a question mark is a choice of claims
    assert {name.partition("?")[0] for name in inner} <= set(names)
    assert {"claims?paper=mrp&kind=theorem", "claim-mrp-one", "figure-mrp-headline"} <= inner
    assert {"figure-mrp-fig-2", "item-mrp-fig-2", "rule-mrp_evaluate"} <= inner
    outer = {link for link in links if not link.startswith("#")}
    assert "mrp/figures/headline.svg" in outer
    assert {Path(link).parts[0] for link in outer} <= {"mrp", "icl"}


def test_maths_is_set_and_nothing_ends_in_a_spread_of_zero(fabricated, outline):
    html = fabricated.read_text(encoding="utf-8")
    assert re.search(r"<mi>&#x003B1;</mi><mo[^>]*>&#x0007C;</mo>.{,300}</math> is lost", html)
    assert r'data-written="$|\alpha| \le d^{-1/2}$ is lost here either.' in html
    assert "± 0" not in re.sub(r"± 0\.", "", outline.text)


def test_headings_go_down_one_level_at_a_time(outline):
    levels = [int(tag[1]) for tag, _ in outline.tags if re.match(r"h\d$", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(below <= above + 1 for above, below in pairwise(levels))


def test_all_items_and_all_claims_are_there_without_a_script(outline):
    rows = [row for row in outline.of("tr") if "data-status" in row]
    claims = [claim for claim in outline.of("li") if "data-verdict" in claim]
    assert len(rows) == len(read_catalogue(CATALOGUE))
    assert [claim["data-verdict"] for claim in claims] == [
        *(HOLDS, HOLDS, UNDECIDED, FAILS, UNDECIDED, NOT_SHOWN)
    ]
    assert not any("hidden" in row for row in rows + claims)
    # the story quotes the table, and the command names the figure
    assert "It keeps 63.1\N{NO-BREAK SPACE}% of them." in outline.text
    assert re.search(r"snakemake --cores 2 \S+/mrp/figures/fig-2\.svg", outline.text)


def test_the_same_inputs_give_the_same_page_but_for_the_costs(inputs):
    first = render(**inputs)
    assert render(**inputs) == first
    for artefact, record in list(records(inputs["results"])):
        write_record(inputs["results"], artefact, record | {"seconds": 99.9, "peak_memory_mb": 1})
    made(inputs["results"], "checksums.txt", "a_rule_that_comes_after_the_report")
    lines = zip(first.splitlines(), render(**inputs).splitlines(), strict=True)
    changed = [line for pair in lines if len({*pair}) == 2 for line in pair]
    assert changed
    assert all(line.startswith('<tr id="rule-') for line in changed)


def test_a_text_without_a_title_or_with_a_wrong_filter_is_an_error_that_names_it(inputs):
    page = inputs["pages"][2]
    inputs["pages"][2] = (*page[:3], "no title")
    with pytest.raises(FeatlearnError, match=r"figure mrp/fig-6: expected `# Title`"):
        render(**inputs)
    inputs["pages"][2] = page
    inputs["stories"]["mrp"] = '# T\n\n{{ value("headline", model="none") }}\n'
    with pytest.raises(FeatlearnError, match=r"story of mrp: value\('headline', .*0 rows match"):
        render(**inputs)


def test_a_run_without_papers_still_has_a_page(inputs):
    html = render(**inputs | {"claims": inputs["claims"][:0], "pages": [], "stories": {}})
    assert "0 claims" in Outline(html).text


# --------------------------------------------------------------------------- in a browser


CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
REAL = os.environ.get("FEATLEARN_REPORT")
browser_test = pytest.mark.browser
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
)


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


@pytest.fixture(scope="module")
def fabricated(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    inputs = fabricate(folder)
    page = inputs["results"] / "report.html"
    page.write_text(render(**inputs), encoding="utf-8")
    return page


@pytest.fixture(params=["fabricated", "real"] if REAL else ["fabricated"])
def page(request, browser, fabricated):
    """A report, freshly loaded in a window of 1280 px; its URL."""
    file = fabricated if request.param == "fabricated" else Path(str(REAL)).resolve()
    for log in ("browser", "performance"):
        browser.get_log(log)
    resize(browser, 1280)
    prefer(browser, "light")
    browser.get("about:blank")
    browser.get(file.as_uri())
    return file.as_uri()


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
    """The value of a JavaScript expression."""
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
def test_no_script_error_and_no_hostile_script(browser, page):
    from selenium.common.exceptions import NoAlertPresentException

    with pytest.raises(NoAlertPresentException):
        _ = browser.switch_to.alert.text
    assert browser.get_log("browser") == []
    assert run(browser, "document.documentElement.classList.contains('js')")
    assert run(browser, "document.documentElement.lang") == "en"
    assert browser.title.startswith("featlearn")


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
def test_nothing_is_asked_for_elsewhere(browser, page):
    entries = run(browser, "performance.getEntriesByType('resource').map((entry) => entry.name)")
    asked = asked_for(browser)
    assert page in asked
    assert [url for url in asked + entries if url != page and not url.startswith("data:")] == []


@browser_test
@pytest.mark.parametrize("width", [360, 390, 768, 1280])
def test_the_page_never_scrolls_sideways(browser, page, width):
    resize(browser, width)
    assert run(browser, "document.documentElement.scrollWidth") <= width
    browser.execute_script(
        "document.querySelectorAll('details').forEach((part) => { part.open = true; });"
        "document.querySelectorAll('.zoom').forEach((box) => box.click());"
    )
    assert run(browser, "document.documentElement.scrollWidth") <= width


@browser_test
def test_a_verdict_chip_shows_its_claims_alone_and_all_again(browser, page):
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
def test_filter_and_search_of_claims_stand_in_the_address(browser, page):
    browser.find_element("css selector", "#claim-q").send_keys("xyzzy plugh")
    assert shown(browser, "li[data-verdict]") == []
    assert run(browser, "location.hash") == "#claims?q=xyzzy+plugh"
    browser.execute_script("location.hash = '#claims?paper=mrp&kind=theorem'")
    own = "li[data-paper='mrp'][data-kind='theorem']"
    in_time(browser, lambda: shown(browser, "li[data-verdict]") == shown(browser, own) != [])


@browser_test
@pytest.mark.parametrize("width", [390, 1280])
def test_an_address_with_a_choice_of_claims_opens_the_page_there(browser, page, width):
    resize(browser, width)
    browser.get("about:blank")
    browser.get(f"{page}#claims?paper=mrp")
    browser.execute_async_script("setTimeout(arguments[0], 1000)")
    assert 0 <= run(browser, "document.querySelector('#claims').getBoundingClientRect().top") < 300


@browser_test
def test_links_lead_from_a_claim_to_its_figure_and_back(browser, page):
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
def test_the_catalogue_is_filtered_by_paper_status_and_text(browser, page):
    unfold(browser)
    rows = "#catalogue tbody tr"
    every = len(read_catalogue(CATALOGUE))
    assert len(shown(browser, rows)) == every
    browser.find_element("css selector", "#by-paper option[value='mrp']").click()
    assert len(shown(browser, rows)) == len(shown(browser, f"{rows}[data-paper='mrp']")) > 1
    status = browser.find_element("css selector", "button[data-status='regenerated']")
    status.click()
    wanted = shown(browser, f"{rows}[data-paper='mrp'][data-status='regenerated']")
    assert shown(browser, rows) == wanted
    assert shown(browser, "#shown") == [f"{len(wanted)} of {every} shown"]
    browser.find_element("css selector", "#by-text").send_keys("TEACHER drawing")
    assert len(shown(browser, rows)) == 1
    assert "See it" in shown(browser, rows)[0]
    status.click()
    browser.find_element("css selector", "#by-paper option[value='']").click()
    browser.find_element("css selector", "#by-text").clear()
    browser.find_element("css selector", "#by-text").send_keys("no item says this")
    assert shown(browser, rows) == []


@browser_test
def test_a_link_to_a_filtered_row_brings_it_back(browser, page):
    unfold(browser)
    browser.find_element("css selector", "#by-text").send_keys("no item says this")
    browser.execute_script("location.hash = 'item-mrp-fig-2'")
    assert any("Figure 2" in text for text in shown(browser, "#item-mrp-fig-2"))


@browser_test
def test_the_keyboard_reaches_the_content_first_and_opens_a_claim(browser, page):
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.keys import Keys

    ActionChains(browser).send_keys(Keys.TAB).perform()
    assert run(browser, "document.activeElement.textContent") == "Skip to the content"
    ActionChains(browser).send_keys(Keys.ENTER, Keys.TAB).perform()
    first = "document.querySelector('.claim details')"
    browser.execute_script(f"{first}.querySelector('summary').focus()")
    ActionChains(browser).send_keys(Keys.ENTER).perform()
    assert run(browser, f"{first}.open")


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
    sheets = run(
        browser,
        "[...document.querySelectorAll('.sheet')]"
        ".map((sheet) => getComputedStyle(sheet).backgroundColor)",
    )
    assert set(sheets) == {"rgb(255, 255, 255)"}
