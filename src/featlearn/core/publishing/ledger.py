"""The ledger as readers see it: one verdict a claim in README, pages, reports and docs.

A published claim is signed by every published seed that made it alike: where seeds disagree it is
``undecided``, and so is one that a neighbour turns or that ``config/withdrawn.yaml`` names.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from featlearn.core.evidence.claims import COLUMNS, UNDECIDED
from featlearn.core.files import read_parquet
from featlearn.core.publishing.compare_runs import made_alike, of_seeds
from featlearn.core.publishing.findings import WITHDRAWN, read_withdrawn
from featlearn.core.publishing.neighbours import FILES, with_neighbours
from featlearn.core.run.config import plain_run, read_own_yaml
from featlearn.core.run.exhibits import PACKAGE

Row = dict[str, Any]
Config = Mapping[str, Any]

#: The published run whose verdicts are the project's.
FRONT = "desk"
#: Scales at which effects are visible and verdicts are not made: the published one comes first.
SMALL = ("smoke", "tour")
#: In the repository: of a paper and a folder of its measurements the sections that it reads.
READS = "config/reads.yaml"
#: What a published run was made of and by.
SUMMARY = "provenance.json"
#: Columns of a published ledger that the run itself did not write.
SIGNED = ("alone", "seeds", "withdrawn", "approached")
#: What a run of small sizes shows as it is published.
SHOWN = ("verdict", "withdrawn", "turns_with", "what_failed", "approached")

_ROOT = PACKAGE.parents[1]


def records(frame: pd.DataFrame) -> list[Row]:
    """The rows of a frame by the names of its columns."""
    return [{str(key): cell for key, cell in row.items()} for row in frame.to_dict("records")]


def grouped(pairs: Iterable[tuple[str, Any]]) -> dict[str, list[Any]]:
    """Lists of values by their keys, both in the order in which they come."""
    found: dict[str, list[Any]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return found


def distinct(found: Iterable[Mapping[str, Any]], key: str) -> dict[str, list[str]]:
    """For each name below ``key``, the values that the records give: one, on one machine."""
    pairs = {(name, str(value)) for one in found for name, value in one.get(key, {}).items()}
    return grouped(sorted(pairs))


def judged(file: Path) -> pd.DataFrame:
    """A ledger with the verdicts of its run alone, also where it was published with others."""
    frame = read_parquet(file)
    if "alone" in frame:
        frame = frame.assign(verdict=frame["alone"], turns_with="")
    return frame[[name for name in frame if name not in SIGNED]]


def made(folder: Path) -> dict[str, Any]:
    """What a published run was made of and by."""
    return json.loads((folder / SUMMARY).read_text(encoding="utf-8"))


def other_seeds(folder: Path) -> list[Path]:
    """The published runs of higher base seeds with the same settings beside their sections."""
    if not (folder / SUMMARY).is_file():
        return []
    first, by_seed = made(folder)["config"], dict[int, Path]()
    for file in sorted(folder.parent.glob(f"[!.]*/{SUMMARY}")):
        config = made(file.parent)["config"]
        if first["seed"] < config["seed"] and _same_settings(first, config):
            by_seed[config["seed"]] = file.parent
    return [by_seed[seed] for seed in sorted(by_seed)]


def _same_settings(first: Config, second: Config) -> bool:
    return not any(
        first.get(key) != second.get(key)
        for key in {*first, *second} - {"seed", "run", "results", "papers"}
        if not all(isinstance(one.get(key, {}), dict) for one in (first, second))
    )


def read_ledger(folder: Path) -> list[Row]:
    """The rows of a published run: signed with the other published seeds, less what is withdrawn.

    Rows have ``alone``, the verdict of the run by itself, ``commit`` and ``seed`` of the run,
    ``withdrawn``, the reason or nothing, and ``others``, those of published seeds that made it
    alike.
    """
    rows, config = rows_of(folder), made(folder)["config"]
    if seeds := other_seeds(folder):
        alike = partial(made_alike, first=config, reads=read_own_yaml(_ROOT / READS))
        others = ((rows_of(one), partial(alike, second=made(one)["config"])) for one in seeds)
        rows = of_seeds(rows, *others)
    reasons = read_withdrawn(_ROOT / WITHDRAWN) if config["run"] == FRONT else {}
    turned = _neighbours(folder)
    return [_withdraw(turned({"alone": row["verdict"], **row}), reasons) for row in rows]


def _neighbours(folder: Path) -> Callable[[Row], Row]:
    """What the neighbours of a published run leave of a row; as it is, where it has none."""
    rows = (one for file in sorted(folder.glob(FILES)) for one in records(read_parquet(file)))
    found = grouped((one["claim"], one) for one in rows)
    return lambda row: with_neighbours(row, found[row["claim"]]) if row["claim"] in found else row


def _withdraw(row: Row, reasons: Mapping[str, str]) -> Row:
    reason = reasons.get(row["claim"], "")
    return row | {"withdrawn": reason} | ({"verdict": UNDECIDED} if reason else {})


def rows_of(folder: Path) -> list[Row]:
    """The rows of a published run as it judged them, with their ``commit`` and its ``seed``."""
    run = made(folder)
    seal = {"commit": run["commit"], "seed": run["config"]["seed"]}
    return [seal | row for row in records(judged(folder / "claims.parquet"))]


def published_frame(folder: Path) -> pd.DataFrame:
    """The ledger of a published run with the verdict that README and pages show."""
    rows = read_ledger(folder)
    for row in rows:
        row["seeds"] = ", ".join(str(one["seed"]) for one in (row, *row.get("others", ())))
        row |= {key: row.get(key, "") for key in ("turns_with", "approached")}
    known = [name for name in COLUMNS if name in rows[0]] if rows else [*COLUMNS]
    return pd.DataFrame(rows, columns=[*known, *SIGNED])


def beside_published(rows: Sequence[Row], config: Config, front: Path | None) -> list[Row]:
    """The rows of a run, each with what is published of its claim.

    A claim that the run made as the published one did gets the verdict that all published seeds
    leave. In a plain run of a small scale (:data:`SMALL`) the published verdict comes first.

    Returns list of dict: rows with ``here`` (the verdict of this run alone), ``others``,
    ``withdrawn``, ``published`` (the row of the published ledger where that is another), and
    ``in_small``, whether ``verdict`` is the published one.
    """
    rows = [
        {**row, "here": row["verdict"], "others": [], "withdrawn": "", "published": None,
         "in_small": False} for row in rows
    ]  # fmt: skip
    if front is None:
        return rows
    reads, first = read_own_yaml(_ROOT / READS), made(front)["config"]
    by_claim = {row["claim"]: row for row in read_ledger(front)}
    small = config["scale"] in SMALL and config["run"] == plain_run(config)
    seeds, reasons = [], {}
    if same := _same_settings(first, config):
        configs = ((one, made(one)["config"]) for one in (front, *other_seeds(front)))
        alike = partial(made_alike, first=config, reads=reads)
        seeds = [({row["claim"]: row for row in rows_of(one)}, partial(alike, second=other))
                 for one, other in configs if other["seed"] != config["seed"]]  # fmt: skip
        reasons, turned = read_withdrawn(_ROOT / WITHDRAWN), _neighbours(front)
    for place, row in enumerate(rows):
        claim = row["claim"]
        if same and made_alike(row, config, first, reads):
            others = [([known[claim]], made_so) for known, made_so in seeds if claim in known]
            rows[place] = _withdraw(turned(of_seeds([row], *others)[0]), reasons)
        elif published := by_claim.get(claim):
            shown = [key for key in SHOWN if small and key in published]
            rows[place] |= {key: published[key] for key in shown}
            rows[place] |= {"published": published, "in_small": small}
    return rows
