"""The bill of what is installed."""

from __future__ import annotations

import re
from importlib.metadata import PathDistribution
from pathlib import Path

import pytest

from featlearn.core import software
from featlearn.core.software import UNTOLD, installed

ROOT = Path(__file__).resolve().parents[2]
RECORD = "pkg/a.py,sha256=AAA,3\npkg/b.py,sha256=BBB,4\n"
MADE = "../../bin/tool,sha256=CCC,5\npkg/__pycache__/a.pyc,,\npkg-1.dist-info/RECORD,,\n"


def distribution(folder: Path, *headers: str, record: str = RECORD) -> PathDistribution:
    """An installed package as it lies on disk."""
    info = folder / "pkg-1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("\n".join(["Name: Pkg", "Version: 1", *headers, ""]))
    (info / "RECORD").write_text(record)
    return PathDistribution(info)


@pytest.mark.parametrize("name", ["torch", "numpy", "snakemake", "pyarrow", "safetensors"])
def test_what_results_depend_on_is_listed_as_it_is_locked(name):
    (found,) = [package.version for package in installed() if package.name.lower() == name]
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    # one version for each Python that is allowed; torch tells its build after a plus sign
    locked = re.findall(rf"^{name}==([^ ;\\]+)", lock, re.MULTILINE)
    assert found.partition("+")[0] in locked


def test_packages_come_once_in_order_with_licence_and_digest():
    found = installed()
    names = [package.name.lower() for package in found]
    assert names == sorted(set(names))
    of = {package.name: package for package in found}
    assert of["numpy"].licence.startswith("BSD")
    assert re.fullmatch("[0-9a-f]{64}", of["numpy"].digest)
    assert all(package.licence for package in found)


@pytest.mark.parametrize(
    ("headers", "licence"),
    [
        (["License-Expression: MIT", "License: other"], "MIT"),
        (["Classifier: License :: OSI Approved :: BSD License"], "BSD License"),
        (["Classifier: License :: OSI Approved", "License: Apache-2.0"], "Apache-2.0"),
        (["License: " + "words " * 30], "words " * 10 + "..."),
        (["License-File: COPYING"], "its file COPYING"),
        ([], UNTOLD),
    ],
)
def test_a_licence_is_told_as_the_package_states_it(tmp_path, headers, licence):
    found = software._licence(distribution(tmp_path, *headers))
    assert found.replace("  ", " ") == licence


def test_a_digest_is_of_the_files_of_the_package_not_of_its_installation(tmp_path):
    plain = software._digest(distribution(tmp_path / "plain"))
    installed_otherwise = software._digest(
        distribution(tmp_path / "other", record="".join(reversed(RECORD.splitlines(True))) + MADE)
    )
    changed = software._digest(
        distribution(tmp_path / "changed", record=RECORD.replace("BBB", "BBC"))
    )
    assert plain == installed_otherwise != changed
    assert software._digest(distribution(tmp_path / "none", record="")) == ""
