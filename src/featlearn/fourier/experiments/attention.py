"""The maps of trained attention heads, a cell for each number of inputs (Figures 4.3, C.5, C.6).

``accuracies`` along the steps, by part (:mod:`featlearn.fourier.grokking`). ``heads``: each head's
map at start and end. ``maps``: some maps, and the power of their waves.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import pandas as pd
import torch
from torch import Tensor

from featlearn.core.evidence.frames import rows, tidy
from featlearn.core.seeds import Streams, generator
from featlearn.core.training.schedules import Schedule
from featlearn.fourier.attention import logits, losses, maps, start, waves
from featlearn.fourier.grokking import Lesson
from featlearn.transformers.train import Recipe, train

if TYPE_CHECKING:
    from featlearn.core.run.job import Job
    from featlearn.core.run.outputs import Results


def measure(job: Job) -> Results:
    """Train attention heads on sums modulo p, and map them."""
    name, config = job.wildcards["cell"], job.config
    k, p, d = config["inputs"], config["modulus"], config["head_width"]
    streams = Streams(job.seed, "fourier", f"attention-{name}", range(config["replicates"]))
    order = torch.randperm(p**k, generator=generator(job.seed, "fourier", name, "looked-at"))
    asked = order[: config["looked_at"]].msort()
    lesson = Lesson.draw(config["split"], k, p, config["train_share"], streams("split"), asked)
    draws = streams("batches")
    batches = lesson.batches(config["batch_size"], draws)
    first = start(p, config["width"], config["heads"], d, streams("start"))
    first = {key: weight.to(job.device) for key, weight in first.items()}

    def loss(weights: Mapping[str, Tensor]) -> Tensor:
        return losses(weights, next(batches).to(job.device), d)

    def see(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
        return lesson.accuracies(lambda a: logits(weights, a.to(job.device), d))

    schedule = Schedule("cosine", config["steps"], config["rate"], warmup=config["warmup"])
    recipe = Recipe(schedule, config["weight_decay"], look_every=max(1, config["steps"] // 20))
    last, looks = train(f"{job.rule}, {name}", first, loss, recipe, streams=draws, see=see)
    along = [row for look in looks for part, values in look.seen.items()
             for row in rows({"value": values}, cell=name, k=k, p=p, step=look.step, part=part)
             ]  # fmt: skip
    shown = torch.randperm(config["heads"], generator=generator(job.seed, "fourier", name, "shown"))
    return {
        "accuracies": pd.DataFrame(along).dropna(subset="value", ignore_index=True),
        "heads": pd.concat([
            _heads(maps(weights, d), moment).assign(cell=name, k=k, p=p)
            for moment, weights in (("start", first), ("end", last))
        ], ignore_index=True),
        "maps": _maps(maps(last, d)[0], shown[: config["shown"]].tolist()).assign(
            cell=name, k=k, p=p
        ),
    }  # fmt: skip


def _heads(scores: Tensor, moment: str) -> pd.DataFrame:
    """A row for each head of each replicate."""
    seen = waves(scores.double().cpu())
    replicates, heads = map(range, seen.peak.shape)
    told = ("key", "query", "peak", "pair", "best", "two", "rule")
    return tidy({"moment": [moment], "replicate": replicates, "head": heads},
                **{name: getattr(seen, name) for name in told})  # fmt: skip


def _maps(scores: Tensor, shown: list[int]) -> pd.DataFrame:
    """Of the first network; ``what`` is the ``map`` or the ``power`` of its waves."""
    scores = scores.double().cpu()
    own = scores - scores.mean(-2, keepdim=True)
    power = waves(scores).power
    return pd.concat([
        tidy({"key": range(grid.shape[1]), "query": range(grid.shape[2])}, value=grid[head])
        .assign(what=what, place=place, head=head)
        for place, head in enumerate(shown)
        for what, grid in (("map", own), ("power", power))
    ], ignore_index=True)  # fmt: skip
