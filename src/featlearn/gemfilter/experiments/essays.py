"""Needles in essays that people wrote, for networks that are trained here."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from torch import Tensor

from featlearn.core.seeds import Streams
from featlearn.gemfilter import essays
from featlearn.gemfilter.experiments.needle import frames_of
from featlearn.gemfilter.experiments.training import in_stages
from featlearn.gemfilter.needles import Vocabulary
from featlearn.gemfilter.stand_in import Lessons
from featlearn.transformers.decoder import Weights

if TYPE_CHECKING:
    from featlearn.core.run.job import Job
    from featlearn.core.run.outputs import Results


def measure(job: Job) -> Results:
    """Train readers on essays and let them find needles in others, by every method."""
    config = job.config
    text = essays.read(Path(config["folder"]), Vocabulary(**config["vocabulary"]))
    streams = Streams(job.seed, "gemfilter", "essays", range(config["replicates"]))

    def see(_: Lessons, now: Weights) -> dict[str, Tensor]:
        return {"size": now["words"].square().mean((1, 2))}

    lessons = partial(essays.EssayLessons, text.learned)
    weights, _ = in_stages(job, streams, lessons, see, look_every=10**9)
    found = frames_of(essays.stand(config, weights, text), config, job.seed, "essays")
    return {key: frame.assign(network="trained on essays") for key, frame in found.items()}
