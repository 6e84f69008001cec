"""The table and the figures of a sweep: what becomes of verdicts as keys of the config change."""

from __future__ import annotations

import itertools
import json
import math
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from matplotlib.lines import Line2D
from matplotlib.mathtext import MathTextParser
from matplotlib.patches import Patch, Rectangle
from matplotlib.ticker import NullLocator

from featlearn.core.drawing.intervals import Look
from featlearn.core.drawing.plots import COLOURS, FILLS, canvas
from featlearn.core.evidence.claims import (
    FAILS,
    HOLDS,
    NOT_MEASURED,
    NOT_SHOWN,
    OUTSIDE,
    UNDECIDED,
    VIOLATED,
)
from featlearn.core.evidence.stats import number, plus_minus
from featlearn.core.publishing.ledger import records
from featlearn.core.publishing.summary import band
from featlearn.core.run.exhibits import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LOOKS = {
    HOLDS: Look(HOLDS, COLOURS["green"], "o"),
    FAILS: Look(FAILS, COLOURS["red"], "X"),
    UNDECIDED: Look(UNDECIDED, COLOURS["orange"], "D"),
    OUTSIDE: Look(OUTSIDE, COLOURS["purple"], "s"),
    NOT_SHOWN: Look(NOT_SHOWN, COLOURS["grey"], "v"),
    NOT_MEASURED: Look("not measured (training diverged, or no such case)", COLOURS["ink"], "x"),
}
BAND: dict[str, Any] = {"color": FILLS["captured"], "alpha": 0.55, "lw": 0}
#: Where a premise is violated: a hatch each.
HATCHES = ("//", "\\\\", "..", "xx")
PREMISE: dict[str, Any] = {"fc": FILLS["target"], "ec": "#E0A796", "lw": 0, "alpha": 0.6}
#: Of the lines of baselines.
DASHES = ((0, ()), (0, (6, 2)), (0, (1, 1.5)), (0, (6, 2, 1, 2)), (0, (3, 1)), (0, (8, 2, 2, 2)))
#: Inches: least height of a panel, what is above and below it, a line of words beside it.
LEAST, ROOM, LINE = 3.0, 2.4, 0.17
#: What of a ledger the table of a sweep has, behind the keys.
KEPT = (
    "claim", "measured", "interval_low", "interval_high", "spread", "low", "high", "verdict",
    "premises", "premises_met", "baselines", "replicates", "kind", "source", "statement",
    "quantity",
)  # fmt: skip
Key = Mapping[str, Any]


