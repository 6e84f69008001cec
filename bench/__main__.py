"""Run the benchmarks: tables in ``results/bench/``, the ratios on the terminal.

python -m bench             all
python -m bench mrp         those of one module

A module of benchmarks holds ``BENCHMARKS``: a function that returns a table, by the table's name;
and may hold ``FIGURES``: a function that draws a table, by the same name. List it in ``MODULES``.
"""

from __future__ import annotations

import argparse
import os
import time
from importlib import import_module
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")  # as in a training job

import pandas as pd
import torch

from featlearn.core.files import write_parquet
from featlearn.core.job import processor
from featlearn.core.plots import save

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
    "nuclear",
    "universality",
    "transformers",
    "images",
    "detection",
    "probes",
    "eigencam",
    "lightly_epoch",
    "workflow",
]


def keep(name: str, frame: pd.DataFrame) -> pd.DataFrame:
    """Write one table and show it."""
    write_parquet(frame, OUT / f"{name}.parquet")
    print(f"\n## {name}\n\n{frame.to_markdown(index=False, floatfmt='.3g')}", flush=True)
    return frame


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench")
    parser.add_argument("modules", nargs="*", choices=[[], *MODULES], metavar="module",
                        help=f"of {', '.join(MODULES)}; all if none is named")  # fmt: skip
    chosen = parser.parse_args().modules or MODULES
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)  # as in a training job
    OUT.mkdir(parents=True, exist_ok=True)
    cores = os.cpu_count()
    print(f"{processor()}, {cores} cores, torch {torch.__version__}, one thread", flush=True)
    started = time.monotonic()
    for name in chosen:
        module = import_module(f"bench.{name}")
        for table, benchmark in module.BENCHMARKS.items():
            frame = keep(table, benchmark())
            if draw := getattr(module, "FIGURES", {}).get(table):
                save(draw(frame), OUT / f"{table}.svg", OUT / f"{table}.png")
    print(f"\n{time.monotonic() - started:.0f} s in all")


if __name__ == "__main__":
    main()
