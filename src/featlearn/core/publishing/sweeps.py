"""The table and the figures of a sweep: what becomes of verdicts as keys of the config change."""

from __future__ import annotations

import itertools
import math
import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle
from matplotlib.ticker import NullLocator

from featlearn.core.claims import (
    FAILS,
    HOLDS,
    NOT_MEASURED,
    NOT_SHOWN,
    OUTSIDE,
    UNDECIDED,
)
from featlearn.core.plots import COLOURS, FILLS, canvas
from featlearn.core.publish import Table
from featlearn.core.statistical import Look
from featlearn.core.stats import number, plus_minus

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Verdict to colour and marker.
LOOKS = {
    HOLDS: Look(HOLDS, COLOURS["green"], "o"),
    FAILS: Look(FAILS, COLOURS["red"], "X"),
    UNDECIDED: Look(UNDECIDED, COLOURS["orange"], "D"),
    OUTSIDE: Look(OUTSIDE, COLOURS["purple"], "s"),
    NOT_SHOWN: Look(NOT_SHOWN, COLOURS["grey"], "v"),
    NOT_MEASURED: Look("not measured (training diverged, or no such case)", COLOURS["ink"], "x"),
}
BAND, PREMISE = FILLS["captured"], FILLS["target"]
#: What of a ledger the table of a sweep has, behind the keys.
KEPT = (
    "claim", "measured", "interval_low", "interval_high", "spread", "low", "high", "verdict",
    "premises", "premises_met", "replicates", "kind", "source", "statement", "quantity",
)  # fmt: skip
Key = Mapping[str, Any]


def joined(
    ledgers: Sequence[pd.DataFrame],
    points: Sequence[Sequence[Any]],
    keys: Sequence[Key],
    claims: Sequence[str],
) -> pd.DataFrame:
    """The ledgers of points below each other, behind the values of the keys; sorted by them.

    Parameters
    ----------
    ledgers, points
        Of each point the judged claims, and the values of the keys.
    keys
        Each with ``key``, ``means`` (its words) and ``setting`` (its value in the run).
    claims
        Ids of those that are wanted, in their order.
    """
    names = [one["key"] for one in keys]
    parts = []
    for ledger, values in zip(ledgers, points, strict=True):
        part = ledger[ledger["claim"].isin(claims)][list(KEPT)].reset_index(drop=True)
        for place, (name, value) in enumerate(zip(names, values, strict=True)):
            part.insert(place, name, [value if _is_number(value) else str(value)] * len(part))
        parts.append(part)
    rows = pd.concat(parts, ignore_index=True)
    order = rows["claim"].map({claim: place for place, claim in enumerate(claims)})
    rows = rows.assign(order=order).sort_values(["order", *names], kind="stable")
    return rows.drop(columns="order").reset_index(drop=True)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def shown(
    rows: pd.DataFrame, keys: Sequence[Key], jobs: Sequence[tuple[int, int]], run: str
) -> Table:
    """The table of a sweep.

    Parameters
    ----------
    jobs
        Of each point the jobs behind it, and how many of them the run or another point makes.
    run
        Name of the run.
    """
    told = pd.DataFrame({one["key"]: rows[one["key"]].map(_told) for one in keys})
    told["claim"] = rows["claim"]
    told["measured"] = [
        "" if math.isnan(mean) else plus_minus(mean, spread)
        for mean, spread in zip(rows["measured"], rows["spread"], strict=True)
    ]
    told["band"] = [_band(*ends) for ends in zip(rows["low"], rows["high"], strict=True)]
    told["verdict"] = rows["verdict"]
    told["premises, or why not measured"] = rows["premises"].str.replace("\n", "; ")
    every, shared = (sum(one[place] for one in jobs) for place in (0, 1))
    settings = " and ".join(f"{one['key']} = {_told(one['setting'])}" for one in keys)
    notes = (
        f"In the run {run} itself {settings}. Of the {every} jobs behind these {len(jobs)} points "
        f"{shared} are shared with that run or with another point. After the sign: half of the "
        "95 % interval."
    )
    return Table(rows, told, notes)


def _told(value: Any) -> str:
    return number(value, 6) if _is_number(value) else str(value)