def joined(
    ledgers: Sequence[pd.DataFrame], points: Sequence[Sequence[Any]], keys: Sequence[Key],
    claims: Sequence[str],
) -> pd.DataFrame:  # fmt: skip
    """The ledgers of points below each other, behind the values of the keys; sorted by them.

    ``ledgers``, ``points``: of each point the judged claims, and the values of the keys. ``keys``:
    each with ``key``, ``means`` (its words) and ``setting`` (its value in the run). ``claims``: ids
    of those that are wanted, in their order.
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
    """The table of a sweep; ``jobs``: of each point those behind it, and those of them shared."""
    told = pd.DataFrame({one["key"]: rows[one["key"]].map(_told) for one in keys})
    told["claim"] = rows["claim"]
    told["measured"] = [
        "" if math.isnan(mean) else plus_minus(mean, spread)
        for mean, spread in zip(rows["measured"], rows["spread"], strict=True)
    ]
    told["band"] = [band(row) for row in records(rows)]
    told["verdict"] = rows["verdict"]
    told["baselines"] = [
        "; ".join(f"{name}: {number(mean)}" for name, mean in baselines_of(one).items())
        for one in rows["baselines"]
    ]
    told["premises, or why not measured"] = rows["premises"].str.replace("\n", "; ")
    every, shared = (sum(one[place] for one in jobs) for place in (0, 1))
    settings = " and ".join(f"{one['key']} = {_told(one['setting'])}" for one in keys)
    notes = (
        f"In the run {run} itself {settings}. Of the {every} jobs behind these {len(jobs)} points "
        f"{shared} are shared with that run or with another point. After the sign: half of the "
        "95 % interval."
    )
    return Table(rows, told, notes)


def baselines_of(text: str) -> dict[str, float]:
    return dict(json.loads(text)) if text else {}


def _told(value: Any) -> str:
    return number(value, 6) if _is_number(value) else str(value)


def _in_band(rows: pd.DataFrame) -> str:
    """Where the claim holds, with the ends if they are the same in all rows."""
    bands = {band(row) for row in records(rows)}
    return "band in which the claim holds" + (f" ({bands.pop()})" if len(bands) == 1 else "")


def drawn(rows: pd.DataFrame, keys: Sequence[Key], run: str) -> Figure:
    """The figure of one claim: over one key a line, over two keys a map."""
    first = rows.iloc[0]
    made = canvas(8.2, ROOM + LEAST)
    ax = made.add_subplot()
    handles, tall = _map(ax, rows, keys) if len(keys) > 1 else _line(ax, rows, keys[0])
    made.set_figheight(ROOM + tall)
    replicates = f"replicates: {number(rows['replicates'].max())}"
    about = _words(f"{first['source']}. Claim {first['claim']}; run {run}, {replicates}", 100)
    ax.set_title(_words(first["statement"], 74) + "\n" * (about.count("\n") + 1), loc="left")
    ax.text(0, 1.015, about, transform=ax.transAxes, fontsize=8, color=COLOURS["grey"])
    handles[:0] = [
        _mark(marker=look.marker, color=look.colour, ms=7, label=look.words)
        for verdict, look in LOOKS.items()
        if verdict in set(rows["verdict"])
    ]
    made.legend(handles=handles, loc="outside lower center", ncols=3)
    return made


def _mark(**look: Any) -> Line2D:
    return Line2D([], [], **{"ls": ""} | look)


def _words(text: str, width: int) -> str:
    """A text on several lines; no formula is broken, and one that cannot be set is plain text."""
    text = re.sub(r"\\(ge|le|ne)(?![A-Za-z])", r"\\\1q", text)  # as Matplotlib calls them
    whole = re.sub(r"\$[^$]*\$", lambda found: found[0].replace(" ", "\0"), text)
    lines = textwrap.fill(whole, width, break_long_words=False, break_on_hyphens=False)
    lines = lines.replace("\0", " ")
    try:
        for line in lines.split("\n"):
            MathTextParser("path").parse(line)
    except ValueError:
        return lines.replace("$", r"\$")
    return lines


def _axis_words(key: Key, width: int = 84) -> str:
    """A key in the words of the schema, above its name."""
    return f"{_words(key['means'], width)}\n{key['key']}"


def _premises(rows: pd.DataFrame) -> Iterator[tuple[list[bool], dict[str, Any], Patch]]:
    """Of each violated premise: in which rows, how it is shaded (not, if in all), its handle."""
    found = [
        {line.rpartition(": at ")[0] for line in text.split("\n") if line.endswith(VIOLATED)}
        for text in rows["premises"]
    ]
    for hatch, premise in zip(itertools.cycle(HATCHES), sorted(set().union(*found))):
        where = [premise in those for those in found]
        shade = {"visible": False} if all(where) else PREMISE | {"hatch": hatch}
        words = f"premise violated {'at all values ' * all(where)}here: {premise}"
        yield where, shade, Patch(**shade, label=_words(words, 64))


class Places:
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


def baselines_along(rows: pd.DataFrame) -> pd.DataFrame:
    """Of each baseline of a claim a column, its mean at each value."""
    others = pd.DataFrame([baselines_of(one) for one in rows["baselines"]], dtype=float)
    return others.dropna(axis=1, how="all")


def heights(rows: pd.DataFrame) -> tuple[float, float]:
    """Bottom and top of an axis with what was measured, the band's end and the baselines."""
    ends = rows[["measured", "interval_low", "interval_high"]].to_numpy(dtype=float)
    limits = rows[["low", "high"]].to_numpy(dtype=float)
    # of a band the end that is nearer: the other one is often no more than what is possible
    near = np.abs(limits - ends[:, :1])
    near = limits[near <= near.min(1, keepdims=True)]
    every = np.concatenate([ends.ravel(), near, baselines_along(rows).to_numpy().ravel()])
    every = every[np.isfinite(every)] if np.isfinite(every).any() else limits[np.isfinite(limits)]
    margin = 0.08 * (np.ptp(every) or 1.0)
    return float(every.min() - margin), float(every.max() + margin)


