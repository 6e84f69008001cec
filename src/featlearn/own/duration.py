"""How long a run on own pictures takes: a few steps of its trainings, timed here and now."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import torch

from featlearn.core.seeds import seeded
from featlearn.images.augment import Augment
from featlearn.images.classifier import Classifier
from featlearn.images.encoders import build_encoder
from featlearn.images.loop import fit
from featlearn.images.methods import build_method
from featlearn.images.objective import Objective
from featlearn.images.plan import Plan, Training
from featlearn.mrp.images.real_config import PRETRAINED, starts

#: Steps that are timed, behind one that is not.
TIMED = 4
#: What a timed training does without.
LENGTH = ("epochs", "steps", "warmup", "checkpoint_every")
#: Seconds of a job beside its training, and of a run beside its jobs; seen on one core.
A_JOB, A_RUN = 3.0, 12.0


def steps_of(settings: Mapping[str, Any], train: int) -> tuple[int, int]:
    """Steps of one pre-training, and of all trainings with labels of one start."""
    first = Plan(Training.of(settings["pretraining"]["training"]), train).steps
    tuning = Training.of(settings["finetuning"]["training"])
    second = [
        Plan(tuning, max(1, round(share * train))).steps for share in settings["label_fractions"]
    ]
    return first, sum(second)


def estimate(settings: Mapping[str, Any], train: int, cores: int) -> float:
    """Seconds of a run on one data set.

    Parameters
    ----------
    settings
        A group of the section ``real_images``, with its defaults.
    train
        Number of training images.
    cores
        That jobs share; a job has ``threads`` of them, which is one unless the config says more.
    """
    size = settings["augmentation"].get("size") or settings["data"]["size"]
    augment = Augment(dict(settings["augmentation"]))
    with seeded("duration"):
        encoder = build_encoder(settings["encoder"], size)
        method = build_method(settings["pretraining"]["objective"], encoder)
        classifier = Classifier(
            build_encoder(settings["encoder"], size), 2, **settings["finetuning"]["objective"]
        )
    side = settings["data"]["size"]
    first, second = steps_of(settings, train)
    kinds = starts(settings)
    one = first * _step(method, settings["pretraining"]["training"], augment, side, False)
    other = second * _step(classifier, settings["finetuning"]["training"], augment, side, True)
    jobs = settings["replicates"] * (len(kinds) + (PRETRAINED in kinds)) + 6
    work = settings["replicates"] * (one * (PRETRAINED in kinds) + len(kinds) * other)
    return A_RUN + (work + jobs * A_JOB) / max(1, cores)


def _step(
    objective: Objective, training: Mapping[str, Any], augment: Augment, side: int, labelled: bool
) -> float:
    """Seconds of a step."""
    batch = training["batch_size"]
    images = torch.zeros(batch, 3, side, side, dtype=torch.uint8)
    labels = torch.arange(batch) % 2 if labelled else None
    seen: list[float] = []
    short = {key: value for key, value in training.items() if key not in LENGTH}
    short |= {"steps": 1 + TIMED, "warmup": 0}
    fit(objective, images, labels, augment, short, ("duration",),
        report=lambda step, see: seen.append(time.perf_counter()))  # fmt: skip
    return (seen[-1] - seen[0]) / (len(seen) - 1)
