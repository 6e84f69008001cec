"""What a valid ``noncontrastive`` config must also satisfy, beyond types and ranges. No torch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from featlearn.core.checks import Checks
from featlearn.noncontrastive.images import config as image_config


def faults(noncontrastive: Mapping[str, Any]) -> list[str]:
    """Values that contradict each other."""
    check = Checks("noncontrastive", noncontrastive)
    for name in ("oracles", "algorithm", "phases"):
        check.faults += _data_faults(noncontrastive[name]["data"], f"noncontrastive.{name}.data")
    starts = noncontrastive["starts"]
    for name, case in starts["cases"].items():
        data = {**starts["data"], **case}
        check.faults += _data_faults(data, f"noncontrastive.starts.cases.{name}")
    steps = check.value("algorithm.training.steps")
    divides = steps % check.value("algorithm.training.record_every") == 0
    wanted = f"a divisor of steps ({steps}): the flow is read at the same times"
    check("algorithm.training.record_every", divides, wanted)
    frozen = "algorithm.variants.frozen.head_rate"
    check(frozen, check.value(frozen) == 0, "0: this is training without a head")
    check.rising("phases.dimensions")
    return check.faults + image_config.faults(noncontrastive["images"])


def _data_faults(data: Mapping[str, Any], path: str) -> list[str]:
    check = Checks(path, data)
    patches = data["patches"]
    check("patches", patches % 2 == 0, "an even number: each view keeps half of them")
    shown = data["feature_patches"] * (2 if data.get("presence") == "both" else 1)
    wanted = f"so few that some of the {patches} patches hold noise, and not {shown} a feature"
    check("feature_patches", shown < patches, wanted)
    strong, weak = data["strengths"]
    share = data.get("strong_share", 0.5)
    wanted = f"two with the strong feature first: with a share of {share} the second is stronger"
    check("strengths", share * strong**6 >= (1 - share) * weak**6, wanted)
    return check.faults
