"""The report of a run: one offline HTML file with claims, pictures, catalogue and costs.

Nothing is measured here: the page shows what lies in ``results/<run>/`` and what the provenance
records say about it. It loads nothing from elsewhere (pictures are ``data:`` URIs), and all that
comes out of a file is escaped. The same inputs give the same page, except for the costs of the
rules, which stand in one table.
"""

from __future__ import annotations

import base64
import hashlib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

import jinja2
import pandas as pd
import yaml
from markupsafe import Markup

from featlearn.core.catalogue import STATUS_OF
from featlearn.core.claims import KINDS, VERDICTS
from featlearn.core.described import described
from featlearn.core.digest import answer, cells, headlines, title, verb
from featlearn.core.embedding import maths, picture
from featlearn.core.errors import FeatlearnError
from featlearn.core.experiments import ENDS
from featlearn.core.files import read_parquet
from featlearn.core.findings import kind_of, of_run, sentence_of
from featlearn.core.prose import Page, band, brief, figure, fill_in, filled_page, parse_page, reader
from featlearn.core.provenance import read_record
from featlearn.core.software import installed
from featlearn.core.stats import number

TEMPLATES = Path(__file__).with_name("templates")
STATUSES = tuple(dict.fromkeys(STATUS_OF.values()))
#: Shares of a claim's drawing that stay free at either side, for the labels of the band.
LEFT, RIGHT = 18.0, 82.0

Record = Mapping[str, Any]
Records = dict[Path, Record]


# --------------------------------------------------------------------------- words


def plain_yaml(value: Any) -> str:
    """A config as YAML, keys in order."""
    return yaml.safe_dump(value, sort_keys=True, allow_unicode=True, default_flow_style=False)


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


# --------------------------------------------------------------------------- parts of the page


@dataclass(frozen=True)
class Bar:
    """Where the marks of a claim's small drawing stand, in per cent of its width."""

    band: tuple[float, float]
    point: float
    interval: tuple[float, float] | None


def bar(low: float, high: float, measured: float, interval_low: float, interval_high: float) -> Bar:
    """Place a band, a measured value and its interval on one axis that shows all of them.

    A bound that is infinite lies at the edge of the drawing; an interval that is not a number (a
    single replicate) is not drawn.
    """
    interval = None if math.isnan(interval_low) else (interval_low, interval_high)
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
    """A figure or table; ``twin`` is the figure behind which its numbers stand."""

    key: str
    paper: str
    page: Page
    files: tuple[str, ...]
    command: str
    record: Record | None
    records: Records = field(repr=False)
    item: Mapping[str, Any] | None
    twin: str | None
    image: str | None = field(default=None, repr=False)
    size: tuple[int, int] | None = None
    #: what the image tells, in words
    alt: str = ""
    #: claims on the numbers that it shows
    claims: Sequence[Mapping[str, Any]] = ()
    table: Markup | None = field(default=None, repr=False)


@dataclass(frozen=True)
class Paper:
    """What the page says about one paper: its story, its claims, figures and tables."""

    name: str
    story: Page
    claims: Sequence[Mapping[str, Any]]
    headlines: Sequence[Mapping[str, Any]]
    exhibits: Sequence[Exhibit]


@dataclass(frozen=True)
class Finding:
    """A finding with the claim that it rests on; ``shown`` is its picture, where the run has it."""

    entry: Mapping[str, Any]
    kind: str
    sentence: Markup
    row: Mapping[str, Any]
    shown: Exhibit | None


@dataclass(frozen=True)
class Unfinished:
    """What a run that failed did not make.

    Attributes
    ----------
    missing
        Artefacts, below ``results/<run>``.
    wanted
        How many the run was to make.
    reasons
        Rule to why it failed and its log, below ``results/<run>``.
    """

    missing: Sequence[str]
    wanted: int
    reasons: Mapping[str, tuple[str, str]]


def typeset(page: Page) -> Page:
    """A page with its formulas set."""
    return Page(page.title, maths(page.body))


def _rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    return [{str(key): cell for key, cell in row.items()} for row in frame.to_dict("records")]


