"""What a published run found, as a reader sees it who has a browser and no Python.

A page beside the run, one of all claims of each paper, and a part of the README; all are written
from the published ledger, catalogue and provenance and the findings, so that nobody types a number.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import jinja2
import yaml

from featlearn.core.claims import FAILS, HOLDS, THEOREM, VERDICTS
from featlearn.core.digest import answer, count, title, verb
from featlearn.core.errors import FeatlearnError
from featlearn.core.files import read_parquet, write_atomically
from featlearn.core.findings import of_run, read_findings, sentence_of
from featlearn.core.prose import band, fill_in, measured, reader
from featlearn.core.publish import PACKAGE, story
from featlearn.core.symbols import signs, tagged
from featlearn.core.two_runs import made_alike, of_seeds

#: In the folder of a published run: its page, and below each paper's folder that of its claims.
PAGE, CLAIMS = "README.md", "claims.md"
#: In the repository: which sections of the config raw numbers follow from.
READS = "config/reads.yaml"
#: What a published run was made of and by.
SUMMARY = "provenance.json"
#: The published run that the README of the repository tells of, and the lines that it does between.
FRONT = "desk"
OPENS, CLOSES = "<!-- found: written by `make publish` -->", "<!-- end of what was found -->"
#: Pictures in the README, and in a row of it.
PICTURES, ABREAST = 12, 3
#: What Markdown would take for its own; formulas between signs of dollar stay.
_MARKS, _FORMULA = re.compile(r"([\\`*_\[\]|~])"), re.compile(r"(\$[^$]+\$)")
_TARGET = re.compile(r"(\]\([^)]*\))")

Row = dict[str, Any]


def pages(folder: Path, name: str, findings: Path) -> dict[str, str]:
    """All pages of a published run: file below its folder to text.

    Parameters
    ----------
    folder
        A published run, or one that is being made.
    name
        Of the run.
    findings
        ``config/findings.yaml``.
    """
    told = _told(folder, findings)
    found = {PAGE: _render("published.md.j2", name=name, **told) + "\n"}
    for paper, rows in told["own"].items():
        text = _render("claims.md.j2", name=name, paper=paper, rows=rows, stories=told["stories"])
        found[f"{paper}/{CLAIMS}"] = text + "\n"
    return found


def write_pages(folder: Path, name: str, findings: Path) -> None:
    """Write what :func:`pages` gives."""
    for file, text in pages(folder, name, findings).items():
        write_atomically(folder / file, text.encode())


def front(folder: Path, base: str, findings: Path) -> str:
    """What the README tells: counts, main findings of each paper, pictures, limits, costs.

    Pictured is the first finding of each paper that has a picture, then those ranked next, in the
    order of the findings.

    Parameters
    ----------
    folder
        A published run; others beside it are told of by what they cost.
    base
        The same folder as the README links to it.
    """
    told = _told(folder, findings)
    shown = [one for one in told["told"] if one["picture"]]
    first = {one["row"]["paper"]: one["id"] for one in reversed(shown)}.values()
    chosen = sorted(shown, key=lambda one: one["id"] not in first)[:PICTURES]
    chosen = [one for one in shown if one in chosen]
    rows = [chosen[start : start + ABREAST] for start in range(0, len(chosen), ABREAST)]
    main = {
        paper: (_main(told["told"], paper, HOLDS), _main(told["told"], paper, FAILS))
        for paper in told["own"]
    }
    costs = [_made(file.parent) for file in sorted(folder.parent.glob(f"[!.]*/{SUMMARY}"))]
    return _render(
        "front.md.j2", base=base, rows=rows, abreast=ABREAST, main=main, costs=costs, **told
    )


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


def _main(told: Sequence[Row], paper: str, verdict: str) -> Row | None:
    """The first finding of a paper with a verdict; a misprint is not what a paper comes to.

    Nor is what this software observed or controls: the paper claims neither.
    """
    own = (
        one
        for one in told
        if one["row"]["paper"] == paper and one["row"]["kind"] == THEOREM and "misprint" not in one
    )
    return next((one for one in own if one["row"]["verdict"] == verdict), None)


def _told(folder: Path, findings: Path) -> dict[str, Any]:
    """What a published run says: ledger, findings with row and picture, catalogue, provenance."""
    ledger = read_ledger(folder)
    rows = {row["claim"]: row for row in ledger}
    own: dict[str, list[Row]] = {}
    for row in ledger:
        own.setdefault(row["paper"], []).append(row)
    told = []
    for entry in of_run(read_findings(findings), rows)[0]:
        row = rows[entry["claim"]]
        source = f"finding {entry['id']}, shown without tables"
        sentence = fill_in(sentence_of(entry, row), source, reader({}, row["paper"]), rows)
        paper, _, name = entry.get("figure", "").partition("/")
        picture = f"{paper}/figures/{name}.webp"
        made = (folder / picture).is_file()
        told.append({**entry, "row": row, "sentence": sentence, "picture": picture if made else ""})
    return {
        "ledger": ledger,
        "own": own,
        "told": told,
        "changed": sum(bool(row.get("changed")) for row in ledger),
        "stories": {paper: story(paper) for paper in own if (PACKAGE / paper).is_dir()},
        "items": read_parquet(folder / "catalogue.parquet")["status"].value_counts().to_dict(),
        "made": _made(folder),
        "seeds": [_made(one)["config"]["seed"] for one in (folder, *other_seeds(folder))],
    }


def read_ledger(folder: Path) -> list[Row]:
    """The rows of a published run, signed with those of other seeds where these are published.

    A claim gets another seed where both runs made it alike, see
    :func:`featlearn.core.two_runs.made_alike`; ``commit`` and ``seed`` are those of a row's run.
    """
    others = other_seeds(folder)
    if not others:
        return _rows(folder)
    reads = yaml.safe_load((PACKAGE.parents[1] / READS).read_text(encoding="utf-8"))
    own = _made(folder)["config"]

    def signed(one: Path) -> list[Row]:
        made = _made(one)
        told = {"commit": made["commit"], "seed": made["config"]["seed"]}
        return [row | told for row in _rows(one)]

    def alike(one: Path) -> Callable[[Row], bool]:
        config = _made(one)["config"]
        return lambda row: made_alike(row, own, config, reads)

    return of_seeds(signed(folder), *((signed(one), alike(one)) for one in others))


def other_seeds(folder: Path) -> list[Path]:
    """The published runs of higher base seeds beside one, with the same settings, by seed.

    Settings are all that is no section: scale, device, papers. The sections may differ: which of
    their claims were made alike is told one by one.
    """
    own = _made(folder)["config"] if (folder / SUMMARY).is_file() else {}
    found = {}
    for file in sorted(folder.parent.glob(f"[!.]*/{SUMMARY}")):
        other = _made(file.parent)["config"]
        unlike = {
            key
            for key in {*own, *other}
            if own.get(key) != other.get(key)
            and not all(isinstance(one.get(key, {}), dict) for one in (own, other))
        }
        if "seed" in unlike <= {"seed", "run", "results"} and own["seed"] < other["seed"]:
            found[other["seed"]] = file.parent
    return [found[seed] for seed in sorted(found)]


def _made(folder: Path) -> dict[str, Any]:
    told: dict[str, Any] = json.loads((folder / SUMMARY).read_text(encoding="utf-8"))
    return told


def _rows(folder: Path) -> list[Row]:
    return [
        {str(key): value for key, value in row.items()}
        for row in read_parquet(folder / "claims.parquet").to_dict("records")
    ]


def plain(text: str) -> str:
    """Text as Markdown that shows it as it is, also in a cell of a table; formulas stay."""
    text = signs(" ".join(text.split())).replace("&", "&amp;").replace("<", "&lt;")
    parts = _FORMULA.split(text)
    told = (part if n % 2 else _MARKS.sub(r"\\\1", part) for n, part in enumerate(parts))
    return tagged("".join(told))


def sentence(text: str) -> str:
    """Markdown with its maths set, but for where its links lead."""
    parts = _TARGET.split(text)
    return "".join(part if n % 2 else tagged(signs(part)) for n, part in enumerate(parts))


def anchor(row: Mapping[str, Any]) -> str:
    """Of a claim, on the page of its paper and in the report."""
    return f"claim-{row['claim'].replace('/', '-')}"


def cell(text: str) -> str:
    """Markdown as it stands in a cell of a table."""
    return text.replace("|", "\\|")


def minutes(seconds: float) -> str:
    """Seconds as whole minutes, one at least."""
    return f"{max(1, seconds / 60):,.0f}"


def _render(template: str, **told: Any) -> str:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("featlearn.core"),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,  # Markdown
    )
    for one in (answer, anchor, band, count, measured, minutes, title, verb):
        environment.globals[one.__name__] = one
    environment.filters.update(cell=cell, plain=plain, sentence=sentence)
    return environment.get_template(template).render(
        verdicts=VERDICTS, theorem=THEOREM, page=CLAIMS, **told
    )
