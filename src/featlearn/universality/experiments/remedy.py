"""Uses of a pre-trained network when labels of the target come (sections 7.3.3, F.3.4).

A linear probe (LP), fine-tuning, fine-tuning with the contrastive loss ("Ours" in the thesis), and
that loss alone before a probe (CR then LP); from every mixture, at every number of labels.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd
import torch
from torch import Tensor

from featlearn.core.files import below
from featlearn.images.probes import purity, tsne
from featlearn.universality.finetuning import accuracies, batches, resumed, tune, with_untrained
from featlearn.universality.labelled import Scene, encoded, probes, scene
from featlearn.universality.methods import start, unit
from featlearn.universality.training import Pool, descend, pooled
from featlearn.universality.words import CR, FT, KEPT, LP, ours

if TYPE_CHECKING:
    from featlearn.core.run.job import Job
    from featlearn.core.run.outputs import Results

Rows = list[dict[str, Any]]
Map = tuple[pd.DataFrame, Rows]


def measure(job: Job) -> Results:
    """Probe and fine-tune pre-trained networks, with and without the contrastive loss."""
    ladders = job.params["ladders"]
    drawn = scene(job.seed, next(iter(ladders["worlds"])), ladders)
    state = job.tensors("encoders")
    mixtures = ladders["mixtures"]
    tuned = _probed(LP, state, drawn, ladders)
    seen = encoded(below("encoder", state), len(mixtures))(drawn.tasks[0]["test"])
    maps = [_map(job, LP, drawn, seen, len(mixtures) - 1)]
    # the kept networks behind those at their start, which have a random queue
    width = ladders["arms"][KEPT]["width"]
    random = drawn.streams(f"start-{width}")
    begun = start(drawn.world.width, ladders["hidden"], width, random)
    every, spans = with_untrained(state, begun, random), [0, *mixtures]
    for weight in (0.0, *job.config["weights"]):
        job.tell(f"fine-tuning with a contrastive loss of weight {weight:g}")
        rows, map_ = _tuned(job, ladders, drawn, every, spans, weight)
        tuned += rows
        maps.append(map_)
    job.tell("contrastive loss on the target, then a probe")
    method = resumed(state)
    target = drawn.tasks[0]["train"]
    pool = Pool(torch.zeros(ladders["samples"]["train"], dtype=torch.long), *target.latent)
    views = pooled(drawn.world, [pool] * len(mixtures), ladders["batch"], drawn.streams("cr"))
    descend(method, method.loss, views, job.config["cr_steps"], job.config["cr_rate"])
    updated = {f"encoder/{key}": value for key, value in method.weights.items()}
    tuned += _probed(CR, updated, drawn, ladders)
    points = pd.concat([frame for frame, _ in maps], ignore_index=True)
    purities = pd.DataFrame([row for _, pure in maps for row in pure])
    return {"tuned": pd.DataFrame(tuned), "maps": points, "purities": purities}


def _probed(name: str, state: dict[str, Tensor], drawn: Scene, ladders: dict[str, Any]) -> Rows:
    told = [{"method": name, "mixture": mixture} for mixture in ladders["mixtures"]]
    return probes(drawn, ladders, encoded(below("encoder", state), len(told)), told, [0])


def _tuned(
    job: Job, ladders: dict[str, Any], drawn: Scene, state: dict[str, Tensor], spans: list[int],
    weight: float,
) -> tuple[Rows, Map]:  # fmt: skip
    """Fine-tuned networks of all spans and numbers of labels."""
    config, labels = job.config, ladders["labels"]
    method = resumed(state, len(labels))
    parts = drawn.tasks[0]
    stream = batches(drawn.world, parts["train"], labels, len(spans), config["batch"],
                     drawn.streams("tuning"), 2 if weight else 1)  # fmt: skip
    head = tune(method, ladders["classes"], weight, stream, config["steps"], config["rate"])
    name = ours(weight) if weight else FT
    laid = {part: (own.views, own.classes) for part, own in parts.items()}
    rows = [{"method": name, **row} for row in accuracies(method, head, laid, labels, spans)]
    # the map of the thesis: all tasks, a fifth of the labels
    features = method.encode(parts["test"].views.repeat(len(labels) * len(spans), 1, 1))
    groups = (len(labels), len(spans), ladders["replicates"])
    fifth = features.reshape(*groups, *features.shape[1:])[len(labels) - 2]
    return rows, _map(job, name, drawn, fifth.flatten(0, 1), len(spans) - 1)


def _map(job: Job, name: str, drawn: Scene, features: Tensor, span: int) -> Map:
    """t-SNE of the first replicate's normalised features; how pure neighbourhoods of each are."""
    count = len(drawn.tasks[0]["test"].views)
    own = unit(features.reshape(-1, count, *features.shape[1:])[span])  # (R, n, width)
    y, points = drawn.tasks[0]["test"].classes, job.config["points"]
    at = tsne(own[0, :points], (job.seed, "universality", "map", name), job.config["perplexity"])
    frame = pd.DataFrame({"x": at[:, 0], "y": at[:, 1], "class": y[0, :points].numpy()})
    pure = [{"method": name, "replicate": replicate, "value": purity(own[replicate], y[replicate])}
            for replicate in range(count)]  # fmt: skip
    return frame.assign(method=name), pure
