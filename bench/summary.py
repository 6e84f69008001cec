"""The end of ``make bench``: one line a comparison, of every table that holds some.

    python -m bench.summary results/published/bench

puts the summaries of several machines, in folders below that one, side by side in a README.md.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from bench.timing import SPREADS
from featlearn.core.files import read_parquet, write_atomically

COLUMNS = ["work", "peer", "ratio", "low", "high", "wanted", "distance", "reached"]
#: A bound, as tables tell it.
_BOUND = re.compile(r"(?P<sign>>=|<=|>|<|at least|at most) *(?P<bound>\d+(?:\.\d+)?)")
_RANGE = re.compile(r"(?P<low>\d*\.?\d+) to (?P<high>\d*\.?\d+)")
UP = (">=", ">", "at least")
#: First on the page: of work and peer, a sentence with the least and largest ratio of a machine.
ASKED = {
    ("pre-training (SimMIM), small_resnet, 32 px, images a second: loop, crops and flips",
     "bare step"):
        "Pre-training with crops and flips runs at {} of the speed of the bare training step.",
    ("epoch of SimCLR, ResNet-18, 32 px, cpu, images a second: ours", "lightly 1.6.0"):
        "An epoch of SimCLR goes through {} times as many images a second as lightly does.",
    ("Eigen-CAM, images a second: ours", "pytorch-grad-cam"):
        "Eigen-CAM maps {} times as many images a second as pytorch-grad-cam.",
    ("probe of desk, time: scikit-learn", "featlearn"):
        "A linear probe of desk takes scikit-learn {} times as long, to the same objective.",
    ("teacher-student, compiled, autograd one by one", "step"):
        "Replicates trained one by one with autograd take {} times as long as all in one tensor.",
    ("nothing to do: processor", "a second"):
        "A run with nothing left to do takes {} seconds of one processor.",
}  # fmt: skip


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
        work, peer = _parted(", ".join(str(row[word]) for word in words), table)
        value = row["ratio"]
        low, high = SPREADS.get(value, (math.nan, math.nan))
        distance, reached = judged(value, str(row["wanted"]))
        found.append((work, peer, value, low, high, row["wanted"], distance, reached))
    return pd.DataFrame(found, columns=COLUMNS)


def _parted(told: str, table: str) -> tuple[str, str]:
    """Work and peer of ``work / peer``; a peer may be a ratio itself, ``GemFilter, over m / r``."""
    work, slash, peer = told.partition(" / ")
    return (work, peer) if slash else (table, told)


def judged(ratio: float, wanted: str) -> tuple[float, str]:
    """The ratio over the bound that is wanted, and whether it is reached; "" where nothing is."""
    if math.isnan(ratio):
        return math.nan, ""
    if told := _BOUND.match(wanted):
        distance = ratio / float(told["bound"])
        return distance, "yes" if (distance >= 1 if told["sign"] in UP else distance <= 1) else "no"
    if told := _RANGE.match(wanted):
        return math.nan, "yes" if float(told["low"]) <= ratio <= float(told["high"]) else "no"
    return math.nan, ""


def missing(table: str, package: str | None) -> pd.DataFrame:
    """The line of a table whose peer is not installed."""
    told = (table, package, *[math.nan] * 3, "not installed: nothing compared", math.nan, "")
    return pd.DataFrame([told], columns=COLUMNS)


def _cell(row: Mapping[Hashable, Any]) -> str:
    if math.isnan(row["ratio"]):
        return ""
    spread = "" if math.isnan(row["low"]) else f" ({row['low']:.3g} to {row['high']:.3g})"
    return f"{row['ratio']:.3g}{spread}" + ", not reached" * (row["reached"] == "no")


def _span(ratios: pd.Series[float]) -> str:
    """The least and the largest, with three digits; one of them if they are the same."""
    ends = dict.fromkeys(f"{float(f'{end:.3g}'):,g}" for end in (ratios.min(), ratios.max()))
    return " to ".join(ends)


def machines(folder: Path) -> str:
    """The comparisons of all machines that were measured, a column each, as a page.

    A number is the ratio of that machine, with its quartiles, and tells where it does not reach
    what is wanted.
    """
    columns, said, ratios = [], [], []
    for file in sorted(folder.glob("*/summary.parquet")):
        _, _, machine, *_ = (file.parent / "summary.md").read_text(encoding="utf-8").splitlines()
        said.append(f"[{machine}]({file.parent.name}/summary.md)")
        own = read_parquet(file)
        told = zip(own["work"], own["peer"], strict=True)
        own[["work", "peer"]] = [_parted(f"{work} / {peer}", "") for work, peer in told]
        own = own.set_index(["work", "peer", "wanted"])
        cells = [_cell(row) for row in own.to_dict("records")]
        columns.append(pd.Series(cells, own.index, name=file.parent.name))
        ratios.append(own["ratio"].droplevel("wanted"))
    table = pd.concat(columns, axis=1).fillna("").reset_index()
    every = pd.concat(ratios)
    lines = [
        "# Speed",
        "",
        *(
            f"- {sentence.format(_span(every[asked]))}"
            for asked, sentence in ASKED.items()
            if asked in every.index
        ),
        "",
        f"A range is over {len(columns)} machines, a single number of one. "
        "`python -m bench` measures them.",
        "",
        "<details><summary>All comparisons</summary>",
        "",
        "Each number is work over peer, both measured by turns within one run, most of them times: "
        "2 is twice as long as the peer, or twice as many where it says a second; in brackets "
        "quartiles over the turns. *Wanted* is the aim, which for loops and steps was tightened "
        "after they ran: a rival in the place of the work takes at least so many times as long "
        "(>=), our work at most so many (<=); a line without an aim is not judged. Tables behind "
        "each line, and the distance to the aim: "
        f"{'; '.join(said)}.",
        "",
        table.fillna("").to_markdown(index=False, disable_numparse=True),
        "",
        "</details>",
        "",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    place = Path(sys.argv[1])
    write_atomically(place / "README.md", machines(place).encode())
