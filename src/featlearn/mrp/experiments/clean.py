"""The models of the headline on data with hardly any noise, which a linear classifier solves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from featlearn.mrp.experiments import headline

if TYPE_CHECKING:
    from featlearn.core.job import Job
    from featlearn.core.outputs import Results


def pretrain(job: Job) -> Results:
    """Pre-train encoders by mask reconstruction."""
    return {"weights": headline.encoder_weights(headline.encoders(job, "clean"))}


def supervise(job: Job) -> Results:
    """Train the supervised network of Lemma 1 from the same initial kernels."""
    done = headline.supervised(job, "clean")
    return {"weights": {"w": done.w, "u": done.u}}


def downstream(job: Job) -> Results:
    """Fine-tune the pre-trained kernels under a new linear head."""
    done = headline.finetuned(job, "clean")
    return {"weights": {"w": done.w, "u": done.u}}


def evaluate(job: Job) -> Results:
    """Measure all models on fresh samples."""
    evaluation, _ = headline.measured(job, "clean")
    return {"evaluation": evaluation}
