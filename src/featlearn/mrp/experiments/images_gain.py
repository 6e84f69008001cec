"""One comparison in full: what pre-training brings over every supervised opponent.

Few labels suffice to tell pictures with all parts. What is compared is the accuracy on pictures
that show one part alone, the one that a network recognises worse.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd
from torch import nn

from featlearn.core.run.config import merge
from featlearn.images.augment import Augment
from featlearn.images.train.plan import Plan, Training
from featlearn.images.train.replicate import Weights
from featlearn.mrp.images.downstream import fine_tuned, frozen, long, probed, tested
from featlearn.mrp.images.experiment import PictureExperiment
from featlearn.mrp.images.labels import AUGMENTED, FROZEN, PIXELS, PLAIN, RANDOM, Arm, arms

if TYPE_CHECKING:
    from featlearn.core.run.job import Job
    from featlearn.core.run.outputs import Results

#: Name of the random streams; other sections and the validation replicates have others.
STREAM = "images-gain"


def compare(job: Job) -> Results:
    """Compare pre-training of several lengths with every supervised baseline, one replicate."""
    config, replicate = job.config, int(job.wildcards.replicate)
    gain = config["gain"]
    experiment = PictureExperiment(STREAM, config, job.seed, replicate, job.device)
    pretraining, finetuning = config["pretraining"]["simmim"], config["comparison"]["finetuning"]
    kind, labels = pretraining["encoder"], gain["labels"]

    weights: dict[float, Weights | None] = {0: None}
    steps: dict[float, int] = {}
    for epochs in gain["epochs"]:
        job.tell(f"{epochs} epochs without labels")
        settings = merge(pretraining, {"training": {"epochs": epochs, "steps": None}})
        encoder, _ = experiment.pretrain("simmim", settings)
        weights[epochs] = encoder.state_dict()
        steps[epochs] = Plan(Training.of(settings["training"]), len(experiment.train)).steps

    sights = {PLAIN: experiment.augment, AUGMENTED: Augment(gain["augmentation"])}
    labelled = experiment.train.subset(slice(labels))
    frames = []
    fitting = Plan(Training.of(finetuning["training"]), labels).steps
    for arm in arms(gain["epochs"], fitting, steps):
        job.tell(f"{arm.start}, {arm.epochs} epochs, {arm.augmentation}, {arm.steps} steps")
        experiment.augment = sights[arm.augmentation]
        encoder = experiment.encoder(kind, weights[arm.epochs])
        longer = _longer(finetuning["training"], arm.steps / fitting)
        settings = merge(finetuning, {"training": longer})
        values, classifier = fine_tuned(experiment, encoder, labels, settings)
        values["training"] = tested(experiment, classifier, [labelled])["multi_view"]
        unlabelled = steps.get(arm.epochs, 0)
        frames.append(long(values).assign(**vars(arm), unlabelled_steps=unlabelled))

    frozen_networks: dict[str, tuple[float, nn.Module]] = {
        PIXELS: (0, nn.Flatten()),
        RANDOM: (0, experiment.encoder(kind)),
        FROZEN: (max(steps), experiment.encoder(kind, weights[max(steps)])),
    }
    for name, (epochs, network) in frozen_networks.items():
        job.tell(name)
        share = config["comparison"]["probe"]["validation_share"]
        values = probed(frozen(experiment, network), labels, share)
        arm = Arm(name, epochs, PLAIN, 0)
        frames.append(long(values).assign(**vars(arm), unlabelled_steps=steps.get(epochs, 0)))
    return {"gain": pd.concat(frames, ignore_index=True).assign(replicate=replicate)}


def _longer(training: Mapping[str, Any], times: float) -> dict[str, Any]:
    """What makes a training longer, in the unit in which its length and warm-up are given."""
    if training.get("steps") is None:
        return {"epochs": training["epochs"] * times}
    return {"steps": round(training["steps"] * times)}
