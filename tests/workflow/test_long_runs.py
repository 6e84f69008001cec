"""A run that fails, is told to end, or loses a job: what is left, what is told, what is retried."""

from __future__ import annotations

import signal
from types import SimpleNamespace

import psutil
import pytest

from .checkout import Checkout, Paused, at_once

pytestmark = pytest.mark.workflow

QUOTED = "mrp/tables/appendix-b.parquet"
SCHEMATIC = "mrp/figures/fig-2.svg"
WEIGHTS = [
    "mrp/weights/headline/pretrained.safetensors",
    "contrastive/weights/stages/masked.safetensors",
]
#: A training is told to end at its fifth step, the first time that it gets there.
TOLD_TO_END = """

def _told(self, step, see, _report=Progress.report):
    import os
    import signal
    from pathlib import Path

    mark = Path(f"told-{self.label.partition(' ')[0]}")
    if step == 5 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGTERM)
    _report(self, step, see)


Progress.report = _told
"""


def unfinished(checkout: Checkout):
    """One job has a bug, one is killed from outside; nothing else needs them but the report."""
    for name in (QUOTED, QUOTED.replace(".parquet", ".md"), SCHEMATIC):
        (checkout / f"results/smoke/{name}").unlink()
    for script, line in (
        ("scripts/mrp/table_quoted.py", "1 / 0"),
        ("scripts/mrp/figure_schematic.py", "__import__('os').kill(__import__('os').getpid(), 9)"),
    ):
        text = (checkout / script).read_text(encoding="utf-8")
        opening = "with Job(snakemake) as job:\n"
        assert opening in text
        broken = text.replace(opening, f"{opening}    {line}\n")
        (checkout / script).write_text(broken, encoding="utf-8")
    told = checkout.snakemake("--keep-going")
    page = checkout / "results/smoke/unfinished.html"
    return SimpleNamespace(
        told=told, page=page.read_text(encoding="utf-8") if page.is_file() else "", made=checkout
    )


def retried(checkout: Checkout):
    checkout.edit("src/featlearn/core/progress.py", TOLD_TO_END)
    wanted = [f"results/smoke/{name}" for name in WEIGHTS]
    told = checkout.snakemake("--retries", "1", *wanted)
    return SimpleNamespace(checkout=checkout, told=told)


@pytest.fixture(scope="module")
def runs(fresh, done):
    one, two = done(), fresh()
    return at_once(unfinished=lambda: unfinished(one), retried=lambda: retried(two))


def test_the_report_of_a_failed_run_says_what_is_missing_and_why(runs):
    run = runs["unfinished"].result()
    assert run.told.code != 0
    assert "files are missing; results/smoke/unfinished.html" in run.told.text
    assert "This run is not finished" in run.page
    for name in (QUOTED, SCHEMATIC):
        assert f"<li><code>{name}</code></li>" in run.page
    assert "ZeroDivisionError" in run.page
    assert "<code>mrp_figure_schematic</code></dt><dd>killed from outside (SIGKILL)" in run.page
    assert "logs/mrp/appendix-b.log" in run.page
    # and what there is
    assert "mrp/figures/headline.svg" in run.page
    assert 'id="claim-mrp-' in run.page


def test_nothing_of_the_failed_jobs_stands_under_a_final_name(runs):
    made = runs["unfinished"].result().made.made()
    assert QUOTED not in made
    assert SCHEMATIC not in made


def test_a_training_that_is_told_to_end_is_taken_up_by_the_retry(runs, finished):
    run = runs["retried"].result()
    run.told.well()
    assert run.told.text.count(" goes on after step 5") == len(WEIGHTS)
    assert run.told.text.count("ended by SIGTERM; started again, it goes on") >= len(WEIGHTS)
    whole, made = finished.made(), run.checkout.made()
    assert set(WEIGHTS) <= set(made)
    assert {name: whole[name] for name in made} == made


def test_a_moved_folder_goes_on_where_it_was(done, tmp_path, finished):
    """Its artefacts are not made again, and a damaged one is found and made again there."""
    moved = done().copy(tmp_path / "moved elsewhere, größer")
    (moved / f"results/smoke/{QUOTED}").write_bytes(b"damaged")
    told = moved.snakemake(f"results/smoke/{QUOTED}", f"results/smoke/{SCHEMATIC}")
    assert set(told.well().finished) == {"mrp_table_quoted"}
    assert moved.made()[QUOTED] == finished.made()[QUOTED]


def test_a_checkpoint_of_a_killed_run_is_taken_up_by_the_next(fresh, finished):
    """The run and its job get SIGKILL in the middle of a training; the next run goes on there."""
    paused = Paused(fresh().root)
    target = f"results/smoke/{WEIGHTS[0]}"
    often = {"changes": {"checkpoint_seconds": 0}}
    run = paused.start_until(["mrp_pretrain"], target, **often)
    training = psutil.Process(paused.waiting()["mrp_pretrain"])
    run.process.send_signal(signal.SIGKILL)
    training.send_signal(signal.SIGKILL)
    run.wait()
    paused.go_on()
    told = paused.snakemake(target, **often).well()
    assert " goes on after step 19" in told.text
    assert paused.made()[WEIGHTS[0]] == finished.made()[WEIGHTS[0]]
