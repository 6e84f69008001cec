"""The size of the teacher, and of students on injected inputs that it labels (Figure A.22).

Teachers of all sizes learn the pictures; the size at the classical minimum of validation losses is
chosen (Algorithm 3). Such teachers and larger ones label Gaussian inputs for students of all sizes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd
from torch import Tensor

from featlearn.core.evidence.frames import rows
from featlearn.core.run.progress import Progress
from featlearn.core.seeds import Streams
from featlearn.emergence.frames import classical_minimum
from featlearn.emergence.pictures import PARTS, of_job
from featlearn.emergence.teachers import (
    Training,
    injected,
    labels_of,
    loss_and_accuracy,
    started,
    trained_teacher,
)

if TYPE_CHECKING:
    from featlearn.core.run.job import Job
    from featlearn.core.run.outputs import Results

Data = Mapping[str, tuple[Tensor, Tensor]]


def measure(job: Job) -> Results:
    """Train teachers of every size, and students of each teacher: losses and accuracies."""
    config, sizes = job.config, job.config["descent"]["sizes"]
    name = job.wildcards["pictured"]
    pictures = of_job(job, "injected", f"emergence.injected.{name}.pictures")
    streams = Streams(job.seed, "emergence", "descent", range(config["replicates"]))
    settings, teachers = config["descent"], config["descent"]["teachers"]
    progress = Progress(job.rule, (2 + len(teachers)) * len(sizes))
    told: list[dict[str, Any]] = []

    def sweep(curve: str, teacher: int, data: Data) -> list[float]:
        """The mean validation loss of each size."""
        means = []
        for size in sizes:
            net = started(config, size, pictures, streams(f"{curve}-{size}"))
            training.run(net, *data["train"], streams(f"batches-{curve}-{size}"))
            for part, own in data.items():
                result = zip(("loss", "accuracy"), loss_and_accuracy(net, *own), strict=True)
                for what, values in result:
                    if (part, what) == ("validation", "loss"):
                        means.append(float(values.mean()))
                    told.extend(rows(
                        {"value": values}, pictures=name, curve=curve, teacher=teacher, size=size,
                        parameters=net.parameters, quantity=f"{part}_{what}",
                    ))  # fmt: skip
            progress.report(len(told) // (6 * config["replicates"]), lambda: {})
        return means

    training = Training(settings["steps"], config["training"]["rate"], settings["batch_size"])
    labelled = {part: (pictures.x[part], pictures.y[part]) for part in PARTS}
    place, interior = classical_minimum(sweep("teachers", 0, labelled))
    chosen = sizes[place]
    told.append(told[0] | {"size": chosen, "parameters": 0, "quantity": "chosen",
                           "value": float(interior)})  # fmt: skip
    if not teachers:
        return {"curves": pd.DataFrame(told)}
    unlabelled = {}
    for part, (own, _) in labelled.items():
        number = own.shape[1] * (settings["times"] if part == "train" else 1)
        like = labelled["train"][0]
        unlabelled[part] = injected("gaussian", like, number, streams(f"gaussian-{part}"))
    for size in sorted({chosen, *(size for size in teachers if size > chosen)}):
        teacher = trained_teacher(config, size, pictures, unlabelled["train"], streams)
        on_gaussian = {part: (own, labels_of(teacher, own)) for part, own in unlabelled.items()}
        sweep("students", size, on_gaussian)
    return {"curves": pd.DataFrame(told)}
