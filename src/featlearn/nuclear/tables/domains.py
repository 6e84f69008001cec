"""Tables of chapter 6 and appendix E: what is printed, and what runs here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from featlearn.core.publish import Config, Table, table
from featlearn.core.quoted import quoted_table
from featlearn.core.stats import plus_minus, summary
from featlearn.nuclear.words import AVERAGE, OPPONENTS, with_average

CHOSEN = {
    "table-6-3": ("SWAD", "SWAD-CORAL", "SWAD-NU"),
    "table-e-6": ("SWAD", "SWAD-CORAL", "SWAD-NU"),
}


@table("table-6-1", which="table-6-1", words="Table 6.1")
@table("table-6-2", which="table-6-2", words="Table 6.2")
@table("table-6-3", which="table-6-3", words="Table 6.3")
@table("table-e-1", which="table-e-1", words="Table E.1, VLCS")
@table("table-e-2", which="table-e-2", words="Table E.2, PACS")
@table("table-e-3", which="table-e-3", words="Table E.3, OfficeHome")
@table("table-e-4", which="table-e-4", words="Table E.4, Terra Incognita")
@table("table-e-5", which="table-e-5", words="Table E.5, DomainNet")
@table("table-e-6", which="table-e-6", words="Table E.6")
def printed_and_measured(
    accuracies: pd.DataFrame, quoted: Mapping[str, Any], config: Config, which: str, words: str
) -> Table:
    """Accuracy in domains that are not seen, {{ words }}: what the thesis prints, and what runs here

    Rows marked *thesis* are printed there, in percent and with its standard errors, and were not measured
    here. Rows marked *here* are measured on the domains of this run, which by default are small digits made
    to differ and not the sets of the thesis: they show the protocol and cannot confirm a printed number.
    After the sign: 95 % interval over trials.
    """
    printed, _ = quoted_table(quoted, which)
    if "set" not in printed:
        printed = printed.assign(set="")
    printed = printed.assign(
        place=(printed["set"].fillna("") + " " + printed["column"]).str.strip()
    )
    cells = [f"{v:.1f}" + ("" if pd.isna(e) else f" ± {e:.1f}") for v, e in
             zip(printed["paper_value"], printed["paper_error"], strict=True)]  # fmt: skip
    wide = printed.assign(cell=cells).pivot_table(
        index="algorithm", columns="column" if which != "table-6-2" else "place", values="cell",
        aggfunc="first", sort=False,
    )  # fmt: skip
    own = with_average(accuracies)
    if which in CHOSEN:
        own = own[own["algorithm"].isin((*CHOSEN[which], *OPPONENTS))]
    own = own.assign(value=own["value"] * 100)
    means = summary(own, ["algorithm", "domain"])
    told = means.assign(cell=[plus_minus(m, h) for m, h in
                              zip(means["mean"], means["half_width"], strict=True)])  # fmt: skip
    here = told.pivot_table(index="algorithm", columns="domain", values="cell", aggfunc="first",
                            sort=False)  # fmt: skip
    heads = {one: f"here: {one}" for one in here.columns if one != AVERAGE}
    here = here.rename(columns=heads | {AVERAGE: "here: mean"})
    shown = pd.concat([
        here.reset_index().assign(**{"": "here"}), wide.reset_index().assign(**{"": "thesis"}),
    ]).fillna("-")  # fmt: skip
    columns = ["", "algorithm", *(c for c in shown.columns if c not in ("", "algorithm"))]
    frame = pd.concat([
        means.rename(columns={"mean": "measured", "domain": "column"}),
        printed.drop(columns=["measured", "place"]),
    ], ignore_index=True)  # fmt: skip
    what = config["domains"].get("name") or config["domains"]["made"]
    return Table(frame, shown[columns], f"Here: {what}, {config['trials']} trials.")


@table()
def rates(accuracies: pd.DataFrame) -> Table:
    """What was learned: accuracies in training, on held-out images, and in the unseen domain

    Means over trials and left-out domains. *at the end* is the training accuracy at the last step, *training*
    that of the weights that were chosen, of which *held out* and *unseen* tell too.
    """
    keys = [
        "trained",
        "training",
        "validation",
        "value",
        "weight",
        "printed",
        "standard",
        "centred",
        "segments",
    ]
    frame = accuracies.groupby(["arm", "averaging"], sort=False)[keys].mean().reset_index()
    words = {"trained": "at the end", "validation": "held out", "value": "unseen", "weight": "lambda", "printed": "rank as printed",
             "standard": "standard rank", "centred": "centred rank"}  # fmt: skip
    shown = frame.round({key: 3 if key != "weight" else 5 for key in keys}).rename(columns=words)
    notes = (
        "Stable ranks are those of features of the unseen domain. lambda: mean of the weights that "
        "were chosen on held-out images of the training domains. segments: of SWAD's average."
    )
    return Table(frame, shown.astype(object).where(shown.notna(), "-"), notes)


@table("misprints", contains="quoted")
def misprints(quoted: Mapping[str, Any]) -> Table:
    """Printed averages that their rows do not have, and cells that differ between tables"""
    rows = []
    for name in (name for name in quoted if name.startswith("table-")):
        printed, _ = quoted_table(quoted, name)
        if "set" not in printed:
            printed = printed.assign(set="")
        for (algorithm, data), own in printed.groupby(["algorithm", "set"], sort=False):
            values = own.set_index("column")["paper_value"]
            mean = float(values.drop(AVERAGE).mean())
            # rows round to .05, and so does their mean
            if abs(mean - values[AVERAGE]) > 0.101:
                rows.append((name, algorithm, data, AVERAGE, values[AVERAGE], round(mean, 2)))
    main = quoted_table(quoted, "table-6-1")[0].to_dict("records")
    first = {(row["algorithm"], row["column"]): float(row["paper_value"]) for row in main}
    for number in range(1, 6):
        other = quoted_table(quoted, f"table-e-{number}")[0]
        for row in other[other["column"] == AVERAGE].to_dict("records"):
            key = (row["algorithm"], row["set"])
            if key in first and abs(first[key] - row["paper_value"]) > 0.01:
                rows.append((f"table-e-{number} against table-6-1", *key, AVERAGE,
                             row["paper_value"], first[key]))  # fmt: skip
    frame = pd.DataFrame(rows, columns=["table", "algorithm", "set", "column", "printed", "other"])
    notes = "The last column: the mean of the row, or what Table 6.1 prints."
    return Table(frame, frame, notes)
