"""The one Jinja environment of report and pages."""

from __future__ import annotations

import base64
import hashlib
import math
from pathlib import Path
from typing import Any
from urllib.parse import quote

import jinja2
import yaml

from featlearn.core.claims import KINDS, THEOREM, VERDICTS
from featlearn.core.publishing import summary
from featlearn.core.publishing.html_assets import inline
from featlearn.core.publishing.maths import escaped, maths, plain
from featlearn.core.stats import figure, number

TEMPLATES = Path(__file__).with_name("templates")


def plain_yaml(value: Any) -> str:
    """A config as YAML, keys in order."""
    return yaml.safe_dump(value, sort_keys=True, allow_unicode=True, default_flow_style=False)


def script_hash(script: str) -> str:
    """What a content security policy calls an inline script that may run."""
    digest = hashlib.sha256(str(script).encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


def cell(text: str) -> str:
    """Markdown as it stands in a cell of a table."""
    return text.replace("|", "\\|")


def minutes(seconds: float) -> str:
    """Seconds as whole minutes, one at least."""
    return f"{max(1, seconds / 60):,.0f}"


def environment(*folders: Path) -> jinja2.Environment:
    """Templates of :data:`TEMPLATES`, after those of ``folders``: all but Markdown is escaped."""
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader([*folders, TEMPLATES]),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=lambda name: not (name or "").endswith(".md.j2"),
    )
    functions = (number, figure, maths, inline, cell, escaped, plain)
    made.filters.update({one.__name__: one for one in functions})
    made.filters.update(yaml=plain_yaml, hash=script_hash, link=quote)
    rows = (
        summary.anchor, summary.answer, summary.band, summary.cells, summary.count,
        summary.failures, summary.measured, summary.title, summary.verb, summary.verdict, minutes,
        math.isnan,
    )  # fmt: skip
    made.globals.update({one.__name__: one for one in rows})
    made.globals.update(verdicts=VERDICTS, kinds=KINDS, theorem=THEOREM)
    return made
