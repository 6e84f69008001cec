"""What the rules of the paper call: a function a job."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from featlearn.core.evidence.frames import tidy
from featlearn.core.seeds import derive_seed
from featlearn.toy.data import predicted_cosine, summed_views

if TYPE_CHECKING:
    from featlearn.core.run.job import Job
    from featlearn.core.run.outputs import Results


def averaging(job: Job) -> Results:
    """Cosine between the feature and the sum of so many views, each replicate from its stream."""
    noise, dimension = job.config["noise"], job.config["dimension"]

    def cosine(replicate: int, views: int) -> float:
        name = (job.seed, "toy", "averaging", replicate, f"views-{views}")
        total = summed_views(np.random.default_rng(derive_seed(*name)), views, dimension, noise)
        return float(total[0] / np.linalg.norm(total))

    axes = {"replicate": range(job.config["replicates"]), "views": job.config["views"]}
    value = [
        [cosine(replicate, views) for views in axes["views"]] for replicate in axes["replicate"]
    ]
    predicted = [predicted_cosine(views, dimension, noise) for views in axes["views"]]
    return {"alignment": tidy(axes, value=value, predicted=predicted)}
