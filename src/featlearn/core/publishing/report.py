"""The report of a run: one offline HTML file with claims, pictures, catalogue and costs.

Nothing is measured here: the page shows what lies in ``results/<run>/`` and what the provenance
records say about it. It loads nothing from elsewhere (pictures are ``data:`` URIs), and all that
comes out of a file is escaped. The same inputs give the same page, except for the costs of the
rules, which stand in one table. The report of a run that failed is the same page of what there is.
"""

from __future__ import annotations

import csv
import hashlib
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
from markupsafe import Markup

from featlearn.core.catalogue import STATUSES, catalogue_frame, read_catalogue
from featlearn.core.claims import COLUMNS, KINDS, VERDICTS
from featlearn.core.errors import FeatlearnError
from featlearn.core.experiments import ENDS
from featlearn.core.files import read_parquet, write_atomically
from featlearn.core.provenance import lineage
from featlearn.core.publishing.captions import fill_in, reader
from featlearn.core.publishing.findings import kind_of, of_run, sentence_of
from featlearn.core.publishing.html_assets import (
    Page,
    alt_text,
    environment,
    inline,
    parse_page,
    picture,
)
from featlearn.core.publishing.ledger import beside_published, read_ledger, records
from featlearn.core.publishing.summary import (
    anchor,
    answer,
    headlines,
    number_as_in,
    title,
    with_numbers,
)
from featlearn.core.run import FAILED, UNFINISHED

#: Shares of a claim's drawing that stay free at either side, for the labels of the band.
LEFT, RIGHT = 18.0, 82.0
#: The line ``---`` in a caption: the rest is shown on demand.
FOLD = "<hr />\n"

Record = Mapping[str, Any]
Row = Mapping[str, Any]
#: A figure or table as the templates show it.
Exhibit = dict[str, Any]


# --------------------------------------------------------------------------- provenance


def by_rule(found: Mapping[Path, Record]) -> dict[str, list[Record]]:
    """The records of each rule, rules in the order in which they appear."""
    rules: dict[str, list[Record]] = {}
    for record in found.values():
        rules.setdefault(str(record.get("rule")), []).append(record)
    return rules


def distinct(found: Iterable[Record], key: str) -> dict[str, list[str]]:
    """For each name below ``key``, the values that the records give: one, on one machine."""
    values: dict[str, dict[str, None]] = {}
    for record in found:
        for name, value in record.get(key, {}).items():
            values.setdefault(name, {})[str(value)] = None
    return {name: [*values[name]] for name in sorted(values)}


# --------------------------------------------------------------------------- parts of the page


class Bar(NamedTuple):
    """Where the marks of a claim's small drawing stand, in per cent of its width."""

    band: tuple[float, float]
    point: float
    interval: tuple[float, float] | None


def bar(low: float, high: float, measured: float, interval_low: float, interval_high: float) -> Bar:
    """Place a band, a measured value and its interval on one axis that shows all of them.

    A bound that is infinite lies at the edge of the drawing; an interval that is not a number (a
    single replicate) is not drawn.
    """
    interval = () if math.isnan(interval_low) else (interval_low, interval_high)
    shown = [v for v in (low, high, measured, *interval) if math.isfinite(v)]
    least, span = min(shown), max(shown) - min(shown)

    def place(value: float) -> float:
        if math.isinf(value):
            return 0.0 if value < 0 else 100.0
        share = (value - least) / span if span else 0.5
        return round(LEFT + (RIGHT - LEFT) * share, 2)

    ends = (place(interval[0]), place(interval[1])) if interval else None
    return Bar((place(low), place(high)), place(measured), ends)


class Unfinished(NamedTuple):
    """Files that a run did not make, of how many, and of each failed rule why, and its log.

    Files and logs are below ``results/<run>``.
    """

    missing: Sequence[str]
    wanted: int
    reasons: Mapping[str, tuple[str, str]]


