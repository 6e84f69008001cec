"""The ladder of pictures with residual networks, and their fine-tuning.

As :mod:`featlearn.universality.experiments.pictures`. MoCo's networks of the target alone, of all
sets and at their start are fine-tuned on the target, without and with the contrastive loss.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import pandas as pd
import torch
from torch import Tensor

from featlearn.universality.experiments.pictures import (
    Laid,
    Rows,
    classes_of,
    climbed,
    labels_of,
    lay,
)
from featlearn.universality.finetuning import accuracies, resumed, tune, with_untrained
from featlearn.universality.methods import MoCo, Weights
from featlearn.universality.pictures import labelled_views
from featlearn.universality.residual import Residual
from featlearn.universality.words import FT, LP, ours

if TYPE_CHECKING:
    from featlearn.core.job import Job
    from featlearn.core.outputs import Results


def measure(job: Job) -> Results:
    """Pre-train residual networks on mixtures of pictures; probe, and fine-tune on the target."""
    config, laid = job.config, lay(job, "residual")
    body = Residual(config["encoder"], config["side"] + config["room"], config["features"])
    begun = body.start(config["width"], laid.streams)
    rows, trained = climbed(job, laid, begun, body)
    ends = [1, len(laid.sets)]
    state = _kept(cast("MoCo", trained["moco"]), ends, config["replicates"])
    state = with_untrained(state, begun, laid.streams("residual-queue"))
    tuned = _probed(rows, ends, config["tuning"]["percents"])
    for weight in (0.0, *config["tuning"]["weights"]):
        job.tell(f"fine-tuning with a contrastive loss of weight {weight:g}")
        tuned += _tuned(job, laid, state, [0, *ends], weight, body)
    return {"pictures": pd.DataFrame(rows), "tuned": pd.DataFrame(tuned)}


def _kept(method: MoCo, mixtures: list[int], count: int) -> Weights:
    """Encoders, momentum encoders and queue of the networks of these mixtures."""

    def own(value: Tensor) -> Tensor:
        return torch.cat([value[(m - 1) * count : m * count].detach() for m in mixtures])

    kept = {f"encoder/{key}": own(value) for key, value in method.weights.items()}
    kept |= {f"slow/{key}": own(value) for key, value in method.slow.items()}
    return {**kept, "queue": own(torch.cat(method.queue, 1))}


def _probed(rows: Rows, mixtures: list[int], percents: list[int]) -> Rows:
    """The probes among ``rows`` that fine-tuning is held to."""
    chosen = [row for row in rows if row["arm"] == "moco" and row["task"] == 0
              and row["mixture"] in mixtures and row["percent"] in percents]  # fmt: skip
    names = ("mixture", "task", "labels", "replicate", "value", "training")
    return [{"method": LP, **{name: row[name] for name in names}} for row in chosen]


def _tuned(
    job: Job, laid: Laid, state: Weights, spans: list[int], weight: float, body: Residual
) -> Rows:
    """Fine-tuned networks of all spans and numbers of labels."""
    own, target = job.config["tuning"], laid.parts[0]
    labels = [labels_of(target, percent) for percent in own["percents"]]
    method = resumed(state, len(labels), body)
    stream = labelled_views(
        laid.sets[0], laid.deals[0]["train"], labels, len(spans), own["batch"], laid.sight,
        laid.streams("tuning"), 2 if weight else 1,
    )  # fmt: skip
    head = tune(method, classes_of(target), weight, stream, own["steps"], own["rate"])
    name = ours(weight) if weight else FT
    return [{"method": name, **row} for row in accuracies(method, head, target, labels, spans)]