def _band(low: float, high: float) -> str:
    if math.isinf(low) or math.isinf(high):
        return f"≥ {number(low)}" if math.isinf(high) else f"≤ {number(high)}"
    return f"{number(low)} to {number(high)}"


# --------------------------------------------------------------------------- figures


def drawn(rows: pd.DataFrame, keys: Sequence[Key], run: str) -> Figure:
    """The figure of one claim: over one key a line, over two keys a map."""
    first = rows.iloc[0]
    made = canvas(7.2, 5.4)
    ax = made.add_subplot()
    marks = _map(ax, rows, keys) if len(keys) > 1 else _line(ax, rows, keys[0])
    words = textwrap.fill(first["statement"], 68)
    ax.set_title(f"{words}\n", loc="left")
    told = f"holds in {_band(first['low'], first['high'])}" if len(keys) > 1 else "95 % intervals"
    where = f"{first['claim']}, {first['source']}; run {run}, {told}"
    ax.text(0, 1.015, where, transform=ax.transAxes, fontsize=8, color=COLOURS["grey"])
    made.legend(handles=marks, loc="outside lower center", ncols=3)
    return made


def _axis_words(key: Key, width: int = 84) -> str:
    """A key in the words of the schema, above its name."""
    return "\n".join([*textwrap.wrap(key["means"], width), key["key"]])


class _Places:
    """Where the values of a key stand on an axis: numbers as they are, others side by side."""

    def __init__(self, key: Key, values: Sequence[Any]):
        self.taken = list(dict.fromkeys(values))
        self.numbers = all(map(_is_number, self.taken))
        positive = self.numbers and min(self.taken) > 0
        self.log = positive and max(self.taken) >= 10 * min(self.taken)
        setting = key["setting"] if _is_number(key["setting"]) else str(key["setting"])
        self.setting = self.of(setting) if self.numbers or setting in self.taken else None
        if not _is_number(setting) and self.numbers:
            self.setting = None

    def of(self, value: Any) -> float:
        return float(value if self.numbers else self.taken.index(value))

    def between(self, place: int) -> tuple[float, float]:
        """The ends of the part of the axis that belongs to a value."""
        at = [math.log(self.of(one)) if self.log else self.of(one) for one in self.taken]
        halves = [(one + other) / 2 for one, other in itertools.pairwise(at)]
        margin = (at[-1] - at[0]) * 0.06 if len(at) > 1 else 0.5
        ends = at[0] - margin, *halves, at[-1] + margin
        low, high = ends[place], ends[place + 1]
        return (math.exp(low), math.exp(high)) if self.log else (low, high)


