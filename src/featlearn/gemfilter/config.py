"""What a valid ``gemfilter`` config must satisfy beyond types and ranges. No torch."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from featlearn.core.run.checks import Checks
from featlearn.gemfilter.words import TASKS

#: Layers of the hand-wired network.
WIRED_LAYERS = 8
#: Stand-ins that a job trains: ten minutes of a core. Of others the last digits are not the same.
TOGETHER = 4
#: Tokens of a needle and its distractors (answer 3, three distractors).
NEEDLES, ANSWER = 4, 3

#: Prompts of LongBench by task, and the names of sizes in the config.json of a model.
TEMPLATES = "dataset2prompt.json"
SIZES = {
    "words": "vocab_size", "width": "hidden_size", "layers": "num_hidden_layers",
    "heads": "num_attention_heads", "key_value_heads": "num_key_value_heads",
    "head_width": "head_dim", "hidden": "intermediate_size",
}  # fmt: skip


def met(gemfilter: Mapping[str, Any], names: Iterable[str]) -> set[str]:
    """Needs of the catalogue that these readers meet: texts, and models of the thesis' sizes."""
    language, known = gemfilter["language"], gemfilter["costs"]["models"]
    found = {f"{name}-instruct" for name in names
             if name in language["models"] and name in known
             and sizes(language["models"][name]) == known[name]}  # fmt: skip
    texts = {"haystack": "needle-in-a-haystack", "longbench": "longbench"}
    return found | {need for key, need in texts.items() if found and language[key]}


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


def groups(trained: Mapping[str, Any]) -> list[range]:
    """The replicates that each job of the training has."""
    count = trained["replicates"]
    return [range(first, min(first + TOGETHER, count)) for first in range(0, count, TOGETHER)]


def sizes(model: Mapping[str, Any]) -> dict[str, int]:
    """Of a model in a folder, for the count of its costs."""
    own = json.loads((Path(model["folder"]) / "config.json").read_text(encoding="utf-8"))
    own.setdefault("num_key_value_heads", own["num_attention_heads"])
    if own.get("head_dim") is None:
        own["head_dim"] = own["hidden_size"] // own["num_attention_heads"]
    found = {name: int(own[theirs]) for name, theirs in SIZES.items()}
    return {**found, "filter_layer": model["filter_layer"]}


def faults(gemfilter: Mapping[str, Any]) -> list[str]:
    """Values that contradict each other, and files that are not there."""
    check = Checks("gemfilter", gemfilter)
    trained, costs = gemfilter["trained"], gemfilter["costs"]
    for name in ("wired", "trained", "longbench", "language"):
        check.more(f"{name}.kept", f"{name}.window")
    for name in ("wired", "trained"):
        words = gemfilter[name]["vocabulary"]
        right = words["keys"] >= NEEDLES and words["values"] >= NEEDLES * ANSWER
        wanted = f"at least {NEEDLES} keys and {NEEDLES * ANSWER} values"
        check(f"{name}.vocabulary", right, wanted)
    check("trained.heads", trained["heads"] % 2 == 0, "an even number")
    right = trained["width"] % (2 * trained["heads"]) == 0
    wanted = f"an even number for each of the heads ({trained['heads']})"
    check("trained.width", right, wanted)
    for name in ("wired", "longbench"):
        right = gemfilter[name]["filter_layer"] < WIRED_LAYERS
        check(f"{name}.filter_layer", right, f"less than the layers ({WIRED_LAYERS})")
    last = trained["layers"] - 1
    check("trained.filter_layer", trained["filter_layer"] < last, f"less than the last ({last})")
    for name in costs["models"]:
        key = f"costs.models.{name}"
        check.less(f"{key}.filter_layer", f"{key}.layers")
        check.multiple(f"{key}.heads", f"{key}.key_value_heads")
    check.more("costs.lengths", "costs.kept")
    for name, model in gemfilter["language"]["models"].items():
        _check_model(check, f"language.models.{name}", model)
    _check_texts(check, gemfilter["language"])
    return check.faults


def _check_model(check: Checks, key: str, model: Mapping[str, Any]) -> None:
    name = key.rpartition(".")[2]
    check(key, name not in ("wired", "trained"), "named unlike a stand-in", name)
    file = Path(model["folder"]) / "config.json"
    wanted = "a folder with config.json, *.safetensors and the files of a tokenizer"
    if check(f"{key}.folder", file.is_file(), wanted):
        try:
            layers = sizes(model)["layers"]
            right = model["filter_layer"] < layers
            check(f"{key}.filter_layer", right, f"less than the layers ({layers})")
        except (KeyError, TypeError, ValueError) as error:
            wanted = f"one with sizes of a Llama, Mistral or Phi 3 ({', '.join(SIZES.values())})"
            check(f"{key}.folder", False, wanted, f"{file}: {error!r}")


def _check_texts(check: Checks, language: Mapping[str, Any]) -> None:
    haystack, longbench = language["haystack"], language["longbench"]
    both = bool(language["models"]) == bool(haystack or longbench)
    check("language.models", both, "given with haystack or longbench, or none of them")
    if haystack:
        check("language.haystack", any(Path(haystack).glob("*.txt")), "a folder of essays (*.txt)")
    if longbench:
        files = [*(f"{task}.jsonl" for task in TASKS if task != "average"), TEMPLATES]
        missing = [name for name in files if not (Path(longbench) / name).is_file()]
        wanted = f"a folder with the 14 files of LongBench's English tasks and its {TEMPLATES}"
        check("language.longbench", not missing, wanted, f"{longbench} without {missing}")
