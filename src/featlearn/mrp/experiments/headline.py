"""The headline: supervised training loses features, mask-reconstruction pre-training keeps them.

Its baselines: features that nobody learned, and supervised networks, as trained and with a new
head; one is trained under masks. Every head is trained to its optimum.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from featlearn.core.evidence.frames import tidy
from featlearn.core.run.progress import Progress
from featlearn.mrp import train
from featlearn.mrp.data import Problem
from featlearn.mrp.kernels import capture
from featlearn.mrp.measure import head, history, joined, majority, network, rows, unlearned

if TYPE_CHECKING:
    from torch import Tensor

    from featlearn.core.run.job import Job
    from featlearn.core.run.outputs import Results

#: Names the random streams. Others were looked at when the length of pre-training was chosen.
STREAMS = "headline-many-patches"


def pretrain(job: Job) -> Results:
    """Pre-train encoders by mask reconstruction, all replicates in one program."""
    done = encoders(job, STREAMS)
    return {"weights": encoder_weights(done), "history": growth(done.trace)}


def supervise(job: Job) -> Results:
    """Train the supervised network of Lemma 1 (fixed blocks) from the same initial kernels."""
    done = supervised(job, STREAMS)
    return {
        "weights": {"w": done.w, "u": done.u},
        "history": growth(done.trace),
        "learning": learning(done.trace),
    }


def supervise_all(job: Job) -> Results:
    """Train the supervised network with a head that starts at the blocks and is trained too."""
    done = supervised(job, STREAMS, head_too=True)
    return {"weights": {"w": done.w, "u": done.u}, "learning": learning(done.trace)}


def supervise_masked(job: Job) -> Results:
    """Train the supervised network of Lemma 1 under masks as pre-training has them."""
    done = supervised(job, STREAMS, theta=job.config["pretraining"]["theta"])
    return {"weights": {"w": done.w, "u": done.u}}


def downstream(job: Job) -> Results:
    """Fine-tune the pre-trained kernels under a new linear head."""
    done = finetuned(job, STREAMS)
    return {"weights": {"w": done.w, "u": done.u}, "learning": learning(done.trace)}


def evaluate(job: Job) -> Results:
    """Measure all models on fresh multi-view and single-view samples.

    ``features``: ``Lambda`` of each feature (class and view count from 0).
    """
    evaluation, features = measured(job, STREAMS)
    return {"evaluation": evaluation, "features": features}


def encoders(job: Job, name: str) -> train.Pretrained:
    """Encoders pre-trained by mask reconstruction, on the data of the experiment ``name``."""
    problem = Problem(name, job.config, job.seed, job.device)
    options = job.config["pretraining"]
    return train.pretrain(
        problem.train.x, problem.features, problem.kernels(), problem.activation, **options,
        report=Progress(job.rule, options["max_steps"]).report,
    )  # fmt: skip


def encoder_weights(done: train.Pretrained) -> dict[str, Tensor]:
    return {"w": done.w, "at_capture": done.at_capture, "hit": done.hit, "stopped": done.stopped}


def supervised(job: Job, name: str, **more: Any) -> train.Classifier:
    """A network trained on labels from the same initial kernels."""
    problem, options = Problem(name, job.config, job.seed, job.device), job.config["supervised"]
    report = Progress(job.rule, options["steps"]).report
    return train.supervise(problem, problem.kernels(), **options, **more, report=report)


def finetuned(job: Job, name: str) -> train.Classifier:
    """The pre-trained kernels under a new linear head, both trained."""
    problem, options = Problem(name, job.config, job.seed, job.device), job.config["finetuning"]
    report = Progress(job.rule, options["steps"]).report
    return train.finetune(problem, job.tensors("pretrained")["w"], **options, report=report)


def growth(trace: train.Trace) -> pd.DataFrame:
    return history(trace.steps, {"strength": trace["strength"]}, ("class", "view"))


def learning(trace: train.Trace) -> pd.DataFrame:
    return history(trace.steps, {name: trace[name] for name in ("loss", "accuracy")})


def measured(job: Job, name: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """All models on fresh samples, and what their kernels hold of every feature."""
    problem = Problem(name, job.config, job.seed, job.device)
    encoder = job.tensors("pretrained")
    trained_on_labels = ("supervised", "supervised_all", "supervised_masked")
    networks = {name: job.tensors(name) for name in trained_on_labels if name in job.input.names}
    kernels = {
        "random": problem.kernels(),
        "pretrained": encoder["w"],
        "finetuned": job.tensors("downstream")["w"],
    }
    frames = [
        rows(majority(problem), model="majority"),
        *(rows(head(problem, on), model=model) for model, on in unlearned(problem).items()),
    ]
    for model, trained in networks.items():
        frames.append(rows(network(problem, trained["w"], trained["u"]), model=model))
        kernels[f"{model}_head"] = trained["w"]
    held = {}
    for model, w in kernels.items():
        held[model] = capture(w, problem.features, problem.activation)
        frames.append(rows({**head(problem, w), **held[model].summary()}, model=model))
    for model, trained in networks.items():
        # a class under fixed blocks cannot use the kernels of another
        held[model] = capture(trained["w"], problem.features, problem.activation, by_class=True)
        frames.append(rows(held[model].summary(), model=model))
    frames.append(rows({"steps": encoder["stopped"]}, model="pretrained"))
    axes = {"replicate": range(problem.replicates), "class": range(problem.spec.classes),
            "view": range(problem.spec.features_per_class)}  # fmt: skip
    features = joined(*(
        tidy({"model": [model], **axes}, strength=one.strength(), captured=one.captured())
        for model, one in held.items()
    ))  # fmt: skip
    return joined(*frames), features


def oppose(job: Job) -> Results:
    """Where each baseline stops: all models at each size of the noise and number of patches."""
    config, options = job.config, job.config["pretraining"]
    progress = Progress(job.rule, len(config["cells"]))
    frames = []
    for number, cell in enumerate(config["cells"]):
        place = {name: cell[name] for name in ("patches", "feature_noise")}
        # one name of the streams: cells are paired as far as their sizes allow
        section = {**config, "data": {**config["data"], **place}}
        problem = Problem("opponents", section, job.seed, job.device)
        features, activation, w = problem.features, problem.activation, problem.kernels()
        supervised = train.supervise(problem, w, **config["supervised"])
        encoder = train.pretrain(
            problem.train.x, features, w, activation, learning_rate=cell["learning_rate"],
            min_steps=cell["min_steps"], **options,
        ).w  # fmt: skip
        held = capture(encoder, features, activation)
        kept = capture(supervised.w, features, activation, by_class=True)
        models = [
            *((model, head(problem, on)) for model, on in unlearned(problem).items()),
            ("random", head(problem, w)),
            ("supervised", network(problem, supervised.w, supervised.u)),
            ("supervised_head", head(problem, supervised.w)),
            ("pretrained", {**head(problem, encoder), **held.summary()}),
            ("supervised", kept.summary()),
        ]
        frames += [rows(quantities, model=model).assign(**place) for model, quantities in models]
        progress.report(number + 1, lambda: {})
    return {"cells": joined(*frames)}
