"""What valid settings of image data and augmentation are, beyond types. No torch in here."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

# kind -> the splits that the set has by itself, role -> name
GIVEN: dict[str, dict[str, str]] = {
    "cifar10": {"train": "train", "test": "test"},
    "cifar100": {"train": "train", "test": "test"},
    "digits": {"train": "all"},
    "folder": {},
    "imagenet": {"train": "train", "test": "val"},
    "mnist": {"train": "train", "test": "test"},
    "parquet": {},
    "stl10": {"train": "train", "test": "test"},
    "svhn": {"train": "train", "test": "test"},
    "voc0712": {"train": "trainval", "test": "test"},
    "voc2007": {"train": "trainval", "test": "test"},
    "voc2012": {"train": "train", "test": "val"},
}
#: Kinds of encoders whose first, last and rectified layers have names.
LAYERED = ("plain", "alexnet", "wide_resnet")
# names that folders and Parquet files give to their splits
USUAL_NAMES = {
    "train": ("train", "training"),
    "validation": ("validation", "valid", "val", "dev"),
    "test": ("test", "testing"),
}


def given_splits(settings: Mapping[str, Any]) -> dict[str, str]:
    """Role (train, validation, test) -> the split of the data set that has it.

    For folders and Parquet files these are looked for on disk; a set without a split for training
    is taken whole: ``{"train": "all"}``.
    """
    if settings.get("splits"):
        return dict(settings["splits"])
    kind = settings["kind"]
    if GIVEN[kind]:
        return dict(GIVEN[kind])
    root = Path(settings["path"])
    found = {
        role: name
        for role, names in USUAL_NAMES.items()
        for name in reversed(names)
        if _has_split(kind, root, name)
    }
    return found if "train" in found else {"train": "all"}


def _has_split(kind: str, root: Path, name: str) -> bool:
    if kind == "folder":
        return (root / name).is_dir()
    patterns = (f"**/{name}.parquet", f"**/{name}-*.parquet", f"**/{name}/*.parquet")
    return root.is_dir() and any(next(root.glob(pattern), None) for pattern in patterns)


def data_faults(settings: Mapping[str, Any], key: str) -> Iterator[str]:
    """Values of a ``data`` group that contradict each other: one line each."""
    kind = settings.get("kind")
    if kind not in GIVEN:
        said = "missing" if kind is None else repr(kind)
        yield f"{key}.kind: {said}; expected one of {', '.join(GIVEN)}"
        return
    if kind != "digits" and not settings.get("path"):
        yield f"{key}.path: missing; expected the folder (or file) that holds the {kind} images"
    yield from _split_faults(settings, key)
    classes = settings.get("classes")
    if classes and len(set(classes)) < len(classes):
        yield f"{key}.classes: {classes}; expected each name once"
    for name in ("image_column", "label_column", "files"):
        if settings.get(name) and kind != "parquet":
            yield f"{key}.{name}: {settings[name]!r}; expected only with kind: parquet"
    for name in ("extensions", "follow_links"):
        if settings.get(name) and kind not in ("folder", "imagenet"):
            yield f"{key}.{name}: {settings[name]!r}; expected only with kind: folder or imagenet"
    for ending in settings.get("extensions") or ():
        if not ending.startswith("."):
            yield f"{key}.extensions: {ending!r}; expected a point first, as in '.jpg'"


def _split_faults(settings: Mapping[str, Any], key: str) -> Iterator[str]:
    splits, shares = settings.get("splits"), settings.get("shares") or {}
    if splits and "train" not in splits:
        yield f"{key}.splits: {dict(splits)}; expected train among them"
    for name, group in (("splits", splits or {}), ("shares", shares)):
        for role in group:
            if role not in USUAL_NAMES or (name, role) == ("shares", "train"):
                known = [role for role in USUAL_NAMES if (name, role) != ("shares", "train")]
                yield f"{key}.{name}.{role}: unknown key; expected one of {', '.join(known)}"
    if sum(shares.values()) >= 1 or any(share < 0 for share in shares.values()):
        yield f"{key}.shares: {dict(shares)}; expected shares from 0, less than 1 together"


# --------------------------------------------------------------------------- augmentation

IMAGENET_MEAN = (0.485, 0.456, 0.406)
IMAGENET_STD = (0.229, 0.224, 0.225)

# The steps of an augmentation by name. simmim, mae and simclr are the public defaults of those
# papers for pre-training, finetune those of MAE and SimMIM for fine-tuning.
PRESETS: dict[str, tuple[dict[str, Any], ...]] = {
    "none": (),
    "flip-crop": ({"op": "pad_crop"}, {"op": "flip"}),
    "simmim": ({"op": "random_resized_crop", "scale": (0.67, 1.0)}, {"op": "flip"}),
    "mae": (
        {"op": "random_resized_crop", "scale": (0.2, 1.0), "interpolation": "bicubic"},
        {"op": "flip"},
    ),
    "simclr": (
        {"op": "random_resized_crop", "scale": (0.08, 1.0)},
        {"op": "flip"},
        {"op": "colour_jitter", "brightness": 0.8, "contrast": 0.8, "saturation": 0.8, "hue": 0.2},
        {"op": "grey"},
        {"op": "blur"},
    ),
    "finetune": (
        {"op": "random_resized_crop", "scale": (0.08, 1.0), "interpolation": "bicubic"},
        {"op": "flip"},
        {"op": "randaugment"},
        {"op": "random_erasing"},
    ),
}


def augmentation_faults(settings: Mapping[str, Any], key: str) -> Iterator[str]:
    """Values of an ``augmentation`` group that contradict each other: one line each."""
    if settings.get("preset") is not None and settings.get("steps") is not None:
        yield f"{key}.steps: beside preset {settings['preset']!r}; expected one of the two"
    for name in ("mean", "std"):
        values = settings.get(name)
        if values is not None and len(values) != 3:
            yield f"{key}.{name}: {list(values)}; expected three numbers: red, green, blue"
    if any(value <= 0 for value in settings.get("std") or ()):
        yield f"{key}.std: {list(settings['std'])}; expected numbers above 0"
    for index, step in enumerate(settings.get("steps") or ()):
        for name in ("scale", "ratio", "sigma"):
            if name in step and not _is_range(step[name]):
                yield (
                    f"{key}.steps.{index}.{name}: {step[name]!r}; expected two numbers above "
                    "0, the lower one first"
                )
        if "p" in step and not 0 <= step["p"] <= 1:
            yield f"{key}.steps.{index}.p: {step['p']}; expected a probability, 0 to 1"


def _is_range(value: Any) -> bool:
    """True for a list of two finite numbers above 0, the lower one first."""
    return (
        isinstance(value, list | tuple)
        and [type(one) in (int, float) for one in value] == [True, True]
        and 0 < value[0] <= value[1] < math.inf
    )
