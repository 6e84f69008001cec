"""Real images: what pre-training on them brings to classification and detection."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pandas as pd

from featlearn.core.files import read_parquet, read_tensors
from featlearn.core.progress import Progress
from featlearn.images.datasets import placed
from featlearn.images.detection import targets_of
from featlearn.images.together import Layout, run_together
from featlearn.mrp.images import pretrain_together
from featlearn.mrp.images.detection import precision
from featlearn.mrp.images.real import RealExperiment, Reporter, describe, report_of
from featlearn.mrp.images.real_config import PRETRAINED, method_of

if TYPE_CHECKING:
    from featlearn.core.job import Job
    from featlearn.core.outputs import Results
    from featlearn.images.encoders import Encoder
    from featlearn.images.loop import Report


def data(job: Job) -> Results:
    """Decode a data set; say what was found and what could not be used."""
    name = job.wildcards.image_set
    summary, faults, twice = describe(job.config, job.results / job.params.cache, job.seed, name)
    by_role = summary.groupby("role", sort=False)["images"].sum()
    told = ", ".join(f"{count} to {role}" for role, count in by_role.items())
    job.tell(f"{name}: {summary['class'].nunique()} classes; {told}; {len(faults)} left out")
    return {"summary": summary.assign(data_set=name), "faults": faults, "twice": twice}


def pretrain(job: Job) -> Results:
    """Pre-train an encoder without labels, in one process or in several."""
    pretraining = job.config["pretraining"]
    arguments = {
        "name": job.wildcards.image_set,
        "settings": job.config,
        "cache": job.results / job.params.cache,
        "seed": job.seed,
        "replicate": int(job.wildcards.replicate),
    }
    layout = Layout(pretraining["processes"], pretraining["nodes"])
    if layout.processes == 1:
        weights, history = pretrain_together.train(arguments, job.device)
        return {"weights": weights, "history": history}
    staging = job.output.weights.parent
    made = {"weights": staging / "together.safetensors", "history": staging / "together.parquet"}
    arguments |= {
        **made,
        "results": job.results,
        "staging": staging,
        "checkpoints": job.checkpoints,
        "device": job.params.device,
        "threads": job.threads,
    }
    told = staging / "arguments.json"
    told.write_text(json.dumps(arguments, default=str), encoding="utf-8")
    run_together(pretrain_together.MODULE, [str(told)], layout)
    return {"weights": read_tensors(made["weights"]), "history": read_parquet(made["history"])}


def downstream(job: Job) -> Results:
    """Probe and fine-tune one encoder, with many and with few labels."""
    one = _Started(job)
    found = one.experiment.evaluate(one.encoder, job.tell, one.report)
    return {
        "weights": found.weights,
        "evaluation": found.measured.assign(**one.about),
        "predictions": found.said.assign(**one.about),
        "history": found.histories.assign(**one.about),
    }


def detection(job: Job) -> Results:
    """Train a detector on one encoder, on a data set with boxes: as VOC07+12 in Table 1."""
    one = _Started(job)
    found = real_precision(one.experiment, one.encoder(), one.report)
    return {"precisions": found.assign(**one.about)}


class _Started:
    """The replicate and the start of the encoder that a job's wildcards name.

    Attributes
    ----------
    about
        Columns that say what a row was measured of.
    """

    def __init__(self, job: Job):
        name, self.start = job.wildcards.image_set, job.wildcards.start
        replicate = int(job.wildcards.replicate)
        cache = job.results / job.params.cache
        self.experiment = RealExperiment(name, job.config, cache, job.seed, replicate, job.device)
        self.weights = job.tensors("weights") if self.start == PRETRAINED else None
        method = method_of(job.config, self.start)
        self.about = {"data_set": name, "start": self.start, "method": method,
                      "replicate": replicate}  # fmt: skip

    def encoder(self) -> Encoder:
        """The encoder at its start, anew at each call."""
        return self.experiment.started(self.start, self.weights)

    def report(self, label: str, steps: int) -> Report:
        """The progress report of one training."""
        name, replicate = self.about["data_set"], self.about["replicate"]
        return Progress(f"{name}-{replicate} {self.start}, {label}", steps).report


def real_precision(
    experiment: RealExperiment, encoder: Encoder, reporter: Reporter | None = None
) -> pd.DataFrame:
    """Average precisions on the test images, after training a detector on the encoder.

    Parameters
    ----------
    encoder
        At its start; is trained.

    Returns
    -------
    DataFrame
        Columns quantity (``ap``, ``ap50``, ``ap75``) and value.
    """
    settings, train, test = experiment.settings["detection"], experiment.train, experiment.test
    found = precision(
        encoder,
        (placed(train.images, experiment.device), placed(targets_of(train), experiment.device)),
        (test.images, targets_of(test)),
        experiment.classes,
        settings,
        experiment.plain,
        experiment.name,
        experiment.device,
        report_of(reporter, "detection", settings["training"], len(train)),
    )
    return pd.DataFrame({"quantity": list(found), "value": list(found.values())})
