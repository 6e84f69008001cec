"""``environment.yml`` for conda users, made from ``pyproject.toml`` and ``requirements.lock``.

``python -m featlearn.core.environment`` writes it (``make lock`` does so); a test holds it to them.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

HEADER = """\
# The locked versions of requirements.lock for conda (and `snakemake --sdm conda`).
# Written by `make lock`; do not edit.
"""


#: The Python that conda users get; the lock file may hold other versions for newer ones.
PYTHON = "3.11"


def locked_versions(lock: str) -> dict[str, str]:
    """``name -> version`` of every pin in the text of a lock file that holds for ``PYTHON``."""
    here = {"python_version": PYTHON, "python_full_version": f"{PYTHON}.0", "sys_platform": "linux"}
    found: dict[str, str] = {}
    for line in lock.splitlines():
        if line[:1].isalnum():
            pin = Requirement(line.rstrip("\\ "))
            if pin.marker is None or pin.marker.evaluate(here):
                found[canonicalize_name(pin.name)] = str(pin.specifier).removeprefix("==")
    return found


def environment_text(pyproject: str, lock: str) -> str:
    """Text of ``environment.yml``: Python and the direct dependencies at their locked versions.

    Raises
    ------
    KeyError
        If a dependency is not in the lock file: run ``make lock``.
    """
    project = tomllib.loads(pyproject)["project"]
    pins = locked_versions(lock)
    names = [canonicalize_name(Requirement(text).name) for text in project["dependencies"]]
    lines = [f"      - {name}=={pins[name]}" for name in names]
    return HEADER + "\n".join(
        [
            "name: featlearn",
            "channels:",
            "  - conda-forge",
            "  - nodefaults",
            "dependencies:",
            f"  - python={PYTHON}",
            "  - pip",
            "  - pip:",
            *lines,
            "",
        ]
    )


if __name__ == "__main__":
    text = environment_text(
        Path("pyproject.toml").read_text(encoding="utf-8"),
        Path("requirements.lock").read_text(encoding="utf-8"),
    )
    Path("environment.yml").write_text(text, encoding="utf-8")
