"""What a section of the ``contrastive`` config means: data, weights, samples, by named streams."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import pandas as pd
import torch
from torch import Tensor

from featlearn.contrastive import closed_forms as forms
from featlearn.contrastive.data import (
    Dictionary,
    Masking,
    Samples,
    SparseCoding,
    draw_dictionary,
    label_direction,
    positives,
    responses,
    sample,
)
from featlearn.contrastive.measure import (
    Alignment,
    Probe,
    Task,
    Watch,
    firing_precision,
    probe,
    quantity_frame,
    regression,
    weight_quantities,
)
from featlearn.contrastive.model import Batch, encode, initial_weights
from featlearn.contrastive.train import Learner, Thresholds, Trained, Training, settings, train
from featlearn.core.run.progress import Progress
from featlearn.core.seeds import Streams

#: Samples on which a learner is watched during training.
WATCHED = 512


def on_device(streams: Sequence[torch.Generator], device: torch.device) -> list[torch.Generator]:
    """The same streams, drawing on ``device``: fresh samples of a step must not cross a bus."""
    if device.type == "cpu":
        return list(streams)
    return [torch.Generator(device).manual_seed(stream.initial_seed()) for stream in streams]


class Arm(NamedTuple):
    """A training: how weights and thresholds move, and how large weights are at the start."""

    training: Training
    thresholds: Thresholds
    norm: float

    @classmethod
    def of(cls, config: Mapping[str, Any]) -> Arm:
        """The training that a plain section describes."""
        thresholds = Thresholds(**config["thresholds"])
        return cls(settings(config["training"]), thresholds, config["network"]["norm"])


class Experiment:
    """One experiment of the config, on one device.

    ``name``: names the random streams, with the seed and the replicate. Trainings of the same name
    see the same dictionaries, initial weights, samples and masks. ``config``: holds ``replicates``
    and the groups ``data`` and ``network``. ``seed``: base seed of the run. ``device``: where
    tensors are put.
    """

    def __init__(
        self, name: str, config: Mapping[str, Any], seed: int, device: torch.device | str = "cpu"
    ):
        self.config, self.device = config, torch.device(device)
        self.streams = Streams(seed, "contrastive", name, range(config["replicates"]))
        self.spec = SparseCoding.from_config(config["data"])

    @cached_property
    def atoms(self) -> Tensor:
        """``M`` (R, D, d), float32."""
        return draw_dictionary(self.spec, self.streams("dictionary")).to(self.device).atoms

    @cached_property
    def dictionary(self) -> Dictionary:
        """Atoms and dense directions, float32."""
        drawn = draw_dictionary(self.spec, self.streams("dictionary"), complement=True)
        return drawn.to(self.device)

    def initial_weights(self, norm: float) -> Tensor:
        """Weights (R, m, D) at the start: in the same directions whatever their norm."""
        neurons = self.config["network"]["neurons"]
        drawn = initial_weights(neurons, self.spec.dimension, norm, self.streams("weights"))
        return drawn.to(self.device)

    def samples(self, purpose: str, count: int) -> Samples:
        """Fresh samples, the same ones for the same purpose."""
        streams = on_device(self.streams(purpose), self.device)
        return sample(self.spec, self.atoms, count, streams)

    def watch(self, masking: Masking, tau: float) -> Watch:
        """Fixed samples for all records of a training."""
        drawn = self.samples("watch", 2 * WATCHED)
        streams = on_device(self.streams("watch-masks"), self.device)
        anchor, positive = positives(drawn.x[:, :WATCHED], streams, masking)
        own = Samples(drawn.x[:, :WATCHED], drawn.z[:, :WATCHED], drawn.xi[:, :WATCHED])
        return Watch(Batch(anchor, positive, drawn.x[:, WATCHED:]), own, tau)

    def train(
        self, arm: Arm, record_every: int, label: str, downstream: Downstream | None = None
    ) -> Trained:
        """Train an arm, watching weights, behaviour and, with ``downstream``, the probe's error.

        ``label``: of the progress lines.
        """
        training, tau = arm.training, arm.training.tau
        streams = on_device(self.streams("training"), self.device)
        start = self.initial_weights(arm.norm)
        learner = Learner(self.spec, self.atoms, start, training, arm.thresholds, streams)
        watch = self.watch(training.masking, tau)

        def observe(w: Tensor, b: Tensor) -> dict[str, Tensor]:
            weights = weight_quantities(w, b, self.atoms, tau, watch.alive(w, b))
            seen = {**weights, **watch.behaviour(w, b)}
            regulariser = training.decay / 2 * weights["squared_norm"]
            seen |= {} if downstream is None else {"nmse": downstream.error(w, b)}
            return {**seen, "objective": seen["loss"] + regulariser}

        report = Progress(label, training.steps).report
        return train(learner, record_every=record_every, observe=observe, report=report)


class Downstream:
    """The downstream tasks of an experiment (Definition 3.1): one labelled set for all models.

    ``experiment``: gives dictionary and streams, and in the group ``probe`` of its config
    ``train_samples`` and ``test_samples``: how many are labelled.
    """

    def __init__(self, experiment: Experiment):
        self.experiment, sizes = experiment, experiment.config["probe"]
        self.direction = label_direction(experiment.spec, experiment.streams("labels"))
        self.direction = self.direction.to(experiment.device)
        self.train = experiment.samples("probe-train", sizes["train_samples"])
        self.test = experiment.samples("probe-test", sizes["test_samples"])
        self.y_train = responses(self.train.z, self.direction)
        self.y_test = responses(self.test.z, self.direction)

    def encoder(self, w: Tensor, b: Tensor) -> Probe:
        """Linear probe on the features of an encoder."""
        return self._probe(encode(self.train.x, w, b), encode(self.test.x, w, b))

    def error(self, w: Tensor, b: Tensor) -> Tensor:
        """(R,): NMSE of that probe, without the classification."""
        fresh = encode(self.test.x, w, b)
        line = regression(Task(encode(self.train.x, w, b), self.y_train, fresh, self.y_test))
        return line.nmse(fresh, self.y_test)

    def raw(self) -> Probe:
        return self._probe(self.train.x, self.test.x)

    def atoms(self) -> Probe:
        """Linear probe on ``M^T x``: the best linear view, with few coordinates."""
        atoms = self.experiment.atoms
        return self._probe(torch.bmm(self.train.x, atoms), torch.bmm(self.test.x, atoms))

    def bayes(self) -> dict[str, Tensor]:
        """NMSE and accuracy of the posterior mean of ``y``: the floor of any estimator."""
        spec = self.experiment.spec
        seen = torch.bmm(self.test.x, self.experiment.atoms).double()
        mean = forms.posterior_mean(seen, spec.p, spec.variance)
        guess, y = responses(mean, self.direction), self.y_test.double()
        nmse = (guess - y).square().mean(1) / y.square().mean(1)
        known = y != 0
        right = ((guess.sign() == y.sign()) & known).double().sum(1) / known.sum(1)
        return {"nmse": nmse, "accuracy": right}

    def _probe(self, train: Tensor, test: Tensor) -> Probe:
        return probe(Task(train, self.y_train, test, self.y_test))

    def baselines(self) -> pd.DataFrame:
        """Probes on raw samples and on ``M^T x``, the Bayes estimate, and the exact values."""
        spec, exact = self.experiment.spec, torch.ones(self.experiment.config["replicates"])
        models = {
            "raw": self.raw()._asdict(), "atoms": self.atoms()._asdict(), "bayes": self.bayes(),
            "linear-exact": {"nmse": forms.linear_error(spec) * exact},
            "bayes-exact": {"nmse": forms.bayes_error(spec) * exact},
        }  # fmt: skip
        frames = [quantity_frame(measured, model=model) for model, measured in models.items()]
        return pd.concat(frames, ignore_index=True)

    def outcome(self, arm: Arm, done: Trained) -> dict[str, Tensor]:
        """How a training ended: probes, singletons, stages, the last record of its history."""
        alive = (encode(self.test.x, done.w, done.b) != 0).any(1)
        seen = Alignment.of(done.w, self.experiment.atoms, alive)
        stage_two = arm.training.learning_rate * (done.t2 - done.t1).double()
        return {
            **self.encoder(done.w, done.b)._asdict(),
            **done.history[-1],
            **firing_precision(seen, done.w, done.b, self.test),
            "t1": done.t1.double(),
            "t2": done.t2.double(),
            "stage_two": torch.where(done.t2 > 0, stage_two, -1.0),
        }
