"""The report of a run: an index and a page a paper, and all of it as one offline HTML file.

The pages show what lies in ``results/<run>/`` and what the provenance records say about it. They
load nothing from elsewhere, and all that comes out of a file is escaped. One view and one set of
templates make both forms: the file embeds its pictures, the pages show those of the run. The same
inputs give the same pages, except for the costs of the rules. A run that failed has the one file.
"""

from __future__ import annotations

import csv
import hashlib
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import pandas as pd
from markupsafe import Markup

from featlearn.core.errors import FeatlearnError
from featlearn.core.evidence.catalogue import STATUSES, catalogue_frame, read_catalogue
from featlearn.core.evidence.claims import COLUMNS, KINDS, VERDICTS
from featlearn.core.files import read_parquet, write_atomically
from featlearn.core.publishing import summary
from featlearn.core.publishing.captions import fill_in, reader
from featlearn.core.publishing.findings import kind_of, of_run, sentence_of
from featlearn.core.publishing.html_assets import (
    Page,
    alt_text,
    environment,
    inline,
    lighter,
    parse_page,
    picture,
)
from featlearn.core.publishing.ledger import (
    beside_published,
    distinct,
    grouped,
    read_ledger,
    records,
)
from featlearn.core.run.provenance import lineage
from featlearn.core.run.registry import ENDS
from featlearn.core.run.workspace import FAILED, UNFINISHED

#: Shares of a claim's drawing that stay free at either side, for the labels of the band.
LEFT, RIGHT = 18.0, 82.0
#: The line ``---`` in a caption: the rest is shown on demand.
FOLD = "<hr />\n"
#: Names of the two forms: the one file and, in the folder beside it, the index.
WHOLE, INDEX = "", "index"
#: The number that a paper gives a figure or table, after the letter of an appendix.
_LABEL = re.compile(r"(Figure|Table) (?:([A-Z])\.)?(\d+)(?:\.(\d+))?")

Row = Mapping[str, Any]
#: A figure or table as the templates show it.
Exhibit = dict[str, Any]


def by_rule(found: Mapping[Path, Row]) -> dict[str, list[Row]]:
    """The records of each rule, rules in the order in which they appear."""
    return grouped((str(record.get("rule")), record) for record in found.values())


def bar(
    low: float, high: float, measured: float, interval_low: float, interval_high: float
) -> tuple[tuple[float, float], float, tuple[float, float] | None]:
    """Places of band, value and interval, if any, in per cent; infinite ends are at the edge."""
    interval = () if math.isnan(interval_low) else (interval_low, interval_high)
    shown = [v for v in (low, high, measured, *interval) if math.isfinite(v)]
    least, span = min(shown), max(shown) - min(shown)

    def place(value: float) -> float:
        if math.isinf(value):
            return 0.0 if value < 0 else 100.0
        share = (value - least) / span if span else 0.5
        return round(LEFT + (RIGHT - LEFT) * share, 2)

    ends = (place(interval[0]), place(interval[1])) if interval else None
    return (place(low), place(high)), place(measured), ends


class Unfinished(NamedTuple):
    """Files that a run did not make, of how many; of each failed rule why, and its log."""

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
    sentences = summary.answer(rows, stories, seed, *others)
    if small:
        same = sum(row["here"] == row["verdict"] for row in ledger)
        sentences.append(
            f"These are published verdicts. At the smaller sizes of this run {same} of its "
            f"{len(ledger)} claims have the same one; each claim shows both."
        )
    return sentences


def _finding(entry: Row, row: Row, pictures: Mapping[str, Exhibit], place: Place) -> dict[str, Any]:
    """A finding with its claim; its sentence has, of a small run, the number that is published."""
    text = sentence_of(entry, row)
    link = f"]({place.to(summary.anchor(row))})"
    quoted = row["published"] if row["in_small"] else row
    linked = summary.with_numbers(text, quoted, lambda number: f"[{number}{link}")
    return {
        "entry": entry,
        "kind": kind_of(entry, row),
        "sentence": inline(linked),
        "here": summary.number_as_in(text, row),
        "row": row,
        "shown": pictures.get(entry.get("figure", "")),
    }


@dataclass(frozen=True)
class Place:
    """A page of the report; ``homes``: of an anchor the paper whose page has it, else the index."""

    page: str
    homes: Mapping[str, str]
    results: Path

    def to(self, name: str) -> str:
        """The address of an anchor, seen from this page."""
        home = self.homes.get(name, INDEX)
        if self.page in (WHOLE, home):
            return f"#{name}"
        return f"{home}.html" + f"#{name}" * (name != f"paper-{home}")

    def file(self, name: str) -> str:
        """The address of a file below the results."""
        return ("../" if self.page else "") + quote(name)

    def image(self, svg: Path) -> tuple[str, tuple[int, int] | None]:
        """Address and size of a picture: itself in the one file, a file of the run elsewhere."""
        if not self.page:
            return picture(svg)
        shown, size = lighter(svg)
        return self.file(str(shown.relative_to(self.results))), size


