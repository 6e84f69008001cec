"""What a published run found, as a reader sees it who has a browser and no Python.

A page beside the run, one of all claims of each paper, parts of the README, and what ``docs/``
quotes (``python -m featlearn.core.publishing.markdown_pages`` writes it): nobody types a number.

A link of ``docs/`` to a claim quotes it in the form of its text: ``[0.84 (0.74 to 0.94)](...)`` as
the number with its interval, ``[0.84](...)`` as the number, ``[84 %](...)`` as a share,
``[holds](...)`` as the verdict. Between the lines ``<!-- name: written by `make publish` -->`` and
``<!-- end of name -->`` stands a part of the README or one of :data:`LISTS`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from featlearn.core.errors import FeatlearnError
from featlearn.core.evidence.claims import FAILS, FAILURES, HOLDS, THEOREM, VERDICTS
from featlearn.core.evidence.stats import decimals, fixed
from featlearn.core.files import read_parquet, write_atomically
from featlearn.core.publishing.compare_runs import ENDS, apart, differing
from featlearn.core.publishing.findings import of_run, read_findings, sentence_of
from featlearn.core.publishing.html_assets import cell, environment
from featlearn.core.publishing.ledger import FRONT, SUMMARY, made, other_seeds, read_ledger
from featlearn.core.publishing.neighbours import FILES
from featlearn.core.publishing.summary import anchor, band, commits, measured, with_numbers
from featlearn.core.run.commit import APART
from featlearn.core.run.exhibits import PACKAGE, story

Row = Mapping[str, Any]

#: In the folder of a published run: its page, and below each paper's folder that of its claims.
PAGE, CLAIMS = "README.md", "claims.md"
#: A part of a page that is written from what is published.
LIST = re.compile(
    r"(?P<opens><!-- (?P<name>\w+): written by `make publish` -->\n).*?"
    r"(?P<closes><!-- end of (?P=name) -->)",
    re.DOTALL,
)
#: A link to a claim of a published run.
LINK = re.compile(
    r"\[(?P<text>[^\]]+)\]"
    r"\((?P<base>[^()\s]*results/published/(?P<run>[\w-]+)/)"
    r"\w+/claims\.md#claim-(?P<claim>[\w.-]+)\)"
)
#: Findings in the README: so many that hold, and so many that fail.
SHOWN = 4
#: Of an interval's half-width: so near an end of its band a verdict is on the edge.
NEAR = 0.2
#: Words of a reason that rests on something that was run.
RUN_BEFORE = re.compile(r"pilot|prototype|validation|review|sheet", re.IGNORECASE)


def pages(folder: Path, name: str, findings: Path) -> dict[str, str]:
    """All pages of a published run of this ``name``: file below its folder to text."""
    view = {"name": name, **_view(folder, findings)}
    # a run that is being published has another folder yet
    runs = {file.parent.name: file.parent for file in folder.parent.glob(f"[!.]*/{SUMMARY}")}
    costs = [made(run) for _, run in sorted((runs | {name: folder}).items())]
    templates = environment()
    texts = {PAGE: templates.get_template("published.md.j2").render(costs=costs, **view)}
    for paper, rows in view["papers"].items():
        page = templates.get_template("claims.md.j2").render(paper=paper, rows=rows, **view)
        texts[f"{paper}/{CLAIMS}"] = page
    return {file: text + "\n" for file, text in texts.items()}


def front(text: str, folder: Path, base: str, findings: Path) -> str:
    """The README with the parts that a published run decides; FeatlearnError if it lacks one."""
    template = environment().get_template("front.md.j2")
    view = _view(folder, findings)
    shown = {verdict: _chosen(view["findings"], verdict) for verdict in (HOLDS, FAILS)}
    context = template.new_context({"base": base, "shown": shown, **view})
    parts = {name: "".join(block(context)).strip() for name, block in template.blocks.items()}
    named = [match["name"] for match in LIST.finditer(text)]
    if sorted(named) != sorted(parts):
        got = ", ".join(named) or "none"
        raise FeatlearnError(f"README.md: parts must be {', '.join(parts)}, got {got}")
    return LIST.sub(
        lambda match: f"{match['opens']}{parts[match['name']]}\n{match['closes']}", text
    )


def _chosen(findings: Sequence[Row], verdict: str) -> list[Row]:
    """The first findings with a verdict, one a paper, on what it claims; no misprint."""
    by_paper: dict[str, Row] = {}
    for one in findings:
        row = one["row"]
        if row["verdict"] == verdict and row["kind"] == THEOREM and "misprint" not in one:
            by_paper.setdefault(row["paper"], one)
    return [*by_paper.values()][:SHOWN]


def _view(folder: Path, findings: Path) -> dict[str, Any]:
    """What a published run says: ledger, findings with row and picture, catalogue, provenance."""
    ledger = read_ledger(folder)
    rows = {row["claim"]: row for row in ledger}
    papers: dict[str, list[Row]] = {}
    for row in ledger:
        papers.setdefault(row["paper"], []).append(row)
    found = []
    for entry in of_run(read_findings(findings), rows)[0]:
        paper, _, name = entry.get("figure", "").partition("/")
        picture = f"{paper}/figures/{name}.webp"
        drawn = picture if (folder / picture).is_file() else ""
        found.append({**entry, "row": rows[entry["claim"]], "picture": drawn})
    printed = [row for row in ledger if row["kind"] == THEOREM]
    return {
        "ledger": ledger,
        "papers": papers,
        "findings": found,
        "finding": finding,
        "page": CLAIMS,
        "printed": printed,
        "failing": [row for row in printed if row["verdict"] == FAILS],
        "stories": {paper: story(paper) for paper in papers if (PACKAGE / paper).is_dir()},
        "items": read_parquet(folder / "catalogue.parquet")["status"].value_counts().to_dict(),
        "made": made(folder),
        "seconded": sum(bool(row.get("others")) for row in printed),
        "neighboured": len([*folder.glob(FILES)]),
        "seeds": [made(one)["config"]["seed"] for one in (folder, *other_seeds(folder))],
    }


def finding(one: Row, base: str = "") -> str:
    """The sentence on a finding as Markdown, its number linked to the claim."""
    row = one["row"]
    target = f"{base}{row['paper']}/{CLAIMS}#{anchor(row)}"
    return with_numbers(sentence_of(one, row), row, lambda number: f"[{number}]({target})")


def refresh(root: Path) -> list[str]:
    """Write all quotations of ``docs/*.md`` again; the names of the pages that changed."""
    ledgers = read_ledgers(root)
    changed = []
    for page in sorted((root / "docs").glob("*.md")):
        text = page.read_text(encoding="utf-8")
        if (fresh := quoted(text, ledgers, page.name)) != text:
            write_atomically(page, fresh.encode())
            changed.append(page.name)
    return changed


def read_ledgers(root: Path) -> dict[str, dict[str, Row]]:
    """Rows of each published ledger by run and by claim as links name it, ``paper-name``."""
    return {
        file.parent.name: {
            anchor(row).removeprefix("claim-"): row for row in read_ledger(file.parent)
        }
        for file in sorted((root / APART).glob("*/claims.parquet"))
    }


