"""Stories and captions: Markdown that quotes measured numbers instead of stating them.

They stand in docstrings (see :mod:`featlearn.core.publish`); a page begins with ``# Title`` and may
hold::

    keeps {{ value("headline", model="supervised", quantity="captured") | percent }} of them

``value(table, column="mean", **filters)`` reads the cell of ``column`` in the one row of the
paper's ``tables/<table>.parquet`` that the filters choose (``"mrp/headline"`` names the table of
another paper). ``| percent(digits)`` and ``| number(digits)`` format it.

What was concluded is asked for as well, from the ledger, by the id of a claim::

    {{ verdict("mrp/headline-captured") }}
    {{ said("mrp/headline-captured", holds="Every feature is captured", fails="Some are lost") }}

The first gives verdict, number and band; the second the sentence that the verdict calls for, with
the number behind it. So a text says what was seen, whatever a run sees. Raw HTML and pictures are
switched off, so that no text can bring a script, or a request to elsewhere, into the report.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import jinja2
import pandas as pd
from jinja2.sandbox import ImmutableSandboxedEnvironment
from markdown_it import MarkdownIt
from markupsafe import Markup

from featlearn.core.claims import FAILS, HOLDS, UNDECIDED
from featlearn.core.errors import FeatlearnError
from featlearn.core.stats import in_powers, number, plus_minus

#: Gives a number of a table: ``value("headline", model="supervised", quantity="captured")``.
Value = Callable[..., Any]
#: Rows of ``claims.parquet``, by their claim.
Ledger = Mapping[str, Mapping[str, Any]]


def percent(value: float, digits: int = 0) -> str:
    """A share as a percentage that no line break tears apart: 0.631 gives ``63 %``.

    What is neither none nor all is not rounded to it: 0.996 gives ``99.6 %``.
    """
    text = f"{100 * value:.{digits}f}"
    if digits < 3 and float(text) in (0, 100) and abs(100 * value - float(text)) > 1e-9:
        return percent(value, digits + 1)
    return f"{text}\N{NO-BREAK SPACE}%".replace("-", "−")


#: How a sentence begins, and no name such as MAE.
_SENTENCE = re.compile(r"[A-Z][a-z]+\b(?!-)")


@dataclass(frozen=True)
class Page:
    """A Markdown page: the text of its first heading, and the HTML of all that follows."""

    title: str
    body: Markup


def reader(tables: Mapping[tuple[str, str], pd.DataFrame], paper: str) -> Value:
    """The function ``value`` for the stories and captions of ``paper``.

    Parameters
    ----------
    tables
        By paper and name.
    """

    def value(table: str, column: str = "mean", /, **filters: Any) -> Any:
        wanted = ", ".join([repr(table), repr(column), *(f"{k}={v!r}" for k, v in filters.items())])
        owner, _, name = table.rpartition("/")
        frame = tables.get((owner or paper, name))
        if frame is None:
            known = ", ".join("/".join(key) for key in sorted(tables)) or "none"
            raise FeatlearnError(f"value({wanted}): no such table; there are: {known}")
        if unknown := [key for key in (column, *filters) if key not in frame]:
            columns = ", ".join(map(str, frame.columns))
            raise FeatlearnError(f"value({wanted}): no column {unknown[0]!r}; there are: {columns}")
        for key, wish in filters.items():
            frame = frame[frame[key] == wish]
        if len(frame) != 1:
            raise FeatlearnError(f"value({wanted}): {len(frame)} rows match; expected exactly one")
        cell = frame[column].item()
        if pd.isna(cell):
            raise FeatlearnError(f"value({wanted}): the cell is empty")
        return cell

    return value


def _small(value: float, digits: int = 2) -> str:
    """A number as it is, also where :func:`number` tells nothing but zero."""
    return in_powers(f"{value:.{digits}g}")


def _of_rounding(value: float, half: float = 0.0) -> bool:
    """Whether a number, or its interval, with decimals would look like nothing."""
    return 0 < max(abs(value), half) < 1e-6


def figure(value: float, digits: int = 3) -> str:
    """A number with so many digits; one of rounding is told with its exponent."""
    return _small(value) if _of_rounding(value) else number(value, digits)


def band(row: Mapping[str, Any]) -> str:
    """The band of a row of the ledger in words."""
    low, high = row["low"], row["high"]
    if math.isinf(low):
        return f"at most {number(high)}"
    if math.isinf(high):
        return f"at least {number(low)}"
    if low == high:
        return f"exactly {number(low)}"
    if max(abs(low), abs(high)) < 1e-6:
        return f"{_small(low, 1)} to {_small(high, 1)}"
    if number(low) == number(high):  # narrower than is told: its ends would look like one number
        return f"{number((low + high) / 2)} ± {number((high - low) / 2, 1)}"
    return f"{number(low)} to {number(high)}"


def measured(row: Mapping[str, Any]) -> str:
    """What was measured for a row of the ledger, with the ends of its 95 % interval.

    An interval need not lie evenly about its number (a share, a median). What has none says why.
    """
    value, low, high = row["measured"], row["interval_low"], row["interval_high"]
    if row["spread_kind"].startswith("none"):
        return f"{number(value, 4)}, computed"
    if math.isnan(low):
        return f"{number(value, 4)}, no interval"
    half = (high - low) / 2
    if _of_rounding(value, half):
        return f"{_small(value)} ({_small(low)} to {_small(high)})"
    if half < 1e-9 * max(1.0, abs(value)):
        return f"{number(value, 4)} in every replicate"
    decimals = min(6, max(0, 1 - math.floor(math.log10(half))))
    told = [f"{one:,.{decimals}f}".replace("-", "−") for one in (value, low, high)]
    return f"{told[0]} ({told[1]} to {told[2]})"


def brief(row: Mapping[str, Any]) -> str:
    """What was measured with half its interval, or alone: computed, or alike in every replicate."""
    value, half = row["measured"], row["spread"]
    alone = row["spread_kind"].startswith("none") or math.isnan(half)
    if _of_rounding(value, 0.0 if alone else half):
        return _small(value)
    if alone or half < 1e-9 * max(1.0, abs(value)):
        return number(value, 4)
    return plus_minus(value, half)


def _whether(verdict: str, clause: str) -> str:
    """What neither holds nor fails, from the clause that it would hold with."""
    word = "left open whether" if verdict == UNDECIDED else f"{verdict} whether"
    if _SENTENCE.match(clause):
        word, clause = word[:1].upper() + word[1:], clause[:1].lower() + clause[1:]
    return f"*{word}* {clause}"


def concluded(ledger: Ledger) -> dict[str, Callable[..., str]]:
    """The functions ``verdict`` and ``said`` of the texts; see the top of this module.

    A claim that is not in the ledger belongs to what the config left out: the texts say so. (That
    it exists at all is checked while the plan is made, see :mod:`featlearn.core.asked`.)
    """

    def linked(claim: str, row: Mapping[str, Any]) -> str:
        # a number leads to its claim, which tells of what it is
        return f"[{brief(row)}](#claim-{claim.replace('/', '-')})"

    def verdict(claim: str, /) -> str:
        if claim not in ledger:
            return "not part of this run"
        row = ledger[claim]
        word = row["verdict"] if row["verdict"] in (HOLDS, FAILS) else f"is {row['verdict']}"
        return f"**{word}** ({linked(claim, row)}; band {band(row)})"

    def said(claim: str, /, *, holds: str, fails: str, left: str = "") -> str:
        """``left`` is said where the verdict is another, or the claim no part of the run."""
        row = ledger.get(claim)
        if row is None:
            return left or f"*not part of this run:* {holds}"
        if row["verdict"] in (HOLDS, FAILS):
            text = holds if row["verdict"] == HOLDS else fails
        else:
            text = left or _whether(row["verdict"], holds)
        return f"{text} ({linked(claim, row)})"

    return {"verdict": verdict, "said": said}


def fill_in(text: str, source: str, value: Value, ledger: Ledger | None = None) -> str:
    """Put the numbers and verdicts that ``text`` asks for in their places.

    Raises
    ------
    FeatlearnError
        Naming the source and, if a number cannot be found, the filters.
    """
    environment = ImmutableSandboxedEnvironment(
        undefined=jinja2.StrictUndefined,
        autoescape=False,  # the outcome is Markdown, which is escaped when it becomes HTML
        finalize=lambda cell: number(cell) if isinstance(cell, float) else cell,
    )
    environment.filters = {"number": number, "percent": percent}
    environment.globals = {"value": value, **concluded(ledger or {})}
    try:
        return environment.from_string(text).render()
    except Exception as error:  # whatever a text may do wrong, its author must see where
        raise FeatlearnError(f"{source}: {error}") from error


def filled_page(
    text: str, source: str, value: Value, level: int, ledger: Ledger | None = None
) -> Page:
    """Markdown with its numbers, as HTML; see :func:`parse_page`.

    Parameters
    ----------
    source
        Whose text it is, for errors.
    value
        Answers ``{{ value(...) }}`` in the text; see :func:`reader`.
    ledger
        Answers ``verdict`` and ``said``.

    Raises
    ------
    FeatlearnError
        If the text does not begin with ``# Title``, or asks for a number that is not there.
    """
    return parse_page(fill_in(text, source, value, ledger), source, level)


def parse_page(text: str, source: str, level: int) -> Page:
    """Markdown as HTML.

    Parameters
    ----------
    level
        Of the heading below which the body will stand: its ``##`` become ``<h{level + 1}>``.
    """
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
    tokens = markdown.parse(text)
    if not tokens or tokens[0].type != "heading_open" or tokens[0].tag != "h1":
        raise FeatlearnError(f"{source}: expected `# Title` on the first line")
    title = "".join(part.content for part in tokens[1].children or [])
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, level - 1 + int(token.tag[1]))}"
    html = markdown.renderer.render(tokens[3:], markdown.options, {})
    # a table scrolls in its own box, which the keyboard must reach; raw text cannot hold a tag. A
    # group and no region: a page of two hundred has no use for two hundred landmarks
    label = f'<div class="scroll" role="group" tabindex="0" aria-label="{Markup.escape(title)}">'
    html = html.replace("<table>", f"{label}<table>").replace("</table>", "</table></div>")
    html = re.sub("<th[^>]*></th>", "<td></td>", html)  # a corner without words heads nothing
    return Page(title, Markup(html))
