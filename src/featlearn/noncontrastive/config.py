"""What a valid ``noncontrastive`` config must also satisfy, beyond types and ranges. No torch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from featlearn.core.run.checks import Checks
from featlearn.images.config import world_faults
from featlearn.images.config_data import LAYERED, augmentation_faults, data_faults, is_whole
from featlearn.images.data.on_disk import state_of
from featlearn.noncontrastive.images.cells import LONG_CELL, MAIN, cells

#: Cells of the set :data:`~featlearn.noncontrastive.images.cells.MAIN` that captions quote.
NEEDED = ("none-batch-self", LONG_CELL, "mlp-batch-self")


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
    for name, settings in noncontrastive["images"].items():
        check.faults += _image_faults(settings, name)
    return check.faults


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


def _image_faults(settings: Mapping[str, Any], name: str) -> list[str]:
    check = Checks(path := f"noncontrastive.images.{name}", settings)
    check.faults += augmentation_faults(settings["augmentation"], f"{path}.augmentation")
    # the long training shares batches with the common one
    groups = ["training", *(["robust.training"] if settings["robust"] else [])]
    if "data" in settings:
        check.faults += data_faults(settings["data"], f"{path}.data")
    else:
        check.faults += world_faults(settings["world"], f"{path}.world")
        images = settings["samples"]["train"]
        for group in groups:
            if check.value(group)["drop_last"]:
                check.most(f"{group}.batch_size", "samples.train")
            else:
                wanted = (
                    "another size, or drop_last: true: one picture is left for the last batch, "
                    "which batch norm cannot do"
                )
                right = images % check.value(group)["batch_size"] != 1
                check(f"{group}.batch_size", right, wanted)
    for group in groups:
        several = check.value(group)["batch_size"] > 1
        check(f"{group}.batch_size", several, "at least 2: batch norm needs several")
    if settings["robust"]:
        wanted = f"{' or '.join(LAYERED)}: pictures are of channels before the last rectifier"
        right = settings["robust"]["encoder"]["kind"] in LAYERED
        check("robust.encoder.kind", right, wanted)
    one = not {"epochs", "steps"} <= set(settings["long"] or {})
    check("long", one, "a group with epochs or steps, one of them")
    needed = set(NEEDED if name == MAIN else (LONG_CELL,))
    absent = sorted(needed - {cell.name for cell in cells(settings)})
    wanted = f"so that heads, norms and targets make {', '.join(absent)}, which figures show"
    check("heads", not absent, wanted)
    return check.faults


def own_sets(images: Mapping[str, Any], key: str = "") -> set[str]:
    """Sets that are the paper's: whole, with ResNet-18 (with Wide-ResNet in a group ``key``)."""
    kind = "wide_resnet" if key else "resnet18"
    return {
        name
        for name, settings in images.items()
        if is_whole(settings, "data", name)
        and (settings[key] if key else settings)["encoder"]["kind"] == kind
    }


def states(images: Mapping[str, Any]) -> tuple[dict[str, str], list[str]]:
    """For each set of real images a digest of its files; and which sets are not there.

    A set that is missing is no fault of the config: what does not need it can be made, and a plan
    can be looked at before the data are there.
    """
    found, lines = {}, []
    for name, settings in images.items():
        if "data" in settings:
            found[name], fault = state_of(settings["data"])
            lines += [f"noncontrastive.images.{name}.data: {fault}"] if fault else []
    return found, lines