def quoted(text: str, ledgers: Mapping[str, Mapping[str, Row]], page: str) -> str:
    """A page with what it quotes as the ledgers have it; FeatlearnError if they do not."""

    def link(match: re.Match[str]) -> str:
        row = ledgers.get(match["run"], {}).get(match["claim"])
        if row is None:
            raise FeatlearnError(f"{page}: no claim {match['claim']} in the run {match['run']}")
        words = in_words(match["text"], row)
        return f"[{words}]({match['base']}{row['paper']}/{CLAIMS}#{anchor(row)})"

    def write(match: re.Match[str]) -> str:
        if match["name"] not in LISTS:
            raise FeatlearnError(f"{page}: no list {match['name']}; there are {', '.join(LISTS)}")
        rows = [*ledgers.get(FRONT, {}).values()]
        return match["opens"] + LISTS[match["name"]](rows) + "\n\n" + match["closes"]

    return LIST.sub(write, LINK.sub(link, text))


def in_words(form: str, row: Row) -> str:
    """Verdict, or number with what differs by seed, or number and interval, as ``form`` has it."""
    if form in VERDICTS:
        return str(row["verdict"])
    times, unit = (100, " %") if "%" in form else (1, "")
    digits = min(decimals(row["spread"] * times), 1 if unit else 6)
    text = fixed(row["measured"] * times, digits) + unit
    if "(" in form and row["spread"] > 0:
        text += f" ({_interval(row, digits, times)})"
    for other in differing(row):
        text += f", {fixed(other['measured'] * times, digits)}{unit} with seed {other['seed']}"
    return text


