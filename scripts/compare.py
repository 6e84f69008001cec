"""Two runs side by side: claims with another verdict, numbers apart, files that differ.

    python scripts/compare.py results/desk results/desk-seed-1
    python scripts/compare.py results/published/desk results/desk/looped/claims/construction.parquet

The second may be the ledger of one experiment, whose claims alone are looked at then. Ends with 1
where a verdict differs or, with ``--files``, a file.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import pandas as pd

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "src"))

from featlearn.command import printable
from featlearn.core.errors import FeatlearnError
from featlearn.core.evidence.claims import FAILS, HOLDS
from featlearn.core.files import digest
from featlearn.core.publishing.compare_runs import changed, differences, read_checksums
from featlearn.core.publishing.ledger import judged
from featlearn.core.publishing.publish import LISTING


def _ledger(results: Path, files: bool) -> pd.DataFrame:
    if results.suffix == ".parquet" and results.is_file():
        return judged(results)
    for name in ("claims.parquet", "checksums.txt")[: 1 + files]:
        if not (results / name).is_file():
            raise FeatlearnError(
                f"{results}: has no {name}; expected the folder of a finished run of papers"
            )
    return judged(results / "claims.parquet")


def _edited(results: Path) -> list[Path]:
    """Files of a run that its list names and that have another SHA-256; of a published one all,
    also those that are gone. Of a run, :func:`differences` names these."""
    published = (results / LISTING).is_file()
    listing = results / (LISTING if published else "checksums.txt")
    files = {results / name: value for name, value in read_checksums(listing).items()}
    return [file for file, value in files.items()
            if (digest(file) != value if file.is_file() else published)]  # fmt: skip


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("first", type=Path)
    parser.add_argument("second", type=Path)
    parser.add_argument("--files", action="store_true", help="also the files that differ")
    options = parser.parse_args(arguments)
    runs = (options.first, options.second)
    try:
        first, second = (_ledger(run, options.files) for run in runs)
        if options.second.is_file():
            first = first[first["claim"].isin(second["claim"])]
            if options.files:
                raise FeatlearnError(f"--files: expected two folders, not {options.second}")
    except FeatlearnError as error:
        print(error, file=sys.stderr)
        return 2
    for here, there, ledger in zip((first, second), (second, first), runs, strict=True):
        for claim in here.loc[~here["claim"].isin(there["claim"]), "claim"]:
            print(printable(f"{claim}: only in {ledger}"))
    files: list[str] = []
    found = changed(first, second)
    other = found[found["first"] != found["second"]]
    for row in other.itertuples():
        one, two = f"{row.first} at {row.measured_first}", f"{row.second} at {row.measured_second}"
        print(printable(f"{row.claim}: {one}, {two}"))
    for row in found.drop(other.index).itertuples():
        both = f"{row.measured_first} and {row.measured_second}"
        print(printable(f"{row.claim}: {row.first} in both, but {both}"))
    if options.files:
        ours, others = (read_checksums(results / "checksums.txt") for results in runs)
        files = differences(ours, others, f"in {options.second}")
        files += [f"{file}: not what its list says" for run in runs for file in _edited(run)]
        print("\n".join(files), end="\n" * bool(files))
    common = int(first["claim"].isin(second["claim"]).sum())
    against = int(other[["first", "second"]].isin((HOLDS, FAILS)).all(axis=1).sum())
    print(
        f"{common} claims in both: {len(other)} with another verdict, of which {against} hold in "
        f"one run and fail in the other; {int(found['apart'].sum())} whose intervals exclude each "
        "other"
    )
    return int(len(other) > 0 or bool(files))


if __name__ == "__main__":
    sys.exit(main())