def _line(ax: Axes, rows: pd.DataFrame, key: Key) -> tuple[list[Any], float]:
    """What was measured against a key; handles of the legend, and inches that the panel needs."""
    places = Places(key, list(rows[key["key"]]))
    at = np.array([places.of(value) for value in rows[key["key"]]])
    if places.log:
        ax.set_xscale("log")
    ends = rows[["measured", "interval_low", "interval_high"]].to_numpy(dtype=float)
    limits = rows[["low", "high"]].to_numpy(dtype=float)
    others = baselines_along(rows)
    bottom, top = heights(rows)
    edges = [places.between(place) for place in range(len(at))]
    for (left, right), (low, high) in zip(edges, limits, strict=True):
        ax.fill_between([left, right], max(low, bottom), min(high, top), **BAND)
    handles: list[Any] = [_mark(marker="|", color=COLOURS["ink"], ms=9, label="95 % interval")]
    handles.append(Patch(**BAND, label=_in_band(rows)))
    if len(others.columns):
        handles.append(_mark(color=COLOURS["grey"], ls="-", lw=0.9, label="baselines, see right"))
    for where, shade, handle in _premises(rows):
        handles.append(handle)
        for left, right in itertools.compress(edges, where):
            ax.axvspan(left, right, **shade, zorder=0.6)
    ax.plot(at, ends[:, 0], color=COLOURS["ink"], alpha=0.4, zorder=2)
    for verdict, look in LOOKS.items():
        mine = (rows["verdict"] == verdict).to_numpy()
        height, errors = ends[mine, 0], np.abs(ends[mine, 1:].T - ends[mine, 0])
        if verdict == NOT_MEASURED:
            height = np.full_like(height, bottom + (top - bottom) / 30)
        ax.errorbar(at[mine], height, errors, fmt=look.marker, color=look.colour, ms=7, capsize=3,
                    zorder=3)  # fmt: skip
    ax.set_ylim(bottom, top)
    ax.set_xlim(edges[0][0], edges[-1][1])
    tall = _label(ax, at, others)
    ticks = places.taken[:: 1 + len(places.taken) // 12]
    ax.set_xticks([places.of(value) for value in ticks], [_told(value) for value in ticks])
    ax.xaxis.set_minor_locator(NullLocator())
    ax.set_xlabel(_axis_words(key))
    ax.set_ylabel(_words(rows["quantity"].iloc[0], 52))
    if places.setting is not None and edges[0][0] <= places.setting <= edges[-1][1]:
        line = ax.axvline(places.setting, color=COLOURS["ink"], ls=":", zorder=1)
        line.set_label(f"setting of the run: {_told(key['setting'])}")
        handles.append(line)
    return handles, tall


def _label(ax: Axes, at: np.ndarray, others: pd.DataFrame) -> float:
    """Draw the lines of baselines, with words at the right, none over another; their inches."""
    ends = sorted((one.dropna().iloc[-1], str(name)) for name, one in others.items())
    (bottom, top), grey = ax.get_ylim(), COLOURS["grey"]
    texts = [_words(name, 30) for _, name in ends]
    lines = [text.count("\n") + 1 for text in texts]
    tall = max(LEAST, LINE * sum(lines))
    halves = [(top - bottom) / tall * LINE / 2 * one for one in lines]
    heights = [end for end, _ in ends]
    for order, sign, limit in ((1, 1, bottom), (-1, -1, top)):
        for place in range(len(ends))[::order]:
            limit += sign * halves[place]
            heights[place] = limit = sign * max(sign * heights[place], sign * limit)
            limit += sign * halves[place]
    for place, (end, name) in enumerate(ends):
        line = others[name].to_numpy()
        ax.plot(at, line, color=grey, lw=0.9, ls=DASHES[place % len(DASHES)], zorder=1.5)
        to = (1.02, (heights[place] - bottom) / (top - bottom))
        arrow = {"arrowstyle": "-", "lw": 0.5, "color": grey, "relpos": (0, 0.5)}
        ax.annotate(texts[place], (at[np.isfinite(line)][-1], end), to, fontsize=8, color=grey,
                    textcoords="axes fraction", va="center", arrowprops=arrow)  # fmt: skip
    return tall


def _map(ax: Axes, rows: pd.DataFrame, keys: Sequence[Key]) -> tuple[list[Any], float]:
    """What was measured over two keys; as :func:`_line`."""
    across, up = (Places(key, sorted(set(rows[key["key"]]))) for key in keys)
    cells = [
        (across.taken.index(x), up.taken.index(y))
        for x, y in zip(*(rows[key["key"]] for key in keys), strict=True)
    ]
    grid = np.full((len(up.taken), len(across.taken)), np.nan)
    for (x, y), value, verdict in zip(cells, rows["measured"], rows["verdict"], strict=True):
        grid[y, x], look = value, LOOKS[verdict]
        ax.plot(x, y, look.marker, color=look.colour, ms=9, mec=FILLS["white"], mew=0.8)
        text = "" if math.isnan(value) else number(value)
        ax.annotate(text, (x, y), (0, -15), textcoords="offset points", ha="center", va="center")
    image = ax.imshow(grid, origin="lower", aspect="auto", cmap="Greys", alpha=0.45)
    ax.figure.colorbar(image, ax=ax, label=_words(rows["quantity"].iloc[0], 52))
    handles: list[Any] = [Patch(visible=False, label=_in_band(rows))]
    for where, shade, handle in _premises(rows):
        handles.append(handle)
        for x, y in itertools.compress(cells, where):
            ax.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, **shade | {"fc": "none"}))
    names = [[str(value) for value in one.taken] for one in (across, up)]
    settings = [(str(key["setting"]), known) for key, known in zip(keys, names, strict=True)]
    if all(one in known for one, known in settings):
        left, low = (known.index(one) - 0.5 for one, known in settings)
        ink = COLOURS["ink"]
        ax.add_patch(Rectangle((left, low), 1, 1, fill=False, ec=ink, ls=":", lw=2))
        handles.append(_mark(color=ink, ls=":", label="setting of the run"))
    ax.grid(visible=False)
    ax.set_xticks(range(len(across.taken)), [_told(value) for value in across.taken])
    ax.set_yticks(range(len(up.taken)), [_told(value) for value in up.taken])
    ax.set_xlabel(_axis_words(keys[0]))
    ax.set_ylabel(_axis_words(keys[1], 52))
    return handles, LEAST
