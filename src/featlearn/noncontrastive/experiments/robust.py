"""Figure 5: what channels of adversarially trained networks respond to, with a head and without."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from featlearn.core.evidence.frames import stacked
from featlearn.core.files import read_tensors
from featlearn.images.activation_maximisation import GREY, likeness, of_last_layer, pixels
from featlearn.images.methods.siamese import Siamese
from featlearn.images.probes import score
from featlearn.noncontrastive.images.cells import ROBUST_TRAINED, UNTRAINED, WITHOUT
from featlearn.noncontrastive.images.experiment import (
    PROJECTION,
    HeadExperiment,
    correlations,
    effective_rank,
    probed,
    read_off,
    spectrum,
)

if TYPE_CHECKING:
    from featlearn.core.run.job import Job
    from featlearn.core.run.outputs import Results


def train(job: Job) -> Results:
    """Train one network of Figure 5, adversarially, with or without a prediction head."""
    experiment, arm = HeadExperiment.of(job), job.wildcards.robust_arm
    network, history = experiment.fit_robust(arm)
    return {"weights": network.state_dict(), "history": experiment.named(history, run=arm)}


def look(job: Job) -> Results:
    """Draw what channels of all arms respond to, and measure how alike it is."""
    experiment, parts = HeadExperiment.of(job), []
    weights = dict(zip(ROBUST_TRAINED, job.files("weights"), strict=True)) | {UNTRAINED: None}
    for arm, path in weights.items():
        job.tell(experiment.label(arm))
        # encoder and projection are all that is read off: before training the arms agree in these
        network = experiment.robust_objective(WITHOUT if path is None else arm)
        if path is not None:
            network.load_state_dict(read_tensors(path))
        values, pictures = (experiment.named(frame, run=arm)
                            for frame in look_at(experiment, network.to(job.device)))  # fmt: skip
        parts.append({"values": values, "pictures": pictures})
    return stacked(parts)


def look_at(experiment: HeadExperiment, network: Siamese) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Images that maximise channels of the encoder's last layer, how alike they are, and more.

    Returns quantities, with columns quantity and value: ``likeness`` (mean absolute cosine of two
    pictures) and ``distinct`` (how many pictures they make), see :func:`likeness`; ``live``, the
    share of channels that can be raised; ``accuracy`` of a linear probe; ``rank``, the effective
    rank of the projection; and pictures, with columns kind, channel, row, column, red, green, blue
    (uint8).
    """
    dials, size = experiment.settings["robust"]["visualisation"], experiment.image_size
    seen = of_last_layer(network.encoder, experiment.plain, size, dials, experiment.name)
    deviation = seen - GREY
    # around grey, a channel without a gradient is left with steps of the pull alone
    live = deviation.flatten(1).norm(dim=1) > 2 * dials["rate"]
    alike, distinct = likeness(deviation[live]) if int(live.sum()) > 1 else (1.0, 1.0)
    values = {
        "likeness": alike,
        "distinct": distinct,
        "live": float(live.double().mean()),
        "accuracy": score(probed(experiment, network), experiment.test.labels),
        "rank": effective_rank(spectrum(correlations(read_off(experiment, network, PROJECTION)))),
    }
    quantities = pd.DataFrame({"quantity": list(values), "value": list(values.values())})
    return quantities, pixels("feature", (seen * 255).round())
