"""What a valid ``universality`` config must satisfy beyond types and ranges. No torch."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from featlearn.core.errors import FeatlearnError
from featlearn.images.config_data import data_faults
from featlearn.universality.encoders import ADAPTED, ALL, COPIES, PROBED
from featlearn.universality.words import WORLD

#: Shares of the labels that figures show, in per cent.
SHARES = (1, 5, 10, 20, 100)


def faults(universality: Mapping[str, Any]) -> Iterator[str]:
    """Values that contradict each other: one line each, with the key and what was expected."""
    probe = universality["theory"]["probe"]
    features = probe["shared"] + probe["private"]
    if min(probe["labels"]) >= 2 * features:
        yield (
            f"universality.theory.probe.labels: {probe['labels']}; expected one below twice the "
            f"{features} features, where weights of features matter"
        )
    if 1 not in probe["tasks"]:
        yield f"universality.theory.probe.tasks: {probe['tasks']}; expected also 1"
    yield from _ladder_faults(universality["ladders"])
    related, tasks = universality["related"], universality["ladders"]["tasks"]
    if max(related["kinds"]) >= tasks:
        yield f"universality.related.kinds: {related['kinds']}; expected numbers below {tasks}"
    yield from _foundation_faults(universality["foundation"], tasks)
    for ladder in ("pictures", "residual"):
        yield from _set_faults(universality[ladder]["sets"], f"universality.{ladder}.sets")


def _set_faults(sets: Sequence[Mapping[str, Any]], place: str) -> Iterator[str]:
    names = [own["name"] for own in sets]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        yield f"{place}: {twice[0]}: named twice; expected names that differ"
    for own in sets:
        key = f"{place}: {own['name']}"
        if ("data" in own) == ("made" in own):
            yield f"{key}: {sorted(own)}; expected data or made, one of them"
        elif "data" in own:
            yield from data_faults(own["data"], f"{key}: data")


def _ladder_faults(ladders: Mapping[str, Any]) -> Iterator[str]:
    mixtures, tasks, key = ladders["mixtures"], ladders["tasks"], "universality.ladders"
    for wanted in (1, tasks):
        if wanted not in mixtures:
            yield f"{key}.mixtures: {mixtures}; expected also {wanted}: the target alone, and all"
    if max(mixtures) > tasks:
        yield f"{key}.mixtures: {mixtures}; expected at most the {tasks} tasks that there are"
    if sorted(mixtures) != list(mixtures):
        yield f"{key}.mixtures: {mixtures}; expected a rising list"
    if len(ladders["class_weights"]) != len(mixtures):
        yield (
            f"{key}.class_weights: {len(ladders['class_weights'])} numbers; expected "
            f"{len(mixtures)}, one a mixture"
        )
    if ladders["alone"] >= tasks:
        yield f"{key}.alone: {ladders['alone']}; expected fewer than the {tasks} tasks"
    if next(iter(ladders["worlds"])) != WORLD:
        yield f"{key}.worlds: {list(ladders['worlds'])}; expected {WORLD!r} first"
    expected = [ladders["samples"]["train"] * share // 100 for share in SHARES]
    if list(ladders["labels"]) != expected:
        yield (
            f"{key}.labels: {ladders['labels']}; expected {expected}: {SHARES} % of the "
            f"{ladders['samples']['train']} training samples"
        )


def _foundation_faults(foundation: Mapping[str, Any], tasks: int) -> Iterator[str]:
    key = "universality.foundation"
    if max(foundation["tasks"]) >= tasks:
        yield f"{key}.tasks: {foundation['tasks']}; expected numbers below {tasks}, the first is 0"
    if foundation["copies"][0] != 1 or sorted(foundation["copies"]) != list(foundation["copies"]):
        yield f"{key}.copies: {foundation['copies']}; expected a rising list that begins with 1"
    for name, model in foundation["models"].items():
        yield from _encoder_faults(model, f"{key}.models.{name}")
        for target, data in model["targets"].items():
            place = f"{key}.models.{name}.targets.{target}"
            if not _is_text(model):
                yield from data_faults(data, place)
                if not Path(data.get("path") or ".").expanduser().exists():
                    yield f"{place}.path: {data['path']}: no such folder or file"
            elif not Path(data.get("path") or "").expanduser().joinpath("train.jsonl").is_file():
                said = data.get("path") or "none"
                yield f"{place}.path: {said}; expected a folder of train, validation and test.jsonl"


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


def contains(foundation: Mapping[str, Any]) -> dict[str, str]:
    """Of each table, whether all its rows are measured: of encoders and data under their names.

    Tables 7.2 and F.8 stay stand-ins: the thesis tunes the whole of SimCSE, here it is an adapter.
    """
    models = foundation["models"]

    def has(model: str, target: str) -> bool:
        return model in models and target in models[model]["targets"]

    whole = {
        name
        for name, printed in PROBED.items()
        if all(has(model, target) and (number == ALL or number in asked(models, model, target))
               for model in printed.columns for target, number in printed.rows)
    } | {
        name
        for name, (model, targets) in ADAPTED.items()
        if name != "table-f-8" and set(COPIES) <= set(foundation["copies"])
        and all(has(model, target) for target in targets)
    }  # fmt: skip
    return {name: "measured" if name in whole else "stand-in"
            for name in ("table-7-2", *ADAPTED, *PROBED)}  # fmt: skip


def _encoder_faults(model: Mapping[str, Any], key: str) -> Iterator[str]:
    """What would be found out only when the networks before it have been trained."""
    kind, weights = model["encoder"]["kind"], model["weights"]
    known = {"kind", "name"} | ({"pooling"} if kind == "timm" else set())
    if kind in ("timm", "torchvision") and not {"kind", "name"} <= set(model["encoder"]) <= known:
        yield (
            f"{key}.encoder: {sorted(model['encoder'])}; expected the kind {kind} and the name of "
            "a network of it"
        )
    pooling = model["encoder"].get("pooling", "own")
    if kind == "timm" and pooling not in ("own", "mean"):
        yield f"{key}.encoder.pooling: {pooling!r}; expected own (as timm pools) or mean"
    place = Path(weights).expanduser()
    if kind == "text" and not place.is_dir():
        yield f"{key}.weights: {weights}: no such folder; expected one of the library transformers"
    elif kind != "text" and ":" not in weights and not place.is_file():
        yield f"{key}.weights: {weights}: no such file; expected one, or library:name"


def state(groups: Mapping[str, Mapping[str, Any]]) -> str:
    """A digest of the files of ``data`` groups, so that other files are read again.

    Parameters
    ----------
    groups
        By their places in the config, which a message names.
    """
    from featlearn.images.on_disk import listing_digest, sources

    found = []
    for place, data in groups.items():
        try:
            found.append(listing_digest(sources(data), data.get("path") or "."))
        except FeatlearnError as error:
            raise type(error)(f"{place}: {error}") from error
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
