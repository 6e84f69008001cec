"""Copy the pictures of the README and of ``docs/`` from the desk run; say where each comes from.

    python scripts/readme_figures.py

Not a rule: it writes outside ``results/``. Run it after ``make``, whenever a picture changed.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "src"))

from featlearn.core.errors import FeatlearnError
from featlearn.core.files import write_atomically
from featlearn.core.provenance import damage, read_record

RESULTS = ROOT / "results" / "desk"
SHOWN = ROOT / "docs" / "figures"
#: Artefacts of the run; the copies keep the last part of the name.
PICTURES = (
    "mrp/figures/headline.png",
    "mrp/figures/captured-features.png",
    "mrp/figures/feature-growth.png",
)
TITLE = """\
# Where the pictures come from

Written by `python scripts/readme_figures.py`; do not edit.
"""
ORIGIN = """\
## {picture}

| | |
|:--|:--|
| source | `{source}` |
| command | `snakemake --cores 2 {source}` |
| SHA-256 of the source | `{sha256}` |
| scale of the config | `{scale}` |
| seed | `{seed}` |
"""


def record_of(artefact: Path) -> dict[str, Any]:
    """The provenance record of an artefact whose bytes are those that were written.

    Raises
    ------
    FeatlearnError
        If the artefact is missing, has no record or was changed.
    """
    record = read_record(RESULTS, artefact) if artefact.is_file() else None
    if record is None:
        raise FeatlearnError(f"{artefact}: not made yet; run `make` first")
    if fault := damage(artefact, record, thorough=True):
        raise FeatlearnError(f"{artefact} is damaged ({fault}); run `make` first")
    return record


def main() -> int:
    try:
        # a figure's record holds only what its rule depends on, the report's the whole config
        config = record_of(RESULTS / "report.html")["config"]
        pages = [TITLE]
        for name in PICTURES:
            artefact = RESULTS / name
            record = record_of(artefact)
            write_atomically(SHOWN / artefact.name, artefact.read_bytes())
            page = ORIGIN.format(
                picture=artefact.name,
                source=artefact.relative_to(ROOT),
                sha256=record["sha256"],
                scale=config["scale"],
                seed=config["seed"],
            )
            for path, value in record["inputs"].items():
                page += f"| SHA-256 of `{path}`, from which it was drawn | `{value}` |\n"
            pages.append(page)
    except FeatlearnError as error:
        print(error, file=sys.stderr)
        return 1
    write_atomically(SHOWN / "README.md", "\n".join(pages).encode())
    return 0


if __name__ == "__main__":
    sys.exit(main())
