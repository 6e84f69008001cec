"""What a valid ``contrastive`` config must also satisfy, beyond types and ranges. No torch."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from featlearn.contrastive.images.config import faults as image_faults
from featlearn.core.run.checks import Checks
from featlearn.core.run.config import merge

#: Arms of the ablations that claims are about.
JUDGED_ARMS = (
    "reference", "printed-schedule", "strong-decay", "few-neurons", "wide", "wide-no-mask",
)  # fmt: skip

#: Trainings of a size of ``scaling`` that names none.
SIZE_ARMS = ["masked", "unmasked"]


def faults(contrastive: Mapping[str, Any]) -> list[str]:
    """Values that contradict each other."""
    check = Checks("contrastive", contrastive)
    ablations, sizes = contrastive["ablations"], contrastive["scaling"]["sizes"]
    data = {
        f"{name}.data": contrastive[name]["data"]
        for name in ("stages", "trained_thresholds", "ablations")
    }
    wide = contrastive["identities"]["wide"]
    data |= {
        f"identities.wide.dimensions.{number}": {"atoms": wide["atoms"], "dimension": dimension}
        for number, dimension in enumerate(wide["dimensions"])
    }
    data |= {
        f"ablations.arms.{name}.data": merge(ablations["data"], arm.get("data", {}))
        for name, arm in ablations["arms"].items()
    }
    data |= {f"scaling.sizes.{number}": size for number, size in enumerate(sizes)}
    for path, own in data.items():
        check.faults += _data_faults(own, f"contrastive.{path}")
    check.holds("ablations.arms", *JUDGED_ARMS, why="which claims are about")
    counts = [size["atoms"] for size in sizes]
    rising = counts == sorted(set(counts))
    check("scaling.sizes", rising, "sizes from few to many atoms, each once", counts)
    both = sum(sorted(size.get("arms", SIZE_ARMS)) == SIZE_ARMS for size in sizes)
    check("scaling.sizes", both >= 2, "two or more that are trained with both arms", both)
    dimensions = wide["dimensions"]
    rising = len(dimensions) > 1 and dimensions == sorted({*dimensions})
    check("identities.wide.dimensions", rising, "two or more that rise", dimensions)
    for name in ("stages", "trained_thresholds", "ablations"):
        check.holds(f"{name}.training", "steps")
    return check.faults + image_faults(contrastive["images"], "contrastive.images")


def _data_faults(data: Mapping[str, Any], path: str) -> list[str]:
    check = Checks(path, data)
    atoms, dimension = data["atoms"], data["dimension"]
    wanted = f"at least {2 * atoms}: twice the atoms, so that half of the directions are dense"
    check("dimension", dimension >= 2 * atoms, wanted)
    if data.get("dictionary", "hadamard") == "hadamard":
        power = dimension & (dimension - 1) == 0
        check("dimension", power, "a power of 2 for the Hadamard dictionary")
    most = atoms / math.log(math.log(atoms))
    wanted = (
        f"at most {most:.4g}: the probability that an atom is active, activity x log log atoms / "
        "atoms, would exceed 1"
    )
    activity = data.get("activity", 1.0)
    check("activity", activity <= most, wanted, activity)
    return check.faults


def size_config(scaling: Mapping[str, Any], atoms: int) -> dict[str, Any]:
    """The section of one size of ``scaling``: an experiment of its own."""
    size = next(each for each in scaling["sizes"] if each["atoms"] == atoms)
    shared = {key: scaling[key] for key in ("replicates", "probe", "thresholds")}
    return {
        **shared,
        "data": {"atoms": atoms, "dimension": size["dimension"]},
        "network": {"neurons": size["neurons"], "norm": scaling["norm"]},
        "training": {**scaling["training"], "steps": size["steps"]},
        "arms": size.get("arms", SIZE_ARMS),
    }
