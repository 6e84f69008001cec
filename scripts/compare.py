"""Two runs side by side: claims with another verdict, numbers apart, files that differ.

    python scripts/compare.py results/desk results/desk-seed-1
    python scripts/compare.py results/published/desk results/desk/looped/claims/construction.parquet

The second may be the ledger of one experiment: of the first its claims alone are looked at then.

Ends with 1 where a verdict differs. With another seed, what holds in one run and fails in the other
was not decided by either.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import pandas as pd

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "src"))

from featlearn.core.checksums import differences, read_checksums
from featlearn.core.claims import FAILS, HOLDS
from featlearn.core.errors import FeatlearnError
from featlearn.core.files import read_parquet
from featlearn.core.two_runs import changed

NEEDED = ("claims.parquet", "checksums.txt")


def _ledger(results: Path) -> pd.DataFrame:
    if results.suffix == ".parquet" and results.is_file():
        return read_parquet(results)
    for name in NEEDED:
        if not (results / name).is_file():
            raise FeatlearnError(
                f"{results}: has no {name}; expected the folder of a finished run of papers, such "
                "as results/tour (a run on own pictures judges no claims: see its own/tables)"
            )
    return read_parquet(results / "claims.parquet")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("first", type=Path)
    parser.add_argument("second", type=Path)
    parser.add_argument("--files", action="store_true", help="also the files that differ")
    options = parser.parse_args(arguments)
    try:
        first, second = _ledger(options.first), _ledger(options.second)
        if options.second.is_file():
            first = first[first["claim"].isin(second["claim"])]
            if options.files:
                raise FeatlearnError(f"--files: expected two folders, not {options.second}")
    except FeatlearnError as error:
        print(error, file=sys.stderr)
        return 2
    for here, there, ledger in ((first, second, options.first), (second, first, options.second)):
        for claim in here.loc[~here["claim"].isin(there["claim"]), "claim"]:
            print(f"{claim}: only in {ledger}")
    found = changed(first, second)
    other = found[found["first"] != found["second"]]
    for row in other.to_dict("records"):
        print(
            f"{row['claim']}: {row['first']} at {row['measured_first']}, "
            f"{row['second']} at {row['measured_second']}"
        )
    for row in found[found["first"] == found["second"]].to_dict("records"):
        print(
            f"{row['claim']}: {row['first']} in both, but {row['measured_first']} and "
            f"{row['measured_second']}"
        )
    if options.files:
        lists = [
            read_checksums(results / "checksums.txt") for results in (options.first, options.second)
        ]
        for line in differences(*lists, f"in {options.second}"):
            print(line)
    common = int(first["claim"].isin(second["claim"]).sum())
    against = int(other[["first", "second"]].isin((HOLDS, FAILS)).all(axis=1).sum())
    print(
        f"{common} claims in both: {len(other)} with another verdict, of which {against} hold in "
        f"one run and fail in the other; {int(found['apart'].sum())} whose intervals exclude each "
        "other"
    )
    return int(len(other) > 0)


if __name__ == "__main__":
    sys.exit(main())
