"""What the pages in ``docs/`` take from the published ledgers, so that no number is typed there.

A link to a claim quotes it, in the form of what stands in it: ``[0.84 (0.74 to 0.94)](...)`` the
number with its interval, ``[0.84](...)`` the number, ``[84 %](...)`` a share, ``[holds](...)`` the
verdict.
Between the lines ``<!-- name: written by `make publish` -->`` and ``<!-- end of name -->`` stands
one of :data:`LISTS`. `make publish` writes all of them anew, by ``python -m featlearn.core.pages``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from featlearn.core.claims import FAILS, HOLDS, THEOREM, VERDICTS
from featlearn.core.commit import APART
from featlearn.core.digest import commits
from featlearn.core.errors import FeatlearnError
from featlearn.core.files import write_atomically
from featlearn.core.front import CLAIMS, FRONT, anchor, cell, read_ledger, sentence
from featlearn.core.prose import band, measured
from featlearn.core.two_runs import apart, differing

Row = Mapping[str, Any]

#: A link to a claim of a published run.
LINK = re.compile(
    r"\[(?P<text>[^\]]+)\]"
    r"\((?P<base>[^()\s]*results/published/(?P<run>[\w-]+)/)"
    r"\w+/claims\.md#claim-(?P<claim>[\w.-]+)\)"
)
LIST = re.compile(
    r"(?P<opens><!-- (?P<name>\w+): written by `make publish` -->\n).*?"
    r"(?P<closes><!-- end of (?P=name) -->)",
    re.DOTALL,
)
#: Of an interval's half-width: so near an end of its band a verdict is on the edge.
NEAR = 0.2
#: Words of a reason that rests on something that was run.
RUN_BEFORE = re.compile(r"pilot|prototype|validation|review|sheet", re.IGNORECASE)


def refresh(root: Path) -> list[str]:
    """Write all quotations of ``docs/*.md`` anew; the names of the pages that changed.

    Raises
    ------
    FeatlearnError
        If a page quotes a run, claim or list that there is not.
    """
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
    found: dict[str, dict[str, Row]] = {}
    for file in sorted((root / APART).glob("*/claims.parquet")):
        found[file.parent.name] = {
            anchor(row).removeprefix("claim-"): row for row in read_ledger(file.parent)
        }
    return found


def quoted(text: str, ledgers: Mapping[str, Mapping[str, Row]], page: str) -> str:
    """The text of a page with all that it quotes as the ledgers have it."""

    def link(found: re.Match[str]) -> str:
        row = ledgers.get(found["run"], {}).get(found["claim"])
        if row is None:
            raise FeatlearnError(f"{page}: no claim {found['claim']} in the run {found['run']}")
        told = in_words(found["text"], row)
        return f"[{told}]({found['base']}{row['paper']}/{CLAIMS}#{anchor(row)})"

    def listed(found: re.Match[str]) -> str:
        if found["name"] not in LISTS:
            raise FeatlearnError(f"{page}: no list {found['name']}; there are {', '.join(LISTS)}")
        rows = [*ledgers.get(FRONT, {}).values()]
        return found["opens"] + LISTS[found["name"]](rows) + "\n\n" + found["closes"]

    return LIST.sub(listed, LINK.sub(link, text))


def in_words(form: str, row: Row) -> str:
    """Verdict, number, or number and interval of a claim, as ``form`` has it.

    Where another seed judges the claim differently, its number stands beside it.
    """
    if form in VERDICTS:
        return str(row["verdict"])
    measured, spread = row["measured"], row["spread"]
    times, unit = (100, " %") if form.endswith("%") else (1, "")
    decimals = min(_decimals(spread * times), 1 if unit else 6)
    said = _plain(measured * times, decimals)
    if "(" in form and spread > 0:
        ends = (_plain(row[end] * times, decimals) for end in ("interval_low", "interval_high"))
        said += f" ({' to '.join(ends)})"
    said += unit
    for other in differing(row):
        told = _plain(other["measured"] * times, decimals)
        said += f", {told}{unit} with seed {other['seed']}"
    return said


def _decimals(spread: float) -> int:
    """Steps of the last one are between a fifth and a fiftieth of the spread; 3 if it is none."""
    return max(0, 1 - math.floor(math.log10(2 * spread))) if spread > 1e-9 else 3


def _plain(value: float, decimals: int) -> str:
    text = f"{value:,.{decimals}f}"
    return text.removeprefix("-") if float(text.replace(",", "")) == 0 else text


# --------------------------------------------------------------------------- lists


def _bands(rows: Sequence[Row]) -> str:
    printed = [row for row in rows if row["kind"] == THEOREM]
    before = [row for row in printed if RUN_BEFORE.search(row["reason"])]
    hold = [row for row in printed if row["verdict"] == HOLDS]
    both = [row for row in before if row["verdict"] == HOLDS]
    return (
        f"Of {len(printed)} claims on what is proved or printed, {len(before)} name a pilot, a "
        f"validation run or a review in the reason of their band; of the {len(hold)} of these "
        f"claims that hold, {len(both)} do."
    )


