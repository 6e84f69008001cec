"""What a valid ``icl`` config must satisfy beyond types and ranges. No torch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any


def faults(icl: Mapping[str, Any]) -> Iterator[str]:
    """Values that contradict each other or are not there: one line each, with key and value."""
    own = icl["regression"]
    if max(own["ranks"]) > own["dimension"]:
        yield (
            f"icl.regression.ranks: {max(own['ranks'])}; expected at most the dimension, "
            f"{own['dimension']}"
        )
    if 2 not in own["ranks"] or max(own["ranks"]) == 2:
        yield f"icl.regression.ranks: {own['ranks']}; expected 2, which a claim reads, and a larger"
    parity = icl["parity"]
    if parity["judged_examples"] not in parity["examples"]:
        yield (
            f"icl.parity.judged_examples: {parity['judged_examples']}; expected one of examples "
            f"({', '.join(map(str, parity['examples']))})"
        )
    for key, owned in (("regression", own), ("parity", parity), ("small", icl["small"])):
        if not {0, 1} <= set(owned["shares"]):
            yield f"icl.{key}.shares: {owned['shares']}; expected 0 and 1 among them, for claims"
    if 4 not in parity["training"]["heads"] or len(parity["training"]["heads"]) < 2:
        yield (
            f"icl.parity.training.heads: {parity['training']['heads']}; expected 4, which claims "
            "read, and another number"
        )
    if [1, 2] not in [list(size) for size in parity["sizes"]]:
        yield f"icl.parity.sizes: {parity['sizes']}; expected [1, 2] among them, for a claim"
    if "base" not in icl["small"]["corpora"]:
        yield "icl.small.corpora: no base; expected it, as claims read it"
    sizes = {f"sizes[{k}]": size for k, size in enumerate(parity["sizes"])}
    sizes |= {"sampled": parity["sampled"], "training.size": parity["training"]["size"]}
    for key, (low, high) in sizes.items():
        if low >= high:
            yield f"icl.parity.{key}: [{low}, {high}]; expected nu_1 below nu_2"
    for name, size in icl["small"]["sizes"].items():
        if size["width"] % size["heads"]:
            yield (
                f"icl.small.sizes.{name}.width: {size['width']}; expected a multiple of the "
                f"{size['heads']} heads"
            )
    if icl["small"]["shown"] > icl["small"]["prompts"]:
        yield f"icl.small.shown: {icl['small']['shown']}; expected at most the prompts"
    language = icl["language"]
    for family, models in language["models"].items():
        for name, folder in models.items():
            if not Path(folder).is_dir():
                yield (
                    f"icl.language.models.{family}.{name}: no folder {folder}; expected one with "
                    "config.json, *.safetensors and the files of a tokenizer"
                )
    for name, data in language["texts"].items():
        if not Path(data["file"]).is_file():
            yield (
                f"icl.language.texts.{name}.file: no file {data['file']}; expected JSONL or "
                "Parquet with text and label"
            )
    if bool(language["models"]) != bool(language["texts"]):
        yield "icl.language: expected both models and texts, or neither"
