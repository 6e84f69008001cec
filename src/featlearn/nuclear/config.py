"""What a valid ``nuclear`` config must satisfy beyond types and ranges. No torch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from featlearn.core.errors import FeatlearnError
from featlearn.core.run.checks import Checks, must
from featlearn.images.config_data import augmentation_faults, data_faults, find_weights


class Benchmark(NamedTuple):
    """A data set of the thesis: its need in the catalogue, its table, its classes and images.

    ``columns``: of the table, a domain each, in the order of the folders and with their initials.
    """

    need: str
    table: str
    classes: int
    images: int
    columns: tuple[str, ...]


#: By the names of the thesis, sizes as DomainBed has them.
SETS = {
    "VLCS": Benchmark("vlcs", "table-e-1", 5, 10729, ("C", "L", "S", "V")),
    "PACS": Benchmark("pacs", "table-e-2", 7, 9991, ("A", "C", "P", "S")),
    "OfficeHome": Benchmark("officehome", "table-e-3", 65, 15588, ("A", "C", "P", "R")),
    "TerraInc": Benchmark("terra-incognita", "table-e-4", 10, 24788, ("L100", "L38", "L43", "L46")),
    "DomainNet": Benchmark(
        "domainnet", "table-e-5", 345, 586575, ("clip", "info", "paint", "quick", "real", "sketch")
    ),
}
#: Share of a set's images that may be missing: copies differ.
LOST = 0.02
#: Algorithms that the tables measured, and did not quote.
ARMS = {"ERM", "ERM-NU", "Mixup", "Mixup-NU"}


def met(domains: Mapping[str, Any]) -> set[str]:
    """Needs of the catalogue that a config meets: a set by its folders, and the thesis' protocol.

    A name alone is no set: classes and images are counted. Without ResNet-50 as the thesis
    fine-tunes it, in as many steps and trials, and without one of :data:`ARMS`, none is met.
    """
    made, training = domains["domains"], domains["training"]
    arms = {name for name, arm in domains["arms"].items() if arm is not None}
    if not (
        made["made"] == "folders"
        and made.get("name") in SETS
        and not made.get("most")
        and made["data"].get("size") == 224
        and domains["encoder"] == {"kind": "resnet50"}
        and domains["weights"].startswith("torchvision:ResNet50_Weights.IMAGENET1K")
        and domains["features"] == "mean"
        and training["steps"] >= 5000
        and domains["trials"] >= 3
        and arms >= ARMS
    ):
        return set()
    own = SETS[made["name"]]
    root = Path(made["data"]["path"]).expanduser()
    folders = sorted(path.name for path in root.glob("[!.]*") if path.is_dir())
    classes = {path.name for path in root.glob("[!.]*/[!.]*") if path.is_dir()}
    images = sum(1 for _ in root.glob("[!.]*/[!.]*/[!.]*"))
    right = (named(made["name"], "folders", own.table, folders) and len(classes) == own.classes
             and abs(images / own.images - 1) <= LOST)  # fmt: skip
    return {own.need, "resnet50-imagenet"} if right else set()


def named(name: str, made: str, table: str, domains: Iterable[str]) -> dict[str, str]:
    """The printed column of each domain in a table; empty where it is not that of the set."""
    own = SETS.get(name)
    if made != "folders" or not own or own.table != table:
        return {}
    found = dict(zip(sorted({*domains} - {"Avg"}), own.columns, strict=False))
    fit = len(found) == len(own.columns)
    return found if fit and all(f[0].lower() == c[0].lower() for f, c in found.items()) else {}


def faults(nuclear: Mapping[str, Any]) -> list[str]:
    """Values that contradict each other."""
    check = Checks("nuclear", nuclear)
    domains = nuclear["domains"]
    for name in ("rank", "featuriser"):
        check.less(f"theory.{name}.r", f"theory.{name}.d")
    made = domains["domains"]
    data = {"kind": "folder", **made["data"]} if made["made"] == "folders" else made["data"]
    check.faults += data_faults(data, "nuclear.domains.domains.data")
    if made.get("name"):
        known = f"one of {', '.join(SETS)}, or nothing"
        check("domains.domains.name", made["name"] in SETS, known)
    if (weights := domains["weights"]) and ":" not in weights:
        there = Path(weights).expanduser().is_file()
        check("domains.weights", there, "a file, or library:name", weights)
    if domains["augmentation"]:
        check.faults += augmentation_faults(domains["augmentation"], "nuclear.domains.augmentation")
    arms = {name: arm for name, arm in domains["arms"].items() if arm is not None}
    for name in ("ERM", "ERM-NU"):
        check("domains.arms", name in arms, f"with {name}: figures compare with it", list(arms))
    first: dict[str, str] = {}
    for name, arm in arms.items():
        same = first.setdefault(repr(sorted(arm.items())), name)
        wanted = "other settings: a comparison of an algorithm with itself shows nothing"
        check(f"domains.arms.{name}", same == name, wanted, f"those of {same}")
    check.holds("domains.sweep.weights", 0)
    check.most("domains.training.checkpoint_every", "domains.training.steps")
    return check.faults


def missing(nuclear: Mapping[str, Any]) -> Iterator[str]:
    """The folder of domains, and the file of named weights, if they are not there."""
    domains = nuclear["domains"]
    made, weights = domains["domains"], domains["weights"]
    if made["made"] == "folders" and not Path(path := made["data"]["path"]).expanduser().is_dir():
        yield must("nuclear.domains.domains.data.path", "a folder with a folder a domain", path)
    if ":" in weights:
        try:
            find_weights(weights, domains.get("weights_folder"))
        except FeatlearnError as error:
            yield f"nuclear.domains.{error}"


def state(nuclear: Mapping[str, Any]) -> str:
    """A digest of the files of images and weights, so that other files are read again."""
    weights = Path(nuclear["domains"].get("weights") or ".").expanduser()
    status = weights.stat() if weights.is_file() else None
    told = f"-{status.st_size}-{status.st_mtime_ns}" if status else ""
    return _images(nuclear["domains"]["domains"]) + told


def _images(own: Mapping[str, Any]) -> str:
    from featlearn.images.data.on_disk import listing_digest, sources

    try:
        if own["made"] != "folders":
            return listing_digest(sources(own["data"]), own["data"])
        root = Path(own["data"]["path"]).expanduser()
        found: dict[str, Any] = {}
        for folder in sorted(path for path in root.iterdir() if path.is_dir()):
            data = {**own["data"], "kind": "folder", "path": str(folder),
                    "splits": {"train": "all"},
                    "shares": {"test": 0.2}}  # fmt: skip
            found |= {f"{folder.name}/{k}": v for k, v in sources(data).items()}
        return listing_digest(found, own["data"])
    except (FeatlearnError, OSError):
        return "missing"