def _answer(
    ledger: Sequence[Row], stories: Mapping[str, str], seed: int, published: Path | None
) -> list[str]:
    """Sentences on the ledger; where a small run shows published verdicts, on the published one."""
    small = any(row["in_small"] for row in ledger)
    rows: Sequence[Row] = ledger
    if published and small:
        papers = {row["paper"] for row in ledger}
        rows = [row for row in read_ledger(published) if row["paper"] in papers]
        seed = rows[0]["seed"]
    others = sorted({one["seed"] for row in rows for one in row.get("others", ())})
    sentences = answer(rows, stories, seed, *others)
    if small:
        same = sum(row["here"] == row["verdict"] for row in ledger)
        sentences.append(
            f"These are published verdicts. At the smaller sizes of this run {same} of its "
            f"{len(ledger)} claims have the same one; each claim shows both."
        )
    return sentences


def _finding(entry: Row, row: Row, pictures: Mapping[str, Exhibit]) -> dict[str, Any]:
    """A finding with its claim; its sentence has, of a small run, the number that is published."""
    text = sentence_of(entry, row)
    link = f"](#{anchor(row)})"
    linked = with_numbers(text, row["published"] or row, lambda number: f"[{number}{link}")
    return {
        "entry": entry,
        "kind": kind_of(entry, row),
        "sentence": inline(linked),
        "here": number_as_in(text, row),
        "row": row,
        "shown": pictures.get(entry.get("figure", "")),
    }


