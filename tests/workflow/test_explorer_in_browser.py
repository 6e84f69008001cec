"""The charts of the site's explorer: their data from a table, and moved by keyboard in a browser.

Set ``FEATLEARN_AXE`` to an ``axe.min.js`` of axe-core to have that look at the page as well.
"""

import json
import math
import os
import re
import runpy
import shutil
from itertools import product
from pathlib import Path

import pandas as pd
import pytest
from PIL import Image

from featlearn.core.errors import FeatlearnError
from featlearn.core.evidence.claims import FAILS, HOLDS, NOT_MEASURED
from featlearn.core.evidence.stats import number

from .test_report_in_browser import (
    HOSTILE,
    browser,
    browser_test,
    opened,
    prefer,
    resize,
    run,
    script_errors,
)

__all__ = ["browser"]

ROOT = Path(__file__).parents[2]
AXE = os.environ.get("FEATLEARN_AXE")
EXPLORER = runpy.run_path(str(ROOT / "scripts/explorer.py"))
of_sweep = EXPLORER["of_sweep"]
KEY = {"means": f"noise {HOSTILE}", "setting": 10}
VALUES = [1, 10, 100, 1000]


def table(values=VALUES):
    """Two claims; one premise is violated from 20 on, the other at 10 alone; 1000 diverged."""
    outcomes = ((0.9, HOLDS), (0.8, HOLDS), (0.2, FAILS), (math.nan, NOT_MEASURED))
    rows = []
    for claim, (value, (mean, verdict)) in product(
        ("toy/one", "toy/two"), zip(values, outcomes, strict=False)
    ):
        met = {True: "met", False: "violated"}
        rows.append({
            "toy.noise": value, "claim": claim, "measured": mean, "interval_low": mean - 0.05,
            "interval_high": mean + 0.05, "low": 0.5, "high": math.inf, "verdict": verdict,
            "premises": f"$s \\le k$: at most 20 needed, {number(value)} used, {met[value <= 20]}\n"
            f"$k$ is odd: at least 2 needed, 3 used, {met[value != 10]}",
            "baselines": "" if math.isnan(mean) else json.dumps({HOSTILE: 0.4}), "replicates": 5,
            "source": "Theorem 1", "statement": f"All are. {HOSTILE}", "quantity": f"$k$ {HOSTILE}",
        })  # fmt: skip
    return pd.DataFrame(rows)


def test_a_premise_on_the_key_ends_at_its_number_and_another_between_two_values():
    sweep = of_sweep(table(), KEY, "desk")
    at = dict(zip(VALUES, sweep["at"], strict=True))
    own, other = sweep["claims"]["toy/one"]["violated"]
    assert own == pytest.approx([at[10] + (at[100] - at[10]) * math.log10(2), 1], abs=1e-5)
    assert other == pytest.approx([(at[1] + at[10]) / 2, (at[10] + at[100]) / 2], abs=1e-5)
    assert sweep["setting"] == 1


def test_the_same_table_gives_the_same_bytes_and_two_keys_are_refused():
    sweeps = {"toy.noise": of_sweep(table(), KEY, "desk")}
    again = {"toy.noise": of_sweep(table(), KEY, "desk")}
    assert EXPLORER["part"](sweeps) == EXPLORER["part"](again)
    two = table()
    two.insert(1, "toy.size", 3)
    with pytest.raises(FeatlearnError, match="expected one key, got toy"):
        of_sweep(two, KEY, "desk")


