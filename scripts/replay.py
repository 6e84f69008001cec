"""Draw and judge a finished run again, from its frames, with the code of this checkout.

    python scripts/replay.py                                               # results/tour
    python scripts/replay.py elsewhere/results/tour --experiment mrp/growth

Nothing is trained, or written into the run's folder. It names, with exit status 1, each figure and
table of other bytes than recorded, each claim with another value, each frame that is not what was
recorded, and each rule that computes and would run again.
"""

from __future__ import annotations

import argparse
import functools
import multiprocessing
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "src"))
for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[variable] = "1"

import pandas as pd

from featlearn.core.evidence.claims import judged
from featlearn.core.files import digest, read_parquet
from featlearn.core.publishing.publish import plan
from featlearn.core.run import provenance
from featlearn.core.run.job import read_frame
from featlearn.core.run.outputs import write_exhibit
from featlearn.core.run.registry import ENDS


@dataclass
class Replay:
    """An experiment of a run, drawn and judged again."""

    one: Any
    run: Path
    results: str
    folder: Path
    ignored: Sequence[str]

    def differences(self) -> list[str]:
        """A line each."""
        # what several exhibits read is read once
        self.frame = functools.cache(lambda name: read_frame(self.files(name)))
        return [*self.frames(), *self.exhibits(), *self.claims()]

    def inside(self, file: str) -> str:
        """The place of a file below the results; empty where it is none of the run."""
        return file.removeprefix(f"{self.results}/") if file.startswith(self.results) else ""

    def files(self, name: str) -> list[Path]:
        given = self.one.frames[name]
        return [
            Path(os.path.normpath((self.run if inside else self.folder) / (inside or file)))
            for file in ([given] if isinstance(given, str) else given)
            for inside in [self.inside(file)]
        ]

    def recorded(self, file: str) -> str:
        """SHA-256 of a file of the run by its record."""
        record = provenance.read_record(self.run, self.run / file)
        return record["sha256"] if record else "no record"

    def frames(self) -> Iterator[str]:
        for name in self.one.frames:
            for file in self.files(name):
                if file.is_relative_to(self.run):
                    inside = file.relative_to(self.run)
                    if not file.is_file() or digest(file) != self.recorded(str(inside)):
                        yield f"{inside}: is not what the run recorded"

    def exhibits(self) -> Iterator[str]:
        for shown in (each for batch in self.one.batches for each in batch.exhibits):
            stem = f"{shown.paper}/{shown.kind}s/{shown.name}"
            with tempfile.TemporaryDirectory() as folder:
                made = [Path(folder) / f"x.{end}" for end in ENDS[shown.kind]]
                try:
                    function = getattr(import_module(shown.module), shown.function)
                    given = {
                        name: self.one.section if name == "config" else copy(self.frame(name))
                        for name in shown.frames
                    }
                    title = shown.title if shown.kind == "table" else ""
                    write_exhibit(function(**given, **shown.fixed), *made, title=title)
                except Exception as error:
                    yield f"{stem}: {type(error).__name__}: {error}"
                    continue
                for file in made:
                    if digest(file) != self.recorded(stem + file.suffix):
                        yield f"{stem}{file.suffix}: differs"

    def claims(self) -> Iterator[str]:
        if not self.one.claims:
            return
        name = f"{self.one.paper}/claims/{self.one.name}.parquet"
        try:
            files = {key: self.inside(str(value if isinstance(value, str) else value[0]))
                     for key, value in self.one.frames.items()}  # fmt: skip
            now = judged(import_module(self.one.claims), self.frame, files, self.one.judged)
            now = now.set_index("claim")
        except Exception as error:
            yield f"{name}: {type(error).__name__}: {error}"
            return
        # claims that another experiment of the run has judged are known by their ids
        ledgers = {
            path.name: read_parquet(path) for path in (self.run / name).parent.glob("*.parquet")
        }
        same = ledgers.get(Path(name).name)
        was = pd.concat(ledgers.values()).set_index("claim")
        was = was[was.index.isin([*now.index, *([] if same is None else same["claim"])])]
        for claim in was.index.symmetric_difference(now.index):
            yield f"{name}: {claim}: only {'before' if claim in was.index else 'now'}"
        both = [claim for claim in was.index if claim in now.index]
        for column in was.columns.difference(self.ignored):
            before, after = was.loc[both, column], now.loc[both, column]
            same = (before == after) | (before.isna() & after.isna())
            for claim in before.index[~same.to_numpy()]:
                yield f"{name}: {claim}: {column} {before[claim]} -> {after[claim]}"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("run", nargs="?", type=Path, default=Path("results/tour"))
    parser.add_argument("--paper", action="append", default=[], help="only this one; repeatable")
    parser.add_argument("--experiment", action="append", default=[], metavar="PAPER/NAME")
    parser.add_argument("--ignore", default="", metavar="COLUMN,...", help="columns of claims")
    parser.add_argument("--cores", type=int, default=2)
    given = parser.parse_args()
    run = given.run.resolve()
    if not (run / provenance.RECORDS).is_dir():
        parser.error(f"{given.run}: no finished run; expected a folder such as results/tour")
    wanted = [name.partition("/")[0] for name in given.experiment] + given.paper
    published, computing, folder = plan(ROOT, run, sorted({*wanted}))
    known = {f"{one.paper}/{one.name}": one for one in published.experiments}
    chosen = [
        one
        for name, one in known.items()
        if not given.experiment or one.paper in given.paper or name in given.experiment
    ]
    if unknown := {*given.experiment} - {*known}:
        parser.error(f"no experiment {', '.join(sorted(unknown))}")
    import matplotlib.pyplot  # noqa: F401 -- once, for all that follow
    import seaborn  # noqa: F401

    codes = {record["rule"]: record["code"] for _, record in provenance.records(run) if record}
    lines = [
        f"rule {rule}: would run again, as its code is another"
        for rule, code in computing.items()
        if codes.get(rule, code) != code
    ]
    ignored = [*filter(None, given.ignore.split(","))]
    jobs = [Replay(one, run, published.results, folder, ignored) for one in chosen]
    # a process each: no figure or setting of one experiment is seen by the next
    with multiprocessing.get_context("fork").Pool(given.cores, maxtasksperchild=1) as pool:
        for found in pool.imap(Replay.differences, jobs, chunksize=1):
            lines += found
    print(*lines, f"{len(jobs)} experiments: {len(lines)} differences", sep="\n")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
