"""Points of a sweep, stacked on the replicate axis so that they train as one batch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import fields
from typing import Any

import pandas as pd
import torch
from torch import Tensor

from featlearn.mrp.data import Samples
from featlearn.mrp.experiment import Experiment
from featlearn.mrp.measure import EVALUATION_COLUMNS, EvaluationRow
from featlearn.mrp.model import fixed_block_head

#: Where the parameters of a sweep stand in the section of an experiment.
PARAMETERS = {
    "classes": ("data", "classes"),
    "single_view_share": ("data", "single_view_share"),
    "feature_noise": ("data", "feature_noise"),
    "kernels_per_class": ("network", "kernels_per_class"),
    "q": ("network", "q"),
    "sigma_0": ("network", "sigma_0"),
    "theta": ("pretraining", "theta"),
}


def at(config: Mapping[str, Any], **parameters: Any) -> dict[str, Any]:
    """The section with other values of some :data:`PARAMETERS`."""
    changed = deepcopy(dict(config))
    for name, value in parameters.items():
        group, key = PARAMETERS[name]
        changed[group][key] = value
    return changed


class Batch:
    """Points that differ in numbers, not in shapes or in the activation.

    The streams carry the name of the experiment, not of the point: replicate 3 has the same
    features, the same Gaussian draws and the same labels at every point, so differences between
    points are paired.

    Parameters
    ----------
    name, seed, device
        As of :class:`Experiment`.
    configs
        One section a point, with equal shapes, ``q`` and ``varrho``.
    """

    def __init__(
        self,
        name: str,
        configs: Sequence[Mapping[str, Any]],
        seed: int,
        device: torch.device | str = "cpu",
    ):
        self.configs = configs
        self.points = [Experiment(name, config, seed, device) for config in configs]
        first = self.points[0]
        self.activation, self.spec, self.kernels = first.activation, first.spec, first.kernels
        self.replicates: int = configs[0]["replicates"]
        if any(
            (point.activation, point.kernels) != (self.activation, self.kernels)
            for point in self.points
        ):
            raise ValueError("configs: expected one q, varrho and number of kernels for all points")
        self.features = torch.cat([point.features for point in self.points])

    def train_samples(self) -> Samples:
        """Training sets of all points and replicates, point by point."""
        return self._stacked(lambda point: point.train_samples())

    def validation_samples(self) -> Samples:
        """Those that penalties are chosen on."""
        return self._stacked(lambda point: point.validation_samples())

    def test_samples(self, *, single_view: bool) -> Samples:
        """Fresh samples, all single-view or all multi-view."""
        return self._stacked(lambda point: point.test_samples(single_view=single_view))

    def initial_kernels(self) -> Tensor:
        """(points * R, K, d)."""
        return torch.cat([point.initial_kernels() for point in self.points])

    def block_head(self) -> Tensor:
        """(points * R, k, K): the fixed head of the supervised network."""
        head = fixed_block_head(self.spec.classes, self.kernels, len(self.features))
        return head.to(self.features.device)

    def frame(self, rows: Sequence[EvaluationRow], parameters: Sequence[str]) -> pd.DataFrame:
        """Rows of the stacked replicates as a tidy frame.

        Returns
        -------
        DataFrame
            A column for each of ``parameters``, then those of an evaluation, with the number of the
            replicate within its point.
        """
        frame = pd.DataFrame(rows, columns=list(EVALUATION_COLUMNS))
        point = frame["replicate"] // self.replicates
        frame["replicate"] %= self.replicates
        for place, name in enumerate(parameters):
            group, key = PARAMETERS[name]
            values = [config[group][key] for config in self.configs]
            frame.insert(place, name, [values[number] for number in point])
        return frame

    def _stacked(self, draw: Callable[[Experiment], Samples]) -> Samples:
        drawn = [draw(point) for point in self.points]
        return Samples(
            **{
                field.name: torch.cat([getattr(one, field.name) for one in drawn])
                for field in fields(Samples)
            }
        )
