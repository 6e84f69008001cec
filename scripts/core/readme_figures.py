"""Copy the pictures of the README and of ``docs/`` from a run, and say where each comes from.

    python scripts/core/readme_figures.py

Not a rule: it writes outside ``results/``. Run it after ``make``, whenever a picture changed.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "src"))

from featlearn.core.errors import FeatlearnError
from featlearn.core.files import write_atomically
from featlearn.core.provenance import damage, read_record

#: Picture in ``docs/figures/``: artefact below ``results/<run>/``.
PICTURES = {
    "headline.png": "mrp/figures/headline.png",
    "captured-features.png": "mrp/figures/captured-features.png",
    "feature-growth.png": "mrp/figures/feature-growth.png",
}
ORIGIN = """\
## {picture}

| | |
|:--|:--|
| source | `{source}` |
| command | `snakemake --cores 2 {source}` |
| SHA-256 of the source | `{sha256}` |
| scale of the config | `{scale}` |
| seed | `{seed}` |
| rule | `{rule}` |
| code | `{code}` |
"""


def record_of(results: Path, artefact: Path) -> dict:
    """The provenance record of an artefact whose bytes are those that were written."""
    record = read_record(results, artefact) if artefact.is_file() else None
    if record is None:
        raise FeatlearnError(f"{artefact}: not made yet; run `make` first")
    if fault := damage(artefact, record, thorough=True):
        raise FeatlearnError(f"{artefact} is damaged ({fault}); run `make` first")
    return record


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--run", default="desk", help="folder below results/")
    results = Path("results") / parser.parse_args().run
    shown = ROOT / "docs" / "figures"
    try:
        # only the report's record holds the whole config
        config = record_of(results, results / "report.html")["config"]
        parts = [
            "# Where the pictures come from\n",
            "Written by `python scripts/core/readme_figures.py`; do not edit.\n",
        ]
        for picture, name in PICTURES.items():
            source = results / name
            record = record_of(results, source)
            write_atomically(shown / picture, source.read_bytes())
            words = {key: record[key] for key in ("sha256", "rule", "code")}
            words |= {"scale": config["scale"], "seed": config["seed"]}
            parts.append(ORIGIN.format(picture=picture, source=source, **words))
            for path, value in record["inputs"].items():
                parts[-1] += f"| drawn from `{path}` | `{value}` |\n"
    except FeatlearnError as error:
        print(error, file=sys.stderr)
        return 1
    write_atomically(shown / "README.md", "\n".join(parts).encode())
    return 0


if __name__ == "__main__":
    sys.exit(main())
