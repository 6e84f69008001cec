"""What a valid ``mrp`` config must also satisfy, beyond types and ranges. No torch in here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any


def faults(mrp: Mapping[str, Any]) -> Iterator[str]:
    """Values that contradict each other: one line each, with the key and what was expected."""
    for experiment, settings in mrp.items():
        if "data" in settings:
            yield from _data_faults(settings["data"], f"mrp.{experiment}.data")
        for number, cell in enumerate(settings.get("cells", ())):
            data = {**settings["data"], "patches": cell["patches"]}
            yield from _data_faults(data, f"mrp.{experiment}.cells[{number}]")
        if "pretraining" in settings:
            yield from _training_faults(settings["pretraining"], f"mrp.{experiment}.pretraining")
        if "scaling" in settings:
            yield from _scaling_faults(settings, f"mrp.{experiment}")
    if "growth" in mrp:
        yield from _growth_faults(mrp["growth"])
    if "runaway" in mrp:
        yield from _schedule_faults(mrp["runaway"]["pretraining"])
    if "finetuning" in mrp:
        yield from _head_rate_faults(mrp["finetuning"]["first_head_rates"])
    if "transfer" in mrp:
        yield from _transfer_faults(mrp["transfer"]["cases"], mrp["clean"]["data"])


def _data_faults(data: Mapping[str, Any], key: str) -> Iterator[str]:
    classes, per_class = data["classes"], data["features_per_class"]
    features = classes * per_class
    if data["patches"] < features * data["patches_per_feature"]:
        yield (
            f"{key}.patches: {data['patches']}; expected at least {classes} classes x {per_class} "
            f"features x {data['patches_per_feature']} patches a feature = "
            f"{features * data['patches_per_feature']}: a sample may hold every feature"
        )
    if data["dimension"] < features:
        yield (
            f"{key}.dimension: {data['dimension']}; expected at least {features}: the features of "
            f"{classes} classes are orthonormal"
        )
    if data["sparsity"] > classes:
        yield (
            f"{key}.sparsity: {data['sparsity']}; expected at most classes ({classes}): "
            "a feature of another class appears with probability sparsity / classes"
        )
    for name in ("main_strength", "off_strength"):
        low, high = data[name]
        if low > high:
            yield f"{key}.{name}: [{low}, {high}]; expected the lower end first"


def _training_faults(settings: Mapping[str, Any], key: str) -> Iterator[str]:
    if settings["max_steps"] < settings.get("record_every", 0):
        yield (
            f"{key}.record_every: {settings['record_every']}; expected at most "
            f"max_steps ({settings['max_steps']})"
        )


def _growth_faults(growth: Mapping[str, Any]) -> Iterator[str]:
    """The closed form holds in the polynomial regime, for the teacher's larger kernels too."""
    data, theta, target = growth["data"], growth["theta"], growth["target"]
    parts = data["patches_per_feature"]
    tau = 1 + (1 - theta) / (parts * theta)
    largest = data["main_strength"][1] * parts ** (-1 / growth["teacher_student"]["q"])
    limit = growth["network"]["varrho"] / (tau * largest)
    if target > limit * (1 + 1e-9):
        yield (
            f"mrp.growth.target: {target}; expected at most varrho / (tau x largest strength) = "
            f"{limit:.4g}: beyond it the activation is linear and the growth law ends"
        )


def _schedule_faults(settings: Mapping[str, Any]) -> Iterator[str]:
    if settings["followed"] not in settings["schedules"]:
        yield (
            f"mrp.runaway.pretraining.followed: {settings['followed']}; expected one of the "
            f"schedules: {', '.join(settings['schedules'])}"
        )


def _head_rate_faults(multiples: Sequence[int]) -> Iterator[str]:
    for judged in (1, 8):
        if judged not in multiples:
            yield (
                f"mrp.finetuning.first_head_rates: {list(multiples)}; expected {judged} among "
                "them, as a claim is about it"
            )


def _transfer_faults(
    cases: Mapping[str, Mapping[str, Any]], data: Mapping[str, Any]
) -> Iterator[str]:
    """Cases are made of the classes of the clean data and of new ones beside them."""
    classes, per_class = data["classes"], data["features_per_class"]
    free = data["dimension"] // per_class - classes
    for name, case in cases.items():
        key = f"mrp.transfer.cases.{name}"
        if case["old_classes"] > classes:
            yield (
                f"{key}.old_classes: {case['old_classes']}; expected at most {classes}, "
                "the classes of the clean data"
            )
        if case["new_classes"] > free:
            yield (
                f"{key}.new_classes: {case['new_classes']}; expected at most {free}: beside the "
                f"clean data's {classes} classes, {data['dimension']} dimensions have room for no "
                "more orthonormal features"
            )


def _scaling_faults(settings: Mapping[str, Any], key: str) -> Iterator[str]:
    if settings["classes"] != sorted(settings["classes"]):
        yield f"{key}.classes: {settings['classes']}; expected from few to many"
    for name, group in (("", settings), (".length", settings["length"])):
        q = group["network"]["q"]
        if q < 3:
            yield (
                f"{key}{name}.network.q: {q}; expected at least 3: "
                "sigma_0 falls with k like k ** (-1 / (q - 2))"
            )
