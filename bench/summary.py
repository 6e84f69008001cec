"""The end of ``make bench``: one line a comparison, of every table that holds some."""

from __future__ import annotations

import math
import re

import pandas as pd

from bench.timing import SPREADS

COLUMNS = ["work", "peer", "ratio", "low", "high", "wanted", "distance", "reached"]
#: A bound, as tables tell it.
_BOUND = re.compile(r"(?P<sign>>=|<=|>|<|at least|at most) *(?P<bound>\d+(?:\.\d+)?)")
_RANGE = re.compile(r"(?P<low>\d*\.?\d+) to (?P<high>\d*\.?\d+)")
UP = (">=", ">", "at least")


def rows_of(table: str, frame: pd.DataFrame) -> pd.DataFrame:
    """The comparisons of a table: what stands before its column ``ratio`` says of what.

    That is told as ``work / peer``. Quartiles over the turns stand as ``low`` and ``high``, where
    the ratio is one of turns; ``distance`` is the ratio over the bound that ``wanted`` tells, where
    it is one.
    """
    if not {"ratio", "wanted"} <= {*frame.columns}:
        return pd.DataFrame(columns=COLUMNS)
    words = list(frame.columns)[: list(frame.columns).index("ratio")]
    found = []
    for row in frame.to_dict("records"):
        work, _, peer = ", ".join(str(row[word]) for word in words).rpartition(" / ")
        value = row["ratio"]
        low, high = SPREADS.get(value, (math.nan, math.nan))
        told = _BOUND.match(str(row["wanted"]))
        distance, reached = math.nan, ""
        if told and not math.isnan(value):
            distance = value / float(told["bound"])
            well = distance >= 1 if told["sign"] in UP else distance <= 1
            reached = "yes" if well else "no"
        elif (told := _RANGE.match(str(row["wanted"]))) and not math.isnan(value):
            reached = "yes" if float(told["low"]) <= value <= float(told["high"]) else "no"
        found.append((work or table, peer, value, low, high, row["wanted"], distance, reached))
    return pd.DataFrame(found, columns=COLUMNS)


def missing(table: str, package: str | None) -> pd.DataFrame:
    """The line of a table whose peer is not installed."""
    told = (table, package, *[math.nan] * 3, "not installed: nothing compared", math.nan, "")
    return pd.DataFrame([told], columns=COLUMNS)