def _line(ax: Axes, rows: pd.DataFrame, key: Key) -> list[Any]:
    """What was measured against a key; the handles of the legend."""
    places = _Places(key, list(rows[key["key"]]))
    at = np.array([places.of(value) for value in rows[key["key"]]])
    if places.log:
        ax.set_xscale("log")
    ends = rows[["measured", "interval_low", "interval_high"]].to_numpy(dtype=float)
    limits = rows[["low", "high"]].to_numpy(dtype=float)
    every = np.concatenate([ends.ravel(), limits.ravel(), [0.0] * bool(np.isnan(ends).all())])
    every = every[np.isfinite(every)]
    least, most = every.min(), every.max()
    margin = 0.08 * (most - least or 1.0)
    bottom, top = least - margin, most + margin
    violated = False
    for place, (low, high) in enumerate(limits):
        left, right = places.between(place)
        ax.fill_between(
            [left, right], max(low, bottom), min(high, top), color=BAND, alpha=0.55, lw=0
        )
        if rows["premises_met"].iloc[place] == "violated":
            violated = True
            ax.axvspan(
                left, right, facecolor=PREMISE, edgecolor="#D98F78", hatch="///", lw=0, zorder=0.6
            )
    ax.plot(at, ends[:, 0], color=FILLS["frame"], zorder=2)
    for verdict, look in LOOKS.items():
        mine = (rows["verdict"] == verdict).to_numpy()
        if verdict == NOT_MEASURED:
            ax.plot(
                at[mine], np.full(mine.sum(), bottom + margin / 2), look.marker, color=look.colour
            )
            continue
        errors = np.abs(ends[mine, 1:].T - ends[mine, 0])
        ax.errorbar(
            at[mine], ends[mine, 0], errors, fmt=look.marker, color=look.colour, ms=7, capsize=3,
            zorder=3,
        )  # fmt: skip
    ax.set_ylim(bottom, top)
    ax.set_xlim(places.between(0)[0], places.between(len(places.taken) - 1)[1])
    ticks = places.taken[:: 1 + len(places.taken) // 12]
    ax.set_xticks([places.of(value) for value in ticks], [_told(value) for value in ticks])
    ax.xaxis.set_minor_locator(NullLocator())
    ax.set_xlabel(_axis_words(key))
    ax.set_ylabel(textwrap.fill(rows["quantity"].iloc[0], 52))
    handles = [*_marks(rows), Patch(color=BAND, alpha=0.55, label="band in which the claim holds")]
    if violated:
        handles.append(
            Patch(
                facecolor=PREMISE, edgecolor="#D98F78", hatch="///", label="a premise is violated"
            )
        )
    left, right = ax.get_xlim()
    if places.setting is not None and left <= places.setting <= right:
        ax.axvline(places.setting, color=COLOURS["ink"], ls=":", zorder=1)
        handles.append(Line2D([], [], color=COLOURS["ink"], ls=":", label="setting of the run"))
    return handles


def _marks(rows: pd.DataFrame) -> list[Any]:
    """Handles of the verdicts that there are."""
    found = set(rows["verdict"])
    return [
        Line2D([], [], color=look.colour, marker=look.marker, ls="", ms=7, label=look.words)
        for verdict, look in LOOKS.items()
        if verdict in found
    ]


def _map(ax: Axes, rows: pd.DataFrame, keys: Sequence[Key]) -> list[Any]:
    """What was measured over two keys; the handles of the legend."""
    across, up = (_Places(key, sorted(set(rows[key["key"]]))) for key in keys)
    grid = np.full((len(up.taken), len(across.taken)), np.nan)
    cells = []
    for row in rows.to_dict("records"):
        x, y = across.taken.index(row[keys[0]["key"]]), up.taken.index(row[keys[1]["key"]])
        grid[y, x] = row["measured"]
        cells.append((x, y, row))
    image = ax.imshow(grid, origin="lower", aspect="auto", cmap="Greys", alpha=0.45)
    ax.figure.colorbar(image, ax=ax, label=textwrap.fill(rows["quantity"].iloc[0], 52))
    for x, y, row in cells:
        look = LOOKS[row["verdict"]]
        if row["premises_met"] == "violated":
            ax.add_patch(
                Rectangle((x - 0.5, y - 0.5), 1, 1, fill=False, hatch="///", ec="#D98F78", lw=0)
            )
        ax.plot(x, y, look.marker, color=look.colour, ms=9)
        text = "" if math.isnan(row["measured"]) else number(row["measured"])
        ax.annotate(text, (x, y), (0, -15), textcoords="offset points", ha="center", va="center")
    handles = _marks(rows)
    settings = [str(key["setting"]) for key in keys]
    names = [[str(value) for value in one.taken] for one in (across, up)]
    if all(one in known for one, known in zip(settings, names, strict=True)):
        x, y = (known.index(one) for one, known in zip(settings, names, strict=True))
        ax.add_patch(
            Rectangle((x - 0.5, y - 0.5), 1, 1, fill=False, ec=COLOURS["ink"], ls=":", lw=2)
        )
        handles.append(Line2D([], [], color=COLOURS["ink"], ls=":", label="setting of the run"))
    if (rows["premises_met"] == "violated").any():
        handles.append(Patch(fc="none", ec="#D98F78", hatch="///", label="a premise is violated"))
    ax.grid(visible=False)
    ax.set_xticks(range(len(across.taken)), [_told(value) for value in across.taken])
    ax.set_yticks(range(len(up.taken)), [_told(value) for value in up.taken])
    ax.set_xlabel(_axis_words(keys[0]))
    ax.set_ylabel(_axis_words(keys[1], 52))
    return handles
