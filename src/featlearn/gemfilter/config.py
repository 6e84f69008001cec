"""What a valid ``gemfilter`` config must satisfy beyond types and ranges. No torch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

#: Layers of the hand-wired network.
WIRED_LAYERS = 8
#: Tokens of a needle and its distractors (answer 3, three distractors).
NEEDLES, ANSWER = 4, 3


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


def _filter(key: str, layer: int, layers: int) -> Iterator[str]:
    if layer >= layers:
        yield f"{key}.filter_layer: {layer}; expected less than the layers ({layers})"
