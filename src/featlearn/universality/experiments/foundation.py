"""Probes and adapters on a frozen encoder: Tables 7.2, F.6 to F.8; of files F.1 to F.4, F.10, F.11.

By default encoders are networks of the ladders, pre-trained on all tasks (*broad*) or on the first
mixture (*narrow*). A config may name encoders with weights from a file and data on disk.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pandas as pd
from torch.nn import functional

from featlearn.core.errors import ConfigError
from featlearn.core.evidence.frames import rows
from featlearn.core.files import below
from featlearn.core.seeds import Streams
from featlearn.universality.adapters import Cached, scored, train_adapters
from featlearn.universality.config import SHARES, asked
from featlearn.universality.encoders import CHANCE, ENCODER
from featlearn.universality.frozen import floors_of_vectors, of_files, of_vectors
from featlearn.universality.labelled import probed, scene
from featlearn.universality.printed import OURS
from featlearn.universality.words import FT, LP

if TYPE_CHECKING:
    from featlearn.core.run.job import Job
    from featlearn.core.run.outputs import Results


def measure(job: Job) -> Results:
    """Train probes and adapters on frozen encoders of this run or from files.

    *probed* has the probe alone, also at the numbers of labels that the thesis prints, and beside
    it what learns nothing; ``percent`` is that of the labels, where it is one of the shares.
    """
    adapters: list[dict[str, Any]] = []
    probed: list[dict[str, Any]] = []
    for model, target, cached in _targets(job):
        job.tell(f"{model}: {target}")
        told, cached = {"model": model, "target": target}, cached.standardised()
        found = _probes(job, model, target, cached)
        probed += [{**told, **row} for row in found]
        adapters += [
            {**told, "method": LP, "copies": 1,
             **{key: row[key] for key in row if key != "features"}}
            for row in found
            if row["features"] == ENCODER and row["percent"] is not None
        ]  # fmt: skip
        adapters += [{**told, **row} for row in _methods(job, target, cached)]
    return {
        "adapters": pd.DataFrame(adapters),
        "probed": pd.DataFrame(probed).astype({"percent": "float64"}),
    }


def _targets(job: Job) -> Iterator[tuple[str, str, Cached]]:
    config, ladders = job.config, job.params["ladders"]
    most = max(config["copies"])
    if config["models"]:
        for name, model in config["models"].items():
            for target in model["targets"]:
                cached = of_files(model, target, most, config["deals"], job.seed,
                                  job.results / job.params["cache"], job.device)  # fmt: skip
                yield name, target, cached
        return
    drawn = scene(job.seed, next(iter(ladders["worlds"])), ladders)
    count, kept = ladders["replicates"], below("encoder", job.tensors("encoders"))
    for name, span in (("broad", len(ladders["mixtures"]) - 1), ("narrow", 0)):
        own = slice(span * count, (span + 1) * count)
        weights = {key: value[own].cpu() for key, value in kept.items()}
        for task in config["tasks"]:
            cached = of_vectors(drawn, weights, task, most, ladders["classes"])
            floors = floors_of_vectors(drawn, task, ladders["hidden"], weights["last"].shape[1])
            yield name, f"task {task + 1}", replace(cached, floors=floors)


def _shares(cached: Cached) -> list[int]:
    """Labels of each share, a sample a class at least."""
    count = cached.parts["train"][1].shape[1]
    return [max(cached.classes, count * percent // 100) for percent in SHARES]


def _probes(job: Job, model: str, target: str, cached: Cached) -> list[dict[str, Any]]:
    """Of the encoder's features and of what learns nothing, at the shares and numbers of labels."""
    config, penalties = job.config, job.params["ladders"]["penalties"]
    numbers = asked(config["models"], model, target) if config["models"] else []
    labels = {part: y for part, (_, y) in cached.parts.items()}
    count = labels["train"].shape[1]
    if numbers and max(numbers) > count:
        raise ConfigError(
            f"universality.foundation.models.{model}: {target}: {count} training samples; expected "
            f"{max(numbers)} as the thesis has, another name, or the numbers as labels"
        )
    spans = [*zip(SHARES, _shares(cached), strict=True), *((None, number) for number in numbers)]
    features = {ENCODER: {part: x for part, (x, _) in cached.parts.items()}, **cached.floors}
    found: list[dict[str, Any]] = []
    for name, own in features.items():
        parts = {part: (x, labels[part]) for part, x in own.items()}
        for percent, number in spans:
            found += rows(probed(parts, number, cached.classes, penalties), features=name,
                          percent=percent, labels=number)  # fmt: skip
    for percent, number in spans:
        counts = functional.one_hot(labels["train"][:, :number], cached.classes).sum(1)
        always = counts.argmax(1, keepdim=True)
        both = {"value": labels["test"], "training": labels["train"][:, :number]}
        found += rows({key: (always == y).float().mean(1) for key, y in both.items()},
                      features=CHANCE, percent=percent, labels=number)  # fmt: skip
    return found


def _methods(job: Job, target: str, cached: Cached) -> list[dict[str, Any]]:
    """Of adapters, at the shares of the labels."""
    config, labels = job.config, _shares(cached)
    replicates = len(cached.parts["train"][1])
    streams = Streams(job.seed, "universality", "foundation", range(replicates))
    found: list[dict[str, Any]] = []
    sizes = (config["width"], config["batch"], config["steps"], config["rate"])
    for method, weight in ((FT, 0.0), (OURS, config["weight"])):
        for copies in config["copies"]:
            if weight and copies < 2:
                continue
            random = streams(f"{target}-{copies}")
            weights = train_adapters(cached, labels, copies, weight, sizes, random)
            right = {}
            for part in ("train", "test"):
                x, y = cached.parts[part]
                answers = scored(weights, x.repeat(len(labels), 1, 1)).argmax(-1)
                right[part] = (answers == y.repeat(len(labels), 1)).float()
            for place, number in enumerate(labels):
                own = slice(place * replicates, (place + 1) * replicates)
                both = {"value": right["test"][own].mean(-1),
                        "training": right["train"][own, :number].mean(-1)}  # fmt: skip
                found += rows(both, method=method, copies=copies, percent=SHARES[place],
                              labels=number)  # fmt: skip
    return found
