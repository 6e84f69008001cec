"""What a valid ``universality`` config must satisfy beyond types and ranges. No torch."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from featlearn.core.errors import FeatlearnError
from featlearn.core.run.checks import Checks
from featlearn.images.config_data import data_faults, find_weights, place
from featlearn.universality.encoders import ADAPTED, ALL, COPIES, PROBED
from featlearn.universality.words import WORLD

#: By how a name begins: what an encoder is in the catalogue, its kind, and its name in timm.
SHAPES: dict[str, tuple[str, tuple[str, ...]]] = {
    "CLIP": ("clip-vit-l", ("timm vit_large_patch14_clip",)),
    "MoCo v3 ViT-S": ("imagenet", ("vit_small", "timm vit_small")),
    "MoCo v3": ("moco-v3-vit-b", ("vit_base", "timm vit_base")),
    "SimCSE": ("simcse-bert", ("text",)),
    "UniCL": ("unicl-swin-t", ("timm swin_tiny",)),
}
#: By the names of the thesis: what a set is in the catalogue, classes, least labelled samples.
SETS = {
    "ImageNet": ("imagenet", 1000, 1_000_000), "ImageNet22k": ("imagenet22k", 21_841, 10_000_000),
    "SVHN": ("svhn", 10, 58_000), "GTSRB": ("gtsrb", 43, 21_000), "IMDB": ("imdb", 2, 20_000),
    "CIFAR-10": ("cifar10", 10, 40_000), "AGNews": ("ag-news", 4, 96_000),
}  # fmt: skip
#: Shares of the labels that figures show, in per cent.
SHARES = (1, 5, 10, 20, 100)


def faults(universality: Mapping[str, Any]) -> list[str]:
    """Values that contradict each other."""
    check = Checks("universality", universality)
    probe = universality["theory"]["probe"]
    features = probe["shared"] + probe["private"]
    wanted = f"a list with one below twice the {features} features, where weights matter"
    check("theory.probe.labels", min(probe["labels"]) < 2 * features, wanted)
    check.holds("theory.probe.tasks", 1)
    _check_ladders(check, universality["ladders"])
    for key in ("related.kinds", "foundation.tasks"):
        check.less(key, "ladders.tasks")
    copies = universality["foundation"]["copies"]
    right = copies[0] == 1 and sorted(copies) == list(copies)
    check("foundation.copies", right, "a rising list that begins with 1")
    for name, model in universality["foundation"]["models"].items():
        _check_encoder(check, model, f"foundation.models.{name}")
    for ladder in ("pictures", "residual"):
        check_sets(check, universality[ladder]["sets"], f"{ladder}.sets")
    return check.faults


def missing(foundation: Mapping[str, Any]) -> Iterator[str]:
    """Files of named weights that are not there."""
    for name, model in foundation["models"].items():
        if ":" in model["weights"] and model["encoder"].get("kind") != "text":
            try:
                find_weights(model["weights"], model.get("folder"))
            except FeatlearnError as error:
                yield f"universality.foundation.models.{name}.{error}"


def met(foundation: Mapping[str, Any]) -> set[str]:
    """Needs of the catalogue that a config meets.

    A name alone meets none: an encoder has the thesis' shape, a data set its classes and images.
    """
    found: set[str] = set()
    lost: set[str] = set()
    for name, model in foundation["models"].items():
        shape = f"{model['encoder'].get('kind')} {model['encoder'].get('name', '')}"
        need, shapes = next((SHAPES[one] for one in SHAPES if name.startswith(one)), ("", ()))
        if not shape.startswith(shapes):
            lost.add(need)
        elif need not in {own[0] for own in SETS.values()}:
            found.add(need)
        for target, data in model["targets"].items():
            need, classes, images = SETS.get(target, ("", 0, 0))
            (found if need and _holds(data, need, classes, images) else lost).add(need)
    return found - lost - {""}


def _holds(data: Mapping[str, Any], need: str, classes: int, images: int) -> bool:
    """Whether labelled samples are as many as in a set of the thesis, and of as many classes."""
    from featlearn.images.data.on_disk import sources

    if data.get("kind", "text") not in ("folder", "text"):
        return str(data.get("name", "")).lower() == need
    if "kind" not in data:
        root = Path(data["path"]).expanduser()
        lines = [json.loads(line)["label"] for part in ("train", "validation")
                 for line in (root / f"{part}.jsonl").read_text("utf-8").splitlines()]  # fmt: skip
        return len(set(lines)) == classes and len(lines) >= images
    opened = [own for split, own in sources(data).items() if split != "test"]
    counted = sum(len(own.files) for own in opened)
    return len(opened[0].classes) == classes and counted >= images


def check_sets(
    check: Checks, sets: Sequence[Mapping[str, Any]], key: str, made: bool = True
) -> None:
    """Sets of a ladder, with ``data`` or, where that is allowed, ``made``."""
    names = [each["name"] for each in sets]
    check(key, len(set(names)) == len(names), "a list whose names differ", names)
    wanted = "a set with data or made, one of them" if made else "a set with data"
    for number, each in enumerate(sets):
        right = ("data" in each) != ("made" in each) and (made or "data" in each)
        if check(f"{key}.{number}", right, wanted, sorted(each)) and "data" in each:
            check.faults += data_faults(each["data"], f"{check.path}.{key}.{number}.data")


def check_data(check: Checks, data: Mapping[str, Any], key: str) -> None:
    """Settings of pictures on disk, which must be there."""
    check.faults += data_faults(data, f"{check.path}.{key}")
    where = place(data)
    check(f"{key}.path", where.exists(), "a folder or a file", str(where))


def _check_ladders(check: Checks, ladders: Mapping[str, Any]) -> None:
    mixtures, tasks = ladders["mixtures"], ladders["tasks"]
    check.holds("ladders.mixtures", 1, tasks, why="the target alone, and all tasks")
    check.most("ladders.mixtures", "ladders.tasks")
    check.rising("ladders.mixtures")
    same = len(ladders["class_weights"]) == len(mixtures)
    check("ladders.class_weights", same, f"{len(mixtures)} numbers, one a mixture")
    check.less("ladders.alone", "ladders.tasks")
    worlds = list(ladders["worlds"])
    check("ladders.worlds", worlds[0] == WORLD, f"worlds with {WORLD} first", worlds)
    expected = [ladders["samples"]["train"] * share // 100 for share in SHARES]
    wanted = f"{expected}: {SHARES} % of samples.train ({ladders['samples']['train']})"
    check("ladders.labels", list(ladders["labels"]) == expected, wanted)


def _check_encoder(check: Checks, model: Mapping[str, Any], key: str) -> None:
    """What else only the job of the encoder would notice, after the networks before it."""
    kind, weights = model["encoder"]["kind"], model["weights"]
    known = {"kind", "name"} | ({"pooling"} if kind == "timm" else set())
    if kind in ("timm", "torchvision"):
        right = {"kind", "name"} <= set(model["encoder"]) <= known
        wanted = f"the kind {kind} and the name of a network of it"
        check(f"{key}.encoder", right, wanted, sorted(model["encoder"]))
    if kind == "timm":
        pooling = model["encoder"].get("pooling", "own")
        right = pooling in ("own", "mean")
        check(f"{key}.encoder.pooling", right, "own (as timm pools) or mean", pooling)
    file = Path(weights).expanduser()
    if kind == "text":
        check(f"{key}.weights", file.is_dir(), "a folder of the library transformers", weights)
    elif ":" not in weights:
        check(f"{key}.weights", file.is_file(), "a file, or library:name", weights)
    for target, data in model["targets"].items():
        path = data.get("path") or ""
        if _is_text(model):
            there = Path(path).expanduser().joinpath("train.jsonl").is_file()
            wanted = "a folder of train, validation and test.jsonl"
            check(f"{key}.targets.{target}.path", there, wanted, path or "none")
        else:
            check_data(check, data, f"{key}.targets.{target}")


def asked(models: Mapping[str, Any], model: str, target: str) -> list[int]:
    """Numbers of labels, beside the shares, of a probe on this encoder: the thesis', or its own."""
    if "labels" in models[model]:
        return list(models[model]["labels"])
    return sorted({number for printed in PROBED.values() if model in printed.columns
                   for own, number in printed.rows if own == target and number != ALL})  # fmt: skip


