"""What a valid ``nuclear`` config must satisfy beyond types and ranges. No torch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from featlearn.core.checks import Checks, must
from featlearn.core.errors import FeatlearnError
from featlearn.images.config_data import augmentation_faults, data_faults

#: Data sets of the thesis, and the tables that they alone make.
TABLES = {
    "VLCS": "table-e-1", "PACS": "table-e-2", "OfficeHome": "table-e-3", "TerraInc": "table-e-4",
    "DomainNet": "table-e-5",
}  # fmt: skip

#: Figures and tables of the experiment with domains; all but one need more sets than one.
SHOWN = (
    "fig-6-4", "fig-6-5", "rates", "table-6-1", "table-6-2", "table-6-3", "table-e-6",
    *TABLES.values(),
)  # fmt: skip


def contains(domains: Mapping[str, Any]) -> dict[str, str]:
    """Of each exhibit, whether it is made of the thesis' own set: of folders under its name."""
    own = TABLES.get(domains.get("name") or "") if domains["made"] == "folders" else None
    return {name: "measured" if name == own else "stand-in" for name in SHOWN}


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
        known = f"one of {', '.join(TABLES)}, or nothing"
        check("domains.domains.name", made["name"] in TABLES, known)
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
    """The folder of domains, if it is not there."""
    made = nuclear["domains"]["domains"]
    if made["made"] == "folders" and not Path(path := made["data"]["path"]).expanduser().is_dir():
        yield must("nuclear.domains.domains.data.path", "a folder with a folder a domain", path)


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
