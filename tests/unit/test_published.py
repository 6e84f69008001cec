"""What a paper declares and its rules publish, read without importing it; faults are named."""

import functools
import shutil
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import matplotlib.pyplot as plt
import pandas as pd
import pytest
import torch

from featlearn.core.errors import FeatlearnError
from featlearn.core.evidence import claim_methods, claims
from featlearn.core.files import read_parquet, read_tensors
from featlearn.core.publishing.html_assets import parse_page
from featlearn.core.run import exhibits, outputs, provenance
from featlearn.core.run.exhibits import Table
from featlearn.core.run.registry import Published

MARK, PARAMETERS = '@figure("alignment")', "(alignment: pd.DataFrame)"
TEMPLATE = Path(__file__).resolve().parents[2] / "template/src/featlearn"


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """The package of the template's paper, where it may be edited."""
    package = tmp_path / "featlearn"
    shutil.copytree(TEMPLATE, package)
    monkeypatch.setattr(exhibits, "PACKAGE", package)
    find = functools.partial(provenance.module_file, root=tmp_path)
    monkeypatch.setattr(exhibits, "module_file", find)
    provenance.module_file.cache_clear()
    exhibits._parsed.cache_clear()
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
    assert [name.removeprefix("results/x/toy/") for name in made.artefacts] == [
        "measurements/averaging.parquet", "figures/alignment.svg", "figures/alignment.png",
        "tables/alignment.parquet", "tables/alignment.md", "claims/averaging.parquet",
    ]  # fmt: skip
    pages = [page[:3] for page in made.pages]
    assert pages == [("figure", "toy", "alignment"), ("table", "toy", "alignment")]
    (experiment,) = made.experiments
    (batch,) = experiment.batches
    assert batch.frames == {"alignment": "results/x/toy/measurements/averaging.parquet"}
    assert batch.contains == ["measured"] * 4
    assert not batch.wants_config
    (judged,) = made.claims_of({"toy_judge_averaging"})
    assert judged["files"] == ["toy/measurements/averaging.parquet"]
    assert made.claims_of({"toy_show_averaging"}) == []


def test_marks_stack_and_the_parameters_that_they_fill_are_no_frames(toy):
    figures = toy / "analysis.py"
    marks = '@figure("b", k=2, contains="drawn")\n@figure("a", k=1)'
    edit(figures, '@figure("alignment")', marks)
    edit(figures, f"draw{PARAMETERS}", "draw(alignment: pd.DataFrame, config: dict, k: int)")
    edit(figures, "The feature appears out", "The feature of {{ k }} appears out")
    one, two, _ = exhibits.exhibits("toy", "averaging")
    assert (one.name, one.fixed, one.contains) == ("a", {"k": 1}, "")
    assert (two.name, two.fixed, two.contains) == ("b", {"k": 2}, "drawn")
    assert one.title.startswith("The feature of 1 appears")
    assert two.page.startswith("# The feature of 2 appears")
    assert one.frames == ("alignment", "config")
    (batch,) = published().experiments[0].batches
    assert batch.wants_config
    assert batch.contains == ["measured", "measured", "drawn", "drawn", "measured", "measured"]


@pytest.mark.parametrize(("old", "new", "told"), [
    (f"draw{PARAMETERS}", "draw(alignment, other)", "gives no frame 'other'"),
    (MARK, f"{MARK}\n{MARK}", "figure toy/alignment: declared by"),
    (MARK, "@figure(k=3)", "toy.analysis:draw: marked with 'k', which is no"),
    (MARK, '@figure("a" + str(1))', "holds what is no literal"),
    (MARK, "@figure", r"expected @figure\(...\)"),
    ("def cosines(", "def draw(", "toy.analysis: draw is defined twice"),
])  # fmt: skip
def test_a_fault_of_an_exhibit_is_told_by_its_name(toy, old, new, told):
    edit(toy / "analysis.py", old, new)
    with pytest.raises(FeatlearnError, match=told):
        published()


@pytest.mark.parametrize("text", ["'''Words.'''\n", "", "''"])
def test_a_figure_without_a_caption_is_told(toy, text):
    (toy / "analysis.py").write_text(f"{text}\n@figure()\ndef a(alignment):\n    return 1\n")
    with pytest.raises(FeatlearnError, match=r"featlearn\.toy\.analysis:a: no docstring"):
        published()


def test_an_exhibit_apart_gets_a_job_of_its_own(toy):
    edit(toy / "analysis.py", MARK, f'@figure("other")\n{MARK}')
    edit(toy / "analysis.py", "The feature appears", "{{ name }} appears")
    made = Published("results/x")
    made.paper("toy")
    made.experiment("toy", "averaging", judged={}, apart=["other"], alignment="a.parquet")
    labels = [batch.label for batch in made.experiments[0].batches]
    assert labels == ["averaging", "averaging-other"]


