"""Run the benchmarks: tables in ``results/bench/``, the ratios on the terminal.

python -m bench
"""

from __future__ import annotations

import os
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")  # as in a training job

import numpy as np
import pandas as pd
import torch

from bench import mrp, noncontrastive, workflow
from featlearn.core.files import write_parquet
from featlearn.core.job import processor
from featlearn.core.plots import COLOURS, figure, save

OUT = Path("results/bench")


def keep(name: str, frame: pd.DataFrame) -> pd.DataFrame:
    """Write one table and show it."""
    write_parquet(frame, OUT / f"{name}.parquet")
    print(f"\n## {name}\n\n{frame.to_markdown(index=False, floatfmt='.3g')}", flush=True)
    return frame


def draw_growth(timed: pd.DataFrame) -> None:
    """Cost over size, log-log, beside the slope that the matrix products have."""
    sizes = list(dict.fromkeys(timed["size"]))
    drawn = figure(8.2, 2.4)
    for ax, size in zip(drawn.subplots(1, len(sizes), sharey=True), sizes, strict=True):
        own = timed[timed["size"] == size]
        value, seconds = own["value"].to_numpy(), own["seconds"].to_numpy()
        slope = own["expected_slope"].iloc[0]
        ax.loglog(value, 1e3 * seconds, "o-", color=COLOURS["blue"], label="measured")
        reference = 1e3 * seconds[-1] * (value / value[-1]) ** slope
        ax.loglog(value, reference, "--", color=COLOURS["grey"], label=f"slope {slope}")
        ax.set_xticks(value, [str(v) for v in value])
        ax.set_xticks([], minor=True)
        fitted = np.polyfit(np.log(value), np.log(seconds), 1)[0]
        ax.set(title=f"{size}: {fitted:.2f}", xlabel=size)
        ax.legend(fontsize=8)
    drawn.axes[0].set_ylabel("a MAE step (ms)")
    save(drawn, OUT / "growth.svg", OUT / "growth.png")


def main() -> None:
    torch.set_num_threads(1)
    OUT.mkdir(parents=True, exist_ok=True)
    print(f"{processor()}, {workflow.cores()} cores, torch {torch.__version__}, one thread")
    keep("step-ratios", mrp.step_ratios())
    keep("sampled-masks", mrp.sampled_masks())
    keep("noncontrastive-step-ratios", noncontrastive.step_ratios())
    keep("noncontrastive-flow", noncontrastive.flow_ratios())
    draw_growth(keep("growth", mrp.growth()))
    keep("workflow-overhead", workflow.smoke_overhead())
    keep("dag-of-10000-jobs", workflow.many_jobs())


if __name__ == "__main__":
    main()
