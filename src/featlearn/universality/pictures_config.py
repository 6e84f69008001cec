"""What valid settings of pictures and foundation models are, beyond types. No torch in here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from featlearn.core.errors import FeatlearnError
from featlearn.images.config_data import data_faults
from featlearn.images.on_disk import listing_digest, sources

#: Exhibits of pictures that the thesis has.
ITEMS = ("fig-f-5", "fig-f-8", "table-7-1", "table-f-2", "table-f-3", "table-f-5", "table-f-9",
         "table-f-10", "table-f-11")  # fmt: skip


def faults(section: Mapping[str, Any]) -> Iterator[str]:
    """Values that contradict each other: one line each, with the key and what was expected."""
    own, key = section["pictures"], "universality.pictures"
    sets, ladder = own["sets"], own["ladder"]
    for name, one in sets.items():
        at = f"{key}.sets.{name}"
        if ("data" in one) == ("generated" in one):
            yield f"{at}: expected either data or generated"
        elif "data" in one:
            yield from data_faults(one["data"], f"{at}.data")
            if one["data"].get("size") != own["size"]:
                yield (
                    f"{at}.data.size: {one['data'].get('size')}; expected size, {own['size']}: "
                    "all sets go through one network"
                )
        elif (one["generated"] == "patterns") != ("classes" in one):
            yield f"{at}.classes: expected with generated: patterns, and only there"
    for name in ladder:
        if name not in sets:
            yield f"{key}.ladder: {name!r}; expected one of {', '.join(sets)}"
    if own["other"] not in ladder[1:]:
        yield f"{key}.other: {own['other']!r}; expected one of {', '.join(ladder[1:])}"
    if own["finetuning"]["mapped"] not in own["finetuning"]["shares"]:
        yield (
            f"{key}.finetuning.mapped: {own['finetuning']['mapped']}; expected one of the shares, "
            f"{own['finetuning']['shares']}"
        )
    known = ("moco", "nnclr", "siamese", "simclr")
    for name, one in own["methods"].items():
        if one.get("kind") not in known:
            kinds = ", ".join(known)
            yield f"{key}.methods.{name}.kind: {one.get('kind')!r}; expected one of {kinds}"
    # more than the few of a probe: a fifth of them chooses its penalty
    for count in own["labels"]:
        if count < 5:
            yield f"{key}.labels: {count}; expected at least 5"


def state(pictures: Mapping[str, Any]) -> dict[str, str]:
    """A digest of the files of each set that lies on disk; ``missing`` where there are none."""
    found = {}
    for name, one in pictures["sets"].items():
        if "data" in one:
            try:
                found[name] = listing_digest(sources(one["data"]), one["data"].get("path") or ".")
            except FeatlearnError:
                found[name] = "missing"
    return found


def contents(pictures: Mapping[str, Any]) -> dict[str, str]:
    """Of each exhibit of the thesis whether it is measured on its own pictures."""
    return dict.fromkeys(ITEMS, "measured" if pictures["original"] else "stand-in")
