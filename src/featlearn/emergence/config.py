"""What a valid ``emergence`` config must also satisfy, beyond types and ranges. No torch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from featlearn.core.errors import FeatlearnError
from featlearn.images.config_data import data_faults
from featlearn.images.on_disk import listing_digest, sources

#: Exhibits that the thesis makes of one set alone, by the cell or experiment that makes ours.
OF_ONE_SET = {
    "mnist": ("fig-2-3", "fig-a-13"),
    "cifar10": ("fig-a-14",),
    "svhn": ("fig-a-15",),
    "filters": ("fig-a-16", "fig-a-17", "table-a-7"),
    "injected": ("fig-a-21", "fig-a-22"),
}
#: Those that need further sets, and are shown with one.
OF_SEVERAL_SETS = {
    "neurons": ("neuron-directions",),
    "filters": ("filter-groups", "filter-networks"),
    "injected": ("fig-2-4", "fig-a-18", "fig-a-19", "fig-a-20", "student-accuracies",
                 "teacher-sizes"),
}  # fmt: skip


def faults(emergence: Mapping[str, Any]) -> Iterator[str]:
    """Values that contradict each other: one line each, with the key and what was expected."""
    for name, cell in emergence["curves"].items():
        key = f"emergence.curves.{name}"
        yield from _data_faults(cell["data"], f"{key}.data")
        smallest, patterns = min(cell["dimensions"]), cell["data"]["patterns"]
        if smallest < patterns:
            yield (
                f"{key}.dimensions: {smallest}; expected at least the {patterns} patterns, which "
                "are orthonormal"
            )
        share = cell["data"].get("negative_share", 0.5)
        for part, number in cell["samples"].items():
            if not 0 < round(share * number) < number:
                yield f"{key}.samples.{part}: {number}; expected so many that both labels occur"
    for name, cell in emergence["neurons"].items():
        key = f"emergence.neurons.{name}"
        yield from _picture_faults(cell["pictures"], f"{key}.pictures", classes=2)
        if 0 not in cell["shown"] or max(cell["shown"]) == 0:
            yield f"{key}.shown: {cell['shown']}; expected 0, the start, and later steps"
    yield from _filter_faults(emergence["filters"], "emergence.filters")
    yield from _injected_faults(emergence["injected"], "emergence.injected")

    for name, setting in emergence["mixture"]["settings"].items():
        key = f"emergence.mixture.settings.{name}"
        if setting["relevant"] > setting["dimension"]:
            yield (
                f"{key}.relevant: {setting['relevant']}; expected at most the dimension, "
                f"{setting['dimension']}, as patterns are orthonormal"
            )
        if max(setting["moments"]) > setting["epochs"]:
            yield f"{key}.moments: {setting['moments']}; expected none after {setting['epochs']}"


def _data_faults(data: Mapping[str, Any], key: str) -> Iterator[str]:
    kind, k = data["kind"], data["relevant"]
    if k >= data["patterns"]:
        yield f"{key}.relevant: {k}; expected fewer than the {data['patterns']} patterns"
    if kind == "parity":
        if k % 2 == 0 or k < 3:
            yield f"{key}.relevant: {k}; expected an odd number from 3 on for parity labels"
        if data["background"] > 2 / 3:
            yield (
                f"{key}.background: {data['background']}; expected at most 2/3: patterns are "
                "present with probability background / (2 - 2 background) in one component"
            )
    if data.get("prototypes", 2) % 2:
        yield f"{key}.prototypes: {data['prototypes']}; expected an even number, half of each label"
    for name, kinds in (("interval", "interval"), ("frequency", "interval"),
                        ("negative_share", "parity"), ("prototypes", "prototypes")):  # fmt: skip
        if name in data and kind != kinds:
            yield f"{key}.{name}: {data[name]}; expected only with kind {kinds}"
    if kind == "interval":
        if "interval" not in data:
            yield f"{key}.interval: missing; expected two numbers for interval labels"
        elif not 0 < data["interval"][0] <= data["interval"][1] <= k:
            yield f"{key}.interval: {data['interval']}; expected 0 < first <= last <= {k}"
        elif data["interval"][0] <= 1 and data["interval"][1] == k:
            yield f"{key}.interval: {data['interval']}; expected counts that are labelled -1 too"


def _picture_faults(pictures: Mapping[str, Any], key: str, classes: int = 0) -> Iterator[str]:
    yield from data_faults(pictures["data"], f"{key}.data")
    kept = pictures.get("classes") or []
    if len(set(kept)) < len(kept):
        yield f"{key}.classes: {kept}; expected each name once"
    if classes and len(kept) != classes:
        yield f"{key}.classes: {kept}; expected the names of {classes} classes"


def _filter_faults(filters: Mapping[str, Any], key: str) -> Iterator[str]:
    yield from _picture_faults(filters["pictures"], f"{key}.pictures", classes=2)
    if {0, filters["epochs"]} - set(filters["shown"]):
        yield (
            f"{key}.shown: {filters['shown']}; expected 0, the start, and the last epoch, "
            f"{filters['epochs']}"
        )
    if max(filters["shown"]) > filters["epochs"]:
        yield f"{key}.shown: {max(filters['shown'])}; expected at most {filters['epochs']} epochs"
    batches = -(-filters["pictures"]["samples"]["train"] // filters["batch_size"])
    if (steps := batches * filters["epochs"]) < 30:
        yield f"{key}.epochs: {steps} steps; expected at least 30: their gradients are compared"
    if min(filters["widths"]) < 4:
        yield f"{key}.widths: {min(filters['widths'])}; expected at least 4 filters for two groups"


def _injected_faults(injected: Mapping[str, Any], key: str) -> Iterator[str]:
    yield from _picture_faults(injected["pictures"], f"{key}.pictures")
    for name in ("sizes", "teachers"):
        values = injected["descent"][name]
        if values != sorted(set(values)):
            yield f"{key}.descent.{name}: {values}; expected growing sizes"
    if len(injected["descent"]["sizes"]) < 3:
        yield f"{key}.descent.sizes: expected at least three, or no curve has a minimum"
    for name, cell in injected["students"]["cells"].items():
        share = round(cell["alpha"] * injected["pictures"]["samples"]["train"])
        if not 0 < share < injected["pictures"]["samples"]["train"]:
            yield (
                f"{key}.students.cells.{name}.alpha: {cell['alpha']}; expected a share that leaves "
                "pictures and takes injected inputs"
            )


def state(pictures: Mapping[str, Any]) -> tuple[str, str]:
    """A digest of the files of these pictures; and in words what is missing, if anything.

    A set that is missing is no fault of the config: what does not need it can be made.
    """
    data = pictures["data"]
    try:
        return listing_digest(sources(data), data.get("path") or "."), ""
    except FeatlearnError as error:
        return "missing", f"emergence: {error}"


def states(emergence: Mapping[str, Any]) -> tuple[dict[str, str], list[str]]:
    """Of all pictures of the chapter: :func:`state` by experiment or set; what is missing."""
    sets = {name: cell["pictures"] for name, cell in emergence["neurons"].items()}
    sets |= {name: emergence[name]["pictures"] for name in ("filters", "injected")}
    found = {name: state(pictures) for name, pictures in sets.items()}
    missing = dict.fromkeys(line for _, line in found.values() if line)
    return {name: digest for name, (digest, _) in found.items()}, list(missing)


def contents(pictures: Mapping[str, Any], experiment: str) -> dict[str, str]:
    """Of each exhibit of an experiment, whether it is of the thesis' own pictures."""
    own = "measured" if pictures["original"] else "stand-in"
    found = dict.fromkeys(OF_ONE_SET.get(experiment, ()), own)
    return found | dict.fromkeys(OF_SEVERAL_SETS.get(experiment, ()), "stand-in")


def neuron_contents(cells: Mapping[str, Any]) -> dict[str, str]:
    """The same of the maps of neurons, whose cells are sets."""
    found = contents({"original": False}, "neurons")
    for name, cell in cells.items():
        found |= contents(cell["pictures"], name)
    return found
