"""What a section of the ``contrastive`` config means: data, weights, samples, by named streams."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

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
from featlearn.contrastive.gradients import Batch
from featlearn.contrastive.measure import Watch, weight_quantities
from featlearn.contrastive.model import encode, initial_weights
from featlearn.contrastive.probe import Probe, Task, probe
from featlearn.contrastive.train import Learner, Report, Thresholds, Trained, Training, train
from featlearn.core.seeds import Streams

#: Samples on which a learner is watched during training.
WATCHED = 512


def on_device(streams: Sequence[torch.Generator], device: torch.device) -> list[torch.Generator]:
    """The same streams, drawing on ``device``: fresh samples of every step must not cross a bus.

    A GPU's numbers differ from a CPU's; each is a function of the seed.
    """
    if device.type == "cpu":
        return list(streams)
    return [torch.Generator(device).manual_seed(stream.initial_seed()) for stream in streams]


class Experiment:
    """One experiment of the config, on one device.

    Parameters
    ----------
    name
        Names the random streams, with the seed and the replicate. Trainings of the same name see
        the same dictionaries, initial weights, samples and masks.
    config
        Holds ``replicates`` and the groups ``data`` and ``network``.
    seed
        Base seed of the run.
    device
        Where tensors are put.
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
        self,
        training: Training,
        thresholds: Thresholds,
        *,
        norm: float,
        record_every: int,
        report: Report | None = None,
    ) -> Trained:
        """Train from ``initial_weights(norm)``, watching weights and behaviour."""
        streams = on_device(self.streams("training"), self.device)
        start = self.initial_weights(norm)
        learner = Learner(self.spec, self.atoms, start, training, thresholds, streams)
        watch = self.watch(training.masking, training.tau)

        def observe(w: Tensor, b: Tensor) -> dict[str, Tensor]:
            return {
                **weight_quantities(w, b, self.atoms, training.tau),
                **watch.behaviour(w, b),
            }

        extra = {} if report is None else {"report": report}
        return train(learner, record_every=record_every, observe=observe, **extra)


class Downstream:
    """The downstream tasks of an experiment (Definition 3.1): one labelled set for all models.

    Parameters
    ----------
    experiment
        Gives dictionary and streams.
    train_samples, test_samples
        Labelled samples.
    """

    def __init__(self, experiment: Experiment, train_samples: int, test_samples: int):
        self.experiment = experiment
        self.direction = label_direction(experiment.spec, experiment.streams("labels"))
        self.direction = self.direction.to(experiment.device)
        self.train = experiment.samples("probe-train", train_samples)
        self.test = experiment.samples("probe-test", test_samples)
        self.y_train = responses(self.train.z, self.direction)
        self.y_test = responses(self.test.z, self.direction)

    def encoder(self, w: Tensor, b: Tensor, labels: int | None = None) -> Probe:
        """Linear probe on the features of an encoder, with the first ``labels`` samples."""
        count = labels or self.train.x.shape[1]
        return self._probe(encode(self.train.x[:, :count], w, b), encode(self.test.x, w, b))

    def raw(self) -> Probe:
        """Linear probe on the samples themselves."""
        return self._probe(self.train.x, self.test.x)

    def atoms(self) -> Probe:
        """Linear probe on ``M^T x``: the best linear view, with few coordinates."""
        return self._probe(
            torch.bmm(self.train.x, self.experiment.atoms),
            torch.bmm(self.test.x, self.experiment.atoms),
        )

    def bayes(self) -> Probe:
        """The posterior mean of ``y``: the floor of any estimator."""
        from featlearn.contrastive.closed_forms import posterior_mean

        spec = self.experiment.spec
        seen = torch.bmm(self.test.x, self.experiment.atoms).double()
        mean = posterior_mean(seen, spec.p, spec.variance)
        guess, y = responses(mean, self.direction), self.y_test.double()
        nmse = (guess - y).square().mean(1) / y.square().mean(1)
        known = y != 0
        right = ((guess.sign() == y.sign()) & known).double().sum(1) / known.sum(1)
        return Probe(nmse, right)

    def _probe(self, train: Tensor, test: Tensor) -> Probe:
        count = train.shape[1]
        return probe(Task(train, self.y_train[:, :count], test, self.y_test))
