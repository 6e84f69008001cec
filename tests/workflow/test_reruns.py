"""What an edit or a changed value re-runs on the real DAG: by meaning, what depends on it.

The expected rules are written by hand: an oracle that does not read the code."""

import os
import re

import pytest

from .checkout import SMOKE, Started, environment
from .toy import ANALYSIS, PACKAGE

#: What follows from every change of an artefact, and from one of a figure or table as well.
LISTED = {"checksums", "report", "all"}
SHOWN = {"catalogue", *LISTED}
REPORTED = {"report", "all"}
JUDGED = {"toy_judge_averaging", "claims", *LISTED}
MRP = "src/featlearn/mrp"
#: Edited file of the toy, what is replaced there, and all rules that this re-runs.
TOLD = {
    "a figure": (ANALYSIS, 'ylabel="cosine"', 'ylabel="Cosine"', {"toy_show_averaging", *SHOWN}),
    "a band": (ANALYSIS, "high=1.1", "high=1.2", JUDGED),
    "a statement": (ANALYSIS, "The sum of n views", "Edited: n views", JUDGED),
    "a caption": (ANALYSIS, "The feature appears", "Edited: it appears", REPORTED),
    "a story": (f"{PACKAGE}/__init__.py", "A toy paper", "Edited", REPORTED),
    "the report": (
        "src/featlearn/core/publishing/report.py", "= 18.0, 82.0", "= 20.0, 80.0", REPORTED
    ),
}  # fmt: skip
#: Trainings of kernels that follow mask reconstruction, and not the supervised ones ...
FORMULA = f"{MRP}/train.py"
#: ... that must re-run with it, and what has nothing to do with it.
RERUN_BY_FORMULA = {"mrp_pretrain", "mrp_purity", "mrp_evaluate", "mrp_show_headline"}
SPARED_BY_FORMULA = re.compile("contrastive|noncontrastive|mrp_oracles|mrp_show_paper_items")
#: The frame of every job, and what only a reader reads: no job computes anything else.
FRAME = {
    "src/featlearn/core/run/job.py": "\n# an edit\nEDITED = 1\n",
    "src/featlearn/core/run/progress.py": "\nEDITED = 1\n",
    "scripts/measure.py": "\n# an edit\nEDITED = 1\n",
    "scripts/show.py": "\nEDITED = 1\n",
    "src/featlearn/core/evidence/stats.py": "\n# an edit\n",
    "src/featlearn/images/train/loop.py": '\n"""A string that computes nothing."""\n',
    FORMULA: "\n# an edit\n",
    # read when the DAG is built, by no job
    f"{MRP}/config.py": "\nEDITED = 1\n",
}
#: Changed value, and the rules that it re-runs.
STEPS = {"mrp": {"headline": {"finetuning": {"steps": 21}}}}
MEASURED_BY_STEPS = {"mrp_downstream", "mrp_evaluate"}


@pytest.mark.parametrize("edit", ["a figure", "a band", "a caption", *(
    pytest.param(one, marks=pytest.mark.long) for one in ("a statement", "a story", "the report")
)])  # fmt: skip
def test_an_edit_reruns_what_it_changes_and_nothing_else(template_finished, tmp_path, edit):
    toy, (file, old, new, rerun) = template_finished.copy(tmp_path / "toy"), TOLD[edit]
    toy.replace(file, old, new)
    assert set(toy.plan()) == rerun


def test_comments_docstrings_the_frame_and_time_stamps_rerun_nothing(done):
    """Edits of the frame and of comments, and new time stamps for all code."""
    checkout = done()
    for file, text in FRAME.items():
        checkout.edit(file, text)
    for folder in ("scripts", "src", "workflow"):
        for file in (checkout / folder).rglob("*.*"):
            if file.suffix in (".py", ".smk"):
                os.utime(file)
    os.utime(checkout / "Snakefile")
    told = checkout.snakemake("--dry-run")
    assert told.nothing_to_do, told.text


def test_a_formula_or_a_value_reruns_what_depends_on_it(done):
    checkout = done()
    rerun = set(checkout.plan(changes=STEPS))
    told = re.compile("mrp_(show|judge)_|claims|catalogue|checksums|report|all")
    assert {rule for rule in rerun if not told.match(rule)} == MEASURED_BY_STEPS
    assert {"mrp_show_headline", "mrp_judge_headline", "claims", *SHOWN} <= rerun
    assert "mrp_show_regimes" not in rerun
    text = (checkout / FORMULA).read_text(encoding="utf-8")
    edited = text.replace("\nfrom featlearn", "\nEDITED = 1\nfrom featlearn", 1)
    (checkout / FORMULA).write_text(edited, encoding="utf-8")
    rerun = set(checkout.plan())
    assert rerun >= {*RERUN_BY_FORMULA, "claims", *SHOWN}
    assert not [rule for rule in rerun if SPARED_BY_FORMULA.match(rule)]


@pytest.mark.long
def test_another_seed_reruns_what_is_drawn_at_random_and_no_drawing_of_the_theory(done):
    planned = done().plan(changes={"seed": 1})
    rerun = set(planned)
    assert rerun >= {"mrp_pretrain", "mrp_supervise", "contrastive_train", "noncontrastive_starts"}
    assert not rerun & {"mrp_show_paper_items", "noncontrastive_show_paper_items"}
    # all jobs of a rule with several
    assert planned["mrp_images_pretrain"] > 1


IMPORTED = re.compile(r"^import time:[\s\d|]+\|\s+([\w.]+)$", re.MULTILINE)


def test_a_finished_run_that_was_moved_has_nothing_to_do_and_imports_nothing_heavy(
    done, tmp_path_factory
):
    moved = done()
    moved.root = moved.root.rename(tmp_path_factory.mktemp("elsewhere") / "moved, übrigens")
    before = moved.made()
    command = ["-X", "importtime", *moved.command(configfile=SMOKE)]
    told = Started(command, moved.root, environment()).wait()
    assert moved.made() == before
    assert told.nothing_to_do, told.text
    assert not told.finished
    imported = set(IMPORTED.findall(told.text))
    assert {"snakemake", "featlearn.core.run.workspace", "featlearn.mrp.images.config"} <= imported
    packages = {name.partition(".")[0] for name in imported}
    # (Snakemake itself imports pandas)
    assert not packages & {"torch", "torchvision", "matplotlib", "seaborn", "safetensors"}
    assert not imported & {"featlearn.mrp.train", "featlearn.mrp.data"}
