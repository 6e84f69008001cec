"""The same experiment as a training in torch: replicates are an axis of the weights."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from featlearn.core.evidence.frames import tidy
from featlearn.core.seeds import Streams
from featlearn.toy.data import predicted_cosine

if TYPE_CHECKING:
    from featlearn.core.run.job import Job
    from featlearn.core.run.outputs import Results


def averaging(job: Job) -> Results:
    """Cosine between the feature and weights that add a new view at each step (Hebb's rule)."""
    noise, dimension, views = (job.config[key] for key in ("noise", "dimension", "views"))
    replicates, views = range(job.config["replicates"]), sorted(views)
    # a stream a replicate, drawn on the processor: a GPU has the same numbers
    streams = Streams(job.seed, "toy", "averaging", replicates)("views")
    w = torch.zeros(len(replicates), dimension, device=job.device)
    cosines: list[torch.Tensor] = []
    for step in range(1, views[-1] + 1):
        drawn = torch.stack([torch.randn(dimension, generator=stream) for stream in streams])
        w += noise * drawn.to(w.device)
        w[:, 0] += 1
        if step in views:
            cosines.append(w[:, 0] / w.norm(dim=1))
    axes = {"replicate": replicates, "views": views}
    predicted = [predicted_cosine(count, dimension, noise) for count in views]
    return {"alignment": tidy(axes, value=torch.stack(cosines, dim=1), predicted=predicted)}
