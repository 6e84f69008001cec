"""What a valid ``gemfilter`` config must satisfy beyond types and ranges. No torch."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from featlearn.gemfilter.words import TASKS

#: Layers of the hand-wired network.
WIRED_LAYERS = 8
#: Tokens of a needle and its distractors (answer 3, three distractors).
NEEDLES, ANSWER = 4, 3

#: Prompts of LongBench by task, and the names of sizes in the config.json of a model.
TEMPLATES = "dataset2prompt.json"
SIZES = {
    "words": "vocab_size", "width": "hidden_size", "layers": "num_hidden_layers",
    "heads": "num_attention_heads", "key_value_heads": "num_key_value_heads",
    "head_width": "head_dim", "hidden": "intermediate_size",
}  # fmt: skip


def contains(gemfilter: Mapping[str, Any], names: Iterable[str]) -> str:
    """What an item holds that these readers make: what was ``measured``, or a ``stand-in``."""
    return "measured" if set(names) <= set(gemfilter["language"]["models"]) else "stand-in"


def readers(gemfilter: Mapping[str, Any], data: str) -> Sequence[str]:
    """Who reads ``data`` (haystack or longbench): models where there are some with it."""
    language = gemfilter["language"]
    if language["models"] and language[data]:
        return list(language["models"])
    return gemfilter["networks"] if data == "haystack" else ["wired"]


def reader(gemfilter: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The section of a reader: that of the stand-in, or what all models share and its own."""
    language = gemfilter["language"]
    if name in language["models"]:
        shared = {key: value for key, value in language.items() if key != "models"}
        return {**shared, **language["models"][name]}
    return dict(gemfilter[name])


def sizes(model: Mapping[str, Any]) -> dict[str, int]:
    """Of a model in a folder, for the count of its costs."""
    own = json.loads((Path(model["folder"]) / "config.json").read_text(encoding="utf-8"))
    own.setdefault("num_key_value_heads", own["num_attention_heads"])
    if own.get("head_dim") is None:
        own["head_dim"] = own["hidden_size"] // own["num_attention_heads"]
    found = {name: int(own[theirs]) for name, theirs in SIZES.items()}
    return {**found, "filter_layer": model["filter_layer"]}


def faults(gemfilter: Mapping[str, Any]) -> Iterator[str]:
    """Values that contradict each other: one line each, with the key and what was expected."""
    for name in ("wired", "trained"):
        own = gemfilter[name]
        layers = WIRED_LAYERS if name == "wired" else own["layers"]
        yield from _filter(f"gemfilter.{name}", own["filter_layer"], layers)
        if own["kept"] <= own["window"]:
            yield (
                f"gemfilter.{name}.kept: {own['kept']}; expected more than the window "
                f"({own['window']})"
            )
        words = own["vocabulary"]
        if words["keys"] < NEEDLES or words["values"] < NEEDLES * ANSWER:
            yield (
                f"gemfilter.{name}.vocabulary: {words['keys']} keys and {words['values']} values; "
                f"expected at least {NEEDLES} and {NEEDLES * ANSWER}"
            )
    trained, longbench = gemfilter["trained"], gemfilter["longbench"]
    if trained["width"] % (2 * trained["heads"]) or trained["heads"] % 2:
        yield (
            f"gemfilter.trained.width: {trained['width']}; expected an even number for each of "
            f"the heads ({trained['heads']}), which are an even number"
        )
    if min(longbench["kept"]) <= longbench["window"]:
        yield (
            f"gemfilter.longbench.kept: {min(longbench['kept'])}; expected more than the window "
            f"({longbench['window']})"
        )
    yield from _filter("gemfilter.longbench", longbench["filter_layer"], WIRED_LAYERS)
    for name, model in gemfilter["costs"]["models"].items():
        key = f"gemfilter.costs.models.{name}"
        yield from _filter(key, model["filter_layer"], model["layers"])
        if model["heads"] % model["key_value_heads"]:
            yield (
                f"{key}.key_value_heads: {model['key_value_heads']}; expected a divisor of the "
                f"{model['heads']} heads"
            )
    if min(gemfilter["costs"]["lengths"]) <= gemfilter["costs"]["kept"]:
        yield (
            f"gemfilter.costs.lengths: {min(gemfilter['costs']['lengths'])}; expected more than "
            f"the kept tokens ({gemfilter['costs']['kept']})"
        )
    yield from _language(gemfilter["language"])


def _language(language: Mapping[str, Any]) -> Iterator[str]:
    """What is missing on this machine."""
    for name, model in language["models"].items():
        key = f"gemfilter.language.models.{name}"
        folder = Path(model["folder"])
        if name in ("wired", "trained"):
            yield f"{key}: the name of a stand-in; expected another"
        if not (folder / "config.json").is_file():
            yield (
                f"{key}.folder: no {folder / 'config.json'}; expected a folder with config.json, "
                "*.safetensors and the files of a tokenizer"
            )
            continue
        try:
            yield from _filter(key, model["filter_layer"], sizes(model)["layers"])
        except (KeyError, TypeError, ValueError) as error:
            yield (
                f"{key}.folder: {folder / 'config.json'}: {error!r}; expected the sizes of a Llama,"
                f" Mistral or Phi 3 ({', '.join(SIZES.values())})"
            )
    haystack, longbench = language["haystack"], language["longbench"]
    if bool(language["models"]) != bool(haystack or longbench):
        yield "gemfilter.language: expected models and haystack or longbench, or neither"
    if haystack and not any(Path(haystack).glob("*.txt")):
        yield f"gemfilter.language.haystack: no {haystack}/*.txt; expected a folder of essays"
    files = [f"{task}.jsonl" for task in TASKS if task != "average"]
    for name in [*files, TEMPLATES] if longbench else []:
        if not (Path(longbench) / name).is_file():
            yield (
                f"gemfilter.language.longbench: no {Path(longbench) / name}; expected the 14 files "
                f"of LongBench's English tasks and its {TEMPLATES}"
            )
    if language["kept"][0] <= language["window"]:
        yield (
            f"gemfilter.language.kept: {language['kept'][0]}; expected more than the window "
            f"({language['window']})"
        )


def _filter(key: str, layer: int, layers: int) -> Iterator[str]:
    if layer >= layers:
        yield f"{key}.filter_layer: {layer}; expected less than the layers ({layers})"
