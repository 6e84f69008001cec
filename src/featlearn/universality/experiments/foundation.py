"""Adapters on a frozen encoder: fine-tuning with and without a contrastive loss (Tables F.6, F.7).

By default the encoders are networks that the ladders of this run pre-trained on all tasks (*broad*)
and on the first mixture (*narrow*), and the targets are tasks of their world; for a narrow encoder
most targets are foreign. A config may name encoders with weights from a file and data on disk.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pandas as pd

from featlearn.core.seeds import Streams
from featlearn.universality.adapters import Cached, scored, train_adapters
from featlearn.universality.config import SHARES
from featlearn.universality.finetuning import part_of
from featlearn.universality.frozen import of_files, of_vectors
from featlearn.universality.labelled import probed, scene
from featlearn.universality.printed import OURS
from featlearn.universality.words import FT, LP

if TYPE_CHECKING:
    from featlearn.core.job import Job
    from featlearn.core.outputs import Results


def measure(job: Job) -> Results:
    """Test and training accuracy: a row a model, target, method, copies, labels and replicate."""
    rows: list[dict[str, Any]] = []
    for model, target, cached in _targets(job):
        job.tell(f"{model}: {target}")
        rows += [{"model": model, "target": target, **row} for row in _methods(job, target, cached)]
    return {"adapters": pd.DataFrame(rows)}


def _targets(job: Job) -> Iterator[tuple[str, str, Cached]]:
    config, ladders = job.config, job.params["ladders"]
    most = max(config["copies"])
    if config["models"]:
        for name, model in config["models"].items():
            for target in model["targets"]:
                cached = of_files(
                    model, target, most, config["deals"], job.seed,
                    job.results / job.params["cache"], job.device,
                )  # fmt: skip
                yield name, target, cached
        return
    drawn = scene(job.seed, next(iter(ladders["worlds"])), ladders)
    count, kept = ladders["replicates"], part_of(job.tensors("encoders"), "encoder")
    for name, span in (("broad", len(ladders["mixtures"]) - 1), ("narrow", 0)):
        own = slice(span * count, (span + 1) * count)
        weights = {key: value[own] for key, value in kept.items()}
        for task in config["tasks"]:
            cached = of_vectors(drawn, weights, task, most, ladders["classes"])
            yield name, f"task {task + 1}", cached


def _methods(job: Job, target: str, cached: Cached) -> list[dict[str, Any]]:
    config = job.config
    cached = cached.standardised()
    count = cached.parts["train"][1].shape[1]
    labels = [max(cached.classes, count * percent // 100) for percent in SHARES]
    replicates = len(cached.parts["train"][1])
    streams = Streams(job.seed, "universality", "foundation", range(replicates))
    rows = []

    def add(method: str, copies: int, place: int, tested: list[float], fitted: list[float]) -> None:
        told = {"method": method, "copies": copies, "percent": SHARES[place],
                "labels": labels[place]}  # fmt: skip
        for replicate, (value, training) in enumerate(zip(tested, fitted, strict=True)):
            rows.append({**told, "replicate": replicate, "value": value, "training": training})

    penalties = job.params["ladders"]["penalties"]
    for place, number in enumerate(labels):
        add(LP, 1, place, *probed(cached.parts, number, cached.classes, penalties))
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
                add(method, copies, place, right["test"][own].mean(-1).tolist(),
                    right["train"][own, :number].mean(-1).tolist())  # fmt: skip
    return rows
