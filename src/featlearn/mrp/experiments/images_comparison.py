"""Supervised training against pre-training without labels, by number of labels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from featlearn.images.saved import described
from featlearn.mrp.images.downstream import evaluate
from featlearn.mrp.images.experiment import experiment_of

if TYPE_CHECKING:
    from featlearn.core.run.job import Job
    from featlearn.core.run.outputs import Results


def pretrain(job: Job) -> Results:
    """Pre-train one encoder without labels, by one method."""
    method, experiment = job.wildcards.method, experiment_of(job)
    settings = job.config["pretraining"][method]
    encoder, history = experiment.pretrain(method, settings)
    return {
        "weights": described(encoder, experiment.augment, method, settings),
        "history": history.assign(method=method, replicate=experiment.replicate),
    }


def downstream(job: Job) -> Results:
    """Probe and fine-tune one encoder, with few and with many labels."""
    experiment, kind = experiment_of(job), job.params.encoder
    weights = job.tensors("weights") if job.files("weights") else None
    found, trained = evaluate(experiment, kind, weights, job.config["comparison"], job.tell)
    about = {"start": job.wildcards.start, "encoder": kind, "replicate": experiment.replicate}
    return {"weights": trained, "evaluation": found.assign(**about)}
