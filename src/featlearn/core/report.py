"""The report of a run: one offline HTML file with claims, pictures, catalogue and costs.

Nothing is measured here: the page shows what lies in ``results/<run>/`` and what the provenance
records say about it. It loads nothing from elsewhere (pictures are ``data:`` URIs), and all that
comes out of a file is escaped; Markdown is rendered with raw HTML and pictures switched off.

Stories and captions quote measured numbers instead of stating them::

    keeps {{ value("headline", model="supervised", quantity="captured") | percent }} of them

``value(table, column="mean", **filters)`` reads the cell of ``column`` in the one row of the
paper's ``tables/<table>.parquet`` that the filters choose (``"mrp/headline"`` names the table of
another paper). ``| percent(digits)`` and ``| number(digits)`` format it.
"""

from __future__ import annotations

import base64
import hashlib
import math
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

import jinja2
import pandas as pd
import yaml
from jinja2.sandbox import ImmutableSandboxedEnvironment
from markdown_it import MarkdownIt
from markupsafe import Markup

from featlearn.core.catalogue import STATUS_OF
from featlearn.core.claims import FAILS, HOLDS, NOT_SHOWN
from featlearn.core.errors import FeatlearnError
from featlearn.core.files import read_parquet
from featlearn.core.provenance import read_record

TEMPLATES = Path(__file__).with_name("templates")
VERDICTS = (HOLDS, FAILS, NOT_SHOWN)
STATUSES = tuple(dict.fromkeys(STATUS_OF.values()))
#: The scale that runs without ``--configfile``.
DEFAULT_SCALE = "desk"
#: Shares of a claim's drawing that stay free at either side, for the labels of the band.
LEFT, RIGHT = 18.0, 82.0

Record = Mapping[str, Any]
Records = dict[Path, Record]


# --------------------------------------------------------------------------- words and numbers


def number(value: float, digits: int = 3) -> str:
    """``value`` with so many significant digits, for people: no exponents below a million."""
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    text = f"{value:,.0f}" if 1000 <= abs(value) < 1e6 else f"{value:.{digits}g}"
    return text.replace("-", "−")


def percent(value: float, digits: int = 0) -> str:
    """A share as a percentage: 0.631 gives ``63 %``."""
    return f"{100 * value:.{digits}f} %".replace("-", "−")


def plain_yaml(value: Any) -> str:
    """A config as YAML, keys in order."""
    return yaml.safe_dump(value, sort_keys=True, allow_unicode=True, default_flow_style=False)


def command(target: Path, config: Mapping[str, Any]) -> str:
    """The line that makes ``target`` again in the run that ``config`` describes.

    A run with a name of its own needs its config as a file; the report shows that config. Options
    come last, for ``--configfile`` would take a target after it for one more file.
    """
    line = f"snakemake --cores 2 {shlex.quote(str(target))}"
    if config["run"] != config["scale"]:
        return f"{line} --configfile {shlex.quote(config['run'])}.yaml"
    if config["scale"] != DEFAULT_SCALE:
        return f"{line} --configfile config/scale/{config['scale']}.yaml"
    return line


# --------------------------------------------------------------------------- Markdown


@dataclass(frozen=True)
class Page:
    """A Markdown file: the text of its first heading, and the HTML of all that follows."""

    title: str
    body: Markup


#: Gives a number of a table: ``value("headline", model="supervised", quantity="captured")``.
Value = Callable[..., Any]


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


def fill_in(text: str, source: Path, value: Value) -> str:
    """Put the numbers that ``text`` asks for in their places.

    Raises
    ------
    FeatlearnError
        Naming the file and, if a number cannot be found, the filters.
    """
    environment = ImmutableSandboxedEnvironment(
        undefined=jinja2.StrictUndefined,
        autoescape=False,  # the outcome is Markdown, which is escaped when it becomes HTML
        finalize=lambda cell: number(cell) if isinstance(cell, float) else cell,
    )
    environment.filters = {"number": number, "percent": percent}
    environment.globals = {"value": value}
    try:
        return environment.from_string(text).render()
    except (FeatlearnError, jinja2.TemplateError, ArithmeticError, TypeError, ValueError) as error:
        raise FeatlearnError(f"{source}: {error}") from error


