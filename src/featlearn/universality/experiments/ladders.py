"""Pre-training on growing mixtures of tasks, and linear probes on every task.

Mixture T holds tasks 0 to T - 1, and task 0 is the target; the networks of an arm train at once.
Mixture 0 is what was not pre-trained: the raw input, and the network at its start.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd
import torch
from torch import Tensor

from featlearn.core.heads import choose
from featlearn.core.seeds import Streams
from featlearn.universality.data import World, classes_of, draw_latent, draw_world, seen
from featlearn.universality.similarity import Similarity, debiased
from featlearn.universality.training import Recipe, Weights, encode, pretrain, start

if TYPE_CHECKING:
    from featlearn.core.job import Job
    from featlearn.core.outputs import Results

Labelled = tuple[Tensor, Tensor]
PARTS = ("train", "validation", "test")


def measure(job: Job) -> Results:
    """All frames of the experiment."""
    config = job.config
    streams = Streams(job.seed, "universality", "ladders", range(config["replicates"]))
    sizes = (config["shared"], config["private"], config["spurious"])
    world = draw_world(sizes, config["tasks"], config["classes"], streams("world"))
    tasks = [
        {part: labelled(world, task, config["samples"][part], streams(f"{part}-{task}"))
         for part in PARTS}
        for task in range(config["tasks"])
    ]  # fmt: skip
    mixtures = config["mixtures"]
    accuracies: list[dict[str, Any]] = []
    similarities: list[dict[str, Any]] = []
    told = {"arm": "raw input", "mixtures": [0]}
    accuracies += _probes(job, told, tasks, None)
    for name, arm in config["arms"].items():
        job.tell(f"{name}: {len(mixtures)} mixtures, {config['replicates']} replicates")
        recipe = Recipe(arm["method"], config["steps"], config["batch"], config["rate"])
        # all mixtures of a replicate begin at the same weights
        same = [own for _ in mixtures for own in streams(f"start-{arm['width']}")]
        begun = start(world.width, config["hidden"], arm["width"], same)
        count = config["replicates"]
        untrained = {key: value[:count].clone() for key, value in begun.items()}
        told = {"arm": f"{name}, untrained", "mixtures": [0]}
        accuracies += _probes(job, told, tasks, untrained)
        spans = [range(mixture) for mixture in mixtures]
        trained = pretrain(begun, world, spans, recipe, streams(f"pretraining-{name}"))
        accuracies += _probes(job, {"arm": name, "mixtures": mixtures}, tasks, trained)
        similarities += _similar(job, name, tasks[0]["test"][0], trained)
    return {"accuracies": pd.DataFrame(accuracies), "similarities": pd.DataFrame(similarities)}


def labelled(world: World, task: int, count: int, random: list[torch.Generator]) -> Labelled:
    """Views (R, n, d) of one task and their classes (R, n)."""
    which = torch.full((count,), task)
    latent = draw_latent(world, which, random)
    return seen(world, latent, which, random), classes_of(world, latent, task)


def _probes(
    job: Job, told: dict[str, Any], tasks: list[dict[str, Labelled]], weights: Weights | None
) -> list[dict[str, Any]]:
    """Accuracies of converged probes on every task, by labels; of the networks of all mixtures."""
    config, mixtures = job.config, told["mixtures"]
    rows = []
    for task, parts in enumerate(tasks):
        x, y = {}, {}
        for part, (views, classes) in parts.items():
            every = views.repeat(len(mixtures), 1, 1)
            x[part] = every if weights is None else encode(weights, every)
            y[part] = classes.repeat(len(mixtures), 1)
        for labels in config["labels"]:
            training = (x["train"][:, :labels], y["train"][:, :labels])
            # the validation set is no larger than the training set: it costs labels, too
            held = min(labels, x["validation"].shape[1])
            validation = (x["validation"][:, :held], y["validation"][:, :held])
            chosen = choose(training, validation, config["classes"], config["penalties"])
            tested = chosen.heads.accuracy(x["test"], y["test"]).tolist()
            for place, (value, fitted) in enumerate(
                zip(tested, chosen.train_accuracy.tolist(), strict=True)
            ):
                mixture, replicate = divmod(place, config["replicates"])
                rows.append({"arm": told["arm"], "mixture": mixtures[mixture], "task": task,
                             "labels": labels, "replicate": replicate, "value": value,
                             "training": fitted})  # fmt: skip
    return rows


def _similar(job: Job, name: str, views: Tensor, weights: Weights) -> list[dict[str, Any]]:
    """CKA of the target's features between mixtures, replicate by replicate."""
    mixtures, count = job.config["mixtures"], job.config["replicates"]
    features = encode(weights, views.repeat(len(mixtures), 1, 1)).reshape(
        len(mixtures), count, views.shape[1], -1
    )
    rows = []
    for replicate in range(count):
        own = Similarity()
        own.add(list(features[:, replicate]))
        matrix = own.matrix()
        for i, first in enumerate(mixtures):
            for j, second in enumerate(mixtures):
                free = debiased(features[i, replicate], features[j, replicate])
                for estimator, value in (("biased", float(matrix[i, j])), ("debiased", free)):
                    rows.append({"arm": name, "first": first, "second": second,
                                 "estimator": estimator, "replicate": replicate,
                                 "value": value})  # fmt: skip
    return rows
