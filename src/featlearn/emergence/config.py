"""What a valid ``emergence`` config must also satisfy, beyond types and ranges. No torch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


def faults(emergence: Mapping[str, Any]) -> Iterator[str]:
    """Values that contradict each other: one line each, with the key and what was expected."""
    for name, cell in emergence["curves"].items():
        key = f"emergence.curves.{name}"
        yield from _data_faults(cell["data"], f"{key}.data")
        smallest, patterns = min(cell["dimensions"]), cell["data"]["patterns"]
        if smallest < patterns:
            yield (
                f"{key}.dimensions: {smallest}; expected at least the {patterns} patterns, which "
                "are orthonormal"
            )
        share = cell["data"].get("negative_share", 0.5)
        for part, number in cell["samples"].items():
            if not 0 < round(share * number) < number:
                yield f"{key}.samples.{part}: {number}; expected so many that both labels occur"

    for name, setting in emergence["mixture"]["settings"].items():
        key = f"emergence.mixture.settings.{name}"
        if setting["relevant"] > setting["dimension"]:
            yield (
                f"{key}.relevant: {setting['relevant']}; expected at most the dimension, "
                f"{setting['dimension']}, as patterns are orthonormal"
            )
        if max(setting["moments"]) > setting["epochs"]:
            yield f"{key}.moments: {setting['moments']}; expected none after {setting['epochs']}"


def _data_faults(data: Mapping[str, Any], key: str) -> Iterator[str]:
    kind, k = data["kind"], data["relevant"]
    if k >= data["patterns"]:
        yield f"{key}.relevant: {k}; expected fewer than the {data['patterns']} patterns"
    if kind == "parity":
        if k % 2 == 0 or k < 3:
            yield f"{key}.relevant: {k}; expected an odd number from 3 on for parity labels"
        if data["background"] > 2 / 3:
            yield (
                f"{key}.background: {data['background']}; expected at most 2/3: patterns are "
                "present with probability background / (2 - 2 background) in one component"
            )
    if data.get("prototypes", 2) % 2:
        yield f"{key}.prototypes: {data['prototypes']}; expected an even number, half of each label"
    for name, kinds in (("interval", "interval"), ("frequency", "interval"),
                        ("negative_share", "parity"), ("prototypes", "prototypes")):  # fmt: skip
        if name in data and kind != kinds:
            yield f"{key}.{name}: {data[name]}; expected only with kind {kinds}"
    if kind == "interval":
        if "interval" not in data:
            yield f"{key}.interval: missing; expected two numbers for interval labels"
        elif not 0 < data["interval"][0] <= data["interval"][1] <= k:
            yield f"{key}.interval: {data['interval']}; expected 0 < first <= last <= {k}"
        elif data["interval"][0] <= 1 and data["interval"][1] == k:
            yield f"{key}.interval: {data['interval']}; expected counts that are labelled -1 too"
