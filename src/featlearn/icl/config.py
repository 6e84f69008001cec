"""What a valid ``icl`` config must satisfy beyond types and ranges. No torch."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from featlearn.core.run.checks import Checks


def faults(icl: Mapping[str, Any]) -> list[str]:
    """Values that contradict each other or are not there."""
    check = Checks("icl", icl)
    parity, language = icl["parity"], icl["language"]
    check.most("regression.ranks", "regression.dimension")
    d, spectrum = icl["regression"]["dimension"], icl["regression"]["spectrum"]
    falling = not spectrum or (len(spectrum) == d and spectrum == sorted(spectrum, reverse=True))
    check("regression.spectrum", falling, f"{d} eigenvalues from large to small", spectrum)
    check.holds("regression.ranks", 2, why="which a claim reads")
    check("regression.ranks", max(icl["regression"]["ranks"]) > 2, "a list with a rank above 2")
    check.one_of("parity.judged_examples", "parity.examples")
    for name in ("regression", "parity", "small", "language"):
        check.holds(f"{name}.shares", 0, 1, why="for claims")
    check.holds("parity.training.heads", 4, why="which claims read")
    check("parity.training.heads", len(parity["training"]["heads"]) > 1, "two numbers or more")
    check.holds("parity.sizes", [1, 2], why="for a claim")
    check.holds("small.corpora", "base", why="which claims read")
    sized = {f"sizes.{k}": size for k, size in enumerate(parity["sizes"])}
    sized |= {"sampled": parity["sampled"], "training.size": parity["training"]["size"]}
    for name, (low, high) in sized.items():
        check(f"parity.{name}", low < high, "nu_1 below nu_2", [low, high])
    for name in icl["small"]["sizes"]:
        check.multiple(f"small.sizes.{name}.width", f"small.sizes.{name}.heads")
    check.most("small.shown", "small.prompts")
    for family, models in language["models"].items():
        for name, folder in models.items():
            there = Path(folder).is_dir()
            wanted = "a folder with config.json, *.safetensors and the files of a tokenizer"
            check(f"language.models.{family}.{name}", there, wanted, folder)
    for name, data in language["texts"].items():
        there = Path(data["file"]).is_file()
        wanted = "a file of JSONL or Parquet with text and label"
        check(f"language.texts.{name}.file", there, wanted, data["file"])
    own = icl["sentences"]
    check("sentences.essays", bool(own["sst2"]) == bool(own["essays"]), "given with sentences.sst2")
    both = bool(language["models"]) == bool(language["texts"])
    check("language.models", both, "given with language.texts, or neither of the two")
    return check.faults
