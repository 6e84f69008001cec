"""The methods that are compared, by name. No torch at import but through the selection."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from featlearn.gemfilter.selection import Method


def arms(kept: int, window: int, layer: int, layers: int) -> dict[str, Method]:
    """All of them at the filter layer ``layer`` of ``layers``; ``safe`` is ours.

    ``safe`` compares attention and not products, and keeps BOS and the last two tokens in any case.
    """
    literal = Method("gemfilter", kept, layer)
    safe = replace(literal, score="soft", first=1, last=2)
    changes: Mapping[str, dict[str, Any]] = {
        "": {}, " one run": {"one_run": True}, " middle row": {"row": "middle"},
        " largest row": {"row": "largest"}, " no pooling": {"kernel": 1},
    }  # fmt: skip
    found = {
        "full": Method("full"),
        "snapkv": Method("snapkv", kept, window=window),
        "h2o": Method("h2o", kept, window=window),
        "sinks": Method("sinks", kept),
    }
    for name, base in (("gemfilter", literal), ("safe", safe)):
        found |= {name + words: replace(base, **change) for words, change in changes.items()}
    found["forced"] = replace(literal, first=1, last=2)
    if layer + 1 < layers:
        found["next layer"] = replace(literal, layer=layer + 1)
        found["safe next layer"] = replace(safe, layer=layer + 1)
    return found