def _hash(script: str) -> str:
    """What a content security policy calls an inline script that may run."""
    digest = hashlib.sha256(str(script).encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


def render(
    *,
    claims: Path,
    catalogue: Path,
    pages: Sequence[Sequence[str]],
    stories: Mapping[str, str],
    results: Path,
    config: Mapping[str, Any],
    command: str,
    findings: Sequence[Mapping[str, Any]] = (),
    unfinished: Unfinished | None = None,
) -> str:
    """The HTML of the report.

    Parameters
    ----------
    claims, catalogue
        The two Parquet files of the run.
    pages
        Of each figure and table its kind, paper, name and caption (Markdown), in the order of the
        page. Its files are ``<results>/<paper>/figures/<name>.svg`` and
        ``<results>/<paper>/tables/<name>.parquet`` (``.md`` beside it).
    stories
        Of each paper its story: Markdown.
    results
        ``results/<run>``.
    config
        The whole config of the run, with ``scale``, ``run`` and ``seed``.
    command
        What makes a file of this run when the file is added: ``snakemake --cores 2``.
    findings
        As :func:`featlearn.core.findings.read_findings` gives them; those of papers that are not
        in the run are left out, and of those whose claim is not in it the page says so.
    unfinished
        What is missing, for a run that failed; a text that asks for a missing number then says so.

    Raises
    ------
    FeatlearnError
        If a text has no title, or asks for a number that is not there.
    """
    files = {
        (kind, paper, name): results / paper / f"{kind}s" / f"{name}.{ENDS[kind][0]}"
        for kind, paper, name, _ in pages
    }
    frames = {key[1:]: read_parquet(file) for key, file in files.items() if key[0] == "table"}
    ledger, items = _rows(read_parquet(claims)), _rows(read_parquet(catalogue))
    row_of = {row["claim"]: row for row in ledger}
    pictured = {key[1:] for key in files if key[0] == "figure"}
    item_of = {file: item for item in items for file in item["files"]}

    def page_of(text: str, source: str, paper: str, level: int) -> Page:
        try:
            return filled_page(text, source, reader(frames, paper), level, row_of)
        except FeatlearnError as error:
            if unfinished is None:
                raise
            return Page(source, Markup.escape(f"The text is not shown: {error}"))

    def exhibit(kind: str, paper: str, name: str, text: str) -> Exhibit:
        file = files[kind, paper, name]
        records = lineage(results, [file])
        drawn_from = records.get(file, {}).get("inputs", {})
        page = page_of(text, f"{kind} {paper}/{name}", paper, 4)
        beside = file.with_suffix(".png" if kind == "figure" else ".md")
        claims = [row for row in ledger if str(results / row["artefact"]) in drawn_from]
        twin = image = size = table = None
        if kind == "figure":
            image, size = picture(file)
        else:
            own = parse_page(beside.read_text(encoding="utf-8"), str(beside), 4)
            table = maths(own.body)
            if (paper, name) in pictured:  # the caption they share is about the figure
                twin, page = f"figure-{paper}-{name}", Page(own.title, Markup())
        below = [str(path.relative_to(results)) for path in (file, beside)]
        return Exhibit(
            key=f"{kind}-{paper}-{name}",
            paper=paper,
            page=typeset(page),
            files=tuple(below),
            command=f"{command} {file}",
            record=records.get(file),
            records=records,
            item=item_of.get(below[0]),
            twin=twin,
            image=image,
            size=size,
            alt=described(name, page, claims) if image else "",
            claims=claims,
            table=table,
        )

    gallery = [exhibit(*page) for page in pages]
    names = dict.fromkeys(
        [*stories, *(row["paper"] for row in ledger), *(e.paper for e in gallery)]
    )
    pictures = {
        f"{page[1]}/{page[2]}": one
        for page, one in zip(pages, gallery, strict=True)
        if page[0] == "figure"
    }
    own, absent = of_run(findings, row_of)
    told = [
        Finding(
            entry=one,
            kind=kind_of(one, row_of[one["claim"]]),
            sentence=maths(
                fill_in(
                    sentence_of(one, row_of[one["claim"]]),
                    f"finding {one['id']}",
                    reader(frames, one["claim"].partition("/")[0]),
                    row_of,
                )
            ),
            row=row_of[one["claim"]],
            shown=pictures.get(one.get("figure", "")),
        )
        for one in own
    ]
    papers = []
    for name in names:
        rows = [row for row in ledger if row["paper"] == name]
        story = (
            typeset(page_of(stories[name], f"story of {name}", name, 2))
            if name in stories
            else Page(name, Markup())
        )
        first = [one.entry["claim"] for one in told]
        shown = [one for one in gallery if one.paper == name]
        papers.append(Paper(name, story, rows, headlines(rows, first), shown))
    exhibits_of: dict[str, list[Exhibit]] = {}
    for one in gallery:
        for row in one.claims:
            exhibits_of.setdefault(row["claim"], []).append(one)
    records = lineage(results, [claims, catalogue, *files.values()])
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    for filter_name, act in {
        "number": number,
        "figure": figure,
        "yaml": plain_yaml,
        "hash": _hash,
        "link": quote,
        "maths": maths,
    }.items():
        environment.filters[filter_name] = act
    for function in (band, bar, brief, by_rule, cells, math.isnan, verb):
        environment.globals[function.__name__] = function
    return environment.get_template("report.html.j2").render(
        papers=papers,
        answer=answer(ledger, stories, config["seed"]),
        findings=told,
        short={paper.name: title(paper.name, stories) for paper in papers},
        absent=absent,
        gallery=gallery,
        exhibits_of=exhibits_of,
        ledger=ledger,
        verdicts={name: sum(row["verdict"] == name for row in ledger) for name in VERDICTS},
        kinds=[kind for kind in KINDS if any(row["kind"] == kind for row in ledger)],
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
        packages=installed(),
        unfinished=unfinished,
    )
