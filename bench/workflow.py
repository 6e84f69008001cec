"""What the workflow itself costs: beside its jobs, with nothing to do, and to plan many of them."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pandas as pd

from bench.timing import ratio, side_by_side

ROOT = Path(__file__).resolve().parents[1]

MANY_JOBS = """
rule all:
    input:
        expand("done/{n}", n=range(10000)),


rule one:
    output:
        "done/{n}",
    shell:
        "touch {output}"
"""


def _snakemake(*arguments: str, folder: str) -> float:
    """Run Snakemake in ``folder``; returns the seconds it took."""
    started = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "snakemake", *arguments],
        cwd=folder,
        check=True,
        capture_output=True,
    )
    return time.perf_counter() - started


def smoke_overhead() -> pd.DataFrame:
    """Wall time of the smoke run on two cores against the seconds that its jobs computed."""
    profile = str(ROOT / "profiles" / "default")
    arguments = ("--snakefile", str(ROOT / "Snakefile"), "--workflow-profile", profile)
    with tempfile.TemporaryDirectory(prefix="featlearn-bench-") as folder:
        run = ("--cores", "2", "--config", "scale=smoke")
        wall = _snakemake(*arguments, *run, folder=folder)
        timed = side_by_side(
            {
                "nothing to do": lambda: _snakemake(*arguments, *run, folder=folder),
                "empty Snakefile": _empty,
            },
            turns=3,
            clock=_children,
        )
        records = Path(folder, "results", "smoke", "provenance").rglob("*.json")
        seconds = {}
        for file in records:
            record = json.loads(file.read_text(encoding="utf-8"))
            # the record of each file of a job tells the same
            job = json.dumps([record[key] for key in ("rule", "config", "inputs", "seconds")])
            seconds[job] = record["seconds"]
    computed = sum(seconds.values())
    idle = timed.groupby("rival")["seconds"].median()
    rows = [
        ("smoke run: wall / a second", wall, ""),
        ("smoke run: inside of its jobs / a second", computed, ""),
        # .9 is asked of desk, whose jobs are longer
        ("smoke run: inside of its jobs / two cores' wall", computed / (2 * wall), ""),
        ("nothing to do: processor / a second", idle["nothing to do"], "<= 3"),
        (
            "nothing to do: eleven papers / empty Snakefile",
            ratio(timed, "nothing to do", "empty Snakefile"),
            "",
        ),
    ]
    return pd.DataFrame(rows, columns=["what", "ratio", "wanted"])


def _children() -> float:
    """Seconds of processor of what this process started and waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _empty() -> None:
    with tempfile.TemporaryDirectory(prefix="featlearn-bench-") as folder:
        Path(folder, "Snakefile").write_text("rule all:\n    input: []\n", encoding="utf-8")
        _snakemake("--cores", "2", folder=folder)


def many_jobs() -> pd.DataFrame:
    """Seconds and memory to build a DAG of 10,000 jobs (a dry run)."""
    with tempfile.TemporaryDirectory(prefix="featlearn-bench-") as folder:
        Path(folder, "Snakefile").write_text(MANY_JOBS, encoding="utf-8")
        seconds = _snakemake("-n", "--quiet", "all", folder=folder)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
    rows = [
        ("plan of 10,000 jobs: wall / a second", seconds, ""),
        ("largest Snakemake process so far / a megabyte", float(peak), ""),
    ]
    return pd.DataFrame(rows, columns=["what", "ratio", "wanted"])


BENCHMARKS = {"workflow-overhead": smoke_overhead, "dag-of-10000-jobs": many_jobs}