def from_files(foundation: Mapping[str, Any]) -> set[str]:
    """Tables of ``encoders.PROBED`` that a config names an encoder and a data set of."""
    models = foundation["models"]
    return {name for name, printed in PROBED.items()
            if any(model in printed.columns and target == own
                   for model in models for target in models[model]["targets"]
                   for own, _ in printed.rows)}  # fmt: skip


def no_texts(foundation: Mapping[str, Any]) -> list[str]:
    """The table of texts, where a config names encoders of pictures alone."""
    models = foundation["models"].values()
    return ["table-f-8"] if models and not any(map(_is_text, models)) else []


def contains(foundation: Mapping[str, Any]) -> dict[str, str]:
    """Whether each table is measured under its names; 7.2 and F.8 never are (SimCSE is tuned)."""
    models = foundation["models"]

    def has(model: str, target: str) -> bool:
        return model in models and target in models[model]["targets"]

    whole = {
        name
        for name, printed in PROBED.items()
        if all(has(model, target) and (number == ALL or number in asked(models, model, target))
               for model in printed.columns for target, number in printed.rows)
    } | {name for name, (model, targets) in ADAPTED.items()
         if name != "table-f-8" and set(COPIES) <= set(foundation["copies"])
         and all(has(model, target) for target in targets)}  # fmt: skip
    return {name: "measured" if name in whole else "stand-in"
            for name in ("table-7-2", *ADAPTED, *PROBED)}  # fmt: skip


def state(groups: Mapping[str, Mapping[str, Any]]) -> str:
    """A digest of the files of ``data`` groups, so that other files are read again.

    ``groups``: by their places in the config, which a message names.
    """
    from featlearn.images.data.on_disk import listing_digest, sources

    found = []
    for where, data in groups.items():
        try:
            found.append(listing_digest(sources(data), data))
        except FeatlearnError as error:
            raise type(error)(f"{where}: {error}") from error
    return json.dumps(found) if found else ""


def ladder_state(sets: Sequence[Mapping[str, Any]], place: str) -> str:
    """The same of the sets of a ladder of pictures that lie on disk."""
    return state({f"{place}: {own['name']}": own["data"] for own in sets if "data" in own})


def foundation_state(foundation: Mapping[str, Any]) -> str:
    """The same of the files of encoders and their targets."""
    found: list[Any] = []
    for name, model in foundation["models"].items():
        folders = [model["weights"]]
        if _is_text(model):
            folders += [data["path"] for data in model["targets"].values()]
        else:
            place = f"universality.foundation.models.{name}.targets"
            found.append(state({f"{place}.{key}": own for key, own in model["targets"].items()}))
        for path in (Path(folder).expanduser() for folder in folders):
            files = sorted(path.glob("*.*")) if path.is_dir() else [path] if path.is_file() else []
            found += [[str(file), file.stat().st_mtime_ns] for file in files] or [str(path)]
    return json.dumps(found) if found else ""


def _is_text(model: Mapping[str, Any]) -> bool:
    return bool(model["encoder"].get("kind") == "text")
