"""What a valid ``emergence`` config must also satisfy, beyond types and ranges. No torch."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from math import comb
from typing import Any

from featlearn.core.errors import FeatlearnError
from featlearn.core.run.checks import Checks
from featlearn.images.config_data import data_faults
from featlearn.images.data.on_disk import listing_digest, sources

#: Exhibits of each experiment, with the thesis' sets of pictures, and cells of students.
SETS = {
    "neurons": {"fig-2-3": "mnist", "fig-a-13": "mnist", "fig-a-14": "cifar10", "fig-a-15": "svhn",
                "neuron-directions": "mnist cifar10 svhn"},
    "filters": {"fig-a-16": "cifar10", "fig-a-17": "cifar10", "table-a-7": "cifar10"},
    "injected": {
        "fig-2-4": "mnist cifar10 svhn", "fig-a-18": "mnist cifar10 svhn",
        "fig-a-19": "cifar10 svhn tiny-imagenet",
        "fig-a-20": "cifar10 cifar10/gaussian-25 cifar10/gaussian-75", "fig-a-21": "mnist",
        "fig-a-22": "mnist", "student-accuracies": "mnist cifar10 svhn",
    },
}  # fmt: skip
#: Filters in the first stages of the thesis' ResNets.
RESNETS = [128, 256]
#: Mixtures of students that figures show.
CELLS = ("gaussian", "gaussian-25", "gaussian-75", "gaussian-wide", "covariance")


def faults(emergence: Mapping[str, Any]) -> list[str]:
    """Values that contradict each other."""
    check = Checks("emergence", emergence)
    for name, cell in emergence["curves"].items():
        key = f"curves.{name}"
        check.faults += _data_faults(cell["data"], f"emergence.{key}.data")
        check.least(f"{key}.dimensions", f"{key}.data.patterns", "patterns are orthonormal")
        share = cell["data"].get("negative_share", 0.5)
        for part, number in cell["samples"].items():
            right = 0 < round(share * number) < number
            check(f"{key}.samples.{part}", right, "so many that both labels occur")
    check.faults += _data_faults(emergence["general"]["data"], "emergence.general.data")
    check.least("general.dimension", "general.data.patterns", "they cannot be told apart otherwise")
    check.holds("general.noises", 0.1, why="of which a claim speaks")
    for name, cell in emergence["neurons"].items():
        _check_pictures(check, f"neurons.{name}.pictures", cell["pictures"], classes=2)
        right = 0 in cell["shown"] and max(cell["shown"]) > 0
        check(f"neurons.{name}.shown", right, "a list of 0, the start, and later steps")
    _check_filters(check, emergence["filters"])
    for name, cell in emergence["injected"].items():
        _check_injected(check, f"injected.{name}", cell)
    # which stands for all sets that are not measured
    teachers = emergence["injected"]["mnist"]["descent"]["teachers"]
    check("injected.mnist.descent.teachers", teachers, "a list of some; a figure shows students")
    check.holds("injected.mnist.students.cells", *CELLS, why="which figures show")
    for name in emergence["mixture"]["settings"]:
        key = f"mixture.settings.{name}"
        check.most(f"{key}.relevant", f"{key}.dimension", "patterns are orthonormal")
        check.most(f"{key}.moments", f"{key}.epochs")
    return check.faults


def _data_faults(data: Mapping[str, Any], path: str) -> list[str]:
    check = Checks(path, data)
    kind, k = data["kind"], data["relevant"]
    check.less("relevant", "patterns")
    if kind == "parity":
        check("relevant", k % 2 and k >= 3, "an odd number from 3 on for parity labels")
        background = data.get("background", 0.5)
        wanted = "at most 2/3: one component has patterns with background / (2 - 2 background)"
        check("background", background <= 2 / 3, wanted, background)
    even = data.get("prototypes", 2) % 2 == 0
    check("prototypes", even, "an even number, half of each label")
    for name, only in (("interval", "interval"), ("counts", "interval"), ("frequency", "interval"),
                       ("negative_share", "parity"), ("prototypes", "prototypes")):  # fmt: skip
        check(name, name not in data or kind == only, f"given with kind {only} alone")
    if kind == "interval":
        given = "counts" if data.get("counts") else "interval"
        check("interval", given == "interval" or not data.get("interval"), "absent beside counts")
        low, high = data.get("interval") or (0, 0)
        counts = {*(data.get("counts") or range(low, high + 1))}
        wanted = f"two counts with 0 < first <= last <= {k}"
        right = 0 < low <= high <= k
        if given == "counts":
            wanted, right = f"counts from 0 to {k}", counts <= {*range(k + 1)}
        if check(given, right, wanted, data.get(given)):
            some = not counts >= {*range(1, k + 1)}
            check(given, some, "counts that leave some for the label -1", data.get(given))
            tells = not some or _tells(counts, k, data.get("frequency", 2 / 3))
            wanted = "counts of which a pattern tells: likelier with it, or without it"
            check(given, tells, wanted, data.get(given))
    return check.faults


def _tells(counts: Collection[int], k: int, p: float) -> bool:
    """Whether the label +1, of these counts, is likelier or rarer with a relevant pattern."""
    law = [comb(k - 1, c) * p**c * (1 - p) ** (k - 1 - c) for c in range(k)]
    gap = sum(one * ((c + 1 in counts) - (c in counts)) for c, one in enumerate(law))
    return abs(gap) > 1e-9


def _check_pictures(check: Checks, key: str, pictures: Mapping[str, Any], classes: int = 0) -> None:
    check.faults += data_faults(pictures["data"], f"emergence.{key}.data")
    kept = pictures.get("classes") or []
    check(f"{key}.classes", len(set(kept)) == len(kept), "a list with each name once", kept)
    right = not classes or len(kept) == classes
    check(f"{key}.classes", right, f"the names of {classes} classes", kept)


def _check_filters(check: Checks, filters: Mapping[str, Any]) -> None:
    _check_pictures(check, "filters.pictures", filters["pictures"], classes=2)
    check.holds("filters.shown", 0, filters["epochs"], why="the start and the last epoch")
    check.most("filters.shown", "filters.epochs")
    batches = -(-filters["pictures"]["samples"]["train"] // filters["batch_size"])
    steps = batches * filters["epochs"]
    wanted = "so many that there are 30 steps, whose gradients are compared"
    check("filters.epochs", steps >= 30, wanted, f"{steps} steps")
    check.rising("filters.widths")
    check("filters.widths", min(filters["widths"]) >= 4, "at least 4 filters for two groups")


def _check_injected(check: Checks, key: str, injected: Mapping[str, Any]) -> None:
    _check_pictures(check, f"{key}.pictures", injected["pictures"])
    train = injected["pictures"]["samples"]["train"]
    if others := injected.get("others"):
        _check_pictures(check, f"{key}.others", others)
        for part in injected["pictures"]["samples"]:
            check.least(f"{key}.others.samples.{part}", f"{key}.pictures.samples.{part}")
    for name in ("sizes", "teachers"):
        check.rising(f"{key}.descent.{name}")
    right = len(injected["descent"]["sizes"]) >= 3
    check(f"{key}.descent.sizes", right, "at least three sizes, or no curve has a minimum")
    for name, cell in injected["students"]["cells"].items():
        right = cell["injected"] != "pictures" or bool(others)
        wanted = f"given: students.cells.{name} injects pictures"
        check(f"{key}.others", right, wanted, "nothing")
        right = 0 < round(cell["alpha"] * train) < train
        wanted = "a share that leaves pictures and takes injected inputs"
        check(f"{key}.students.cells.{name}.alpha", right, wanted)


def state(pictures: Mapping[str, Any]) -> tuple[str, str]:
    """A digest of the files of these pictures; and what is missing, no fault of the config."""
    data = pictures["data"]
    try:
        return listing_digest(sources(data), data), ""
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
    found = {name: {key: state(own) for key, own in pictured(emergence, name).items()}
             for name in SETS}  # fmt: skip
    for name, one in emergence["injected"].items():
        if others := one.get("others"):
            own, second = found["injected"][name], state(others)
            found["injected"][name] = (f"{own[0]} {second[0]}", own[1] or second[1])
    missing = dict.fromkeys(line for own in found.values() for _, line in own.values() if line)
    digests = {key: {name: one[0] for name, one in own.items()} for key, own in found.items()}
    return digests, list(missing)


def contents(emergence: Mapping[str, Any], experiment: str) -> dict[str, str]:
    """Of each exhibit, whether it is made of the thesis' own pictures (and ResNets) alone."""
    own = {name for name, one in pictured(emergence, experiment).items() if one["original"]}
    if experiment == "filters" and emergence["filters"]["widths"] != RESNETS:
        own.clear()
    if experiment == "injected":
        own |= {f"{name}/{cell}" for name in own
                for cell in emergence["injected"][name]["students"]["cells"]}  # fmt: skip
        both = [emergence["injected"].get(name) for name in ("cifar10", "svhn")]
        cells = [one and one["students"]["cells"].get("covariance") for one in both]
        given = [cell and cell["injected"] == "pictures" for cell in cells]
        if all(given) and all(one["others"]["original"] for one in both if one):
            own.add("tiny-imagenet")
    kinds = {name: one["data"].get("kind") for name, one in pictured(emergence, experiment).items()}
    return {name: "measured" if own.issuperset(sets.split())
            else "digits" if {kinds.get(one) for one in sets.split()} == {"digits"} else "stand-in"
            for name, sets in SETS[experiment].items()}  # fmt: skip
