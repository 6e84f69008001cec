"""What a paper declares and its rules publish, read without importing it; faults are named."""

from __future__ import annotations

import functools
import shutil
from pathlib import Path
from types import SimpleNamespace

import matplotlib.pyplot as plt
import pandas as pd
import pytest
import torch

from featlearn.core import claims, outputs, provenance, publish, run
from featlearn.core.errors import FeatlearnError
from featlearn.core.experiments import Published, rule_faults
from featlearn.core.files import read_parquet, read_tensors
from featlearn.core.publish import Table

TEMPLATE = Path(__file__).resolve().parents[2] / "template/src/featlearn"


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """The package of the template's paper, where it may be edited."""
    package = tmp_path / "featlearn"
    shutil.copytree(TEMPLATE, package)
    monkeypatch.setattr(publish, "PACKAGE", package)
    find = functools.partial(provenance.module_file, root=tmp_path)
    monkeypatch.setattr(publish, "module_file", find)
    provenance.module_file.cache_clear()
    publish._parsed.cache_clear()
    return package / "toy"


def edit(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert text.count(old) == 1
    file.write_text(text.replace(old, new))


def published(**frames) -> Published:
    """The experiment of the template as its rules publish it."""
    made = Published("results/x")
    made.paper("toy")
    frames = frames or {"alignment": "results/x/toy/measurements/averaging.parquet"}
    made.experiment("toy", "averaging", {"views": [1]}, judged={}, **frames)
    return made


def test_what_an_experiment_publishes(toy):
    made = published()
    made.close()
    assert made.artefacts == [
        "results/x/toy/measurements/averaging.parquet",
        "results/x/toy/figures/alignment.svg",
        "results/x/toy/figures/alignment.png",
        "results/x/toy/tables/alignment.parquet",
        "results/x/toy/tables/alignment.md",
        "results/x/toy/claims/averaging.parquet",
    ]
    assert [page[:3] for page in made.pages] == [
        ("figure", "toy", "alignment"),
        ("table", "toy", "alignment"),
    ]
    assert made.pages[0][3].startswith("# The feature appears out of the noise\n\nCosine")
    assert made.stories["toy"].startswith("# A toy paper")
    (experiment,) = made.experiments
    (batch,) = experiment.batches
    assert batch.frames == {"alignment": "results/x/toy/measurements/averaging.parquet"}
    assert batch.contains == ["measured"] * 4
    assert not batch.wants_config
    assert made.claims_of({"toy_judge_averaging"}) == [
        {
            "paper": "toy",
            "module": "featlearn.toy.claims",
            "config": {},
            "files": ["toy/measurements/averaging.parquet"],
        }
    ]
    assert made.claims_of({"toy_show_averaging"}) == []


def test_marks_stack_and_the_parameters_that_they_fill_are_no_frames(toy):
    figures = toy / "figures.py"
    edit(figures, "@figure()", '@figure("b", k=2, contains="drawn")\n@figure("a", k=1)')
    edit(figures, "(alignment: pd.DataFrame)", "(alignment: pd.DataFrame, config: dict, k: int)")
    edit(figures, "The feature appears out", "The feature of {{ k }} appears out")
    one, two, _ = publish.exhibits("toy", "averaging")
    assert (one.name, one.fixed, one.contains) == ("a", {"k": 1}, "")
    assert (two.name, two.fixed, two.contains) == ("b", {"k": 2}, "drawn")
    assert one.title.startswith("The feature of 1 appears")
    assert two.page.startswith("# The feature of 2 appears")
    assert one.frames == ("alignment", "config")
    (batch,) = published().experiments[0].batches
    assert batch.wants_config
    assert batch.contains == ["measured", "measured", "drawn", "drawn", "measured", "measured"]


def test_an_exhibit_apart_gets_a_job_of_its_own(toy):
    edit(toy / "figures.py", "@figure()", '@figure("other")\n@figure()')
    made = Published("results/x")
    made.paper("toy")
    made.experiment("toy", "averaging", judged={}, apart=["other"], alignment="a.parquet")
    labels = [batch.label for batch in made.experiments[0].batches]
    assert labels == ["averaging", "averaging-other"]


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("(alignment: pd.DataFrame)", "(alignment, other)", "gives no frame 'other'"),
        ("@figure()", '@figure("alignment")\n@figure()', "figure toy/alignment: declared by"),
        ("@figure()", "@figure(k=3)", "toy.figures:alignment: marked with 'k', which is no"),
        ("@figure()", '@figure("a" + str(1))', "holds what is no literal"),
        ("@figure()", "@table()", "marked @table; expected @figure"),
        ("@figure()", "@figure", r"expected @figure\(...\)"),
    ],
)
def test_a_fault_of_an_exhibit_is_told_by_its_name(toy, old, new, told):
    edit(toy / "figures.py", old, new)
    with pytest.raises(FeatlearnError, match=told):
        published()


