"""What a valid ``nuclear`` config must satisfy beyond types and ranges. No torch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

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


def faults(nuclear: Mapping[str, Any]) -> Iterator[str]:
    """Values that contradict each other: one line each, with the key and what was expected."""
    theory, domains = nuclear["theory"], nuclear["domains"]
    for name in ("rank", "featuriser"):
        own = theory[name]
        if own["r"] >= own["d"]:
            yield f"nuclear.theory.{name}.r: {own['r']}; expected fewer than d ({own['d']})"
    own = domains["domains"]
    data = {"kind": "folder", **own["data"]} if own["made"] == "folders" else own["data"]
    yield from data_faults(data, "nuclear.domains.domains.data")
    if own.get("name") and own["name"] not in TABLES:
        yield (
            f"nuclear.domains.domains.name: {own['name']!r}; expected one of {', '.join(TABLES)}, "
            "or nothing"
        )
    weights = domains["weights"]
    if weights and ":" not in weights and not Path(weights).expanduser().is_file():
        yield f"nuclear.domains.weights: {weights}: no such file; expected one, or library:name"
    if domains["augmentation"]:
        yield from augmentation_faults(domains["augmentation"], "nuclear.domains.augmentation")
    arms = domains["arms"]
    for name in ("ERM", "ERM-NU"):
        if arms.get(name) is None:
            yield f"nuclear.domains.arms.{name}: missing; expected it: figures compare with it"
    first: dict[str, str] = {}
    for name, arm in arms.items():
        if arm is not None and (same := first.setdefault(repr(sorted(arm.items())), name)) != name:
            yield (
                f"nuclear.domains.arms.{name}: the settings of {same}; expected others, for a "
                "comparison of an algorithm with itself shows nothing"
            )
    if 0 not in domains["sweep"]["weights"]:
        yield f"nuclear.domains.sweep.weights: {domains['sweep']['weights']}; expected 0 among them"
    training = domains["training"]
    if training["checkpoint_every"] > training["steps"]:
        yield (
            f"nuclear.domains.training.checkpoint_every: {training['checkpoint_every']}; expected "
            f"at most the {training['steps']} steps"
        )


def missing(nuclear: Mapping[str, Any]) -> Iterator[str]:
    """The folder of domains, if it is not there."""
    own = nuclear["domains"]["domains"]
    if own["made"] == "folders" and not Path(own["data"]["path"]).expanduser().is_dir():
        yield (
            f"nuclear.domains.domains.data.path: {own['data']['path']}: no such folder; expected "
            "one with a folder a domain"
        )


def state(nuclear: Mapping[str, Any]) -> str:
    """A digest of the files of images and weights, so that other files are read again."""
    weights = Path(nuclear["domains"].get("weights") or ".").expanduser()
    status = weights.stat() if weights.is_file() else None
    told = f"-{status.st_size}-{status.st_mtime_ns}" if status else ""
    return _images(nuclear["domains"]["domains"]) + told


def _images(own: Mapping[str, Any]) -> str:
    from featlearn.images.on_disk import listing_digest, sources

    try:
        if own["made"] != "folders":
            return listing_digest(sources(own["data"]), own["data"].get("path") or ".")
        root = Path(own["data"]["path"]).expanduser()
        found: dict[str, Any] = {}
        for folder in sorted(path for path in root.iterdir() if path.is_dir()):
            data = {**own["data"], "kind": "folder", "path": str(folder),
                    "splits": {"train": "all"},
                    "shares": {"test": 0.2}}  # fmt: skip
            found |= {f"{folder.name}/{k}": v for k, v in sources(data).items()}
        return listing_digest(found, str(root))
    except (FeatlearnError, OSError):
        return "missing"
