"""The headline: supervised training loses features, mask-reconstruction pre-training keeps them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from featlearn.core.progress import Progress
from featlearn.mrp.experiment import Experiment
from featlearn.mrp.measure import (
    EVALUATION_COLUMNS,
    FEATURE_COLUMNS,
    capture,
    capture_rows,
    feature_rows,
    learning_history,
    predict,
    prediction_rows,
    strength_history,
)
from featlearn.mrp.model import fixed_block_head
from featlearn.mrp.train import MaskedAutoencoder, train_classifier
from featlearn.mrp.train import pretrain as pretrained

if TYPE_CHECKING:
    from torch import Tensor

    from featlearn.core.job import Job
    from featlearn.core.outputs import Results


def _experiment(job: Job) -> Experiment:
    return Experiment("headline", job.config, job.seed, job.device)


def pretrain(job: Job) -> Results:
    """Pre-train encoders by mask reconstruction, all replicates in one program."""
    experiment = _experiment(job)
    options = dict(job.config["pretraining"])
    method = MaskedAutoencoder(experiment.activation, options.pop("theta"))
    done = pretrained(
        experiment.train_samples().x,
        experiment.features,
        experiment.initial_kernels(),
        method,
        varrho=experiment.activation.varrho,
        **options,
        report=Progress(job.rule, options["max_steps"]).report,
    )
    weights = {"w": done.w, "at_capture": done.at_capture, "hit": done.hit, "stopped": done.stopped}
    return {"weights": weights, "history": strength_history(done.trace)}


def supervise(job: Job) -> Results:
    """Train the supervised baseline of Lemma 1 (fixed blocks) from the same initial kernels."""
    experiment = _experiment(job)
    samples = experiment.train_samples()
    options = job.config["supervised"]
    head = fixed_block_head(
        experiment.spec.classes, experiment.kernels, job.config["replicates"]
    ).to(job.device)
    done = train_classifier(
        samples.x,
        samples.y,
        experiment.initial_kernels(),
        head,
        experiment.activation,
        encoder_rate=options["learning_rate"],
        head_rate=0.0,
        steps=options["steps"],
        record_every=options["record_every"],
        features=experiment.features,
        report=Progress(job.rule, options["steps"]).report,
    )
    return {
        "weights": {"w": done.w, "u": done.u},
        "history": strength_history(done.trace),
        "learning": learning_history(done.trace),
    }


def downstream(job: Job) -> Results:
    """Put a new linear head on pre-trained and on random kernels: probe and fine-tune both."""
    experiment = _experiment(job)
    samples = experiment.train_samples()
    kernels, initial = job.tensors("pretrained")["w"], experiment.initial_kernels()
    starts = {
        "probe": (kernels, "probe"),
        "finetuned": (kernels, "finetuning"),
        "random_probe": (initial, "probe"),
        "random_finetuned": (initial, "finetuning"),
    }
    weights: dict[str, Tensor] = {}
    histories = []
    for model, (start, recipe) in starts.items():
        options = job.config[recipe]
        done = train_classifier(
            samples.x,
            samples.y,
            start,
            experiment.zero_head(),
            experiment.activation,
            encoder_rate=options.get("encoder_rate", 0.0),
            head_rate=options["head_rate"],
            steps=options["steps"],
            record_every=options["record_every"],
            features=experiment.features,
            report=Progress(f"{job.rule} {model}", options["steps"]).report,
        )
        weights |= {f"{model}.w": done.w, f"{model}.u": done.u}
        histories.append(learning_history(done.trace).assign(model=model))
    return {"weights": weights, "learning": pd.concat(histories, ignore_index=True)}


def evaluate(job: Job) -> Results:
    """Measure all models on fresh multi-view and single-view samples."""
    experiment = _experiment(job)
    tests = {
        "multi_view": experiment.test_samples(single_view=False),
        "single_view": experiment.test_samples(single_view=True),
    }
    supervised, trained = job.tensors("supervised"), job.tensors("downstream")
    models = {"supervised": (supervised["w"], supervised["u"])}
    for name in ("probe", "finetuned", "random_probe", "random_finetuned"):
        models[name] = (trained[f"{name}.w"], trained[f"{name}.u"])

    encoder = job.tensors("pretrained")
    held = capture(encoder["w"], experiment.features, experiment.activation)
    rows = [
        *capture_rows("pretrained", held),
        *(
            ("pretrained", replicate, "steps", float(steps))
            for replicate, steps in enumerate(encoder["stopped"].tolist())
        ),
    ]
    strengths = [*feature_rows("pretrained", held)]
    for name, (kernels, head) in models.items():
        held = capture(
            kernels, experiment.features, experiment.activation, by_class=name == "supervised"
        )
        seen = {
            kind: predict(samples, kernels, head, experiment.activation)
            for kind, samples in tests.items()
        }
        rows += [*prediction_rows(name, seen), *capture_rows(name, held)]
        strengths += feature_rows(name, held)
    return {
        "evaluation": pd.DataFrame(rows, columns=EVALUATION_COLUMNS),
        "features": pd.DataFrame(strengths, columns=FEATURE_COLUMNS),
    }
