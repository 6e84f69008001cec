"""What a section of the ``mrp`` config means: its data, features, kernels, by named streams.

Data are drawn anew in each job that needs them: they are a pure function of config and seed, a
second's work, and at ``paper`` size larger than a disk would like.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from featlearn.core.seeds import Streams
from featlearn.mrp.data import MultiView, Samples, orthonormal_features, sample
from featlearn.mrp.model import Activation, initial_kernels


class Experiment:
    """One experiment of the config, on one device.

    Parameters
    ----------
    name
        Names the random streams, with the seed and the replicate.
    config
        The section, e.g. ``config["mrp"]["headline"]``.
    seed
        Base seed of the run.
    device
        Where tensors are put; draws are made on the CPU, so they do not depend on it.
    """

    def __init__(
        self, name: str, config: Mapping[str, Any], seed: int, device: torch.device | str = "cpu"
    ):
        self.config, self.device = config, torch.device(device)
        self.streams = Streams(seed, "mrp", name, range(config["replicates"]))
        network = config["network"]
        self.activation = Activation(network["q"], network["varrho"])
        self.spec = MultiView.from_config(config["data"], network["q"])
        self.kernels: int = self.spec.classes * network["kernels_per_class"]

    @cached_property
    def features(self) -> Tensor:
        """Feature directions (R, k, L, d), float32."""
        exact = orthonormal_features(self.spec, self.streams("features"))
        return exact.to(device=self.device, dtype=torch.float32)

    def train_samples(self, *, noiseless: bool = False) -> Samples:
        """The training set: unlabelled in pre-training, the same one labelled downstream."""
        count = self.config["data"]["train_samples"]
        return self._sample("train-data", count, None, noiseless)

    def validation_samples(self) -> Samples:
        """Fresh samples as the training set's, on which the penalty of a head is chosen."""
        return self._sample("validation-data", self.config["data"]["train_samples"], None, False)

    def test_samples(self, *, single_view: bool, noiseless: bool = False) -> Samples:
        """Fresh samples, all single-view or all multi-view."""
        purpose = "test-single-view" if single_view else "test-multi-view"
        return self._sample(purpose, self.config["data"]["test_samples"], single_view, noiseless)

    def initial_kernels(self) -> Tensor:
        """Kernels (R, K, d) at the start: the same ones for supervised and for pre-training."""
        sigma_0 = self.config["network"]["sigma_0"]
        drawn = initial_kernels(
            self.kernels, self.spec.dimension, sigma_0, self.streams("initial-kernels")
        )
        return drawn.to(self.device)

    def zero_head(self) -> Tensor:
        """A new linear head (R, k, K) of zeros, as downstream training begins with."""
        shape = (self.config["replicates"], self.spec.classes, self.kernels)
        return torch.zeros(shape, device=self.device)

    def _sample(
        self, purpose: str, count: int, single_view: bool | None, noiseless: bool
    ) -> Samples:
        # features are drawn in float64 and rounded once: the same rounding wherever they are used
        drawn = sample(
            self.spec,
            self.features.cpu(),
            count,
            self.streams(purpose),
            single_view=single_view,
            noiseless=noiseless,
        )
        return drawn.to(self.device)
