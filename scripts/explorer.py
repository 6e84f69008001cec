"""Print what makes the pictures of docs/explorer.md charts: published sweeps as JSON, a script.

    python scripts/explorer.py

By folder a sweep over one key: its values and its claims. Places on the axes are shares of their
length, so that docs/assets/explorer.js needs no scale; texts are HTML, formulas in MathML.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.ticker import MaxNLocator

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "src"))

from featlearn.core.errors import FeatlearnError
from featlearn.core.evidence.claims import VIOLATED
from featlearn.core.evidence.stats import number
from featlearn.core.publishing.ledger import records
from featlearn.core.publishing.maths import maths, plain
from featlearn.core.publishing.publish import SWEEPS
from featlearn.core.publishing.summary import band, measured
from featlearn.core.publishing.sweeps import Places, baselines_along, heights
from featlearn.core.run.checks import value_of
from featlearn.core.run.commit import APART
from featlearn.core.run.config import load
from featlearn.core.run.points import meaning

#: What follows the words of a premise, where both numbers are plain.
NUMBERS = re.compile(r"(least|most) (?P<needed>[\d.,]+) needed, (?P<used>[\d.,]+) used, \w+")

PART = """<script type="application/json" id="sweeps">{}</script>
<script src="assets/explorer.js"></script>"""


def of_sweep(table: pd.DataFrame, key: Mapping[str, Any], run: str) -> dict[str, Any]:
    """What the page shows of a sweep; ``key``: with ``means`` and ``setting``."""
    if table.columns[1] != "claim":
        raise FeatlearnError(f"{table.columns[0]}: expected one key, got {table.columns[1]}, too")
    name = table.columns[0]
    values = list(dict.fromkeys(table[name]))
    places = Places(key, values)
    first, last = places.between(0)[0], places.between(len(values) - 1)[1]

    def at(value: float) -> float:
        low, here, high = (math.log(one) if places.log else one for one in (first, value, last))
        return round((here - low) / (high - low), 6)

    setting = key["setting"]
    return {
        "key": name,
        "means": maths(key["means"]),
        "run": run,
        "values": [number(value, 6) if places.numbers else value for value in values],
        "at": [at(places.of(value)) for value in values],
        "setting": values.index(setting) if setting in values else None,
        "claims": {
            claim: of_claim(rows, places, at) for claim, rows in table.groupby("claim", sort=False)
        },
    }


def of_claim(rows: pd.DataFrame, places: Places, at: Any) -> dict[str, Any]:
    """One claim of a sweep over the values of ``places``, which ``at`` sets on the axis."""
    bottom, top = heights(rows)

    def up(value: float) -> float | None:
        if math.isnan(value):
            return None
        return round((min(max(value, bottom), top) - bottom) / (top - bottom), 6)

    ticks = MaxNLocator(4).tick_values(bottom, top)
    others = baselines_along(rows)
    points = [
        {
            "verdict": row["verdict"],
            "told": "" if math.isnan(row["measured"]) else measured(row | {"spread_kind": ""}),
            "up": [up(row[one]) for one in ("measured", "interval_low", "interval_high")],
            "band": band(row),
            "inside": [up(row["low"]), up(row["high"])],
            "edges": [at(one) for one in places.between(place)],
            "premises": [maths(line) for line in row["premises"].split("\n") if line],
            "baselines": {one: number(mean) for one, mean in others.iloc[place].dropna().items()},
        }
        for place, row in enumerate(records(rows))
    ]
    first = rows.iloc[0]
    return {
        "statement": maths(first["statement"]),
        "source": maths(first["source"]),
        "quantity": maths(first["quantity"]),
        "spoken": plain(first["quantity"]),
        "replicates": number(rows["replicates"].max()),
        "ticks": [[up(one), number(one)] for one in ticks if bottom <= one <= top],
        "points": points,
        "baselines": [[up(one) for one in column] for _, column in others.items()],
        "violated": violated(list(rows["premises"]), places, at),
    }


def violated(texts: list[str], places: Places, at: Any) -> list[list[float]]:
    """Parts of the axis in which a premise is violated, not at all values: there it is only named.

    A premise on the key itself ends at its number; another one half-way between two values.
    """
    split = [dict(line.rsplit(": at ", 1) for line in text.split("\n") if ": at " in line)
             for text in texts]  # fmt: skip
    parts = []
    for premise in dict.fromkeys(name for lines in split for name in lines):
        lines = [one.get(premise, "") for one in split]
        broken = [line.endswith(VIOLATED) for line in lines]
        if all(broken) or not any(broken):
            continue
        told = [NUMBERS.fullmatch(line) for line in lines]
        needed = {one["needed"] for one in told if one}
        on_key = [not one or one["used"] == number(places.of(value))
                  for one, value in zip(told, places.taken, strict=True)]  # fmt: skip
        if all(on_key) and len(needed) == 1:
            limit = min(max(at(float(needed.pop().replace(",", ""))), 0), 1)
            first = next(place for place, line in enumerate(lines) if line)
            parts.append([0, limit] if broken[first] else [limit, 1])
        else:
            parts += [[at(end) for end in places.between(place)]
                      for place in range(len(lines)) if broken[place]]  # fmt: skip
    return parts


def published(folder: Path) -> dict[str, Any]:
    """All published sweeps below ``folder`` by the names of theirs, each in its run's config."""
    found = {}
    for table in sorted(folder.glob("*/table.parquet")):
        rows = pd.read_parquet(table)
        record = json.loads((table.parent / "record.json").read_text(encoding="utf-8"))
        run = next(iter(record["inputs"])).split("/")[1]
        # a run with a name of its own is shown beside the setting of desk
        scale = run if (ROOT / f"config/scale/{run}.yaml").is_file() else "desk"
        config, name = load({"scale": scale}, ROOT), str(rows.columns[0])
        key = {"means": meaning(config, name, ROOT), "setting": value_of(config, name)}
        found[table.parent.name] = of_sweep(rows, key, run)
    return found


def part(sweeps: Mapping[str, Any]) -> str:
    """HTML for the end of the page; no tag of a text ends its script."""
    return PART.format(json.dumps(sweeps, ensure_ascii=False).replace("<", "\\u003c"))


if __name__ == "__main__":
    print(part(published(ROOT / APART / SWEEPS)))
