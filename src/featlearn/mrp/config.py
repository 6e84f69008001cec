"""What a valid ``mrp`` config must also satisfy, beyond types and ranges. No torch in here."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from featlearn.core.run.checks import Checks


def faults(mrp: Mapping[str, Any]) -> list[str]:
    """Values that contradict each other."""
    check = Checks("mrp", mrp)
    for name, settings in mrp.items():
        if "data" in settings:
            check.faults += _data_faults(settings["data"], f"mrp.{name}.data")
        for number, cell in enumerate(settings.get("cells", ())):
            data = {**settings["data"], "patches": cell["patches"]}
            check.faults += _data_faults(data, f"mrp.{name}.cells[{number}]")
        if "record_every" in settings.get("pretraining", ()):
            check.most(f"{name}.pretraining.record_every", f"{name}.pretraining.max_steps")
        if "scaling" in settings:
            check.rising(f"{name}.classes")
            for part in (name, f"{name}.length"):
                q = check.value(f"{part}.network.q")
                wanted = "at least 3: sigma_0 falls with k like k ** (-1 / (q - 2))"
                check(f"{part}.network.q", q >= 3, wanted)
    if "growth" in mrp:
        limit = _end_of_growth_law(mrp["growth"])
        wanted = (
            f"at most varrho / (tau x largest strength) = {limit:.4g}: beyond it the activation is "
            "linear and the growth law ends"
        )
        check("growth.target", mrp["growth"]["target"] <= limit * (1 + 1e-9), wanted)
    if {"clean", "teacher_student"} <= {*mrp}:
        paired = mrp["teacher_student"]["replicates"]
        wanted = f"{paired}, as in teacher_student: t14-noise-own-patches pairs their replicates"
        check("clean.replicates", mrp["clean"]["replicates"] == paired, wanted)
    if "finetuning" in mrp:
        check.holds("finetuning.first_head_rates", 1, 8, why="which a claim is about")
    if "transfer" in mrp:
        data = mrp["clean"]["data"]
        free = data["dimension"] // data["features_per_class"] - data["classes"]
        for name, case in mrp["transfer"]["cases"].items():
            key = f"transfer.cases.{name}"
            check.most(f"{key}.old_classes", "clean.data.classes")
            wanted = f"at most {free}, for whose features clean.data has dimensions left"
            check(f"{key}.new_classes", case["new_classes"] <= free, wanted)
    return check.faults


def _data_faults(data: Mapping[str, Any], path: str) -> list[str]:
    check = Checks(path, data)
    features = data["classes"] * data["features_per_class"]
    patches = features * data["patches_per_feature"]
    wanted = (
        f"at least {data['classes']} classes x {data['features_per_class']} features x "
        f"{data['patches_per_feature']} patches a feature = {patches}: a sample may hold every "
        "feature"
    )
    check("patches", data["patches"] >= patches, wanted)
    wanted = f"at least {features}: the features of all classes are orthonormal"
    check("dimension", data["dimension"] >= features, wanted)
    why = "a feature of another class appears with probability sparsity / classes"
    check.most("sparsity", "classes", why)
    for name in ("main_strength", "off_strength"):
        check(name, data[name][0] <= data[name][1], "a range with the lower end first")
    check("main_strength", data["main_strength"][1] > 0, "a range that ends above 0")
    return check.faults


def _end_of_growth_law(growth: Mapping[str, Any]) -> float:
    """The closed form holds in the polynomial regime, for the teacher's larger kernels too."""
    data, theta = growth["data"], growth["theta"]
    parts = data["patches_per_feature"]
    tau = 1 + (1 - theta) / (parts * theta)
    largest = data["main_strength"][1] * parts ** (-1 / growth["teacher_student"]["q"])
    return float(growth["network"]["varrho"] / (tau * largest)) if largest > 0 else math.inf
