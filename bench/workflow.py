"""What the workflow itself costs: beside its jobs, and to build a DAG of ten thousand of them."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pandas as pd

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
    arguments = ("--snakefile", str(ROOT / "workflow" / "Snakefile"), "--workflow-profile", profile)
    with tempfile.TemporaryDirectory(prefix="featlearn-bench-") as folder:
        run = ("--cores", "2", "--config", "scale=smoke")
        wall = _snakemake(*arguments, *run, folder=folder)
        idle = _snakemake(*arguments, *run, folder=folder)
        records = Path(folder, "results", "smoke", "provenance").rglob("*.json")
        seconds = {}
        for file in records:
            record = json.loads(file.read_text(encoding="utf-8"))
            seconds[record["rule"], record["code"], record["seconds"]] = record["seconds"]
    computed = sum(seconds.values())
    rows = [
        ("smoke run, wall (s)", wall),
        ("smoke run, seconds inside its jobs (s)", computed),
        ("smoke run, wall / (jobs' seconds / 2 cores)", wall / (computed / 2)),
        ("smoke run with nothing to do, wall (s)", idle),
    ]
    return pd.DataFrame(rows, columns=["what", "value"])


def many_jobs() -> pd.DataFrame:
    """Seconds and memory to build a DAG of 10,000 jobs (a dry run)."""
    with tempfile.TemporaryDirectory(prefix="featlearn-bench-") as folder:
        Path(folder, "Snakefile").write_text(MANY_JOBS, encoding="utf-8")
        seconds = _snakemake("-n", "--quiet", "all", folder=folder)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
    rows = [
        ("DAG of 10,000 jobs, seconds", seconds),
        ("largest Snakemake process so far (MB)", float(peak)),
    ]
    return pd.DataFrame(rows, columns=["what", "value"])


BENCHMARKS = {"workflow-overhead": smoke_overhead, "dag-of-10000-jobs": many_jobs}
