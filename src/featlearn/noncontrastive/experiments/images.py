"""Networks on images with every kind of prediction head: trained side by side, and read off."""

from __future__ import annotations

from typing import TYPE_CHECKING

from featlearn.core.evidence.frames import stacked
from featlearn.noncontrastive.images.cells import UNTRAINED, cell_of
from featlearn.noncontrastive.images.experiment import HeadExperiment, measure

if TYPE_CHECKING:
    from featlearn.core.run.job import Job
    from featlearn.core.run.outputs import Results


def train(job: Job) -> Results:
    """Train networks with all heads of one output norm and target, and read them off."""
    experiment = HeadExperiment.of(job)
    networks, histories = experiment.fit(job.params.runs, job.wildcards.head_group)
    parts = []
    for run, network in networks.items():
        job.tell(f"linear probe: {run}")
        frames = {"history": histories[run], **measure(experiment, network)}
        parts.append({what: experiment.named(frame, run=run) for what, frame in frames.items()})
    weights = {
        f"{run}/{key}": tensor
        for run, network in networks.items()
        for key, tensor in network.state_dict().items()
    }
    return {"weights": weights, **stacked(parts)}


def start(job: Job) -> Results:
    """Read off an untrained network: what the encoder's random start is worth."""
    experiment = HeadExperiment.of(job)
    # head and norm come after what is read off
    network = experiment.objective(cell_of("none-batch-self")).to(job.device)
    return {"values": experiment.named(measure(experiment, network)["values"], run=UNTRAINED)}