def read_page(source: Path, value: Value, level: int) -> Page:
    """A Markdown file as HTML.

    Parameters
    ----------
    value
        Answers ``{{ value(...) }}`` in the text; see :func:`reader`.
    level
        Of the heading below which the body will stand: its ``##`` become ``<h{level + 1}>``.

    Raises
    ------
    FeatlearnError
        If the file does not begin with ``# Title``, or asks for a number that is not there.
    """
    text = fill_in(source.read_text(encoding="utf-8"), source, value)
    return parse_page(text, source, level)


def parse_page(text: str, source: Path, level: int) -> Page:
    """Markdown as HTML; see :func:`read_page`."""
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
    tokens = markdown.parse(text)
    if not tokens or tokens[0].type != "heading_open" or tokens[0].tag != "h1":
        raise FeatlearnError(f"{source}: expected `# Title` on the first line")
    title = "".join(part.content for part in tokens[1].children or [])
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, level - 1 + int(token.tag[1]))}"
    html = markdown.renderer.render(tokens[3:], markdown.options, {})
    # a table scrolls in its own box, which the keyboard must reach; raw text cannot hold a tag
    label = f'<div class="scroll" role="region" tabindex="0" aria-label="{Markup.escape(title)}">'
    html = html.replace("<table>", f"{label}<table>").replace("</table>", "</table></div>")
    return Page(title, Markup(html))


# --------------------------------------------------------------------------- provenance


def lineage(results: Path, artefacts: Iterable[Path]) -> Records:
    """Records of ``artefacts`` and of all that they were made from, makers first.

    Only this chain is shown, and not every record of the folder: what an earlier run or a later
    rule left there does not change the page.
    """
    found: Records = {}
    seen: set[Path] = set()

    def visit(artefact: Path) -> None:
        if artefact in seen or not artefact.is_relative_to(results):
            return
        seen.add(artefact)
        record = read_record(results, artefact)
        if record is not None:
            for source in sorted(record.get("inputs", {})):
                visit(Path(source))
            found[artefact] = record

    for artefact in artefacts:
        visit(artefact)
    return found


def by_rule(records: Records) -> dict[str, list[Record]]:
    """The records of each rule, rules in the order in which they appear."""
    rules: dict[str, list[Record]] = {}
    for record in records.values():
        rules.setdefault(str(record.get("rule")), []).append(record)
    return rules


def distinct(records: Iterable[Record], *keys: str) -> dict[str, list[str]]:
    """For each name below ``keys``, the values that the records give: one, on one machine."""
    found: dict[str, list[str]] = {}
    for record in records:
        inner: Any = record
        for key in keys:
            inner = inner.get(key, {})
        for name, value in inner.items():
            if str(value) not in found.setdefault(name, []):
                found[name].append(str(value))
    return {name: found[name] for name in sorted(found)}


def configs(records: Records) -> list[tuple[str, str]]:
    """The different configs of the rules, as (names of the rules, YAML)."""
    users: dict[str, list[str]] = {}
    for rule, made in by_rule(records).items():
        for record in made:
            if record.get("config"):
                rules = users.setdefault(plain_yaml(record["config"]), [])
                rules += [] if rule in rules else [rule]
    return [(", ".join(rules), text) for text, rules in users.items()]


# --------------------------------------------------------------------------- parts of the page


@dataclass(frozen=True)
class Bar:
    """Where the marks of a claim's small drawing stand, in per cent of its width."""

    band: tuple[float, float]
    point: float
    interval: tuple[float, float] | None


def bar(low: float, high: float, measured: float, spread: float) -> Bar:
    """Place a band, a measured value and its interval on one axis that shows all of them.

    A bound that is infinite lies at the edge of the drawing; a spread that is not a number (a
    single replicate) gives no interval.
    """
    interval = None if math.isnan(spread) else (measured - spread, measured + spread)
    shown = [v for v in (low, high, measured, *(interval or ())) if math.isfinite(v)]
    least, span = min(shown), max(shown) - min(shown)

    def place(value: float) -> float:
        if math.isinf(value):
            return 0.0 if value < 0 else 100.0
        share = (value - least) / span if span else 0.5
        return round(LEFT + (RIGHT - LEFT) * share, 2)

    ends = (place(interval[0]), place(interval[1])) if interval else None
    return Bar((place(low), place(high)), place(measured), ends)


@dataclass(frozen=True)
class Exhibit:
    """A figure or table of the gallery."""

    key: str
    paper: str
    page: Page
    files: tuple[str, ...]
    command: str
    record: Record | None
    records: Records = field(repr=False)
    item: Mapping[str, Any] | None
    image: str | None = field(default=None, repr=False)
    table: Markup | None = field(default=None, repr=False)


