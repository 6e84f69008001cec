"""What a published run found, as a reader sees it who has a browser and no Python.

A page beside the run, and a part of the README with a picture a paper; both are written from the
published ledger and the findings, so that nobody types a number.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jinja2

from featlearn.core.claims import VERDICTS
from featlearn.core.digest import answer, count
from featlearn.core.errors import FeatlearnError
from featlearn.core.files import read_parquet, write_atomically
from featlearn.core.findings import of_run, read_findings, sentence_of
from featlearn.core.prose import band, fill_in, reader
from featlearn.core.stats import plus_minus

#: In the folder of a published run.
PAGE = "README.md"
#: The published run that the README of the repository tells of, and the lines that it does between.
FRONT = "desk"
OPENS, CLOSES = "<!-- found: written by `make publish` -->", "<!-- end of what was found -->"
#: Pictures in the README, and in a row of it.
PICTURES, ABREAST = 12, 3

Row = dict[str, Any]


def page(folder: Path, name: str, findings: Path) -> str:
    """Counts by paper, then each finding with its number and its picture.

    Parameters
    ----------
    folder
        A published run, or one that is being made.
    name
        Of the run.
    findings
        ``config/findings.yaml``.
    """
    ledger, told = _told(folder, findings)
    papers = [*dict.fromkeys(row["paper"] for row in ledger)]
    own = {paper: [row for row in ledger if row["paper"] == paper] for paper in papers}
    return _render("published.md.j2", name=name, own=own, ledger=ledger, told=told) + "\n"


def front(folder: Path, base: str, findings: Path) -> str:
    """The first picture of each paper, then those ranked next, in the order of the findings.

    Parameters
    ----------
    folder
        A published run.
    base
        The same folder as the README links to it.
    """
    ledger, told = _told(folder, findings)
    shown = [one for one in told if one["picture"]]
    first = {one["row"]["paper"]: one["id"] for one in reversed(shown)}.values()
    chosen = sorted(shown, key=lambda one: one["id"] not in first)[:PICTURES]
    chosen = [one for one in shown if one in chosen]
    rows = [chosen[start : start + ABREAST] for start in range(0, len(chosen), ABREAST)]
    return _render("front.md.j2", base=base, rows=rows, ledger=ledger, abreast=ABREAST)


def put_in_front(readme: Path, text: str) -> None:
    """Replace what stands between the two lines of a page.

    Raises
    ------
    FeatlearnError
        If it does not hold them.
    """
    before, opens, rest = readme.read_text(encoding="utf-8").partition(OPENS)
    _, closes, after = rest.partition(CLOSES)
    if not closes:
        raise FeatlearnError(f"{readme}: expected the lines {OPENS} and {CLOSES}")
    write_atomically(readme, f"{before}{opens}\n{text}\n{closes}{after}".encode())


def _told(folder: Path, findings: Path) -> tuple[list[Row], list[Row]]:
    """The ledger of a published run, and its findings with sentence, row and picture (or none)."""
    ledger: list[Row] = [
        {str(key): value for key, value in row.items()}
        for row in read_parquet(folder / "claims.parquet").to_dict("records")
    ]
    rows = {row["claim"]: row for row in ledger}
    told = []
    for entry in of_run(read_findings(findings), rows)[0]:
        row = rows[entry["claim"]]
        source = f"finding {entry['id']}, shown without tables"
        sentence = fill_in(sentence_of(entry, row), source, reader({}, row["paper"]), rows)
        paper, _, name = entry.get("figure", "").partition("/")
        picture = f"{paper}/figures/{name}.webp"
        made = (folder / picture).is_file()
        told.append({**entry, "row": row, "sentence": sentence, "picture": picture if made else ""})
    return ledger, told


def _cell(text: str) -> str:
    """Text that stays in its cell of a Markdown table."""
    return text.replace("|", "\\|")


def _render(template: str, **told: Any) -> str:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("featlearn.core"),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,  # Markdown
    )
    environment.filters["cell"] = _cell
    for one in (answer, band, count, plus_minus):
        environment.globals[one.__name__] = one
    return environment.get_template(template).render(verdicts=VERDICTS, **told)
