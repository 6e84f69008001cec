"""What rules call: decode, pre-train, evaluate and detect, each for one data set.

As a program, ``python -m`` of a JSON file, it is one of several processes that pre-train together.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
from torch import Tensor, device

from featlearn.core.files import read_parquet, read_tensors, write_parquet, write_tensors
from featlearn.core.run.warm import follow
from featlearn.core.training.devices import prepare
from featlearn.images.data.datasets import placed
from featlearn.images.saved import described
from featlearn.images.train.launch import Layout, run_together
from featlearn.own_images.config import PRETRAINED, method_of
from featlearn.own_images.experiment import RealExperiment, describe

if TYPE_CHECKING:
    from featlearn.core.run.job import Job
    from featlearn.core.run.outputs import Results
    from featlearn.images.encoders import Encoder

MODULE = "featlearn.own_images.jobs"


def data(job: Job) -> Results:
    """Decode a data set; list what it holds and what could not be used."""
    name = job.wildcards.image_set
    summary, faults, twice = describe(job.config, job.results / job.params.cache, job.seed, name)
    by_role = summary.groupby("role", sort=False)["images"].sum()
    counts = ", ".join(f"{count} to {role}" for role, count in by_role.items())
    job.tell(f"{name}: {summary['class'].nunique()} classes; {counts}; {len(faults)} left out")
    return {"summary": summary.assign(data_set=name), "faults": faults, "twice": twice}


def pretrain(job: Job) -> Results:
    """Pre-train an encoder without labels, in one process or in several."""
    pretraining = job.config["pretraining"]
    arguments = {
        "name": job.wildcards.image_set, "settings": job.config,
        "cache": job.results / job.params.cache, "seed": job.seed,
        "replicate": int(job.wildcards.replicate),
    }  # fmt: skip
    layout = Layout(pretraining["processes"], pretraining["nodes"])
    if layout.processes == 1:
        weights, history = train(arguments, job.device)
        return {"weights": weights, "history": history}
    staging = job.output.weights.parent
    made = {"weights": staging / "together.safetensors", "history": staging / "together.parquet"}
    arguments |= {
        **made, "results": job.results, "staging": staging, "checkpoints": job.checkpoints,
        "device": job.params.device, "threads": job.threads,
    }  # fmt: skip
    file = staging / "arguments.json"
    file.write_text(json.dumps(arguments, default=str), encoding="utf-8")
    run_together(MODULE, [str(file)], layout)
    return {"weights": read_tensors(made["weights"]), "history": read_parquet(made["history"])}


def train(
    arguments: Mapping[str, Any], on: device, tells: bool = True
) -> tuple[dict[str, Tensor], pd.DataFrame]:
    """Pre-train on one data set; weights of the encoder and history of the training."""
    names = ("name", "settings", "cache", "seed", "replicate")
    name, settings, cache, seed, replicate = (arguments[key] for key in names)
    experiment = RealExperiment(name, settings, cache, seed, replicate, on)
    if not tells:
        experiment.label = None
    kept = arguments.get("checkpoints")  # where no job says where
    encoder, history = experiment.pretrain(Path(kept) if kept else None)
    weights = described(
        encoder, experiment.augment, method_of(settings, PRETRAINED), experiment.origin
    )
    return weights, history.assign(data_set=name, replicate=replicate)


def main(arguments: Mapping[str, Any]) -> None:
    """What each of several processes does, with the ``arguments`` of :func:`pretrain`."""
    follow(Path(arguments["results"]), Path(arguments["staging"]))
    prepared = prepare(arguments["device"], arguments["threads"])
    from featlearn.images.train.distributed import joined

    with joined(prepared) as (processes, place):
        weights, history = train(arguments, place, tells=processes.first)
        if processes.first:
            write_tensors(weights, arguments["weights"])
            write_parquet(history, arguments["history"])


class _Started:
    """The replicate and the start of the encoder that a job's wildcards name."""

    def __init__(self, job: Job):
        name, self.start = job.wildcards.image_set, job.wildcards.start
        replicate = int(job.wildcards.replicate)
        cache = job.results / job.params.cache
        self.experiment = RealExperiment(name, job.config, cache, job.seed, replicate, job.device)
        self.experiment.label = f"{name}-{replicate} {self.start},"
        self.weights = job.tensors("weights") if self.start == PRETRAINED else None
        method = method_of(job.config, self.start)
        self.about = {"data_set": name, "start": self.start, "method": method,
                      "replicate": replicate}  # fmt: skip

    def encoder(self) -> Encoder:
        """A new encoder at its start at each call."""
        return self.experiment.started(self.start, self.weights)


def downstream(job: Job) -> Results:
    """Probe and fine-tune one encoder, with many and with few labels."""
    one = _Started(job)
    result = one.experiment.evaluate(one.encoder, job.tell)
    return {
        "weights": result.weights,
        "evaluation": result.measured.assign(**one.about),
        "predictions": result.said.assign(**one.about),
        "history": result.histories.assign(**one.about),
    }


def detection(job: Job) -> Results:
    """Train a detector on one encoder and a set with boxes, as VOC07+12 in Table 1."""
    from featlearn.images.detection import precision, targets_of  # torchvision: slow to import

    one = _Started(job)
    experiment, settings = one.experiment, job.config["detection"]
    train, test = experiment.train, experiment.test
    found = precision(
        one.encoder(),
        (placed(train.images, experiment.device), placed(targets_of(train), experiment.device)),
        (test.images, targets_of(test)),
        experiment.classes, settings, experiment.plain, experiment.name, experiment.device,
        experiment.report("detection", settings["training"], len(train)),
    )  # fmt: skip
    frame = pd.DataFrame({"quantity": list(found), "value": list(found.values())})
    return {"precisions": frame.assign(**one.about)}


if __name__ == "__main__":
    main(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))