def _edges(rows: Sequence[Row]) -> str:
    decided = [row for row in rows if row["verdict"] in (HOLDS, FAILS) and row["spread"] > 1e-9]
    near = sorted((beyond, row["claim"], row) for row in decided if (beyond := _beyond(row)) < NEAR)
    lines = [
        f"{len(decided)} decided claims have an interval that is not a point. In {len(near)} of "
        f"them it ends less than {100 * NEAR:.0f} % of its half-width from an end of the band:",
        "",
        "| claim | measured | band | verdict |",
        "|:--|:--|:--|:--|",
    ]
    for _, claim, row in near:
        decimals = _decimals(row["spread"]) + 1
        ends = (_plain(row[end], decimals) for end in ("interval_low", "interval_high"))
        said = f"{_plain(row['measured'], decimals)} ({' to '.join(ends)})"
        lines.append(f"| `{claim}` | {said} | {band(row)} | {row['verdict']} |")
    return "\n".join(lines)


def _beyond(row: Row) -> float:
    """From the interval to the nearest end of the band, in half-widths of the interval.

    No end is what the quantity cannot pass: where the interval was cut, and 1 for a share.
    """
    share = row["low"] >= 0 and row["high"] == 1
    gaps = [
        abs(row[end] - row[side])
        for end in (("low",) if share else ("low", "high"))
        for side in ("interval_low", "interval_high")
        if math.isfinite(row[end]) and not math.isclose(row[end], row[side], abs_tol=1e-12)
    ]
    return min(gaps, default=math.inf) / float(row["spread"])


def _changed(rows: Sequence[Row]) -> str:
    told = [row for row in rows if row.get("changed")]
    if not told:
        return "The published run was made before its ledger had this column."
    lines = [
        f"| `{row['claim']}` | {cell(sentence(' '.join(row['changed'].split())))} |" for row in told
    ]
    return "\n".join([f"{len(told)} claims:", "", "| claim | changed |", "|:--|:--|", *lines])


def _seeds(rows: Sequence[Row]) -> str:
    if not any(row.get("others") for row in rows):
        return "No other seed of the published run is published."
    open_ = [row for row in rows if differing(row)]
    against = [
        row
        for row in open_
        if {HOLDS, FAILS} <= {row["alone"], *(other["verdict"] for other in row["others"])}
    ]
    made = commits(rows)
    first, *seeds = sorted(made)
    lines = [
        f"{len(open_)} claims have more than one verdict and count as undecided; {len(against)} of "
        f"these hold with one seed and fail with another{_named(against)}. The first run has the "
        f"base seed {first} (at the commit `{made[first][:12]}`).",
        "",
        *(f"- {_pair(rows, seed, made[seed])}" for seed in seeds),
        "",
        f"| claim | seed {first} |{''.join(f' seed {seed} |' for seed in seeds)} band |",
        f"|:--|{':--|' * len(made)}:--|",
    ]
    for row in open_:
        told = {other["seed"]: f"{other['verdict']}, {measured(other)}" for other in row["others"]}
        cells = " | ".join(told.get(seed, "") for seed in seeds)
        lines.append(
            f"| `{row['claim']}` | {row['alone']}, {measured(row)} | {cells} | {band(row)} |"
        )
    return "\n".join(lines)


def _pair(rows: Sequence[Row], seed: int, made: str) -> str:
    """How the run of another seed and the first one agree."""
    both = [(row, other) for row in rows for other in row["others"] if other["seed"] == seed]
    sampled = [pair for pair in both if _is_sampled(*pair)]
    computed = [pair for pair in both if not _is_sampled(*pair)]
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
        f"Seed {seed} (at the commit `{made[:12]}`): of {len(both)} claims {same} have the verdict "
        f"of the first seed, among them {same_of_changed} of the {len(changed)} that were changed "
        f"after something was seen. Of {len(sampled)} numbers with an interval those of "
        f"{len(beside)} exclude each other{_named(beside)}; if all replicates were independent "
        "about one in 180 would, by chance: what they share in one run no interval over them "
        f"holds. Of {len(computed)} numbers without an interval {len(moved)} depend on the seed "
        f"all the same{_named(moved)}."
    )


def _is_sampled(*rows: Row) -> bool:
    return any(row["spread"] > 1e-9 for row in rows)


def _named(rows: Sequence[Row]) -> str:
    names = ", ".join(f"`{row['claim']}`" for row in rows)
    return f" ({names})" if names else ""


#: What a page may ask for by name, written from the rows of the run :data:`FRONT`.
LISTS: dict[str, Callable[[Sequence[Row]], str]] = {
    "bands": _bands,
    "edges": _edges,
    "changed": _changed,
    "seeds": _seeds,
}


if __name__ == "__main__":
    for name in refresh(Path(__file__).resolve().parents[3]):
        print(f"docs/{name}: what it quotes")
