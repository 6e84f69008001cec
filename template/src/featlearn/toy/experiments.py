"""What the rules of the paper call: a function a job."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from featlearn.core.seeds import derive_seed
from featlearn.toy.data import predicted_cosine, summed_views

if TYPE_CHECKING:
    from featlearn.core.job import Job
    from featlearn.core.outputs import Results


def averaging(job: Job) -> Results:
    """Cosine between the feature and the sum of so many views, each replicate from its stream."""
    noise, dimension = job.config["noise"], job.config["dimension"]
    rows = []
    for replicate in range(job.config["replicates"]):
        for views in job.config["views"]:
            name = (job.seed, "toy", "averaging", replicate, f"views-{views}")
            total = summed_views(np.random.default_rng(derive_seed(*name)), views, dimension, noise)
            cosine = float(total[0] / np.linalg.norm(total))
            rows.append((views, replicate, cosine, predicted_cosine(views, dimension, noise)))
    columns = ["views", "replicate", "value", "predicted"]
    return {"alignment": pd.DataFrame(rows, columns=columns)}
