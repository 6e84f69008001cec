"""Where each opponent of mask reconstruction stops, as feature noise and patches grow."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from featlearn.core.progress import Progress
from featlearn.mrp.classify import Task
from featlearn.mrp.experiment import Experiment
from featlearn.mrp.heads import head_rows, network_rows, raw
from featlearn.mrp.measure import EVALUATION_COLUMNS, capture, capture_rows
from featlearn.mrp.train import MaskedAutoencoder, pretrain

if TYPE_CHECKING:
    from featlearn.core.job import Job
    from featlearn.core.outputs import Results


def oppose(job: Job) -> Results:
    """Train and measure all of them at each size of the noise and number of patches."""
    config = job.config
    progress = Progress(job.rule, len(config["cells"]))
    frames = []
    for number, cell in enumerate(config["cells"]):
        place = {name: cell[name] for name in ("patches", "feature_noise")}
        here = {**config, "data": {**config["data"], **place}}
        # one name of the streams: cells are paired as far as their sizes allow
        experiment = Experiment("opponents", here, job.seed, job.device)
        task, w = Task.of(experiment), experiment.initial_kernels()
        supervised = task.supervise(w, config["supervised"])
        options = dict(config["pretraining"])
        encoder = pretrain(
            task.train.x,
            task.features,
            w,
            MaskedAutoencoder(task.activation, options.pop("theta")),
            varrho=task.activation.varrho,
            learning_rate=cell["learning_rate"],
            min_steps=cell["min_steps"],
            **options,
        ).w
        rows = [
            *head_rows("raw_linear", task, raw),
            *head_rows("random", task, w),
            *network_rows("supervised", task, supervised.w, supervised.u),
            *head_rows("supervised_head", task, supervised.w),
            *head_rows("pretrained", task, encoder),
            *capture_rows("pretrained", capture(encoder, task.features, task.activation)),
        ]
        held = capture(supervised.w, task.features, task.activation, by_class=True)
        rows += capture_rows("supervised", held)
        frames.append(pd.DataFrame(rows, columns=EVALUATION_COLUMNS).assign(**place))
        progress.report(number + 1, lambda: {})
    return {"cells": pd.concat(frames, ignore_index=True)}
