"""What a valid ``looped`` config must satisfy beyond types and ranges. No torch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from featlearn.core.run.checks import Checks


def faults(looped: Mapping[str, Any]) -> list[str]:
    """Values that contradict each other."""
    check = Checks("looped", looped)
    for name in ("construction", "construction.ablations", "learned"):
        size = f"{name.partition('.')[0]}.dimension"
        check.more(f"{name}.examples", size, "X^T X has no inverse otherwise")
    check.most("construction.trials", "construction.prompts")
    check.most("construction.verified_loops", "construction.loops")
    check.most("construction.blind_loops", "construction.loops")
    check.one_of("construction.judged_examples", "construction.examples")
    return check.faults