def test_the_explorer_shows_every_published_figure_and_has_its_numbers():
    folder = ROOT / "results/published/sweeps"
    files = {str(one.relative_to(folder)) for one in folder.rglob("*.webp")}
    text = (ROOT / "docs/explorer.md").read_text(encoding="utf-8")
    assert set(re.findall(r"/published/sweeps/([^)]+)\)", text)) == files
    sweeps = EXPLORER["published"](folder)
    for name, _, claim in (one.removesuffix(".webp").partition("/") for one in files):
        assert claim in sweeps[name]["claims"]


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """A page with one sweep's picture, as the site has it."""
    folder = tmp_path_factory.mktemp("site")
    shutil.copytree(ROOT / "docs/assets", folder / "assets")
    picture = folder / "published/sweeps/toy.noise/toy/one.webp"
    picture.parent.mkdir(parents=True)
    Image.new("RGB", (300, 200)).save(picture)
    file = folder / "explorer.html"
    file.write_text(
        "<!doctype html><html lang=en><meta charset=utf-8><title>Explorer</title>"
        "<link rel=stylesheet href=assets/site.css>"
        "<meta name=color-scheme content='light dark'><main><h1>Explorer</h1>"
        f"<p><img alt='A picture' src='{picture.relative_to(folder)}'></p></main>"
        + EXPLORER["part"]({"toy.noise": of_sweep(table(), KEY, "desk")}),
        encoding="utf-8",
    )
    return file


def told(browser) -> str:
    return run(browser, "document.querySelector('.sweep dl').innerText")


@browser_test
def test_the_slider_moves_value_interval_verdict_and_premises_by_keyboard(browser, page):
    from selenium.webdriver.common.keys import Keys

    opened(browser, page)
    browser.switch_to.active_element.send_keys(Keys.TAB)
    slider = browser.switch_to.active_element
    assert slider.get_attribute("type") == "range"
    ring = "document.querySelector('.ring').parentNode.getAttribute('transform')"
    seen = []
    for key in (Keys.HOME, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, Keys.END):
        slider.send_keys(key)
        seen.append((told(browser), slider.get_attribute("aria-valuetext"), run(browser, ring)))
    texts, spoken, rings = zip(*seen, strict=True)
    assert ["0.90 (0.85 to 0.95)" in one for one in texts] == [True, False, False, False]
    for place, verdict in enumerate((HOLDS, HOLDS, FAILS, NOT_MEASURED)):
        assert verdict in texts[place]
        assert spoken[place].startswith(f"{number(VALUES[place])}: {verdict}")
    assert [one.count("violated") for one in texts] == [0, 1, 1, 1]
    assert len(set(rings)) == 4
    assert script_errors(browser) == []


@browser_test
def test_what_a_table_says_runs_no_script_and_the_limit_is_drawn(browser, page):
    opened(browser, page)
    assert len(run(browser, "[...document.querySelectorAll('.sweep script, .sweep a')]")) == 0
    assert run(browser, "document.querySelectorAll('.sweep img').length") == 1
    assert run(browser, "document.querySelectorAll('.sweep .limit').length") == 3
    assert run(browser, "document.querySelector('.sweep details img').alt") == "A picture"


@browser_test
def test_without_a_script_the_picture_stays(browser, page):
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        opened(browser, page)
        assert browser.find_element("css selector", "main > p > img").is_displayed()
        assert browser.find_elements("css selector", ".sweep") == []
    finally:
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


@browser_test
@pytest.mark.parametrize(("width", "scheme"), [*product((390, 1280), ("light", "dark"))])
def test_a_chart_fits_a_phone_and_stands_out_in_light_and_dark(browser, page, width, scheme):
    opened(browser, page)
    resize(browser, width)
    prefer(browser, scheme)
    assert run(browser, "document.documentElement.scrollWidth") <= width
    marks = "[...document.querySelectorAll('.sweep text, .sweep .mark')]"
    box = "(one) => { const box = one.getBoundingClientRect(); return [box.left, box.right]; }"
    ends = run(browser, f"{marks}.map({box})")
    assert len(ends) >= 8
    assert all(left >= 0 and right <= width for left, right in ends)
    if AXE:
        browser.set_script_timeout(300)
        browser.execute_script(Path(AXE).read_text(encoding="utf-8"))
        found = browser.execute_async_script("axe.run().then(arguments[0])")
        assert [(one["id"], one["nodes"][0]["html"]) for one in found["violations"]] == []