@dataclass(frozen=True)
class Paper:
    """What the page says about one paper: its story, its claims and its first figure."""

    name: str
    story: Page
    claims: Sequence[Mapping[str, Any]]
    lead: Exhibit | None


def _owner(path: Path) -> str:
    """``mrp`` of ``.../mrp/figures/fig-2.svg``."""
    return path.parent.parent.name


def _rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    return [{str(key): cell for key, cell in row.items()} for row in frame.to_dict("records")]


def _hash(script: str) -> str:
    """What a content security policy calls an inline script that may run."""
    digest = hashlib.sha256(str(script).encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


def _link(path: str) -> str:
    return quote(path)


def render(
    *,
    claims: Path,
    catalogue: Path,
    figures: Sequence[Path],
    tables: Sequence[Path],
    captions: Sequence[Path],
    stories: Sequence[Path],
    results: Path,
    config: Mapping[str, Any],
) -> str:
    """The HTML of the report.

    Parameters
    ----------
    claims, catalogue
        The two Parquet files of the run.
    figures, tables
        ``<results>/<paper>/figures/<name>.svg`` and ``<results>/<paper>/tables/<name>.parquet``
        (its ``.md`` beside it), in the order of the gallery.
    captions, stories
        Markdown: ``<paper>/<name>.md`` for each figure and table, ``<paper>/story.md``.
    results
        ``results/<run>``.
    config
        The whole config of the run, with ``scale``, ``run`` and ``seed``.

    Raises
    ------
    FeatlearnError
        If a caption is missing, has no title, or asks for a number that is not there.
    """
    frames = {(_owner(file), file.stem): read_parquet(file) for file in tables}
    caption_of = {(file.parent.name, file.stem): file for file in captions}
    ledger, items = _rows(read_parquet(claims)), _rows(read_parquet(catalogue))
    item_of = {file: item for item in items for file in item["files"]}

    def exhibit(file: Path, kind: str) -> Exhibit:
        paper, name, records = _owner(file), file.stem, lineage(results, [file])
        if (paper, name) not in caption_of:
            raise FeatlearnError(f"{file}: no caption; expected a file {paper}/{name}.md")
        beside = file.with_suffix(".png" if kind == "figure" else ".md")
        below = [str(path.relative_to(results)) for path in (file, beside)]
        shown: dict[str, Any] = {}
        if kind == "figure":
            content = base64.b64encode(file.read_bytes()).decode()
            shown["image"] = f"data:image/svg+xml;base64,{content}"
        else:
            shown["table"] = parse_page(beside.read_text(encoding="utf-8"), beside, 4).body
        return Exhibit(
            key=f"{kind}-{paper}-{name}",
            paper=paper,
            page=read_page(caption_of[paper, name], reader(frames, paper), 4),
            files=tuple(below),
            command=command(file, config),
            record=records.get(file),
            records=records,
            item=item_of.get(below[0]),
            **shown,
        )

    gallery = [*(exhibit(file, "figure") for file in figures), *(exhibit(file, "table") for file in tables)]
    story_of = {file.parent.name: file for file in stories}
    names = dict.fromkeys([*story_of, *(row["paper"] for row in ledger), *(e.paper for e in gallery)])
    papers = [
        Paper(
            name=name,
            story=read_page(story_of[name], reader(frames, name), 2)
            if name in story_of
            else Page(name, Markup()),
            claims=[row for row in ledger if row["paper"] == name],
            lead=next((e for e in gallery if e.paper == name and e.image), None),
        )
        for name in names
    ]
    records = lineage(results, [claims, catalogue, *figures, *tables])
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"number": number, "yaml": plain_yaml, "hash": _hash, "link": _link}
    environment.globals |= {"bar": bar, "by_rule": by_rule, "configs": configs, "isnan": math.isnan}
    return environment.get_template("report.html.j2").render(
        papers=papers,
        gallery=gallery,
        ledger=ledger,
        verdicts={name: sum(row["verdict"] == name for row in ledger) for name in VERDICTS},
        items=items,
        statuses={name: sum(item["status"] == name for item in items) for name in STATUSES},
        key_of={file: shown.key for shown in gallery for file in shown.files},
        rules=by_rule(records),
        versions=distinct(records.values(), "versions"),
        machine=distinct(records.values(), "machine"),
        config=config,
        # ``results`` follows from the rest, and a config file may not state it
        config_file={key: part for key, part in config.items() if key != "results"},
        claims_file=claims,
    )
