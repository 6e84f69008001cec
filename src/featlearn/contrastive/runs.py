"""Trainings that the config names, and what is read off each: arms, ablations, sizes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import torch
from torch import Tensor

from featlearn.contrastive import closed_forms as forms
from featlearn.contrastive.experiment import Downstream, Experiment
from featlearn.contrastive.measure import Alignment, firing_precision, tidy
from featlearn.contrastive.probe import Probe
from featlearn.contrastive.train import Report, Thresholds, Trained, Training, settings
from featlearn.core.config import merge

#: Groups of an experiment that an arm of the ablations may change.
GROUPS = ("data", "network", "training", "thresholds")
#: Draws for the floor of the loss.
FLOOR_DRAWS = 4000


class Arm(NamedTuple):
    """A training: how weights and thresholds move, and how large weights are at the start."""

    training: Training
    thresholds: Thresholds
    norm: float


def arms(config: Mapping[str, Any]) -> dict[str, Arm]:
    """The trainings of the experiment ``stages``: RandomMask or not, thresholds or not.

    Without thresholds there is no stage I to begin with, and training starts from larger weights.
    """
    network, training = config["network"], config["training"]
    scheduled, zero = Thresholds(**config["thresholds"]), Thresholds("zero")
    large = network["norm_without_thresholds"]
    steps = config["steps_without_thresholds"]
    return {
        "masked": Arm(settings(training), scheduled, network["norm"]),
        "zero-thresholds": Arm(settings(training, steps=steps), zero, large),
        "unmasked": Arm(settings(training, steps=steps, masking="none"), zero, large),
    }


def trained_threshold_arms(config: Mapping[str, Any]) -> dict[str, Arm]:
    """Algorithm C with and without RandomMask."""
    training, norm = config["training"], config["network"]["norm"]
    rule = Thresholds("trained", learning_rate=config["threshold_rate"])
    return {
        "masked": Arm(settings(training), rule, norm),
        "unmasked": Arm(settings(training, masking="none"), rule, norm),
    }


def arm_config(config: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The section ``ablations`` with the changes of one arm put in."""
    return merge({key: config[key] for key in config if key != "arms"}, config["arms"][name])


def arm_of(config: Mapping[str, Any]) -> Arm:
    """The training that a plain section describes."""
    thresholds = Thresholds(**config["thresholds"])
    return Arm(settings(config["training"]), thresholds, config["network"]["norm"])


def run(
    experiment: Experiment, arm: Arm, record_every: int, report: Report | None = None
) -> Trained:
    """Train one arm."""
    return experiment.train(
        arm.training, arm.thresholds, norm=arm.norm, record_every=record_every, report=report
    )


# --------------------------------------------------------------------------- outcome


def outcome(
    experiment: Experiment, arm: Arm, done: Trained, downstream: Downstream
) -> dict[str, Tensor]:
    """How a training ended: probes, singletons, stages, the last record of its history."""
    precision = firing_precision(
        Alignment.of(done.w, experiment.atoms), done.w, done.b, downstream.test
    )
    unit = arm.training.learning_rate
    return {
        **probe_quantities(downstream.encoder(done.w, done.b)),
        **done.history[-1],
        **precision,
        "t1": done.t1.double(),
        "t2": done.t2.double(),
        "stage_two": torch.where(done.t2 > 0, unit * (done.t2 - done.t1).double(), -1.0),
    }


def probe_quantities(seen: Probe) -> dict[str, Tensor]:
    """NMSE and accuracy by name."""
    return {"nmse": seen.nmse, "accuracy": seen.accuracy}


def baselines(experiment: Experiment, downstream: Downstream) -> Iterator[tuple[Any, ...]]:
    """Probes on raw samples and on ``M^T x``, the Bayes estimate, and the exact values."""
    replicates = experiment.config["replicates"]
    for model, seen in (
        ("raw", downstream.raw()),
        ("atoms", downstream.atoms()),
        ("bayes", downstream.bayes()),
    ):
        yield from tidy(probe_quantities(seen), model)
    for model, value in (
        ("linear-exact", forms.linear_error(experiment.spec)),
        ("bayes-exact", forms.bayes_error(experiment.spec)),
    ):
        yield from tidy({"nmse": torch.full((replicates,), value)}, model)


def floor_of(experiment: Experiment, arm: Arm, negatives: int) -> Tensor:
    """(R,): least loss that a code of z alone can reach, with as many negatives as watched."""
    streams = experiment.streams("loss-floor")
    drawn = [forms.loss_floor(experiment.spec, negatives, FLOOR_DRAWS, s) for s in streams]
    return arm.training.tau * torch.tensor(drawn, dtype=torch.float64)