@pytest.mark.parametrize(("words", "told"), [
    ({"paper": "tyo"}, "experiment tyo/averaging: tyo is none of toy"),
    ({"apart": ["x"]}, "no exhibit 'x'; it has alignment"),
    ({"without": ["x"]}, "no exhibit 'x'"),
    ({"contains": {"x": "drawn"}}, "no exhibit 'x'"),
    ({"alignment": []}, "frame 'alignment' is a list of no files"),
])  # fmt: skip
def test_a_fault_of_an_experiment_is_told_by_its_name(toy, words, told):
    made = Published("results/x")
    made.paper("toy")
    given = {"paper": "toy", "name": "averaging", "judged": {}, "alignment": "a.parquet"} | words
    with pytest.raises(FeatlearnError, match=told):
        made.experiment(**given)


def test_experiments_are_published_once_and_share_no_files_before_the_results(toy):
    made = published()
    for name, told in (("averaging", "published twice"), ("second", "shares files with averaging")):
        with pytest.raises(FeatlearnError, match=f"toy/{name}: {told}"):
            made.experiment("toy", name, judged={}, alignment="a.parquet")
    made.close()
    with pytest.raises(FeatlearnError, match="figure toy/late: comes after the results"):
        made.by_hand("toy", "figure", "late", "toy.analysis:draw")
    silent = Published("results/x")
    silent.paper("toy")
    with pytest.raises(FeatlearnError, match="toy: its rules publish nothing"):
        silent.close()
    silent.closed = True
    with pytest.raises(FeatlearnError, match="experiment toy/averaging: comes after the results"):
        silent.experiment("toy", "averaging", judged={}, alignment="b.parquet")


class Named(SimpleNamespace):
    """As the paths of a job."""

    def __init__(self, folder: Path, *names: str):
        super().__init__(**{name: folder / name for name in names}, names=dict.fromkeys(names))


def test_frames_tensors_figures_and_tables_are_written_and_nothing_else_is(tmp_path):
    frame, tensors = pd.DataFrame({"a": [1]}), {"w": torch.ones(2)}
    outputs.write({"frame": frame, "tensors": tensors}, Named(tmp_path, "frame", "tensors"))
    assert read_parquet(tmp_path / "frame").equals(frame)
    assert torch.equal(read_tensors(tmp_path / "tensors")["w"], tensors["w"])
    first, second = tmp_path / "a", tmp_path / "b"
    drawn = plt.figure()
    outputs.write_exhibit(drawn, first, second)
    assert first.read_text().startswith("<?xml")
    plt.close(drawn)
    table = pd.DataFrame({"mean": [1.0], "replicates": [4]})
    outputs.write_exhibit(Table(table, table[["mean"]]), first, second, title="Title")
    assert second.read_text().startswith("# Title\n")
    assert "4 replicates; after the sign: " in second.read_text()
    shown = pd.DataFrame({"1 - |cos|": ["|w|"], "n": [4]})
    outputs.write_exhibit(Table(table, shown), first, second, title="Bars")
    body = parse_page(second.read_text(), "", 1).body
    assert all(f">{word}</t" in body for word in ("1 - |cos|", "|w|", "n", "4"))
    with pytest.raises(FeatlearnError, match="a: the table has no rows"):
        outputs.write_exhibit(Table(table[:0], table[:0]), first, second)
    with pytest.raises(FeatlearnError, match="a: expected a figure or a Table"):
        outputs.write_exhibit(None, first, second)


@pytest.mark.parametrize(("found", "told"), [
    ({}, "f: gave nothing; expected history"),
    ({"histroy": pd.DataFrame({"a": [1]})}, "f: gave histroy; expected history"),
    ({"history": pd.DataFrame()}, "f: history has no rows"),
    ({"history": pd.DataFrame({"a": []})}, "f: history has no rows"),
])  # fmt: skip
def test_a_measurement_that_measured_nothing_is_a_fault(tmp_path, found, told):
    with pytest.raises(FeatlearnError, match=told):
        outputs.write(found, Named(tmp_path, "history"), function="f")
    assert list(tmp_path.iterdir()) == []


def claim(name: str, artefact: str = "toy/a.parquet") -> claims.Claim:
    return claims.Claim(name, claims.THEOREM, "s", "s", "q", 0, 1, "r", lambda f: f, artefact)


@pytest.mark.parametrize(("declared", "fault"), [
    ([claim("toy/a"), claim("toy/b")], None),
    ([claim("tyo/a")], "claim tyo/a of math: expected toy/"),
    ([claim("toy/a"), claim("toy/a")], "claim toy/a: in math and math"),
    ([claim("toy/a", "toy/b")], "claim toy/a: its artefact toy/b is none"),
    ([], "math: no claims; expected a class with a paper"),
])  # fmt: skip
def test_claims_are_checked_before_they_are_judged(monkeypatch, declared, fault):
    monkeypatch.setattr(claim_methods, "of_module", lambda module, config: declared)
    given = {"module": "math", "paper": "toy", "files": ["toy/a.parquet"], "config": {}}
    with pytest.raises(FeatlearnError, match=fault) if fault else nullcontext():
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
