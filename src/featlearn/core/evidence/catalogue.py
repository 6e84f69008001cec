"""Every figure and table of the papers, and what a run made of each.

A status follows from the files of an item and from what their provenance records say that they
contain: ``regenerated`` from the paper's own data set or law, ``real`` from real data of that kind,
``stand-in`` from made data, ``needs-data`` where a rule waits for data or weights, ``not-yet``
where no rule makes it, or all that there is are the paper's quoted numbers.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa

from featlearn.core.run.config import faults, read_own_yaml, refuse
from featlearn.core.run.provenance import lineage

KEYS = ("item", "paper", "label", "source", "caption", "kind", "needs", "same_as")
COLUMNS = (*KEYS, "status", "files", "command", "made_of", "lacks")

#: What a record's ``contains`` may say, and the status that follows from it.
STATUS_OF = {
    "measured": "regenerated",
    "drawn": "regenerated",
    "stand-in": "stand-in",
    "digits": "stand-in",  # of scikit-learn alone, whatever else its job reads
    "needs-data": "needs-data",
    "quoted": "not-yet",
}
STATUSES = ("regenerated", "real", "stand-in", "needs-data", "not-yet")


def read_catalogue(path: Path) -> list[dict[str, Any]]:
    """Entries of the catalogue and of papers with a file beside it; ConfigError naming faults."""
    catalogue = read_own_yaml(path)
    others = sorted(path.with_suffix("").glob("*.yaml"))
    items = [*catalogue["items"], *(item for one in others for item in read_own_yaml(one)["items"])]
    text = {"type": "string", "minLength": 1}
    properties = dict.fromkeys(KEYS, text) | {
        "paper": {"enum": [*catalogue["papers"], *(one.stem for one in others)]},
        "kind": {"enum": catalogue["kinds"]},
        "needs": {"type": "array", "items": text, "uniqueItems": True},
        "same_as": {"type": ["string", "null"]},
    }
    schema = {"type": "object", "additionalProperties": False, "required": list(KEYS)}
    refuse(f"{path}: {line}" for line in _faults(items, {**schema, "properties": properties}))
    return items


def contents(
    path: str, shown: Sequence[Any], met: Collection[str], given: Mapping[str, str] | None = None
) -> dict[str, str]:
    """What each exhibit holds in a run that ``met`` some needs; ``given`` is known of some."""
    found = {one.name: "stand-in" for one in shown}
    needs = {one["item"]: one["needs"] for one in read_catalogue(Path(path))} if met else {}
    for one in shown if met else ():
        if {*needs.get(f"{one.paper}/{one.name}", ())} <= {*met}:
            found[one.name] = "measured"
    return found | {name: word for name, word in (given or {}).items() if word != "measured"}


def _faults(items: Sequence[Any], schema: Mapping[str, Any]) -> Iterator[str]:
    names: set[str] = set()
    for number, entry in enumerate(items, 1):
        item = entry.get("item") if isinstance(entry, Mapping) else None
        name = item if isinstance(item, str) else f"entry {number}"
        wrong = [f"{name}: {line}" for line in faults(entry, schema)]
        yield from wrong
        if wrong:
            continue
        if not name.startswith(f"{entry['paper']}/"):
            yield f"{name}: expected a name of the paper, {entry['paper']}/..."
        if name in names:
            yield f"{name}: stands there twice"
        if entry["same_as"] is not None and entry["same_as"] not in names:
            yield f"{name}: same_as: {entry['same_as']!r}; expected an earlier item"
        names.add(name)


def files_of(item: str) -> tuple[str, str]:
    """The two files of an item, below ``results/<scale>/``."""
    paper, _, name = item.partition("/")
    if name.startswith("table-"):
        return f"{paper}/tables/{name}.parquet", f"{paper}/tables/{name}.md"
    return f"{paper}/figures/{name}.svg", f"{paper}/figures/{name}.png"


def status_of(item: str, results: Path) -> tuple[str, list[str]]:
    """What the run in ``results`` made of ``item``, and texts on real data sets and networks in
    it."""
    main = results / files_of(item)[0]
    found = lineage(results, [main]) if main.is_file() else {}
    if main not in found:
        return "not-yet", []
    contains = str(found[main]["contains"])
    # the digits of scikit-learn are real, but no set that a paper has
    readers = [
        record
        for record in found.values()
        if any(own["kind"] != "digits" for own in record.get("data", {}).values())
    ]
    sets = {
        f"{what.rpartition('/')[2]}: {own['images']:,} "
        f"{'texts' if own['kind'] == 'texts' else 'images'}": None
        for record in readers
        for what, own in record["data"].items()
    }
    networks = dict.fromkeys(one for record in readers for one in _networks(record["config"]))
    told = [*sets, *(f"network {name}" for name in networks)]
    return "real" if contains == "stand-in" and sets else STATUS_OF[contains], told


def _networks(config: Any, wanted: bool = False) -> Iterator[str]:
    """Kinds of the encoders of a config."""
    if not isinstance(config, Mapping):
        return
    if wanted and isinstance(config.get("kind"), str):
        yield config["kind"]
    for key, below in config.items():
        yield from _networks(below, key == "encoder" or wanted or key == "encoders")


def _lacks(entry: Mapping[str, Any], status: str, made_of: Sequence[str]) -> list[str]:
    """What an item misses to ``regenerated``: data sets and weights, or else what it has itself."""
    if status == "regenerated":
        return []
    there = {one.partition(" (")[0].lower() for one in made_of}
    rest = "an experiment" if status == "not-yet" else "the paper's own law, network or sizes"
    return [need for need in entry["needs"] if need not in there] or [rest]


def catalogue_frame(
    items: Sequence[Mapping[str, Any]],
    results: Path,
    make: str,
    planned: Collection[Path] | None = None,
) -> pd.DataFrame:
    """A row an item, with :data:`COLUMNS`; ``make``: what makes a file that is added to it.

    ``planned``: first files of exhibits that count; any other is left from an earlier run.
    """
    rows = []
    for entry in items:
        files = [file for file in files_of(entry["item"]) if (results / file).is_file()]
        if planned is not None and results / files_of(entry["item"])[0] not in planned:
            files = []
        status, made_of = status_of(entry["item"], results) if files else ("not-yet", [])
        command = f"{make} {results / files[0]}" if files else ""
        rows.append({**entry, "same_as": entry["same_as"] or "", "status": status,
                     "files": files, "command": command, "made_of": made_of,
                     "lacks": _lacks(entry, status, made_of)})  # fmt: skip
    frame = pd.DataFrame(rows, columns=list(COLUMNS))
    # lists of text, also where every list is empty and has no type from its values
    text = pd.ArrowDtype(pa.list_(pa.string()))
    return frame.astype(dict.fromkeys(("needs", "files", "made_of", "lacks"), text))