def _interval(row: Row, digits: int, times: int = 1) -> str:
    return " to ".join(fixed(row[end] * times, digits) for end in ENDS)


def _table(head: str, lines: Sequence[Sequence[str]], *before: str) -> str:
    """A Markdown table behind the lines ``before``; ``head`` has the names of its columns."""
    columns = head.split("|")
    rows = [f"| {' | '.join(line)} |" for line in (columns, *lines)]
    return "\n".join([*before, "", rows[0], f"|{':--|' * len(columns)}", *rows[1:]])


def _bands(rows: Sequence[Row]) -> str:
    printed = [row for row in rows if row["kind"] == THEOREM]
    before = [row for row in printed if RUN_BEFORE.search(row["reason"])]
    hold = [row for row in printed if row["verdict"] == HOLDS]
    both = [row for row in before if row["verdict"] == HOLDS]
    return (
        f"In {len(before)} of {len(printed)} claims on a statement of a paper the reason of the "
        f"band names a pilot or a validation run; so it does in {len(both)} of the {len(hold)} "
        "that hold."
    )


def _edges(rows: Sequence[Row]) -> str:
    decided = [row for row in rows if row["verdict"] in (HOLDS, FAILS) and row["spread"] > 1e-9]
    near = sorted((beyond, row["claim"], row) for row in decided if (beyond := _beyond(row)) < NEAR)
    lines = []
    for _, claim, row in near:
        digits = decimals(row["spread"]) + 1
        number = f"{fixed(row['measured'], digits)} ({_interval(row, digits)})"
        lines.append((f"`{claim}`", number, band(row), row["verdict"]))
    before = (
        f"{len(decided)} decided claims have an interval that is not a point. In {len(near)} of "
        f"them it ends less than {100 * NEAR:.0f} % of its half-width from an end of the band:"
    )
    return _table("claim|measured|band|verdict", lines, before)


def _beyond(row: Row) -> float:
    """From the interval to the nearest end of the band that can be passed, in half-widths."""
    share = row["low"] >= 0 and row["high"] == 1
    gaps = [
        abs(row[end] - row[side])
        for end in (("low",) if share else ("low", "high"))
        for side in ENDS
        if math.isfinite(row[end]) and not math.isclose(row[end], row[side], abs_tol=1e-12)
    ]
    return min(gaps, default=math.inf) / float(row["spread"])


def _those(
    rows: Sequence[Row], key: str, head: str, shown: Callable[[Row], Sequence[str]] = lambda row: ()
) -> str:
    """The claims that have a text under ``key``, with what is ``shown`` before it."""
    lines = [
        (f"`{row['claim']}`", *shown(row), cell(" ".join(row[key].split())))
        for row in rows
        if row.get(key)
    ]
    return _table(head, lines, f"{len(lines)} claims:") if lines else "None."


