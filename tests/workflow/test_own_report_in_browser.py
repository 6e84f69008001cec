"""The report on own images, from fabricated numbers, in a real (headless) browser."""

from itertools import pairwise, product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from featlearn.core.files import write_markdown_table, write_parquet
from featlearn.own_images import analysis
from featlearn.own_images.report import FIGURES, TABLES, render

from .test_report_in_browser import (
    CONTRAST,
    HOSTILE,
    Outline,
    asked_for,
    browser,
    browser_test,
    prefer,
    resize,
    run,
    script_errors,
    shown,
    unfold,
)

__all__ = ["browser"]  # a fixture

SET = "flowers"
CLASSES = ["daisy", HOSTILE, "日本の花", "w" * 200]
DRAWING = """<svg xmlns="http://www.w3.org/2000/svg" width="800" height="300" viewBox="0 0 800 300">
<script>alert(3)</script><rect width="800" height="300" fill="#0072B2"/></svg>"""


# --------------------------------------------------------------------------- fabricated results


def fabricate(folder: Path) -> dict:
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
    steps = pd.DataFrame({"epoch": [1.0, 2.0, 3.0], "loss": [1.0, 0.6, 0.4], "data_set": SET})
    histories = pd.concat(
        [
            steps.assign(replicate=0),
            *(steps.assign(replicate=0, start=s, labels=n) for s in starts for n in (40, 20)),
        ],
        ignore_index=True,
    )
    summaries = pd.DataFrame(
        {"data_set": SET, "role": ["train"] * 4 + ["test"] * 4, "class": CLASSES * 2,
         "images": [10] * 4 + [4, 4, 4, 0], "repeated": 1, "contradicted": 1}
    )  # fmt: skip
    drawn = {
        "accuracy": analysis.accuracy(evaluations, predictions),
        "confusion": analysis.confusion(predictions),
        "learning": analysis.learning(histories),
    }
    for name in FIGURES:
        file = own / "figures" / f"{name}.svg"
        drawn[name].savefig(file) if name in drawn else file.write_text(DRAWING, encoding="utf-8")
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
    captions = {f"figure/{name}": f"# Figure {name}\n\n{HOSTILE}\n" for name in FIGURES}
    captions |= {f"table/{name}": f"# Table {name}\n\n{HOSTILE}\n" for name in made}
    return {
        "folder": own,
        "captions": captions,
        "faults": {SET: faults},
        "twice": {SET: twice},
        "config": {"run": "mine", "seed": 0},
        "settings": {SET: {"data": {"path": HOSTILE}, "note": "y" * 300}},
        "command": "snakemake real_images --cores 2 --configfile " + "long/" * 60,
    }


