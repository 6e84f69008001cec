"""Steps until networks fit and generalise, and what the splits leave to generalise to."""

from __future__ import annotations

import numpy as np
import pandas as pd

from featlearn.core.claims import judge, measured
from featlearn.core.publish import Config, Table, table
from featlearn.core.stats import SPREAD_KIND, side_by_side, summary
from featlearn.fourier.claims.grokking import CLAIMS
from featlearn.fourier.config import ANSWERED, FITTED
from featlearn.fourier.passages import LEVELS, OTHERS, passages
from featlearn.fourier.words import MODELS, SPLITS, task_of

STEPS = {
    "fitted": "fits at step", "answered": "answers at step", "log2": "log2 of the ratio",
    "censored": "never answers (share)",
}  # fmt: skip


@table()
def grokking(passages: pd.DataFrame, config: Config) -> Table:
    """When two-layer transformers and polynomial networks fit and generalise"""
    own = passages.assign(censored=passages["censored"].astype(float))
    own["log2"] = np.log2(own["answered"] / own["fitted"])
    keys = ["cell", "model", "split"]
    tall = own.melt([*keys, "k", "replicate"], list(STEPS), "quantity", "value")
    means = summary(tall.sort_values("k", kind="stable"), [*keys, "quantity"])
    named = means.assign(
        task=[task_of(config, cell) for cell in means["cell"]],
        model=means["model"].map(MODELS), split=means["split"].map(SPLITS),
    )  # fmt: skip
    return Table(
        means,
        side_by_side(named, ["task", "model", "split"], "quantity", STEPS),
        f"A network fits at the first look at which it is right on {FITTED:.0%} of its training inputs, "
        f"and answers at the first one at which it is on {ANSWERED:.0%} of all others; of one that never is "
        f"the last step is taken. {int(means['replicates'].max())} replicates, after the sign: {SPREAD_KIND}.",
    )


@table()
def splits(leaks: pd.DataFrame, config: Config) -> Table:
    """Test inputs of which a permutation is among the training inputs"""
    tall = leaks.assign(quantity="known").sort_values("k", kind="stable")
    means = summary(tall, ["cell", "split", "quantity"])
    named = means.assign(task=[task_of(config, cell) for cell in means["cell"]])
    return Table(
        means,
        side_by_side(named, ["task"], "split", SPLITS),
        "Share of the test inputs. "
        f"{int(means['replicates'].max())} replicates, after the sign: {SPREAD_KIND}.",
    )


@table("grokking-marks")
def marks(curves: pd.DataFrame, config: Config) -> Table:
    """What the claims on delays would say with other marks of fitting and of answering"""
    delays = [claim for claim in CLAIMS if claim.artefact.endswith("-passages.parquet")]
    rows = []
    for levels in (LEVELS, *OTHERS):
        cells = [passages(own, levels).assign(cell=cell) for cell, own in curves.groupby("cell")]
        frames = {"passages": pd.concat(cells)}
        for claim in delays:
            seen = measured(claim, claim.measure(frames))
            rows.append({
                "claim": claim.claim, "fits from": levels["train"], "answers from": levels["test"],
                "mean": seen.mean, "low": seen.low, "high": seen.high,
                "verdict": judge(claim, seen, {"grokking": config}),
            })  # fmt: skip
    frame = pd.DataFrame(rows)
    named = frame.assign(
        marks=[f"{a:.0%} / {b:.0%}" for a, b in zip(frame["fits from"], frame["answers from"], strict=True)],
        cell=[f"{row.verdict}, {row.mean:.2f} ({row.low:.2f} to {row.high:.2f})" for row in frame.itertuples()],
    )  # fmt: skip
    shown = named.pivot_table(
        index="claim", columns="marks", values="cell", aggfunc="first", sort=False
    )
    return Table(
        frame,
        shown.reset_index().rename_axis(columns=None),
        "Columns: accuracy on the training inputs from which a network fits, and on all others from "
        "which it answers. The first column is that of the claims, which have the two marks differ; "
        "the others read the same curves, which end with the first: no higher mark can be read off them.",
    )