@pytest.mark.parametrize("text", ["'''Words.'''\n", "", "''"])
def test_a_figure_without_a_caption_is_told(toy, text):
    (toy / "figures.py").write_text(f"{text}\n@figure()\ndef a(alignment):\n    return 1\n")
    with pytest.raises(FeatlearnError, match=r"featlearn\.toy\.figures:a: no docstring"):
        published()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ({"paper": "tyo"}, "experiment tyo/averaging: tyo is none of toy"),
        ({"apart": ["x"]}, "no exhibit 'x'; it has alignment"),
        ({"without": ["x"]}, "no exhibit 'x'"),
        ({"contains": {"x": "drawn"}}, "no exhibit 'x'"),
        ({"alignment": []}, "frame 'alignment' is a list of no files"),
    ],
)
def test_a_fault_of_an_experiment_is_told_by_its_name(toy, words, told):
    made = Published("results/x")
    made.paper("toy")
    given = {"paper": "toy", "name": "averaging", "judged": {}, "alignment": "a.parquet"} | words
    with pytest.raises(FeatlearnError, match=told):
        made.experiment(**given)


def test_an_experiment_of_nothing_is_told(toy):
    for kind in ("figures", "tables", "claims"):
        (toy / f"{kind}.py").unlink()
    provenance.module_file.cache_clear()
    with pytest.raises(FeatlearnError, match="toy/averaging: no figure, table or claim"):
        published()


def test_experiments_are_published_once_and_share_no_files_before_the_results(toy):
    made = published()
    for name, told in (("averaging", "published twice"), ("second", "shares files with averaging")):
        with pytest.raises(FeatlearnError, match=f"toy/{name}: {told}"):
            made.experiment("toy", name, judged={}, alignment="a.parquet")
    made.close()
    with pytest.raises(FeatlearnError, match="figure toy/late: comes after the results"):
        made.by_hand("toy", "figure", "late", "toy.figures:alignment")
    silent = Published("results/x")
    silent.paper("toy")
    with pytest.raises(FeatlearnError, match="toy: its rules publish nothing"):
        silent.close()


def test_rules_say_what_their_results_depend_on():
    def rule(name, script="/scripts/measure.py", made=("x",), **params):
        return SimpleNamespace(name=name, script=script, params=params, output=made)

    told = list(
        rule_faults(
            [
                rule("right", function="f", code="of f"),
                rule("base", made=(), code="of the rule that inherits"),
                rule("target", script=None),
                rule("shown", script="/scripts/show.py", code="1", contains=["drawn", "measured"]),
                rule("bare", function="f"),
                rule("inherited", code="of the rule that inherits"),
                rule("wrong", function="f", code="of g"),
                rule("word", function="f", code="of f", contains="measurd"),
            ],
            lambda name: f"of {name}",
        )
    )
    assert [line.split(":")[0] for line in told] == [
        f"rule {name}" for name in ("bare", "inherited", "wrong", "word")
    ]


# ------------------------------------------------------------------------------- outputs


class Named(SimpleNamespace):
    """As the paths of a job."""

    def __init__(self, folder: Path, *names: str):
        super().__init__(**{name: folder / name for name in names}, names=dict.fromkeys(names))


def test_frames_and_tensors_are_written_under_their_names(tmp_path):
    frame, tensors = pd.DataFrame({"a": [1]}), {"w": torch.ones(2)}
    outputs.write({"frame": frame, "tensors": tensors}, Named(tmp_path, "frame", "tensors"))
    assert read_parquet(tmp_path / "frame").equals(frame)
    assert torch.equal(read_tensors(tmp_path / "tensors")["w"], tensors["w"])


@pytest.mark.parametrize(
    ("found", "told"),
    [
        ({}, "f: gave nothing; expected history"),
        ({"histroy": pd.DataFrame({"a": [1]})}, "f: gave histroy; expected history"),
        ({"history": pd.DataFrame()}, "f: history has no rows"),
        ({"history": pd.DataFrame({"a": []})}, "f: history has no rows"),
    ],
)
def test_a_measurement_that_measured_nothing_is_a_fault(tmp_path, found, told):
    with pytest.raises(FeatlearnError, match=told):
        outputs.write(found, Named(tmp_path, "history"), function="f")
    assert list(tmp_path.iterdir()) == []


