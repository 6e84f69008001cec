"""What a valid ``contrastive`` config must also satisfy, beyond types and ranges. No torch."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from featlearn.contrastive.images.config import faults as image_faults
from featlearn.core.config import merge

#: Arms of the ablations that claims are about.
JUDGED_ARMS = (
    "reference", "no-mask", "independent-masks", "zero-thresholds", "printed-schedule",
    "no-growth", "strong-decay", "early-t1", "qr", "spiky", "more-noise", "more-noise-no-mask",
    "few-neurons", "higher-thresholds", "masked-negatives",
)  # fmt: skip


def faults(contrastive: Mapping[str, Any]) -> Iterator[str]:
    """Values that contradict each other: one line each, with the key and what was expected."""
    for name in ("stages", "trained_thresholds", "ablations"):
        yield from _data_faults(contrastive[name]["data"], f"contrastive.{name}.data")
    yield from _data_faults(
        contrastive["identities"]["stage_one"], "contrastive.identities.stage_one"
    )
    yield from _arm_faults(contrastive["ablations"])
    yield from _size_faults(contrastive["scaling"])
    for name in ("stages", "trained_thresholds", "ablations", "scaling"):
        yield from _probe_faults(contrastive[name]["probe"], f"contrastive.{name}.probe")
    yield from image_faults(contrastive["images"], "contrastive.images")


def _data_faults(data: Mapping[str, Any], key: str) -> Iterator[str]:
    atoms, dimension = data["atoms"], data["dimension"]
    if dimension < 2 * atoms:
        yield (
            f"{key}.dimension: {dimension}; expected at least {2 * atoms}: twice the atoms, so "
            "that half of the directions are dense"
        )
    if data.get("dictionary", "hadamard") == "hadamard" and dimension & (dimension - 1):
        yield f"{key}.dimension: {dimension}; expected a power of 2 for the Hadamard dictionary"
    most = atoms / math.log(math.log(atoms))
    if data.get("activity", 1.0) > most:
        yield (
            f"{key}.activity: {data['activity']}; expected at most {most:.4g}: the probability "
            "that an atom is active, activity x log log atoms / atoms, would exceed 1"
        )


def _arm_faults(ablations: Mapping[str, Any]) -> Iterator[str]:
    for name in JUDGED_ARMS:
        if name not in ablations["arms"]:
            yield f"contrastive.ablations.arms.{name}: missing; a claim is about it"
    for name, changes in ablations["arms"].items():
        data = merge(ablations["data"], changes.get("data", {}))
        yield from _data_faults(data, f"contrastive.ablations.arms.{name}.data")


def _size_faults(scaling: Mapping[str, Any]) -> Iterator[str]:
    counts = [size["atoms"] for size in scaling["sizes"]]
    if counts != sorted(set(counts)):
        yield f"contrastive.scaling.sizes: atoms {counts}; expected from few to many, each once"
    for number, size in enumerate(scaling["sizes"]):
        yield from _data_faults(size, f"contrastive.scaling.sizes.{number}")


def _probe_faults(probe: Mapping[str, Any], key: str) -> Iterator[str]:
    for count in probe.get("labels", []):
        if count > probe["train_samples"]:
            yield (
                f"{key}.labels: {probe['labels']}; expected at most train_samples "
                f"({probe['train_samples']})"
            )
            return


def size_config(scaling: Mapping[str, Any], atoms: int) -> dict[str, Any]:
    """The section of one size of ``scaling``: an experiment of its own."""
    size = next(each for each in scaling["sizes"] if each["atoms"] == atoms)
    shared = {key: scaling[key] for key in ("replicates", "probe", "thresholds")}
    return {
        **shared,
        "data": {"atoms": atoms, "dimension": size["dimension"]},
        "network": {"neurons": size["neurons"], "norm": scaling["norm"]},
        "training": {**scaling["training"], "steps": size["steps"]},
    }