@pytest.fixture
def outline(fabricated):
    return Outline(fabricated.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def fabricated(tmp_path_factory):
    inputs = fabricate(tmp_path_factory.mktemp("own"))
    page = inputs["folder"] / "report.html"
    page.write_text(render(**inputs), encoding="utf-8")
    return page


# --------------------------------------------------------------------------- as a file


def test_what_a_file_says_is_escaped_and_nothing_is_loaded(outline):
    assert outline.of("script", "iframe", "object", "embed", "form", "base") == []
    assert outline.text.count("alert(1)") >= 10
    pictures = outline.of("img")
    assert len(pictures) == len(FIGURES)
    assert all(one["src"].startswith("data:image/") and one["alt"] for one in pictures)
    assert not any(name.startswith("on") for _, attributes in outline.tags for name in attributes)


def test_links_lead_to_the_page_itself_or_to_files_of_the_run(outline):
    names = [attributes["id"] for _, attributes in outline.tags if "id" in attributes]
    assert len(set(names)) == len(names)
    links = {link["href"] for link in outline.of("a")}
    assert {link[1:] for link in links if link.startswith("#")} <= set(names)
    files = {link for link in links if not link.startswith("#")}
    assert {f"tables/{name}.parquet" for name in TABLES if name != "detection"} <= files
    assert all(link.split("/")[0] in ("figures", "tables") for link in files)


def test_headings_go_down_one_level_at_a_time(outline):
    levels = [int(tag[1]) for tag, _ in outline.tags if tag in ("h1", "h2", "h3", "h4")]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(below <= above + 1 for above, below in pairwise(levels))


def test_what_must_not_be_overlooked_stands_in_front(outline):
    text = outline.text
    front = text[: text.index("Heat maps")]
    for words in ("Test images that were trained on.", "One picture, two classes.",
                  "Classes without images.", "Few test images."):  # fmt: skip
        assert words in front
    assert "And 3 more" in text
    names = text[text.index("under several names") :]
    assert names.index(f"test: {HOSTILE}/twin.jpg") < names.index("training: daisy/zzz")


# --------------------------------------------------------------------------- in a browser


@pytest.fixture
def page(browser, fabricated):
    """The report, freshly loaded in a window of 1280 px; its URL."""
    for log in ("browser", "performance"):
        browser.get_log(log)
    resize(browser, 1280)
    prefer(browser, "light")
    browser.get("about:blank")
    browser.get(fabricated.as_uri())
    return fabricated.as_uri()


@browser_test
def test_no_hostile_script_runs_and_nothing_is_asked_for_elsewhere(browser, page):
    from selenium.common.exceptions import NoAlertPresentException

    with pytest.raises(NoAlertPresentException):
        _ = browser.switch_to.alert.text
    assert script_errors(browser) == []
    assert browser.title.startswith("featlearn: ")
    assert {url for url in asked_for(browser) if not url.startswith("data:")} == {page}


@browser_test
def test_every_picture_is_drawn_and_says_what_it_is(browser, page):
    browser.execute_async_script(
        "Promise.all([...document.images].map((i) => i.decode())).then(arguments[0], arguments[0])"
    )
    widths = run(browser, "[...document.images].map((i) => [i.complete, i.naturalWidth, i.width])")
    assert len(widths) == len(FIGURES)
    assert all(complete and natural > 0 and width > 100 for complete, natural, width in widths)
    assert len(shown(browser, "article h3")) >= len(FIGURES) + 3
    assert all(shown(browser, "article h3"))
    assert len(shown(browser, "table")) >= 4


@browser_test
@pytest.mark.parametrize("width", [360, 390, 768, 1280])
def test_the_page_never_scrolls_sideways(browser, page, width):
    resize(browser, width)
    assert run(browser, "document.documentElement.scrollWidth") <= width
    unfold(browser)
    assert run(browser, "document.documentElement.scrollWidth") <= width


@browser_test
@pytest.mark.parametrize("width", [390, 1280])
def test_every_section_is_reached_and_its_heading_is_not_hidden(browser, page, width):
    resize(browser, width)
    for link in run(browser, "[...document.querySelectorAll('nav a')].map((a) => a.hash)"):
        browser.execute_script("location.hash = arguments[0]", link)
        browser.execute_async_script("setTimeout(arguments[0], 100)")
        top = run(browser, "document.querySelector(arguments[0] + ' h2')"
                  ".getBoundingClientRect().top", link)  # fmt: skip
        bar = run(browser, "document.querySelector('nav').getBoundingClientRect().bottom")
        assert top >= min(bar, 900) - 1 or bar <= 0, link
        assert top < 900


@browser_test
def test_a_long_name_of_a_class_leaves_its_numbers_in_sight(browser, page):
    resize(browser, 1280)
    wide = run(browser, "[...document.querySelectorAll('#table-classes .scroll')]"
               ".map((box) => box.scrollWidth - box.clientWidth)")  # fmt: skip
    assert max(wide, default=0) <= 0


@browser_test
@pytest.mark.parametrize("width", [360, 390])
def test_a_phone_hides_no_number_of_a_table(browser, page, width):
    resize(browser, width)
    boxes = run(browser, "[...document.querySelectorAll('.scroll td')].map((cell) =>"
                " cell.getBoundingClientRect()).map((box) => [box.left, box.right])")  # fmt: skip
    assert boxes
    assert all(left >= 0 and right <= width for left, right in boxes)
    head = "getComputedStyle(document.querySelector('#table-accuracy td:last-child'), '::before')"
    assert "of the labels" in run(browser, f"{head}.content")


@browser_test
def test_numbers_stand_below_their_heads_where_there_is_room(browser, page):
    lefts = run(browser, "[...document.querySelectorAll('#table-accuracy tr')].map((row) =>"
                " [...row.cells].map((cell) => Math.round(cell.offsetLeft)))")  # fmt: skip
    assert all(row == lefts[0] for row in lefts)


@browser_test
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_in_light_and_dark(browser, page, scheme):
    prefer(browser, scheme)
    assert browser.execute_script(CONTRAST) == []