def render(
    *,
    claims: pd.DataFrame,
    catalogue: pd.DataFrame,
    pages: Sequence[Sequence[str]],
    stories: Mapping[str, str],
    results: Path,
    config: Mapping[str, Any],
    command: str,
    findings: Sequence[Mapping[str, Any]] = (),
    published: Path | None = None,
    unfinished: Unfinished | None = None,
) -> str:
    """The HTML of the report.

    ``claims``, ``catalogue``: ``claims.parquet`` and ``catalogue.parquet`` of the run. ``pages``:
    of each figure and table its kind, paper, name and caption (Markdown), in the order of the page.
    Its files are ``<results>/<paper>/figures/<name>.svg`` and
    ``<results>/<paper>/tables/<name>.parquet`` (``.md`` beside it). ``stories``: of each paper its
    story: Markdown. ``results``: ``results/<run>``. ``config``: the whole config of the run, with
    ``scale``, ``run`` and ``seed``. ``command``: what makes a file of this run when the file is
    added: ``snakemake --cores 2``. ``findings``: as
    :func:`featlearn.core.publishing.findings.read_findings` gives them; those of papers that are
    not in the run are left out, and of those whose claim is not in it the page says so.
    ``published``: the folder of the published run whose verdicts are shown, see
    :func:`featlearn.core.publishing.ledger.beside_published`. ``unfinished``: what is missing, for
    a run that failed; a text that asks for a missing number then says so. Raises FeatlearnError if
    a text has no title, or asks for a number that is not there.
    """
    files = {tuple(page[:3]): _files(results, *page) for page in pages}
    frames = {
        (paper, name): read_parquet(file)
        for (kind, paper, name), (file, _) in files.items()
        if kind == "table"
    }
    items = records(catalogue)
    ledger = beside_published(records(claims), config, published)
    row_of = {row["claim"]: row for row in ledger}
    # a caption says what this run saw, and nothing of a verdict that is withdrawn
    seen = {
        claim: row | {"verdict": row["here"]} if row["in_small"] and not row["withdrawn"] else row
        for claim, row in row_of.items()
    }
    item_of = {file: item for item in items for file in item["files"]}

    def page_of(text: str, source: str, paper: str, level: int) -> Page:
        """Caption or story with its numbers filled in."""
        try:
            return parse_page(fill_in(text, source, reader(frames, paper), seen), source, level)
        except FeatlearnError as error:
            if unfinished is None:
                raise
            return Page(source, Markup.escape(f"The text is not shown: {error}"))

    def exhibit(kind: str, paper: str, name: str, text: str) -> Exhibit:
        file, beside = files[kind, paper, name]
        below = [str(path.relative_to(results)) for path in (file, beside)]
        found = lineage(results, [file])
        sources = found.get(file, {}).get("inputs", {})
        page = page_of(text, f"{kind} {paper}/{name}", paper, 4)
        twin = image = size = table = None
        if kind == "figure":
            image, size = picture(file)
        else:
            numbers = parse_page(beside.read_text(encoding="utf-8"), str(beside), 4)
            table = numbers.body
            if ("figure", paper, name) in files:  # the caption they share is about the figure
                twin, page = f"figure-{paper}-{name}", Page(numbers.title, Markup())
        body, _, more = page.body.partition(FOLD)
        return {
            "key": f"{kind}-{paper}-{name}",
            "paper": paper,
            "page": Page(page.title, Markup(body)),
            "more": Markup(more),
            "files": below,
            "command": f"{command} {file}",
            "record": found.get(file),
            "records": found,
            "item": item_of.get(below[0]),
            "twin": twin,  # the figure behind which the numbers of a table stand
            "image": image,
            "size": size,
            "alt": alt_text(page),
            "claims": [row for row in ledger if str(results / row["artefact"]) in sources],
            "table": table,
        }

    gallery = [exhibit(*page) for page in pages]
    pictures = {
        f"{paper}/{name}": one
        for (kind, paper, name, _), one in zip(pages, gallery, strict=True)
        if kind == "figure"
    }
    entries, absent = of_run(findings, row_of)
    names = dict.fromkeys([*stories, *(one["paper"] for one in (*ledger, *gallery))])
    papers = []
    for name in names:
        rows = [row for row in ledger if row["paper"] == name]
        story = Page(name, Markup())
        if name in stories:
            story = page_of(stories[name], f"story of {name}", name, 2)
        papers.append({
            "name": name,
            "story": story,
            "claims": rows,
            "headlines": headlines(rows, [entry["claim"] for entry in entries]),
            "exhibits": [one for one in gallery if one["paper"] == name],
        })  # fmt: skip
    exhibits_of: dict[str, list[Exhibit]] = {}
    for one in gallery:
        for row in one["claims"]:
            exhibits_of.setdefault(row["claim"], []).append(one)
    made = (
        results / "claims.parquet",
        results / "catalogue.parquet",
        *(file for file, _ in files.values()),
    )
    found = lineage(results, made)
    templates = environment()
    templates.globals.update(bar=bar, by_rule=by_rule)
    return templates.get_template("report.html.j2").render(
        papers=papers,
        answer=_answer(ledger, stories, config["seed"], published),
        findings=[_finding(entry, row_of[entry["claim"]], pictures) for entry in entries],
        short={name: title(name, stories) for name in names},
        absent=absent,
        exhibits_of=exhibits_of,
        ledger=ledger,
        verdicts={name: sum(row["verdict"] == name for row in ledger) for name in VERDICTS},
        kinds=[kind for kind in KINDS if any(row["kind"] == kind for row in ledger)],
        items=items,
        statuses={name: sum(item["status"] == name for item in items) for name in STATUSES},
        key_of={file: shown["key"] for shown in gallery for file in shown["files"]},
        rules=by_rule(found),
        versions=distinct(found.values(), "versions"),
        machine=distinct(found.values(), "machine"),
        config=config,
        # ``results`` follows from the rest, and a config file may not state it
        config_file={key: part for key, part in config.items() if key != "results"},
        claims_file=made[0],
        packages=installed(),
        unfinished=unfinished,
    )


# --------------------------------------------------------------------------- a run that failed