def in_order(shown: Sequence[Exhibit], first: str) -> tuple[list[Exhibit], list[Exhibit]]:
    """Exhibits of a paper, ``first`` leading, by printed numbers; and those of its appendix."""

    def rank(one: Exhibit) -> tuple[Any, ...]:
        match = _LABEL.match(one["item"]["label"]) if one["item"] else None
        if one["key"] == first:
            return (0,)
        if match is None:
            return (2,)
        kind, letter, *numbers = match.groups()
        return (3 if letter else 1, letter or "", kind, *(int(number or 0) for number in numbers))

    ordered = sorted(shown, key=rank)
    cut = sum(rank(one)[0] < 3 for one in ordered)
    return ordered[:cut], ordered[cut:]


def view(
    *, claims: pd.DataFrame, catalogue: pd.DataFrame, pages: Sequence[Sequence[str]],
    stories: Mapping[str, str], results: Path, config: Mapping[str, Any], command: str,
    findings: Sequence[Mapping[str, Any]] = (), published: Path | None = None,
    unfinished: Unfinished | None = None,
) -> dict[str, Any]:  # fmt: skip
    """What the pages of a report show, read once: names of its templates.

    ``claims``, ``catalogue``: the Parquet files of these names. ``pages``: kind, paper, name and
    caption (Markdown) of exhibits. ``results``: ``results/<run>``. ``config``: all of the run's.
    ``command``: what makes a file that is added to it. ``published``: folder of the published run.
    ``unfinished``: of a run that failed, where a text that asks for a missing number says so; else
    FeatlearnError.
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
    made = (results / "claims.parquet", results / "catalogue.parquet")
    found = lineage(results, [*made, *(file for file, _ in files.values())])

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
        record = found.get(file)
        sources = (record or {}).get("inputs", {})
        page = page_of(text, f"{kind} {paper}/{name}", paper, 4)
        twin = ("figure", paper, name)
        table: Markup | None = None
        if kind == "table":
            numbers = parse_page(beside.read_text(encoding="utf-8"), str(beside), 4)
            table = numbers.body
            if twin in files:  # the caption they share is about the figure
                page = Page(numbers.title, Markup())
        below = [str(path.relative_to(results)) for path in (file, beside)]
        body, _, more = page.body.partition(FOLD)
        return {
            "key": f"{kind}-{paper}-{name}",
            "paper": paper,
            "page": Page(page.title, Markup(body)),
            "more": Markup(more),
            "files": below,
            "record": record,
            "item": item_of.get(below[0]),
            "svg": file if kind == "figure" else None,
            "alt": alt_text(page),
            "claims": [row for row in ledger if str(results / row["artefact"]) in sources],
            "table": table,
            "numbers": None,  # of a figure the table of its name
        }

    gallery = {(kind, paper, name): exhibit(kind, paper, name, text)
               for kind, paper, name, text in pages}  # fmt: skip
    shown = []
    for (kind, paper, name), one in gallery.items():
        if kind == "table" and (figure := gallery.get(("figure", paper, name))):
            figure["numbers"] = one
        else:
            shown.append(one)
    pictures = {f"{key[1]}/{key[2]}": one for key, one in gallery.items() if key[0] == "figure"}
    entries, absent = of_run(findings, row_of)
    names = dict.fromkeys([*stories, *(one["paper"] for one in (*ledger, *shown))])
    papers = []
    for name in names:
        rows = [row for row in ledger if row["paper"] == name]
        story = Page(name, Markup())
        if name in stories:
            story = page_of(stories[name], f"story of {name}", name, 2)
        own = [one for one in shown if one["paper"] == name]
        leads = [
            pictures[figure]["key"]
            for entry in entries
            if (figure := entry.get("figure", "")) in pictures and figure.startswith(f"{name}/")
        ]
        main, appendix = in_order(own, next(iter(leads), own[0]["key"] if own else ""))
        by_maker = grouped((one["record"]["rule"], one) for one in own if one["record"])
        papers.append({
            "name": name,
            "story": story,
            "claims": rows,
            "headlines": summary.headlines(rows, [entry["claim"] for entry in entries]),
            "exhibits": main,
            "appendix": appendix,
            "made": [
                {
                    "rule": rule,
                    "shown": group,
                    "command": f"{command} {results / group[0]['files'][0]}",
                    "rules": by_rule(lineage(results, [results / group[0]["files"][0]])),
                }
                for rule, group in by_maker.items()
            ],
        })  # fmt: skip
    return {
        "results": results,
        "papers": papers,
        "findings": [(entry, row_of[entry["claim"]]) for entry in entries],
        "pictures": pictures,
        "answer": _answer(ledger, stories, config["seed"], published),
        "short": {name: summary.title(name, stories) for name in names},
        "absent": absent,
        "exhibits_of": grouped((row["claim"], one) for one in shown for row in one["claims"]),
        "ledger": ledger,
        "verdicts": {name: sum(row["verdict"] == name for row in ledger) for name in VERDICTS},
        "kinds": [kind for kind in KINDS if any(row["kind"] == kind for row in ledger)],
        "items": items,
        "statuses": {name: sum(item["status"] == name for item in items) for name in STATUSES},
        "key_of": {file: one["key"] for one in gallery.values() for file in one["files"]},
        "rules": by_rule(found),
        "versions": distinct(found.values(), "versions"),
        "machine": distinct(found.values(), "machine"),
        "config": config,
        # ``results`` follows from the rest, and a config file may not state it
        "config_file": {key: part for key, part in config.items() if key != "results"},
        "claims_file": made[0],
        "packages": installed(),
        "unfinished": unfinished,
    }


def render(shown: Mapping[str, Any], page: str = WHOLE) -> str:
    """The HTML of a page: of the one file, of the index, or of a paper by its name."""
    papers = shown["papers"]
    homes = {f"paper-{paper['name']}": paper["name"] for paper in papers}
    for paper in papers:
        exhibits = [*paper["exhibits"], *paper["appendix"]]
        tables = [one["numbers"] for one in exhibits if one["numbers"]]
        anchors = [one["key"] for one in (*exhibits, *tables)]
        anchors += [summary.anchor(row) for row in paper["claims"]]
        homes |= dict.fromkeys(anchors, paper["name"])
    place = Place(page, homes, shown["results"])
    templates = environment()
    templates.globals.update(bar=bar, to=place.to, address=place.file, image=place.image)
    whole = page in (WHOLE, INDEX)
    found = [
        _finding(entry, row, shown["pictures"], place) for entry, row in shown["findings"] if whole
    ]
    here = [paper for paper in papers if whole or paper["name"] == page]
    view = {**shown, "page": page, "all_papers": papers, "papers": here, "findings": found}
    return templates.get_template("report.html.j2").render(view)


def write_unfinished(
    *, results: str, wanted: Sequence[str], ledgers: Sequence[str], pages: Sequence[Sequence[str]],
    entries: str, killed: Mapping[str, str], command: str, **texts: Any,
) -> str:  # fmt: skip
    """Write ``unfinished.html``: what a run made, what is missing and why; a line that says so."""
    folder = Path(results)
    missing = [str(Path(name).relative_to(folder)) for name in wanted if not Path(name).is_file()]
    made = [read_parquet(name) for name in ledgers if Path(name).is_file()]
    shown = view(
        claims=pd.concat(made, ignore_index=True) if made else pd.DataFrame(columns=list(COLUMNS)),
        catalogue=catalogue_frame(read_catalogue(Path(entries)), folder, command),
        pages=[page for page in pages if all(file.is_file() for file in _files(folder, *page))],
        results=folder,
        command=command,
        unfinished=Unfinished(missing, len(wanted), reasons(folder, killed)),
        **texts,
    )
    write_atomically(folder / UNFINISHED, render(shown).encode())
    return (
        f"{len(missing)} of {len(wanted)} files are missing; {folder / UNFINISHED} shows what "
        "there is, and why"
    )


def reasons(results: Path, killed: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Why jobs failed: rule to its words and its log; a job that goes well writes its log again."""
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


