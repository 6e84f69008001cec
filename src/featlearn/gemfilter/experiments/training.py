"""Train the stand-ins, some in a job: weights, and how many answers are right on the way."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import pandas as pd
from torch import Tensor

from featlearn.core.evidence.frames import rows
from featlearn.core.seeds import Streams, generator
from featlearn.core.training.schedules import Part, Schedule
from featlearn.gemfilter.config import groups
from featlearn.gemfilter.stand_in import Lessons, shape_of
from featlearn.transformers.decoder import Weights, start
from featlearn.transformers.train import Look, Recipe, train

if TYPE_CHECKING:
    from featlearn.core.run.job import Job
    from featlearn.core.run.outputs import Results


def measure(job: Job) -> Results:
    """Train stand-in readers, short sequences first."""
    replicates = groups(job.config)[int(job.wildcards["group"])]
    streams = Streams(job.seed, "gemfilter", "training", replicates)

    def see(lessons: Lessons, now: Weights) -> dict[str, Tensor]:
        seen = {}
        for body in job.config["looked_at"]:
            logits, wanted = lessons.answers(now, body, 32, streams("look"))
            seen[str(body)] = (logits.argmax(-1) == wanted).float().mean((1, 2))
        return seen

    weights, looks = in_stages(job, streams, Lessons, see, look_every=50)
    curves = [row for look in looks for body, values in look.seen.items()
              for row in rows({"value": values}, replicates, step=look.step, body=int(body))
              ]  # fmt: skip
    return {"weights": {n: w.cpu().contiguous() for n, w in weights.items()},
            "curves": pd.DataFrame(curves)}  # fmt: skip


def in_stages(
    job: Job, streams: Streams, made: Callable[..., Lessons],
    see: Callable[[Lessons, Weights], dict[str, Tensor]], look_every: int,
) -> tuple[dict[str, Tensor], list[Look]]:  # fmt: skip
    """Weights after the stages of the config, short sequences first, and the looks of all."""
    config, draws = job.config, streams("batches")
    looks, step = list[Look](), 0
    # one warm-up and one cosine, of which a stage is a part
    total, rate = sum(stage["steps"] for stage in config["stages"]), config["rate"]
    whole = Schedule("cosine", total, rate, warmup=min(100, total // 2), end=0.05 * rate)
    weights = start(shape_of(config), streams("start"))
    # word vectors of length sqrt(D): norms of the blocks make them the same, sums do not
    weights["words"] *= config["width"] ** 0.5
    weights = {name: w.to(job.device) for name, w in weights.items()}
    for place, stage in enumerate(config["stages"]):
        lengths = generator(job.seed, "gemfilter", streams.experiment, "lengths", place)
        lessons = made(config | {"longest": stage["longest"]}, draws, lengths)
        part = Part(whole, step, stage["steps"])
        recipe = Recipe(part, config["weight_decay"], look_every=look_every, clip=config["clip"])
        weights, found = train(
            f"{job.rule}, stage {place + 1}", weights, lessons.loss, recipe,
            streams=[*draws, lengths], see=partial(see, lessons),
        )  # fmt: skip
        # the start of a stage is the end of the one before
        looks += [look._replace(step=step + look.step) for look in found[place > 0 :]]
        step += stage["steps"]
    return weights, looks
