"""What a valid ``looped`` config must satisfy beyond types and ranges. No torch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


def faults(looped: Mapping[str, Any]) -> Iterator[str]:
    """Values that contradict each other: one line each, with the key and what was expected."""
    construction, learned = looped["construction"], looped["learned"]
    for name, own, every in (
        ("construction.examples", construction, construction["examples"]),
        ("construction.ablations.examples", construction, [construction["ablations"]["examples"]]),
        ("learned.examples", learned, learned["examples"]),
    ):
        dimension = own["dimension"]
        for examples in every:
            if examples <= dimension:
                yield (
                    f"looped.{name}: {examples}; expected more than the dimension ({dimension}), "
                    "or X^T X has no inverse"
                )
    if construction["trials"] > construction["prompts"]:
        yield (
            f"looped.construction.trials: {construction['trials']}; expected at most the "
            f"{construction['prompts']} prompts"
        )
    for key in ("verified_loops", "blind_loops"):
        if construction[key] > construction["loops"]:
            yield (
                f"looped.construction.{key}: {construction[key]}; expected at most the "
                f"{construction['loops']} loops"
            )
    judged = construction["judged_examples"]
    if judged not in construction["examples"]:
        yield (
            f"looped.construction.judged_examples: {judged}; expected one of examples "
            f"({', '.join(map(str, construction['examples']))})"
        )
