"""Two runs side by side: what differs is told, and what is the same is not."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from featlearn.core.files import write_parquet

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "compare.py"


def run_of(folder, rows):
    folder.mkdir()
    names = ["claim", "verdict", "measured", "interval_low", "interval_high", "spread"]
    frame = pd.DataFrame(
        [(claim, verdict, x, x - s, x + s, s) for claim, verdict, x, s in rows], columns=names
    )
    write_parquet(frame, folder / "claims.parquet")
    text = "".join(f"{verdict}  {claim}.svg\n" for claim, verdict, *_ in rows)
    (folder / "checksums.txt").write_text(text, encoding="utf-8")
    return folder


def compare(*arguments):
    command = [sys.executable, str(SCRIPT), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture
def first(tmp_path):
    rows = [("p/a", "holds", 1.0, 0.1), ("p/b", "holds", 0.5, 0.1), ("p/c", "fails", 3.0, math.nan)]
    return run_of(tmp_path / "first", rows)


def test_a_run_is_like_itself(first):
    ended = compare(first, first, "--files")
    assert ended.returncode == 0
    assert ended.stdout.strip() == (
        "3 claims in both: 0 with another verdict, of which 0 hold in one run and fail in the "
        "other; 0 whose intervals exclude each other"
    )


def test_verdicts_numbers_and_files_that_differ_are_named(first, tmp_path):
    rows = [("p/a", "fails", 1.05, 0.1), ("p/b", "holds", 0.9, 0.1), ("p/d", "holds", 1.0, 0.0)]
    ended = compare(first, run_of(tmp_path / "second", rows), "--files")
    assert ended.returncode == 1
    lines = ended.stdout.splitlines()
    assert f"p/c: only in {first}" in lines
    assert f"p/d: only in {tmp_path / 'second'}" in lines
    assert "p/a: holds at 1.00 ± 0.10, fails at 1.05 ± 0.10" in lines
    assert "p/b: holds in both, but 0.50 ± 0.10 and 0.90 ± 0.10" in lines
    assert f"p/a.svg: differs in {tmp_path / 'second'}" in lines
    assert lines[-1].startswith("2 claims in both: 1 with another verdict, of which 1 hold in one")


def test_a_folder_without_a_finished_run_is_named(first, tmp_path):
    ended = compare(first, tmp_path / "nothing")
    assert ended.returncode == 2
    told = f"{tmp_path / 'nothing'}: has no claims.parquet; expected the folder of a finished run"
    assert ended.stderr.startswith(told)


def test_the_claims_of_one_experiment_are_held_against_those_of_a_run(first, tmp_path):
    run_of(tmp_path / "second", [("p/b", "holds", 0.52, 0.1)])
    alone = tmp_path / "second" / "claims.parquet"
    ended = compare(first, alone)
    assert ended.returncode == 0
    assert ended.stdout.startswith("1 claims in both: 0 with another verdict")
    ended = compare(first, alone, "--files")
    assert ended.returncode == 2
    assert "expected two folders" in ended.stderr