def write_unfinished(
    *,
    results: str,
    wanted: Sequence[str],
    ledgers: Sequence[str],
    pages: Sequence[Sequence[str]],
    entries: str,
    killed: Mapping[str, str],
    command: str,
    **texts: Any,
) -> str:
    """Write ``<results>/unfinished.html``: all that a run made, what is missing, and why.

    ``wanted``: every artefact of the run. ``ledgers``: the parts of the ledger, one an experiment;
    those that are missing are left out. ``entries``: ``config/catalogue.yaml``. ``killed``: rules
    whose jobs ended without a word, and what is known of their end. ``results``, ``pages``,
    ``command``, ``**texts``: as :func:`render` takes them; exhibits that are missing are left out.
    Returns str: a line that says where it lies and how much is missing.
    """
    folder = Path(results)
    missing = [str(Path(name).relative_to(folder)) for name in wanted if not Path(name).is_file()]
    made = [read_parquet(name) for name in ledgers if Path(name).is_file()]
    page = render(
        claims=pd.concat(made, ignore_index=True) if made else pd.DataFrame(columns=list(COLUMNS)),
        catalogue=catalogue_frame(read_catalogue(Path(entries)), folder, command),
        pages=[page for page in pages if all(file.is_file() for file in _files(folder, *page))],
        results=folder,
        command=command,
        unfinished=Unfinished(missing, len(wanted), reasons(folder, killed)),
        **texts,
    )
    write_atomically(folder / UNFINISHED, page.encode())
    return (
        f"{len(missing)} of {len(wanted)} files are missing; {folder / UNFINISHED} shows what "
        "there is, and why"
    )


def reasons(results: Path, killed: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Why jobs failed: rule to its words and its log, as the logs of the run end.

    A job opens its log again, so the log of one that went well since holds no error.
    """
    found = {rule: (words, "") for rule, words in killed.items()}
    for log in sorted((results / "logs").rglob("*.log")):
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
        for line in reversed(lines):
            if line.startswith(FAILED):
                rule, _, words = line.removeprefix(FAILED).partition(": ")
                found[rule] = (words, str(log.relative_to(results)))
                break
    return found


def _files(results: Path, kind: str, paper: str, name: str, *_: str) -> list[Path]:
    return [results / paper / f"{kind}s" / f"{name}.{end}" for end in ENDS[kind]]


# --------------------------------------------------------------------------- what is installed

#: Words of a licence text that are shown where a package gives a whole text as its licence.
LONGEST = 60
UNKNOWN = "not told"


class Package(NamedTuple):
    """One installed package.

    ``digest``: SHA-256 over names and digests of its files, as 64 hexadecimal digits; empty if it
    lists none. Files that the installer writes do not count: whoever installs the same package has
    the same digest.
    """

    name: str
    version: str
    licence: str
    digest: str


def installed() -> list[Package]:
    """Every package that this Python finds, by name; the first of two of the same name counts."""
    found: dict[str, Package] = {}
    for one in distributions():
        name = one.metadata["Name"]
        if name:
            found.setdefault(name.lower(), Package(name, one.version, _licence(one), _digest(one)))
    return [found[name] for name in sorted(found)]


def _licence(one: Distribution) -> str:
    """As the package states it: an expression, else its classifiers, its words, its file."""
    headers = one.metadata
    if expression := headers.get_all("License-Expression"):
        return str(expression[0])
    words = [
        entry.rpartition(" :: ")[2]
        for entry in headers.get_all("Classifier") or ()
        if entry.startswith("License :: ")
    ]
    if words and words != ["OSI Approved"]:
        return ", ".join(dict.fromkeys(words))
    if text := " ".join(" ".join(headers.get_all("License") or ()).split()):
        return text if len(text) <= LONGEST else text[:LONGEST] + " ..."
    files = headers.get_all("License-File")
    return f"its file {files[0]}" if files else UNKNOWN


def _digest(one: Distribution) -> str:
    lines = sorted(_listed(one))
    return hashlib.sha256("\n".join(lines).encode()).hexdigest() if lines else ""


def _listed(one: Distribution) -> Iterator[str]:
    # RECORD has a row a file: name, digest, size. Distribution.files would take seconds
    for row in csv.reader((one.read_text("RECORD") or "").splitlines()):
        name, digest = row[0], row[1] if len(row) > 1 else ""
        made = name.startswith(("..", "/")) or name.endswith(".pyc") or ".dist-info/" in name
        if digest and not made:
            yield f"{name} {digest}"