def test_figures_and_tables_are_written_and_nothing_else_is(tmp_path):
    first, second = tmp_path / "a", tmp_path / "b"
    drawn = plt.figure()
    outputs.write_exhibit(drawn, first, second)
    assert first.read_text().startswith("<?xml")
    plt.close(drawn)
    table = pd.DataFrame({"mean": [1.0], "replicates": [4]})
    outputs.write_exhibit(Table(table, table[["mean"]]), first, second, title="Title")
    assert second.read_text().startswith("# Title\n")
    assert "4 replicates; after the sign: " in second.read_text()
    with pytest.raises(FeatlearnError, match="a: the table has no rows"):
        outputs.write_exhibit(Table(table[:0], table[:0]), first, second)
    with pytest.raises(FeatlearnError, match="a: expected a figure or a Table"):
        outputs.write_exhibit(None, first, second)


# ------------------------------------------------------------------------------- claims


def claim(name: str, artefact: str = "toy/a.parquet") -> claims.Claim:
    return claims.Claim(name, claims.THEOREM, "s", "s", "q", 0, 1, "r", lambda f: f, artefact)


@pytest.mark.parametrize(
    ("module", "told"),
    [
        ({"CLAIMS": (claim("toy/a"),)}, None),
        ({"claims": lambda config: [claim(f"toy/{name}") for name in config["names"]]}, None),
        ({"CLAIMS": (claim("tyo/a"),)}, "claim tyo/a of declared: expected toy/"),
        ({"CLAIMS": (claim("toy/a"), claim("toy/a"))}, "claim toy/a: in declared and declared"),
        (
            {"CLAIMS": (claim("toy/a", "toy/b"),)},
            "claim toy/a: its artefact toy/b is none",
        ),
        ({"CLAIMS": ()}, "declared: no claims"),
        ({}, "declared: no claims; expected CLAIMS"),
    ],
)
def test_claims_are_checked_before_they_are_judged(monkeypatch, module, told):
    found = SimpleNamespace(__name__="declared", **module)
    monkeypatch.setattr(claims, "import_module", lambda name: found)
    given = {"module": "declared", "paper": "toy", "files": ["toy/a.parquet"]}
    given["config"] = {"names": ["a", "b"]}
    if told is None:
        claims.check([given])
        return
    with pytest.raises(FeatlearnError, match=told):
        claims.check([given])


def test_a_frame_of_claims_is_read_when_it_is_asked_for():
    asked = []

    def read(name):
        asked.append(name)
        return pd.DataFrame({"name": [name]})

    frames = claims.Frames(read, ["a", "b"], {"c": pd.DataFrame()})
    assert (list(frames), len(frames), asked) == (["a", "b", "c"], 3, [])
    assert frames["a"] is frames["a"]
    assert asked == ["a"]
    with pytest.raises(KeyError, match="no frame 'd'; expected one of a, b, c"):
        frames["d"]


# ------------------------------------------------------------------------------- silent ends

SNAKEMAKE_SAID = """
Command 'set -euo pipefail;  python a.py' returned non-zero exit status 3.
Error in rule one:
    message: None
    output: results/x/one
    log: results/x/logs/one.log (check log file(s) for error details)
Command 'set -euo pipefail;  python a.py' died with <Signals.SIGABRT: 6>.
Error in rule two:
    log: results/x/logs/two.log (check log file(s) for error details)
MissingOutputException in rule three in file "a.smk", line 6:
Error in rule four:
"""


def test_snakemakes_log_tells_how_jobs_ended():
    assert run.ends(SNAKEMAKE_SAID) == {
        "one": ("exit status 3", "results/x/logs/one.log"),
        "two": ("SIGABRT", "results/x/logs/two.log"),
        "three": ("exit status 0", ""),
        "four": ("", ""),
    }
    assert run.ends("") == {}


@pytest.mark.parametrize("end", ["", "SIGKILL"])
def test_the_system_takes_memory_back_by_sigkill(end):
    assert run.silent_end(end).startswith("killed from outside (SIGKILL). Most often the system")


def test_how_a_job_ended_that_said_nothing_is_noted_in_its_log(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    log = Path("results/x/logs/two.log")
    log.parent.mkdir(parents=True)
    log.touch()
    Path("said.log").write_text(SNAKEMAKE_SAID)
    monkeypatch.setattr(run, "killed", lambda results: {Path("a"): "two", Path("b"): "five"})
    found = run.note_silent_ends(Path("results/x"), [Path("said.log"), Path("none.log")])
    assert set(found) == {"two", "five"}
    assert found["five"].startswith("killed from outside")
    assert log.read_text().startswith("error in rule two: ended without a word (SIGABRT)")
