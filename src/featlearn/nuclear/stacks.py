"""Which networks an experiment on domains trains, and which of them together. No torch."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

Settings = Mapping[str, Any]
#: Domains that are made of one set of images.
MADE = 4


def tried(arm: Settings) -> list[Settings]:
    """The settings that an arm stands for: one for each weight, from the smallest."""
    weights = arm.get("nu", 0.0)
    return [{**arm, "nu": w} for w in sorted(weights)] if isinstance(weights, list) else [arm]


def setting_key(settings: Settings) -> str:
    """The same for settings that train alike."""
    weight = float(settings.get("nu", 0.0))
    own = {"nu_scale": "none", "nu_start_step": 0, "norm": "nuclear", **settings, "nu": weight}
    if not weight:
        own = {key: value for key, value in own.items() if key in ("mixup", "coral")}
    return json.dumps(own, sort_keys=True)


def sweep_of(domains: Settings) -> list[Settings]:
    """Of each weight of the sweep its settings."""
    scale = domains["sweep"]["nu_scale"]
    return [{"nu": weight, "nu_scale": scale} for weight in domains["sweep"]["weights"]]


def trainings(domains: Settings) -> dict[str, Settings]:
    """All settings that differ, by their keys."""
    arms = (one for arm in domains["arms"].values() if arm is not None for one in tried(arm))
    return {setting_key(one): one for one in (*arms, *sweep_of(domains))}


def domains_of(domains: Settings) -> int:
    """How many domains there are: folders that lie there, or those that are made."""
    own = domains["domains"]
    root = Path(own["data"].get("path") or ".").expanduser()
    if own["made"] != "folders" or not root.is_dir():
        return MADE
    return sum(path.is_dir() for path in root.glob("[!.]*"))


def stacks(domains: Settings) -> list[tuple[Sequence[int], Sequence[str]]]:
    """What is trained together: numbers of trials times domains, and keys of settings.

    At most ``training.at_once``; number n has the trial n // domains and lacks domain n % domains.
    """
    keys, count = list(trainings(domains)), domains["trials"] * domains_of(domains)
    most = domains["training"]["at_once"]
    few = max(1, most // len(keys))
    return [(range(first, min(first + few, count)), keys[start : start + most])
            for first, start in product(
                range(0, count, few), range(0, len(keys), most))]  # fmt: skip
