"""Benchmarks, which no test runs: that each module can be loaded and is in the list of all."""

import re
from importlib import import_module
from pathlib import Path

import pandas as pd
import pytest
from bench.summary import machines, rows_of

from featlearn.core.files import write_parquet

BENCH = Path(__file__).parents[2] / "bench"
LISTED = re.findall(r'^    "(\w+)",$', (BENCH / "__main__.py").read_text(), re.MULTILINE)


def test_every_module_with_benchmarks_is_listed():
    own = {file.stem for file in BENCH.glob("*.py") if "\nBENCHMARKS = {" in file.read_text()}
    assert own == set(LISTED)


@pytest.mark.parametrize("name", LISTED)
def test_a_module_of_benchmarks_can_be_loaded(name):
    try:
        module = import_module(f"bench.{name}")
    except ModuleNotFoundError as error:  # a peer that no run needs
        if error.name.startswith(("featlearn", "bench")):
            raise
        pytest.skip(f"without {error.name}")
    assert all(map(callable, module.BENCHMARKS.values()))


def test_the_table_of_machines_names_work_peer_spread_and_what_is_not_reached(tmp_path):
    told = [("a: step / its products", 1.3, "<= 1.2"), ("full / ours, over m / r", 1.1, "")]
    frame = rows_of("some-table", pd.DataFrame(told, columns=["what", "ratio", "wanted"]))
    assert frame["peer"].tolist() == ["its products", "ours, over m / r"]
    frame.loc[0, ["low", "high"]] = 1.25, 1.35
    (tmp_path / "one").mkdir()
    write_parquet(frame, tmp_path / "one" / "summary.parquet")
    (tmp_path / "one" / "summary.md").write_text("# Speed\n\nSome processor\n")
    page = re.sub(" +", " ", machines(tmp_path))
    assert "[Some processor](one/summary.md)" in page
    assert "| a: step | its products | <= 1.2 | 1.3 (1.25 to 1.35), not reached |" in page
    assert "| full | ours, over m / r | | 1.1 |" in page
