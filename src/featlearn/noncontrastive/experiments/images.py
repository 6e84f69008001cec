"""Networks on images with every kind of prediction head: trained side by side, and read off."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from featlearn.core.progress import Progress
from featlearn.images.train.plan import Plan, Training
from featlearn.noncontrastive.images.cells import UNTRAINED, cell_of, training_of
from featlearn.noncontrastive.images.experiment import HeadExperiment, measure

if TYPE_CHECKING:
    from featlearn.core.job import Job
    from featlearn.core.outputs import Results


def train(job: Job) -> Results:
    """Train networks with all heads of one output norm and target, and read them off."""
    experiment, runs = HeadExperiment.of(job), job.params.runs
    plan = Plan(Training.of(training_of(runs[0], job.config)), len(experiment.unlabelled))
    progress = Progress(experiment.label(job.wildcards.head_group), plan.steps)
    networks, histories = experiment.fit(runs, report=progress.report)
    result: dict[str, list[pd.DataFrame]] = {}
    for run, network in networks.items():
        job.tell(f"linear probe: {run}")
        for what, frame in {"history": histories[run], **measure(experiment, network)}.items():
            result.setdefault(what, []).append(experiment.named(frame, run))
    weights = {
        f"{run}/{key}": tensor
        for run, network in networks.items()
        for key, tensor in network.state_dict().items()
    }
    frames = {what: pd.concat(parts, ignore_index=True) for what, parts in result.items()}
    return {"weights": weights, **frames}


def start(job: Job) -> Results:
    """Read off an untrained network: what the encoder's random start is worth."""
    experiment = HeadExperiment.of(job)
    # head and norm come after what is read off
    network = experiment.objective(cell_of("none-batch-self")).to(job.device)
    return {"values": experiment.named(measure(experiment, network)["values"], UNTRAINED)}
