"""What valid settings of image data and augmentation are, beyond types. No torch in here."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping
from importlib.metadata import version
from itertools import combinations
from pathlib import Path
from typing import Any

from featlearn.core.errors import ConfigError, FeatlearnError
from featlearn.core.run.checks import Checks, some
from featlearn.core.run.notes import noted
from featlearn.images.data.published import PUBLISHED

# kind -> the splits that the set has by itself, role -> name; others are looked for
GIVEN: dict[str, dict[str, str]] = {
    "digits": {"train": "all"},
    "folder": {},
    "imagenet": {"train": "train", "test": "val"},
    "parquet": {},
    "torchvision": {},
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

    Folders and Parquet files are looked for on disk; a set without a training split is taken whole:
    ``{"train": "all"}``. Raises ConfigError if an image would have two roles.
    """
    found = _given_splits(settings)
    rows: Mapping[str, Any] = settings.get("rows") or {}
    if unknown := [role for role in rows if role not in found]:
        raise ConfigError(
            f"rows.{unknown[0]} must be of a role with a split ({some(found)}), got no split"
        )
    for one, other in combinations(found, 2):
        if found[one] == found[other] and any(
            a[0] < b[1] and b[0] < a[1]
            for a in rows.get(one) or [(0, math.inf)]
            for b in rows.get(other) or [(0, math.inf)]
        ):
            raise ConfigError(f"rows of {one} and {other} must share no image, got some of both")
    return found


def _given_splits(settings: Mapping[str, Any]) -> dict[str, str]:
    if settings.get("splits"):
        return dict(settings["splits"])
    kind = settings["kind"]
    if GIVEN[kind]:
        return dict(GIVEN[kind])
    if kind == "torchvision":
        own = PUBLISHED[settings["name"]].splits
        return {role: role for role in ("train", "test") if role in own} or {"train": "all"}
    root = place(settings)
    found = {role: name for role, names in USUAL_NAMES.items() for name in reversed(names)
             if _has_split(kind, root, name)}  # fmt: skip
    return found if "train" in found else {"train": "all"}


def place(settings: Mapping[str, Any]) -> Path:
    """The folder or file that a set lies in; ``data`` for a named one whose config does not say."""
    usual = "data" if settings.get("kind") == "torchvision" else "."
    folder = settings.get("root") or settings.get("path") or usual
    try:
        return Path(folder).expanduser()
    except RuntimeError:  # nobody of that name; the folder is missing, as its reader says
        return Path(folder)


def is_whole(settings: Mapping[str, Any], key: str, name: str) -> bool:
    """Whether a group, whose data have this ``key``, takes all images of a named set."""
    data = settings.get(key) or {}
    named = data.get("kind") == "torchvision" and data["name"].lower() == name
    return named and not data.get("rows") and settings.get("train_images") is None


def _has_split(kind: str, root: Path, name: str) -> bool:
    if kind == "folder":
        return (root / name).is_dir()
    patterns = (f"**/{name}.parquet", f"**/{name}-*.parquet", f"**/{name}/*.parquet")
    return root.is_dir() and any(next(root.glob(pattern), None) for pattern in patterns)


def data_faults(settings: Mapping[str, Any], path: str) -> list[str]:
    """Values of a ``data`` group that contradict each other."""
    check = Checks(path, settings)
    kind, splits = settings.get("kind"), settings.get("splits")
    if not check("kind", kind in GIVEN, f"one of {', '.join(GIVEN)}", kind):
        return check.faults
    if kind == "torchvision":
        named = settings.get("name")
        known = [name for name in PUBLISHED if not name.startswith("VOC")]
        check("name", named in known, f"one of {', '.join(known)}", named)
        check("path", not settings.get("path"), "absent beside kind: torchvision, which has root")
    else:
        right = kind == "digits" or bool(settings.get("path"))
        wanted = f"the folder (or file) that holds the {kind} images"
        check("path", right, wanted, settings.get("path"))
    for role, ranges in (settings.get("rows") or {}).items():
        ends = [0, *(end for pair in ranges for end in pair)]
        right = bool(ranges) and ends == sorted(ends) and all(a < b for a, b in ranges)
        check(f"rows.{role}", right, "rising pairs: the first row, and that after the last", ranges)
    try:
        right = re.compile(settings.get("together") or "()").groups > 0
    except re.error:
        right = False
    check("together", right, "a pattern with a group", settings.get("together"))
    check("splits", not splits or "train" in splits, "a group with train")
    shares = settings.get("shares") or {}
    roles = list(USUAL_NAMES)
    for name, group, known in (("splits", splits or {}, roles), ("shares", shares, roles[1:])):
        for role in group:
            check(f"{name}.{role}", role in known, f"one of {', '.join(known)}", role)
    right = sum(shares.values()) < 1 and all(share >= 0 for share in shares.values())
    check("shares", right, "shares from 0, less than 1 together")
    classes = settings.get("classes") or []
    check("classes", len(set(classes)) == len(classes), "a list with each name once")
    for kinds, names in (
        (("parquet",), ("image_column", "label_column", "files")),
        (("folder", "imagenet"), ("extensions", "follow_links")),
        (("torchvision",), ("name", "root")),
    ):
        for name in names:
            right = not settings.get(name) or kind in kinds
            check(name, right, f"given only with kind: {' or '.join(kinds)}")
    for ending in settings.get("extensions") or ():
        check("extensions", ending.startswith("."), "a list of endings as '.jpg'", ending)
    return check.faults


