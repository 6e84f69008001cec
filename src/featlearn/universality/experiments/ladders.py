"""Pre-training on growing mixtures of tasks, and linear probes on a task of each rung.

Mixture T holds tasks 0 to T - 1, task 0 is the target. Mixture 0 is not pre-trained: raw input,
random features, the network at its start, and the oracle, which has the task's features.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd
import torch
from torch import Tensor

from featlearn.universality.labelled import Labelled, Scene, encoded, probes, scene
from featlearn.universality.methods import Recipe, SimCLR, Weights, encode, hidden_layer, start
from featlearn.universality.similarity import alike, debiased
from featlearn.universality.training import fresh, pretrain
from featlearn.universality.words import KEPT, RANDOM

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from featlearn.core.run.job import Job
    from featlearn.core.run.outputs import Results

Rows = list[dict[str, Any]]


def measure(job: Job) -> Results:
    """Pre-train on growing mixtures of tasks on vectors; keep the networks of one arm."""
    accuracies: Rows = []
    similarities: Rows = []
    kept: Weights = {}
    for place, name in enumerate(job.config["worlds"]):
        drawn = scene(job.seed, name, job.config)
        config = {**job.config, "replicates": len(drawn.world.turn)}
        told = {"world": name, "mixture": 0}
        accuracies += _opponents(config, drawn, told)
        for arm, settings in job.config["arms"].items():
            if place and not settings["everywhere"]:
                continue
            job.tell(f"{name}, {arm}")
            own, similar, trained = _arm(config, drawn, arm, settings)
            accuracies += [{"world": name, **row} for row in own]
            similarities += [{"world": name, **row} for row in similar]
            if not place and arm == KEPT:
                kept = trained
        if not place:
            similarities += [{"world": name, **row} for row in _decayed(config, drawn)]
    return {"accuracies": pd.DataFrame(accuracies), "similarities": pd.DataFrame(similarities),
            "encoders": kept}  # fmt: skip


def probed_tasks(config: dict[str, Any]) -> list[int]:
    """The last task of each mixture: one a rung of the ladder, the target first."""
    return [mixture - 1 for mixture in config["mixtures"]]


def _opponents(config: dict[str, Any], drawn: Scene, told: dict[str, Any]) -> Rows:
    """What needs no pre-training."""
    tasks, rows = probed_tasks(config), []
    same = drawn.streams("start-random")
    wide = start(drawn.world.width, config["hidden"], 1, same)
    ways: dict[str, Callable[[Labelled], Tensor]] = {
        "raw input": lambda own: own.views,
        RANDOM: lambda own: hidden_layer(wide, own.views),
        "oracle": lambda own: torch.cat(own.latent, -1),
    }
    for width in sorted({arm["width"] for arm in config["arms"].values()}):
        begun = start(drawn.world.width, config["hidden"], width, drawn.streams(f"start-{width}"))
        ways[f"untrained, {width}"] = encoded(begun)
    for arm, represent in ways.items():
        rows += probes(drawn, config, represent, [{**told, "arm": arm}], tasks)
    return rows


def _arm(
    config: dict[str, Any], drawn: Scene, arm: str, settings: dict[str, Any]
) -> tuple[Rows, Rows, Weights]:
    """Accuracies, similarities and networks of all mixtures, and of single tasks for one arm."""
    world, streams = drawn.world, drawn.streams
    mixtures = config["mixtures"]
    alone = range(1, 1 + config["alone"]) if arm == KEPT else ()
    again = [mixtures[0], mixtures[-1]] if arm == KEPT else []
    spans = [range(mixture) for mixture in mixtures] + [[task] for task in alone]
    spans += [range(mixture) for mixture in again]
    # all spans of a replicate begin at the same weights, but for those of another start
    first, other = (f"start-{word}{settings['width']}" for word in ("", "again-"))
    starts = [first] * (len(spans) - len(again)) + [other] * len(again)

    def train(chosen: Sequence[Sequence[int]], starts: Sequence[str], steps: int) -> SimCLR:
        begun = start(world.width, config["hidden"], settings["width"],
                      [own for name in starts for own in streams(name)])  # fmt: skip
        views = fresh(world, chosen, config["batch"], streams(f"pretraining-{arm}"))
        return pretrain(begun, views, _recipe(config, settings["method"], steps),
                        streams(f"heads-{arm}"))  # fmt: skip

    ladder = len(mixtures) * config["replicates"]
    method = None
    if settings.get("grown"):
        # as the thesis: a union of sets in as many epochs, so that the target is seen as often
        each = [train([span], [first], config["steps"] * len(span)).weights for span in spans]
        own = {key: torch.cat([one[key] for one in each]) for key in each[0]}
    else:
        method = train(spans, starts, config["steps"])
        own = {key: value[:ladder] for key, value in method.weights.items()}

    told = [{"arm": arm, "mixture": mixture} for mixture in mixtures]
    accuracies = probes(drawn, config, encoded(own, len(mixtures)), told, probed_tasks(config))
    if method is None:
        return accuracies, [], {}
    names = [str(mixture) for mixture in mixtures] + [f"only {task + 1}" for task in alone]
    names += [f"{mixture}, other start" for mixture in again]
    similar = [{"arm": arm, **row} for row in _similar(drawn, names, method.weights)]
    kept = {f"encoder/{key}": value[:ladder] for key, value in method.weights.items()}
    if slow := getattr(method, "slow", None):
        kept |= {f"slow/{key}": value[:ladder] for key, value in slow.items()}
        kept["queue"] = torch.cat(method.queue, 1)[:ladder]  # type: ignore[attr-defined]
    return accuracies, similar, {key: value.contiguous() for key, value in kept.items()}


def _recipe(config: dict[str, Any], method: str, steps: int) -> Recipe:
    return Recipe(method, steps, config["batch"], config["rate"], config["temperature"],
                  config["momentum"], config["queue"], config["optimiser"])  # fmt: skip


def _decayed(config: dict[str, Any], drawn: Scene) -> Rows:
    """CKA between networks that were pre-trained on the target with several weight decays."""
    streams = drawn.streams
    settings, decays = config["arms"][KEPT], config["decays"]
    recipe = _recipe(config, settings["method"], config["steps"])
    same = [own for _ in decays for own in streams(f"start-{settings['width']}")]
    begun = start(drawn.world.width, config["hidden"], settings["width"], same)
    views = fresh(drawn.world, [[0]] * len(decays), config["batch"], streams("decays"))
    each = torch.tensor(decays).repeat_interleave(config["replicates"])
    trained = pretrain(begun, views, recipe, streams("decay-heads"), each).weights
    names = [f"{decay:g}" for decay in decays]
    return [{"arm": "weight decay", **row} for row in _similar(drawn, names, trained)]


def _similar(drawn: Scene, names: list[str], weights: Weights) -> Rows:
    """CKA of the target's features between spans, replicate by replicate."""
    views = drawn.tasks[0]["test"].views
    count = len(views)
    features = encode(weights, views.repeat(len(names), 1, 1)).reshape(
        len(names), count, views.shape[1], -1
    )
    rows = []
    for replicate in range(count):
        matrix = alike([*features[:, replicate]])
        for i, first in enumerate(names):
            for j, second in enumerate(names):
                free = debiased(features[i, replicate], features[j, replicate])
                for estimator, value in (("biased", float(matrix[i, j])), ("debiased", free)):
                    rows.append({"first": first, "second": second, "estimator": estimator,
                                 "replicate": replicate, "value": value})  # fmt: skip
    return rows
