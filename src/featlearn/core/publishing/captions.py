"""Stories and captions: Markdown that quotes measured numbers instead of stating them.

They are docstrings (:mod:`featlearn.core.run.exhibits`); a line ``---`` folds what follows it.
``value(table, column="mean", **filters)`` reads a cell of the paper's ``tables/<table>.parquet``
(``"mrp/headline"``: of another paper); ``| percent(digits)`` and ``| number(digits)`` format it.
``verdict(id)`` gives verdict, number and band of a claim; ``said(id, holds=..., fails=...)`` the
sentence that the verdict calls for, with its number. So a text is true of any run.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import jinja2
import pandas as pd
from jinja2.sandbox import ImmutableSandboxedEnvironment

from featlearn.core.errors import FeatlearnError
from featlearn.core.evidence.claims import FAILS, HOLDS, OUTSIDE, UNDECIDED
from featlearn.core.evidence.stats import number, percent
from featlearn.core.publishing.summary import anchor, band, measured

#: Gives a number of a table: ``value("headline", model="supervised", quantity="captured")``.
Value = Callable[..., Any]
#: Rows of ``claims.parquet``, by their claim.
Ledger = Mapping[str, Mapping[str, Any]]

#: How a sentence begins, and no name such as MAE.
_SENTENCE = re.compile(r"[A-Z][a-z]+\b(?!-)")


def reader(tables: Mapping[tuple[str, str], pd.DataFrame], paper: str) -> Value:
    """The function ``value`` for the texts of ``paper``, from tables by paper and name."""

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


def _whether(verdict: str, clause: str) -> str:
    """What neither holds nor fails, from the clause that it would hold with."""
    words = {UNDECIDED: "left open whether", OUTSIDE: "left open, with a premise violated, whether"}
    word = words.get(verdict, f"{verdict} whether")
    if _SENTENCE.match(clause):
        word, clause = word[:1].upper() + word[1:], clause[:1].lower() + clause[1:]
    return f"*{word}* {clause}"


def concluded(ledger: Ledger) -> dict[str, Callable[..., str]]:
    """The functions ``verdict`` and ``said``; of a claim that is not in the ledger they say so."""

    def linked(row: Mapping[str, Any]) -> str:
        return f"[{measured(row)}](#{anchor(row)})"

    def verdict(claim: str, /) -> str:
        if claim not in ledger:
            return "not part of this run"
        row = ledger[claim]
        word = row["verdict"] if row["verdict"] in (HOLDS, FAILS) else f"is {row['verdict']}"
        return f"**{word}**, {linked(row)}, band {band(row)}"

    def said(claim: str, /, *, holds: str, fails: str, left: str = "") -> str:
        """``left`` is said where the verdict is another, or the claim no part of the run."""
        row = ledger.get(claim)
        if row is None:
            return left or f"*not part of this run:* {holds}"
        other = left or _whether(row["verdict"], holds)
        text = {HOLDS: holds, FAILS: fails}.get(row["verdict"], other)
        return f"{text}, {linked(row)}"

    return {"verdict": verdict, "said": said}


def fill_in(text: str, source: str, value: Value, ledger: Ledger | None = None) -> str:
    """Put what ``text`` asks for in its places; FeatlearnError naming the ``source``."""
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
