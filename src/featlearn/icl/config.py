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
    parity = icl["parity"]
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