#: Letters of a licence that are shown where a package gives a whole text.
LONGEST = 60


class Package(NamedTuple):
    """One installed package; ``digest``: SHA-256 of names and digests of its files."""

    name: str
    version: str
    licence: str
    digest: str


def installed() -> list[Package]:
    """Every package that this Python finds, by name; the first of two of the same name counts."""
    found: dict[str, Package] = {}
    for one in distributions():
        if name := one.metadata["Name"]:
            found.setdefault(name.lower(), Package(name, one.version, _licence(one), _digest(one)))
    return [found[name] for name in sorted(found)]


def _licence(one: Distribution) -> str:
    """As the package states it: an expression, else its classifiers, its words, its file."""
    told = {
        key: one.metadata.get_all(f"License{key}") or [] for key in ("-Expression", "", "-File")
    }
    if told["-Expression"]:
        return str(told["-Expression"][0])
    classes = (entry.split(" :: ") for entry in one.metadata.get_all("Classifier") or ())
    words = [parts[-1] for parts in classes if parts[0] == "License"]
    if words and words != ["OSI Approved"]:
        return ", ".join(dict.fromkeys(words))
    if text := " ".join(" ".join(told[""]).split()):
        return text if len(text) <= LONGEST else text[:LONGEST] + " ..."
    return f"its file {told['-File'][0]}" if told["-File"] else "not told"


def _digest(one: Distribution) -> str:
    # RECORD has a row a file: name, digest, size. Distribution.files would take seconds
    rows = filter(None, csv.reader((one.read_text("RECORD") or "").splitlines()))
    lines = sorted(
        f"{name} {digest}"
        for name, digest, *_ in rows
        if digest and not name.startswith(("..", "/")) and not name.endswith(".pyc")
        if ".dist-info/" not in name
    )
    return hashlib.sha256("\n".join(lines).encode()).hexdigest() if lines else ""