def _failures(rows: Sequence[Row]) -> str:
    printed = [row for row in rows if row["kind"] == THEOREM and row["verdict"] != HOLDS]
    lines = []
    for one in (*FAILURES, ""):
        own = [row for row in printed if row["what_failed"] == one]
        failing, others = (
            ", ".join(f"`{row['claim']}`" for row in own if (row["verdict"] == FAILS) == fails)
            for fails in (True, False)
        )
        lines.append((one or "not said", str(len(own)), failing, others))
    return _table("what failed|claims|fail|are open", lines, f"{len(printed)} claims do not hold:")


def _seeds(rows: Sequence[Row]) -> str:
    if not any(row.get("others") for row in rows):
        return "No other seed of the published run is published."
    undecided = [row for row in rows if differing(row)]
    against = [
        row
        for row in undecided
        if {HOLDS, FAILS} <= {row["alone"], *(other["verdict"] for other in row["others"])}
    ]
    runs = commits(rows)
    first, *seeds = sorted(runs)
    lines = []
    for row in undecided:
        by_seed = {
            other["seed"]: f"{other['verdict']}, {measured(other)}" for other in row["others"]
        }
        verdicts = [f"{row['alone']}, {measured(row)}", *(by_seed.get(seed, "") for seed in seeds)]
        lines.append((f"`{row['claim']}`", *verdicts, band(row)))
    return _table(
        "|".join(["claim", *(f"seed {seed}" for seed in (first, *seeds)), "band"]),
        lines,
        f"{len(undecided)} claims have more than one verdict and count as undecided; "
        f"{len(against)} of these hold with one seed and fail with another{_named(against)}. The "
        f"first run has the base seed {first} (at the commit {runs[first]}).",
        "",
        *(f"- {_pair(rows, seed, runs[seed])}" for seed in seeds),
    )


def _pair(rows: Sequence[Row], seed: int, at: str) -> str:
    """How the run of another seed and the first one agree."""
    both = [(row, other) for row in rows for other in row["others"] if other["seed"] == seed]
    sampled = [pair for pair in both if any(one["spread"] > 1e-9 for one in pair)]
    computed = [pair for pair in both if pair not in sampled]
    beside = [row for row, other in sampled if apart(row, other)]
    moved = [
        row
        for row, other in computed
        if not math.isclose(row["measured"], other["measured"], rel_tol=1e-3, abs_tol=1e-9)
    ]
    changed = [pair for pair in both if pair[0].get("changed")]
    same, same_of_changed = (
        sum(row["alone"] == other["verdict"] for row, other in pairs) for pairs in (both, changed)
    )
    return (
        f"Seed {seed} (at the commit {at}): of {len(both)} claims {same} have the "
        f"verdict of the first seed, among them {same_of_changed} of the {len(changed)} that were "
        f"changed after something was seen. Of {len(sampled)} numbers with an interval those of "
        f"{len(beside)} exclude each other{_named(beside)}; if all replicates were independent "
        "about one in 180 would, by chance: what they share in one run no interval over them "
        f"holds. Of {len(computed)} numbers without an interval {len(moved)} depend on the seed "
        f"all the same{_named(moved)}."
    )


def _named(rows: Sequence[Row]) -> str:
    names = ", ".join(f"`{row['claim']}`" for row in rows)
    return f" ({names})" if names else ""


#: What a page may ask for by name, written from the rows of the run :data:`FRONT`.
LISTS: dict[str, Callable[[Sequence[Row]], str]] = {
    "bands": _bands,
    "edges": _edges,
    "changed": partial(_those, key="changed", head="claim|changed"),
    "withdrawn": partial(
        _those,
        key="withdrawn",
        head="claim|verdict of the run|why it is withdrawn",
        shown=lambda row: [row["alone"]],
    ),
    "failures": _failures,
    "neighbours": partial(
        _those,
        key="turns_with",
        head="claim|the run|turns with",
        shown=lambda row: [f"{row['alone']}, {measured(row)}"],
    ),
    "seeds": _seeds,
}


if __name__ == "__main__":
    for name in refresh(Path(__file__).resolve().parents[4]):
        print(f"docs/{name}: what it quotes")