IMAGENET_MEAN = (0.485, 0.456, 0.406)
IMAGENET_STD = (0.229, 0.224, 0.225)

# The steps of an augmentation by name. simmim, mae and simclr are the public defaults of those
# papers for pre-training.
PRESETS: dict[str, tuple[dict[str, Any], ...]] = {
    "none": (),
    "flip-crop": ({"op": "pad_crop"}, {"op": "flip"}),
    "simmim": ({"op": "random_resized_crop", "scale": (0.67, 1.0)}, {"op": "flip"}),
    "mae": ({"op": "random_resized_crop", "scale": (0.2, 1.0), "interpolation": "bicubic"},
            {"op": "flip"}),
    "simclr": (
        {"op": "random_resized_crop", "scale": (0.08, 1.0)},
        {"op": "flip"},
        {"op": "colour_jitter", "brightness": 0.8, "contrast": 0.8, "saturation": 0.8, "hue": 0.2},
        {"op": "grey"},
        {"op": "blur"},
    ),
}  # fmt: skip


def augmentation_faults(settings: Mapping[str, Any], path: str) -> list[str]:
    """Values of an ``augmentation`` group that contradict each other, or that no schema bounds."""
    check = Checks(path, settings)
    steps, preset = settings.get("steps"), settings.get("preset")
    check("steps", steps is None or preset is None, f"absent beside the preset {preset!r}")
    for index, step in enumerate(steps or ()):
        for name in ("scale", "ratio", "sigma"):
            right = name not in step or _is_range(step[name])
            check(f"steps.{index}.{name}", right, "two numbers above 0, the lower one first")
    return check.faults


def _is_range(value: Any) -> bool:
    return (isinstance(value, list | tuple)
            and [type(one) in (int, float) for one in value] == [True, True]
            and 0 < value[0] <= value[1] < math.inf)  # fmt: skip


def find_weights(source: str | Path, folder: str | Path | None = None) -> Path:
    """The file of weights, see :func:`featlearn.images.weights.load_weights`, without torch.

    Raises FeatlearnError naming where it may be put, if there is none.
    """
    library, separator, name = str(source).partition(":")
    if not separator or library not in ("torchvision", "timm"):
        if not Path(source).is_file():
            raise FeatlearnError(f"weights {source}: no such file")
        return Path(source)
    files, address = _torchvision_file(name) if library == "torchvision" else _timm_files(name)
    cache = os.environ.get("XDG_CACHE_HOME", "~/.cache")
    hub = Path(os.environ.get("TORCH_HOME", f"{cache}/torch"), "hub").expanduser()
    folders = [hub / "checkpoints"]
    if folder is not None:
        folders.insert(0, Path(folder))
    for place in folders:
        for file in files:
            if (place / file).is_file():
                return place / file
    raise FeatlearnError(
        f"weights {source}: not here, and nothing is downloaded; put {' or '.join(files)}"
        f"{address} into {' or '.join(map(str, folders))}"
    )


def _torchvision_file(name: str) -> tuple[list[str], str]:
    def look_up() -> str:
        from torchvision.models import get_weight  # and torch: seconds of a plan

        try:
            return str(get_weight(name).url)
        except (ValueError, KeyError, AttributeError) as error:
            raise ConfigError(
                f"weights torchvision:{name}: unknown; expected a name such as "
                "ResNet50_Weights.IMAGENET1K_V1"
            ) from error

    address: str = noted(f"torchvision {version('torchvision')} {name}", look_up)
    return [address.rpartition("/")[2]], f" (from {address})"


def _timm_files(name: str) -> tuple[list[str], str]:
    if not re.fullmatch(r"[\w.-]+", name):
        raise ConfigError(f"weights timm:{name}: expected a name such as deit_base_patch16_224")
    return [f"{name}.safetensors", f"{name}.pth"], f" (the weights of timm's model {name})"
