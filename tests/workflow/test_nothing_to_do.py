"""A finished run says so, wherever its folder lies now, and fast: without the heavy imports."""

import re

import pytest

from .checkout import SMOKE, Started, environment

IMPORTED = re.compile(r"^import time:[\s\d|]+\|\s+([\w.]+)$", re.MULTILINE)


@pytest.fixture(scope="module")
def again(done, tmp_path_factory):
    """The folder and the command of the finished run, given again after its folder was moved."""
    moved = done()
    moved.root = moved.root.rename(tmp_path_factory.mktemp("elsewhere") / "moved, übrigens")
    before = moved.made()
    command = ["-X", "importtime", *moved.command(configfile=SMOKE)]
    ended = Started(command, moved.root, environment()).wait()
    assert moved.made() == before
    return moved, ended


def test_it_says_so_and_imports_nothing_heavy_for_it(again):
    _, told = again
    assert told.nothing_to_do, told.text
    assert not told.finished
    imported = set(IMPORTED.findall(told.text))
    assert {"snakemake", "featlearn.core.run", "featlearn.mrp.images.config"} <= imported
    packages = {name.partition(".")[0] for name in imported}
    # (Snakemake itself imports pandas)
    assert not packages & {"torch", "torchvision", "matplotlib", "seaborn", "safetensors"}
    assert not imported & {"featlearn.mrp.train", "featlearn.mrp.data"}
