"""What a valid ``emergence`` config must also satisfy, beyond types and ranges. No torch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from featlearn.core.errors import FeatlearnError
from featlearn.images.config_data import data_faults
from featlearn.images.on_disk import listing_digest, sources

#: Of each experiment its exhibits, with the sets of pictures that the thesis makes them of, and
#: cells of students that a set may lack.
SETS = {
    "neurons": {"fig-2-3": "mnist", "fig-a-13": "mnist", "fig-a-14": "cifar10", "fig-a-15": "svhn",
                "neuron-directions": "mnist cifar10 svhn"},
    "filters": dict.fromkeys(
        ("fig-a-16", "fig-a-17", "table-a-7", "filter-groups", "filter-networks"), "cifar10"
    ),
    "injected": {
        "fig-2-4": "mnist cifar10 svhn", "fig-a-18": "mnist cifar10 svhn",
        "fig-a-19": "cifar10 svhn tiny-imagenet",
        "fig-a-20": "cifar10 cifar10/gaussian-25 cifar10/gaussian-75", "fig-a-21": "mnist",
        "fig-a-22": "mnist", "student-accuracies": "mnist cifar10 svhn",
        "teacher-sizes": "mnist cifar10 svhn",
    },
}  # fmt: skip


#: Mixtures of students that figures show.
CELLS = ("gaussian", "gaussian-25", "gaussian-75", "gaussian-wide", "covariance")


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
    general = emergence["general"]
    yield from _data_faults(general["data"], "emergence.general.data")
    if general["dimension"] < general["data"]["patterns"]:
        yield (
            f"emergence.general.dimension: {general['dimension']}; expected at least the "
            f"{general['data']['patterns']} patterns, or they cannot be told apart"
        )
    if 0.1 not in general["noises"]:
        yield (
            f"emergence.general.noises: {general['noises']}; expected 0.1 among them, which claims "
            "and a figure speak of"
        )
    for name, cell in emergence["neurons"].items():
        key = f"emergence.neurons.{name}"
        yield from _picture_faults(cell["pictures"], f"{key}.pictures", classes=2)
        if 0 not in cell["shown"] or max(cell["shown"]) == 0:
            yield f"{key}.shown: {cell['shown']}; expected 0, the start, and later steps"
    yield from _filter_faults(emergence["filters"], "emergence.filters")
    for name, one in emergence["injected"].items():
        yield from _injected_faults(one, f"emergence.injected.{name}")
    # which stands for all sets that are not measured
    mnist = emergence["injected"]["mnist"]
    if not mnist["descent"]["teachers"]:
        yield "emergence.injected.mnist.descent.teachers: expected some; a figure shows students"
    for name in CELLS:
        if name not in mnist["students"]["cells"]:
            yield f"emergence.injected.mnist.students.cells.{name}: missing; a figure shows it"
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
        if data.get("background", 0.5) > 2 / 3:
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
        elif sum(data["interval"]) == k and data.get("frequency") == 0.5:
            yield (
                f"{key}.interval: {data['interval']}; expected none with its middle at {k / 2:g}: "
                "of fair coins (frequency 0.5) no pattern would go with the label"
            )


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
    if filters["widths"] != sorted(filters["widths"]):
        yield f"{key}.widths: {filters['widths']}; expected the smaller one first"
    if min(filters["widths"]) < 4:
        yield f"{key}.widths: {min(filters['widths'])}; expected at least 4 filters for two groups"


def _injected_faults(injected: Mapping[str, Any], key: str) -> Iterator[str]:
    yield from _picture_faults(injected["pictures"], f"{key}.pictures")
    if others := injected.get("others"):
        yield from _picture_faults(others, f"{key}.others")
        for part, least in injected["pictures"]["samples"].items():
            if (number := others["samples"][part]) < least:
                yield f"{key}.others.samples.{part}: {number}; expected at least {least}"
    for name, cell in injected["students"]["cells"].items():
        if cell["injected"] == "pictures" and not others:
            yield f"{key}.others: missing; students.cells.{name} injects pictures"
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


def _injects_original(one: Mapping[str, Any] | None) -> bool:
    """Whether the structured inputs of a set are the thesis' own pictures."""
    cell = one and one["students"]["cells"].get("covariance")
    return bool(cell and cell["injected"] == "pictures" and one["others"]["original"])  # type: ignore[index]


def state(pictures: Mapping[str, Any]) -> tuple[str, str]:
    """A digest of the files of these pictures; and in words what is missing, if anything.

    A set that is missing is no fault of the config: what does not need it can be made.
    """
    data = pictures["data"]
    try:
        return listing_digest(sources(data), data.get("path") or "."), ""
    except FeatlearnError as error:
        return "missing", f"emergence: {error}"


def pictured(emergence: Mapping[str, Any], experiment: str) -> dict[str, Any]:
    """The pictures of an experiment, by the set of the thesis that they are or stand for."""
    own = emergence[experiment]
    if experiment == "filters":
        return {"cifar10": own["pictures"]}
    return {name: one["pictures"] for name, one in own.items()}


def states(emergence: Mapping[str, Any]) -> tuple[dict[str, dict[str, str]], list[str]]:
    """:func:`state` of all pictures, by experiment and set; and what is missing."""
    found = {
        experiment: {
            name: state(pictures) for name, pictures in pictured(emergence, experiment).items()
        }
        for experiment in SETS
    }
    for name, one in emergence["injected"].items():
        if others := one.get("others"):
            own, second = found["injected"][name], state(others)
            found["injected"][name] = (f"{own[0]} {second[0]}", own[1] or second[1])
    missing = dict.fromkeys(
        line for own in found.values() for _, line in own.values() if line
    )  # each once
    digests = {key: {name: one[0] for name, one in own.items()} for key, own in found.items()}
    return digests, list(missing)


def contents(emergence: Mapping[str, Any], experiment: str) -> dict[str, str]:
    """Of each exhibit of an experiment, whether it is made of the thesis' own pictures alone."""
    own = {name for name, one in pictured(emergence, experiment).items() if one["original"]}
    if experiment == "injected":
        own |= {f"{name}/{cell}" for name in own
                for cell in emergence["injected"][name]["students"]["cells"]}  # fmt: skip
        if all(_injects_original(emergence["injected"].get(name)) for name in ("cifar10", "svhn")):
            own.add("tiny-imagenet")
    return {
        name: "measured" if own.issuperset(sets.split()) else "stand-in"
        for name, sets in SETS[experiment].items()
    }
