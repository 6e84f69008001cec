"""Scores of needles by method."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from featlearn.core.publish import Table, table
from featlearn.core.quoted import quoted_table
from featlearn.core.stats import SPREAD_KIND, number, readable, summary
from featlearn.gemfilter.haystack import EXPECTED, set_score
from featlearn.gemfilter.words import ARMS, NETWORKS


@table()
def needles(scores: pd.DataFrame, quoted: Mapping[str, Any]) -> Table:
    """Needles: exact answers by method and length, over all depths"""
    own = scores.groupby(["network", "arm", "n", "replicate"])["exact"].mean().reset_index()
    means = summary(own, ["network", "arm", "n"], "exact")
    printed = quoted_table(quoted, "needles")[0].groupby("arm")
    told = {str(arm): "; ".join(f"{row.paper_value:g} ({row.model})" for row in rows.itertuples())
            for arm, rows in printed}  # fmt: skip
    rows = []
    for (network, arm), group in means.groupby(["network", "arm"], sort=False):
        cells = {
            f"n = {n}": value
            for n, value in zip(group["n"], readable(group, "exact")["exact"], strict=True)
        }
        rows.append({"network": NETWORKS.get(str(network), str(network)), "method": ARMS[str(arm)], **cells,
                     "printed, other score": told.get(str(arm), "-")})  # fmt: skip
    shown = pd.DataFrame(rows).fillna("-").sort_values("network", kind="stable")
    return Table(means, shown, f"After the sign: {SPREAD_KIND}; replicates are prompts (hand-wired) or "
                 "networks (trained); ends: BOS and the last two tokens. Printed: means of heat maps of language "
                 "models, by a score whose largest value is 11/12.")  # fmt: skip


@table()
def filter_layer(layers: pd.DataFrame, texts: pd.DataFrame) -> Table:
    """What the filter layer keeps: the needle, the question's end, BOS"""
    chosen = texts.groupby("network")["filter_layer"].first()
    own = layers[layers["layer"] == layers["network"].map(chosen)]
    columns = {
        "coverage": "of the needle",
        "last": "last token",
        "bos": "BOS",
        "exact": "exact answers",
    }
    means = own.groupby(["network", "arm", "n"], sort=False)[[*columns]].mean().reset_index()
    shown = means.assign(network=means["network"].replace(NETWORKS), arm=means["arm"].map(ARMS))
    shown[[*columns]] = shown[[*columns]].map(number)
    shown = shown.rename(columns={"arm": "method", "n": "tokens n", **columns})
    return Table(means, shown, "Shares kept, means over depths and prompts. Nothing forces the question into "
                 "the selection of the printed rule.")  # fmt: skip


@table()
def kept_tokens(texts: pd.DataFrame) -> Table:
    """What the filter layer keeps of one prompt"""
    own = texts[texts["n"] == texts.groupby("network")["n"].transform("max")]
    frame = own[own["arm"] == "gemfilter"].reset_index(drop=True)
    frame["share"] = frame["kept"] / frame["tokens"]
    shown = pd.DataFrame({
        "network": frame["network"].replace(NETWORKS), "tokens": frame["tokens"],
        "kept": frame["kept"], "what is kept": frame["text"], "generated": frame["answer"],
        "wanted": frame["wanted"],
    })  # fmt: skip
    return Table(frame, shown, "K, v: keys and values; ·: a filler; [ ]: the needle; |: a gap.")


@table()
def outputs(quoted: Mapping[str, Any]) -> Table:
    """Scores of the answers that the thesis prints, and the ceiling of its scorer"""
    rows = quoted_table(quoted, "outputs")[0]
    found = rows.assign(value=[set_score(said) for said in rows["said"]])
    best = pd.DataFrame([{"figure": "-", "arm": "the needle itself", "said": EXPECTED,
                          "value": set_score(EXPECTED)}])  # fmt: skip
    frame = pd.concat([found[["figure", "arm", "said", "value"]], best], ignore_index=True)
    shown = frame.assign(value=[number(value) for value in frame["value"]])
    return Table(frame, shown, "The released scorer divides the distinct words found by 12, but only 11 of "
                 "the 12 words are distinct: nothing scores above 11/12.")  # fmt: skip
