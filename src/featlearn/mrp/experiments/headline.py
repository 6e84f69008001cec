"""The headline: supervised training loses features, mask-reconstruction pre-training keeps them.

Its opponents: what learns no features (a linear classifier on the summed patches, random kernels)
and supervised networks, as trained and with a new head. Every head is trained to its optimum.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from featlearn.core.progress import Progress
from featlearn.mrp.classify import Task
from featlearn.mrp.experiment import Experiment
from featlearn.mrp.heads import head_rows, majority_rows, network_rows, raw
from featlearn.mrp.measure import (
    EVALUATION_COLUMNS,
    FEATURE_COLUMNS,
    capture,
    capture_rows,
    feature_rows,
    learning_history,
    strength_history,
)
from featlearn.mrp.train import Classifier, MaskedAutoencoder, Pretrained
from featlearn.mrp.train import pretrain as pretrained

if TYPE_CHECKING:
    from torch import Tensor

    from featlearn.core.job import Job
    from featlearn.core.outputs import Results

#: Names the random streams. Others were looked at when the length of pre-training was chosen.
STREAMS = "headline-many-patches"


def pretrain(job: Job) -> Results:
    """Pre-train encoders by mask reconstruction, all replicates in one program."""
    done = encoders(job, STREAMS)
    return {"weights": encoder_weights(done), "history": strength_history(done.trace)}


def supervise(job: Job) -> Results:
    """Train the supervised network of Lemma 1 (fixed blocks) from the same initial kernels."""
    done = supervised(job, STREAMS)
    return {
        "weights": {"w": done.w, "u": done.u},
        "history": strength_history(done.trace),
        "learning": learning_history(done.trace),
    }


def supervise_all(job: Job) -> Results:
    """The same with a head that starts at the blocks and is trained too."""
    done = supervised(job, STREAMS, head_too=True)
    return {"weights": {"w": done.w, "u": done.u}, "learning": learning_history(done.trace)}


def downstream(job: Job) -> Results:
    """Fine-tune the pre-trained kernels under a new linear head."""
    done = finetuned(job, STREAMS)
    return {"weights": {"w": done.w, "u": done.u}, "learning": learning_history(done.trace)}


def evaluate(job: Job) -> Results:
    """Measure all models on fresh multi-view and single-view samples."""
    evaluation, features = measured(job, STREAMS)
    return {"evaluation": evaluation, "features": features}


# --------------------------------------------------------------------------- on any such data


def encoders(job: Job, name: str) -> Pretrained:
    """Encoders pre-trained by mask reconstruction, on the data of the experiment ``name``."""
    experiment = Experiment(name, job.config, job.seed, job.device)
    options = dict(job.config["pretraining"])
    return pretrained(
        experiment.train_samples().x,
        experiment.features,
        experiment.initial_kernels(),
        MaskedAutoencoder(experiment.activation, options.pop("theta")),
        varrho=experiment.activation.varrho,
        **options,
        report=Progress(job.rule, options["max_steps"]).report,
    )


def encoder_weights(done: Pretrained) -> dict[str, Tensor]:
    """What a file keeps of them."""
    return {"w": done.w, "at_capture": done.at_capture, "hit": done.hit, "stopped": done.stopped}


def supervised(job: Job, name: str, *, head_too: bool = False) -> Classifier:
    """A network trained on labels from the same initial kernels; see :class:`Task`."""
    experiment = Experiment(name, job.config, job.seed, job.device)
    options = job.config["supervised"]
    return Task.of(experiment).supervise(
        experiment.initial_kernels(),
        options,
        Progress(job.rule, options["steps"]).report,
        head_too=head_too,
    )


def finetuned(job: Job, name: str) -> Classifier:
    """The pre-trained kernels under a new linear head, both trained."""
    options = job.config["finetuning"]
    return Task.of(Experiment(name, job.config, job.seed, job.device)).finetune(
        job.tensors("pretrained")["w"], options, Progress(job.rule, options["steps"]).report
    )


def measured(job: Job, name: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """All models on fresh samples, and what their kernels hold of every feature."""
    experiment = Experiment(name, job.config, job.seed, job.device)
    task = Task.of(experiment)
    encoder = job.tensors("pretrained")
    supervised = {"supervised": job.tensors("supervised")}
    if "supervised_all" in job.input.names:
        supervised["supervised_all"] = job.tensors("supervised_all")
    kernels = {
        "random": experiment.initial_kernels(),
        "pretrained": encoder["w"],
        "finetuned": job.tensors("downstream")["w"],
    }
    rows = [*majority_rows(task), *head_rows("raw_linear", task, raw)]
    strengths: list[tuple[str, int, int, int, float, bool]] = []
    for model, trained in supervised.items():
        rows += network_rows(model, task, trained["w"], trained["u"])
        kernels[f"{model}_head"] = trained["w"]
    for model, w in kernels.items():
        rows += head_rows(model, task, w)
        held = capture(w, experiment.features, experiment.activation)
        rows += capture_rows(model, held)
        strengths += feature_rows(model, held)
    for model, trained in supervised.items():
        # a class under fixed blocks cannot use the kernels of another
        held = capture(trained["w"], experiment.features, experiment.activation, by_class=True)
        rows += capture_rows(model, held)
        strengths += feature_rows(model, held)
    rows += [
        ("pretrained", replicate, "steps", float(steps))
        for replicate, steps in enumerate(encoder["stopped"].tolist())
    ]
    return (
        pd.DataFrame(rows, columns=EVALUATION_COLUMNS),
        pd.DataFrame(strengths, columns=FEATURE_COLUMNS),
    )
