"""The end of `make`, two runs side by side, and the list of `make help`."""

import json
import runpy
import shutil
import sys
from pathlib import Path

import pandas as pd
import pytest
import yaml

from featlearn.core.evidence.claims import FAILS, HOLDS, NOT_SHOWN, UNDECIDED
from featlearn.core.files import write_parquet
from featlearn.core.publishing.ledger import SUMMARY
from unit import ROOT

CONFIG = {"scale": "tour", "run": "tour", "seed": 0, "p": {}}
VERDICTS = {"p/a": NOT_SHOWN, "p/b": HOLDS, "p/c": FAILS, "p/d": UNDECIDED, "p/e": HOLDS,
            "p/g": HOLDS, "p/no-finding": FAILS}  # fmt: skip


@pytest.fixture
def call(monkeypatch, capsys):
    """Runs a script: its exit status, and what it wrote to stdout and stderr."""

    def run(name: str, *arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "path", list(sys.path))
        main = runpy.run_path(str(ROOT / f"scripts/{name}.py"))["main"]
        return main([*map(str, arguments)]), *capsys.readouterr()

    return run


def run_of(folder: Path, rows: list[tuple[str, str, float, float]], scale: str = "tour") -> Path:
    """What of a run, or of a published one, the scripts read: claim, verdict, number and spread."""
    config = CONFIG | {"scale": scale, "run": scale}
    (folder / "provenance").mkdir(parents=True)
    frame = pd.DataFrame([
        {"claim": claim, "paper": "p", "verdict": verdict, "kind": "theorem", "quantity": "a share",
         "measured": x, "interval_low": x - half, "interval_high": x + half, "spread": half,
         "spread_kind": "half-width of the 95 % interval", "low": 0.0, "high": 1.0,
         "artefact": "p/measurements/x.parquet"}
        for claim, verdict, x, half in rows
    ])  # fmt: skip
    write_parquet(frame, folder / "claims.parquet")
    lines = "".join(f"{verdict}  {claim}.svg\n" for claim, verdict, *_ in rows)
    (folder / "checksums.txt").write_text(lines)
    (folder / "provenance/report.html.json").write_text(json.dumps({"config": config}))
    (folder / SUMMARY).write_text(json.dumps({"config": config, "commit": "0" * 40}))
    return folder


def of_verdicts(folder: Path, verdicts: dict[str, str], **more: str) -> Path:
    return run_of(folder, [(claim, own, 0.5, 0.1) for claim, own in verdicts.items()], **more)


@pytest.fixture
def summary(call, tmp_path):
    entries = [
        {"id": name, "claim": f"p/{name}", "paper_says": "so it is", "question": f"Is it {name}?",
         "holds": f"**It is {name}**, {{value}}.", "fails": f"It is not {name}: {{percent}}."}
        for name in "abcdefgh"
    ]  # fmt: skip
    findings = tmp_path / "findings.yaml"
    findings.write_text(yaml.safe_dump({"findings": entries}))
    return lambda run, published: call(
        "summary", run, "--findings", findings, "--published", published
    )


def test_counts_five_findings_and_the_report(tmp_path, summary):
    run = of_verdicts(tmp_path / "run", VERDICTS)
    code, text, _ = summary(run, tmp_path / "none")
    counts, *lines, report = text.splitlines()
    assert code == 0
    assert counts.startswith("7 claims: 3 hold, 2 fail, 2 are open")
    assert [line.split()[0] for line in lines] == ["open", "holds", "fails", "open", "holds"]
    assert report == f"Report: {run / 'report/index.html'}"


def test_of_a_small_run_the_published_verdicts_come_first(tmp_path, summary):
    run = of_verdicts(tmp_path / "run", VERDICTS)
    published = of_verdicts(tmp_path / "desk", {**VERDICTS, "p/a": FAILS}, scale="desk")
    counts, first, *_ = summary(run, published)[1].splitlines()
    assert counts.startswith("7 claims, by published verdict: 3 hold, 3 fail, 1 are open")
    assert first == "fails  It is not a: 50 % (40 to 60). Here, in small: 50 % (40 to 60)."


@pytest.fixture
def first(tmp_path):
    rows = [("p/a", HOLDS, 1.0, 0.1), ("p/b", HOLDS, 0.5, 0.1), ("p/c", FAILS, 3.0, 0.0)]
    return run_of(tmp_path / "first", rows)


def test_a_run_is_like_itself_but_for_a_file_that_differs_or_was_edited(first, tmp_path, call):
    code, text, _ = call("compare", first, first, "--files")
    assert code == 0
    assert text.strip() == (
        "3 claims in both: 0 with another verdict, of which 0 hold in one run and fail in the "
        "other; 0 whose intervals exclude each other"
    )
    other = shutil.copytree(first, tmp_path / "other")
    (other / "checksums.txt").write_text("other  p/a.svg\n")
    assert [call("compare", first, other, *more)[0] for more in ((), ("--files",))] == [0, 1]
    (other / "checksums.txt").unlink()  # as of a published seed
    assert [call("compare", first, other, *more)[0] for more in ((), ("--files",))] == [0, 2]
    (first / "p").mkdir()
    (first / "p/a.svg").write_text("edited")
    code, text, _ = call("compare", first, first, "--files")
    assert code == 1
    assert f"{first}/p/a.svg: not" in text
    (first / "published.txt").write_text("other  p/gone.md\n")
    assert f"{first}/p/gone.md: not" in call("compare", first, first, "--files")[1]


def test_verdicts_numbers_and_files_that_differ_are_named(first, tmp_path, call):
    rows = [("p/a", FAILS, 1.05, 0.1), ("p/b", HOLDS, 0.9, 0.1), ("p/d", HOLDS, 1.0, 0.0)]
    second = run_of(tmp_path / "second", rows)
    code, text, _ = call("compare", first, second, "--files")
    assert code == 1
    *lines, last = text.splitlines()
    alone = {f"p/c: only in {first}", f"p/d: only in {second}"}
    assert alone | {
        "p/a: holds at 1.00 ± 0.10, fails at 1.05 ± 0.10",
        "p/b: holds in both, but 0.50 ± 0.10 and 0.90 ± 0.10",
        f"p/a.svg: differs in {second}",
    } <= {*lines}
    assert last.startswith("2 claims in both: 1 with another verdict, of which 1 hold in one")


def test_the_claims_of_one_experiment_are_compared_with_those_of_a_run(first, tmp_path, call):
    rows = [("p/b", HOLDS, 0.52, 0.1), ("p/c", FAILS, 3 + 1e-15, 0.0)]  # the same, but for rounding
    alone = run_of(tmp_path / "second", rows) / "claims.parquet"
    code, text, _ = call("compare", first, alone)
    assert code == 0
    assert (text[0], text.split("; ")[-1]) == ("2", "0 whose intervals exclude each other\n")
    code, _, error = call("compare", first, alone, "--files")
    assert code == 2
    assert "expected two folders" in error


def test_a_folder_without_a_finished_run_is_named(first, tmp_path, call, summary):
    none = tmp_path / "nothing"
    code, _, error = call("compare", first, none)
    assert code == 2
    assert error.startswith(f"{none}: has no claims.parquet; expected the folder of a finished run")
    code, _, error = summary(none, tmp_path / "none")
    assert code == 1
    assert "claims.parquet" in error
