"""Pre-training on pools of samples, by how much of it is related to the target (section F.3.3).

A pool is drawn once, without labels, and used at every step. *related* has all, half or a fifth of
the target's samples; *own* its labelled ones; *kinds* a fixed number of others, of few tasks or
many; *tenth* a tenth of everything.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pandas as pd
import torch

from featlearn.universality.data import draw_latent
from featlearn.universality.labelled import Scene, encoded, probes, scene
from featlearn.universality.methods import Recipe, start
from featlearn.universality.training import Pool, pooled, pretrain

if TYPE_CHECKING:
    from collections.abc import Mapping

    from featlearn.core.run.job import Job
    from featlearn.core.run.outputs import Results

#: Name of a pool, its place on the axis of its figure, and how many samples of each task it has.
Asked = tuple[str, float, dict[int, int]]


def measure(job: Job) -> Results:
    """Pre-train on pools of samples that are related to the target more or less, and probe."""
    config, ladders = job.config, job.params["ladders"]
    drawn = scene(job.seed, next(iter(ladders["worlds"])), ladders)
    asked = pools(config, ladders)
    held = [_drawn(drawn, counts) for _, _, counts in asked]
    spans = [{"pool": name, "place": place} for name, place, _ in asked]
    rows: list[dict[str, Any]] = []
    for method in config["methods"]:
        job.tell(f"{method}: {len(spans)} pools")
        same = [own for _ in spans for own in drawn.streams(f"start-{config['width']}")]
        begun = start(drawn.world.width, ladders["hidden"], config["width"], same)
        recipe = Recipe(method, config["steps"], ladders["batch"], ladders["rate"])
        views = pooled(drawn.world, held, recipe.batch, drawn.streams(f"pooled-{method}"))
        trained = pretrain(begun, views, recipe, drawn.streams(f"pooled-heads-{method}")).weights

        represent = encoded(trained, len(spans))
        told = [{"method": method, **span} for span in spans]
        rows += probes(drawn, ladders, represent, told, [0])
        most = {**ladders, "labels": ladders["labels"][-1:]}
        others = [mixture - 1 for mixture in ladders["mixtures"][1:]]
        rows += probes(drawn, most, represent, told, others)
        if method != "moco":  # which claims judge
            continue
        # all tasks in as many epochs as the target alone
        (every,) = [held[at] for at, (name, place, _) in enumerate(asked)
                    if (name, place) == ("related 100 %", ladders["mixtures"][-1])]  # fmt: skip
        longer = replace(recipe, steps=ladders["mixtures"][-1] * recipe.steps)
        begun = start(drawn.world.width, ladders["hidden"], config["width"],
                      drawn.streams(f"start-{config['width']}"))  # fmt: skip
        views = pooled(drawn.world, [every], recipe.batch, drawn.streams(f"pooled-{method}-grown"))
        trained = pretrain(begun, views, longer, drawn.streams(f"pooled-heads-{method}")).weights
        told = [{"method": method, "pool": "grown", "place": ladders["mixtures"][-1]}]
        rows += probes(drawn, ladders, encoded(trained, 1), told, [0])
    return {"pooled": pd.DataFrame(rows)}


def pools(config: Mapping[str, Any], ladders: Mapping[str, Any]) -> list[Asked]:
    """What each pool holds."""
    base, asked = config["samples"], []
    for mixture in ladders["mixtures"]:
        others = dict.fromkeys(range(1, mixture), base)
        for share in config["shares"]:
            asked.append(
                (f"related {share:g} %", mixture, {0: round(base * share / 100), **others})
            )
        asked.append(("own", mixture, {-1: base, **others}))
    for kinds in config["kinds"]:
        others = dict.fromkeys(range(1, 1 + kinds), config["others"] // kinds)
        asked.append(("kinds", kinds, {0: base, **others}))
    tenth = dict.fromkeys(range(max(ladders["mixtures"])), base // 10)
    return [*asked, ("tenth", max(ladders["mixtures"]), tenth)]


def _drawn(drawn: Scene, counts: Mapping[int, int]) -> Pool:
    """Samples of each task; task -1 are the target's labelled training samples."""
    tasks, shared, private = [], [], []
    for task, count in counts.items():
        which = torch.full((count,), max(task, 0))
        if task < 0:
            latent = drawn.tasks[0]["train"].latent
            latent = (latent[0][:, :count], latent[1][:, :count])
            which = which[: latent[0].shape[1]]
        else:
            # fewer samples are the first of more
            latent = draw_latent(drawn.world, which, drawn.streams(f"pool-{task}"))
        tasks.append(which)
        shared.append(latent[0])
        private.append(latent[1])
    return Pool(torch.cat(tasks), torch.cat(shared, 1), torch.cat(private, 1))
