"""What is counted, beside the formulas of Theorem 9.3 and the printed speed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from featlearn.core.publish import Table, table
from featlearn.core.quoted import quoted_table
from featlearn.core.stats import number
from featlearn.gemfilter.words import ARMS, MODELS, PHASES


@table()
def speed(costs: pd.DataFrame, quoted: Mapping[str, Any]) -> Table:
    """Operations of the prompt: full attention over GemFilter"""
    prompt = costs[costs["phase"] != "generation"]
    totals = prompt.pivot_table(
        index=["model", "n"], columns="arm", values="flops", aggfunc="sum"
    ).reset_index()
    sizes = costs.groupby("model")[["layers", "filter_layer"]].first()
    printed = quoted_table(quoted, "speed")[0].set_index("model")["paper_value"]
    frame = totals.merge(sizes, on="model")
    frame["measured"] = frame["full"] / frame["gemfilter"]
    frame["predicted"] = frame["layers"] / (frame["filter_layer"] + 1)
    frame["as_printed"] = frame["layers"] / frame["filter_layer"].clip(lower=1)
    frame["paper_value"] = frame["model"].map(printed)
    shown = pd.DataFrame({
        "model": frame["model"].map(lambda name: MODELS.get(name, name)), "tokens n": frame["n"],
        "counted": [number(value) for value in frame["measured"]],
        "m / (r + 1)": [number(value) for value in frame["predicted"]],
        "m / r, Theorem 9.3": [number(value) for value in frame["as_printed"]],
        "printed (time)": ["-" if pd.isna(value) else f"{value:g}" for value in frame["paper_value"]],
    })  # fmt: skip
    return Table(frame, shown, "Both runs of GemFilter. The layer is counted from 0, so that r + 1 "
                 "are run; the last of them computes queries of one token and no MLP.")  # fmt: skip


@table()
def memory(costs: pd.DataFrame) -> Table:
    """Peak of weights and keys and values, in GB"""
    frame = costs.assign(value=(costs["weights"] + costs["cache"]) / 1e9)
    wide = frame.pivot_table(
        index=["model", "n", "arm"], columns="phase", values="value", sort=False
    )
    wide = wide[[phase for phase in PHASES if phase in wide.columns]].rename(columns=PHASES)
    shown = wide.map(lambda value: "-" if pd.isna(value) else number(value)).reset_index()
    shown["model"] = shown["model"].map(lambda name: MODELS.get(name, name))
    shown["arm"] = shown["arm"].map(ARMS)
    shown = shown.rename(columns={"n": "tokens n", "arm": "method"})
    return Table(frame, shown, "16 bits; layers only, without embeddings and activations.")
