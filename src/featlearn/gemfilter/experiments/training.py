"""Train the stand-ins, some in a job: weights, and how many answers are right on the way."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
from torch import Tensor

from featlearn.core.schedules import Part, Schedule
from featlearn.core.seeds import Streams, generator
from featlearn.gemfilter.config import groups
from featlearn.gemfilter.stand_in import Lessons
from featlearn.transformers.decoder import Weights, start
from featlearn.transformers.train import Recipe, train

if TYPE_CHECKING:
    from featlearn.core.job import Job
    from featlearn.core.outputs import Results


def measure(job: Job) -> Results:
    """Train stand-in readers, short sequences first."""
    config = job.config
    replicates = groups(config)[int(job.wildcards["group"])]
    streams = Streams(job.seed, "gemfilter", "training", replicates)
    draws, looked = streams("batches"), config["looked_at"]
    rows, step = [], 0
    # one warm-up and one cosine, of which a stage is a part
    total, rate = sum(stage["steps"] for stage in config["stages"]), config["rate"]
    whole = Schedule("cosine", total, rate, warmup=min(100, total // 2), end=0.05 * rate)
    for place, stage in enumerate(config["stages"]):
        lengths = generator(job.seed, "gemfilter", "training", "lengths", place)
        lessons = Lessons(config | {"longest": stage["longest"]}, draws, lengths)
        if place == 0:
            weights = start(lessons.shape, streams("start"))
            # word vectors of length sqrt(D): norms of the blocks make them the same, sums do not
            weights["words"] *= lessons.shape.width**0.5
            weights = {name: w.to(job.device) for name, w in weights.items()}

        def see(now: Weights, lessons: Lessons = lessons) -> dict[str, Tensor]:
            seen = {}
            for body in looked:
                logits, wanted = lessons.answers(now, body, 32, streams("look"))
                right = (logits.argmax(-1) == wanted).float().mean((1, 2))
                seen[str(body)] = right
            return seen

        part = Part(whole, step, stage["steps"])
        recipe = Recipe(part, config["weight_decay"], look_every=50, clip=config["clip"])
        label = f"{job.rule}, stage {place + 1}"
        learned, looks = train(
            label, weights, lessons.loss, recipe, streams=[*draws, lengths], see=see
        )
        weights = learned
        rows += [
            {"step": step + look.step, "body": int(body), "replicate": replicate, "value": value}
            for look in looks[place > 0 :]
            for body, values in look.seen.items()
            for replicate, value in zip(replicates, values.tolist(), strict=True)
        ]
        step += stage["steps"]
    return {"weights": {n: w.cpu().contiguous() for n, w in weights.items()},
            "curves": pd.DataFrame(rows)}  # fmt: skip
