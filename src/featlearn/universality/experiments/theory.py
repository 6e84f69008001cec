"""The theorems in closed form: updates, and the risk of a probe."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from featlearn.core.seeds import derive_seed
from featlearn.universality.closed_forms import excess_risk, predicted, regularised

if TYPE_CHECKING:
    from featlearn.core.run.job import Job
    from featlearn.core.run.outputs import Results


def measure(job: Job) -> Results:
    """Compute the risk of a probe on what pre-training keeps, and Proposition F.9's updates."""
    frames = {"risks": _risks(job), "updates": _updates(job)}
    return {name: pd.DataFrame(rows) for name, rows in frames.items()}


def _risks(job: Job) -> list[dict[str, Any]]:
    config = job.config["probe"]
    rows = []
    for replicate in range(config["replicates"]):
        for labels in config["labels"]:
            name = (job.seed, "universality", "theory", replicate, f"labels-{labels}")
            # all mixtures see the same samples and the same noise
            for tasks in config["tasks"]:
                random = np.random.default_rng(derive_seed(*name))
                value = excess_risk(
                    random, (config["shared"], config["private"]), tasks, labels, config["noise"]
                )
                rows.append({"tasks": tasks, "labels": labels, "replicate": replicate,
                             "value": value})  # fmt: skip
    return rows


def _updates(job: Job) -> list[dict[str, Any]]:
    """Proposition F.9: weights after the target's contrastive loss within a distance."""
    config, rows = job.config["update"], []
    s = q = config["features"]
    for replicate in range(config["replicates"]):
        for radius in config["radii"]:
            name = (job.seed, "universality", "theory", "update", replicate)
            random = np.random.default_rng(derive_seed(*name))
            found = regularised(s, config["tasks"], radius, random)
            parts = {"shared": found[:s], "target": found[s : s + q], "others": found[s + q :]}
            expected = {"shared": 1.0, "target": predicted(q, config["tasks"], radius),
                        "others": 1 / config["tasks"]}  # fmt: skip
            rows += [{"radius": radius, "features": part, "replicate": replicate,
                      "value": float(own.mean()), "predicted": expected[part]}
                     for part, own in parts.items()]  # fmt: skip
    return rows
