"""Write ``environment.yml`` from ``pyproject.toml`` and ``requirements.lock``; `make lock` does."""

from __future__ import annotations

import tomllib
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

#: The Python that conda users get; the lock file may hold other versions for newer ones.
PYTHON = "3.11"
TEXT = f"""\
# The locked versions of requirements.lock for conda (and `snakemake --sdm conda`).
# Written by `make lock`; do not edit.
name: featlearn
channels:
  - conda-forge
  - nodefaults
dependencies:
  - python={PYTHON}
  - pip
  - pip:
"""


def environment_text(pyproject: str, lock: str) -> str:
    """Text of ``environment.yml``: Python and the direct dependencies at their locked versions."""
    here = {"python_version": PYTHON, "python_full_version": f"{PYTHON}.0", "sys_platform": "linux"}
    pins = {}
    for line in lock.splitlines():
        if line[:1].isalnum():
            pin = Requirement(line.rstrip("\\ "))
            if pin.marker is None or pin.marker.evaluate(here):
                pins[canonicalize_name(pin.name)] = str(pin.specifier)
    direct = tomllib.loads(pyproject)["project"]["dependencies"]
    names = [canonicalize_name(Requirement(text).name) for text in direct]
    return TEXT + "".join(f"      - {name}{pins[name]}\n" for name in names)


if __name__ == "__main__":
    files = (Path(name).read_text("utf-8") for name in ("pyproject.toml", "requirements.lock"))
    Path("environment.yml").write_text(environment_text(*files), encoding="utf-8")
