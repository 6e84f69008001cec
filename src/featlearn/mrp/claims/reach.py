"""Scales that are too small for a band."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any


def at_least(
    section: str, classes: int, replicates: int = 10
) -> Callable[[Mapping[str, Any]], str | None]:
    """``out_of_reach`` of claims whose bands were derived for so many classes and replicates."""

    def too_small(config: Mapping[str, Any]) -> str | None:
        settings = config[section]
        own_classes, own_replicates = settings["data"]["classes"], settings["replicates"]
        if own_classes >= classes and own_replicates >= replicates:
            return None
        return (
            f"{own_classes} classes and {own_replicates} replicates; the band was derived for at "
            f"least {classes} and {replicates}."
        )

    return too_small
