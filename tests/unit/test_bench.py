"""Benchmarks, which no test runs: that each module can be loaded and is in the list of all."""

import re
from importlib import import_module
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[2] / "bench"
LISTED = re.findall(r'^    "(\w+)",$', (BENCH / "__main__.py").read_text(), re.MULTILINE)


@pytest.mark.parametrize("name", LISTED)
def test_a_module_of_benchmarks_can_be_loaded(name):
    try:
        module = import_module(f"bench.{name}")
    except ModuleNotFoundError as error:  # a peer that no run needs
        if error.name.startswith(("featlearn", "bench")):
            raise
        pytest.skip(f"without {error.name}")
    assert all(map(callable, module.BENCHMARKS.values()))
