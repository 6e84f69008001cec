"""How far MAE kernels align with the noise of training and of fresh samples."""

from __future__ import annotations

from typing import TYPE_CHECKING

from featlearn.mrp.experiment import Experiment
from featlearn.mrp.noise import noise_frame

if TYPE_CHECKING:
    from featlearn.core.job import Job
    from featlearn.core.outputs import Results


def noise(job: Job) -> Results:
    """Measure the alignment of the initial and of the pre-trained kernels."""
    experiment = Experiment("clean", job.config, job.seed, job.device)
    return {"noise": noise_frame(experiment, job.tensors("pretrained")["w"])}
