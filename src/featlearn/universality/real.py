"""Ladders of real pictures in a config: what is valid, and which sets are there. No torch."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from featlearn.core.errors import FeatlearnError
from featlearn.core.run.checks import Checks
from featlearn.universality.config import check_data, check_sets, ladder_state


def faults(ladders: Mapping[str, Any]) -> list[str]:
    """Values of ``universality.real`` that contradict each other."""
    check = Checks("universality.real", ladders)
    for name, own in ladders.items():
        check_sets(check, own["sets"], f"{name}.sets", made=False)
    return check.faults


def released_faults(models: Mapping[str, Any]) -> list[str]:
    """The same of ``universality.released.models``: a file or a folder that is not there."""
    check = Checks("universality.released.models", models)
    for name, model in models.items():
        there = Path(model["weights"]).expanduser().is_file()
        check(f"{name}.weights", there, "a file", model["weights"])
        for target, data in model["targets"].items():
            check_data(check, data, f"{name}.targets.{target}")
    return check.faults


def states(ladders: Mapping[str, Any]) -> tuple[dict[str, str], list[str]]:
    """Of each ladder a digest of its sets' files, and which are not there: no fault of a config."""
    found, missing = {}, []
    for name, own in ladders.items():
        try:
            found[name] = ladder_state(own["sets"], f"universality.real.{name}.sets")
        except FeatlearnError as error:
            found[name] = "missing"
            missing.append(str(error))
    return found, missing
