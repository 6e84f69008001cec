"""Run the benchmarks: tables in ``results/bench/``, the ratios on the terminal.

python -m bench             all
python -m bench mrp         those of one module

A module of benchmarks holds ``BENCHMARKS``: a function that returns a table, by the table's name;
and may hold ``FIGURES``: a function that draws a table, by the same name, and ``COMPARED``: one
that gives its lines of the summary (``what``, ``ratio``, ``wanted``), where its columns are others.
List it in ``MODULES``. The summary of all tables, ``summary.md`` and ``.parquet``, ends a run.
"""

from __future__ import annotations

import argparse
import os
import time
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")  # as in a training job

import pandas as pd
import torch

from bench.summary import missing, rows_of
from featlearn.core.drawing.plots import save
from featlearn.core.files import write_parquet
from featlearn.core.run.commit import commit
from featlearn.core.run.job import processor
from featlearn.core.training import devices

OUT = Path("results/bench")
#: Modules of this folder, in the order in which they run.
MODULES = [
    "mrp",
    "contrastive",
    "noncontrastive",
    "emergence",
    "gradient_features",
    "fourier",
    "icl",
    "gemfilter",
    "nuclear",
    "universality",
    "transformers",
    "images",
    "gpu",
    "detection",
    "probes",
    "eigencam",
    "lightly_epoch",
    "workflow",
    "portable",
]


#: What is compared with, as pip calls it.
PEERS = ["torch", "torchvision", "scikit-learn", "grad-cam", "lightly", "transformers", "snakemake"]


def _version(package: str) -> str:
    """Of an installed package, else nothing."""
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def keep(name: str, frame: pd.DataFrame, out: Path) -> pd.DataFrame:
    """Write one table and show it."""
    frame = frame.reset_index(drop=True)
    write_parquet(frame, out / f"{name}.parquet")
    print(f"\n## {name}\n\n{frame.to_markdown(index=False, floatfmt='.3g')}", flush=True)
    return frame


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench")
    parser.add_argument("--out", type=Path, default=OUT, help=f"folder for the tables ({OUT})")
    parser.add_argument("modules", nargs="*", choices=[[], *MODULES], metavar="module",
                        help=f"of {', '.join(MODULES)}; all if none is named")  # fmt: skip
    options = parser.parse_args()
    chosen, out = options.modules or MODULES, options.out
    # as in a training job
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    devices.keep_memory()
    out.mkdir(parents=True, exist_ok=True)
    told = commit(Path(__file__).parents[1]) or "no commit"
    peers = [f"{name} {found}" for name in PEERS if (found := _version(name))]
    machine = (
        f"{processor()}, {os.cpu_count()} cores, one thread, commit {told[:12]}, "
        + ", ".join(peers)
    )
    print(machine, flush=True)
    started = time.monotonic()
    compared = []
    for name in chosen:
        try:
            module = import_module(f"bench.{name}")
        except ModuleNotFoundError as error:
            compared.append(missing(name, error.name))
            continue
        for table, benchmark in module.BENCHMARKS.items():
            try:
                frame = keep(table, benchmark(), out)
            except ModuleNotFoundError as error:
                compared.append(missing(table, error.name))
                continue
            if draw := getattr(module, "FIGURES", {}).get(table):
                save(draw(frame), out / f"{table}.svg", out / f"{table}.png")
            told = getattr(module, "COMPARED", {}).get(table, lambda frame: frame)(frame)
            compared.append(rows_of(table, told))
    summary = keep("summary", pd.concat([one for one in compared if len(one)]), out)
    text = f"# Speed\n\n{machine}\n\n{summary.to_markdown(index=False, floatfmt='.3g')}\n"
    (out / "summary.md").write_text(text, encoding="utf-8")
    print(f"\n{time.monotonic() - started:.0f} s in all")


if __name__ == "__main__":
    main()
