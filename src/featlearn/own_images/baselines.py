"""What learns no features on real images: linear on pixels, and on random features of them.

On the images, labels and splits of the networks. Ridge regression of the classes in closed form:
of thousands of features the logistic probe takes minutes a share of the labels.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd
import torch
from torch import Tensor, nn
from torch.nn import functional

from featlearn.core.evidence.baselines import PENALTIES, RANDOM
from featlearn.core.seeds import generator
from featlearn.images.probes import PROBE, Frozen
from featlearn.images.train.features import extract
from featlearn.own_images.experiment import Judged, RealExperiment

if TYPE_CHECKING:
    from featlearn.core.run.job import Job
    from featlearn.core.run.outputs import Results

#: Names of the baselines in tables.
PIXELS, FEATURES = "linear on pixels", f"linear on {RANDOM:,} random features"


class Ridge(Frozen[Judged]):
    """Features with a ridge regression as their probe."""

    def probe(self, fitted: slice | Tensor, chosen: slice | Tensor) -> Judged:
        """Of the regression on both sets of rows; its penalty has the least error on ``chosen``."""
        every = torch.arange(len(self.labels), device=self.labels.device)
        fitted, chosen = every[fitted], every[chosen]
        answers, wanted = self._regress(fitted, self.train[chosen]), self._targets(chosen)
        errors = [(answers(one) - wanted).square().mean().item() for one in PENALTIES]
        best = PENALTIES[errors.index(min(errors))]
        return self.quality(self._regress(torch.cat([fitted, chosen]), self.test)(best))

    def _targets(self, rows: Tensor) -> Tensor:
        return functional.one_hot(self.labels[rows], self.classes).double()

    def _regress(self, rows: Tensor, asked: Tensor) -> Callable[[float], Tensor]:
        """Answers (N, K) to features (N, width), by the penalty; fitted to ``rows``."""
        x, y = self.train[rows].double(), self._targets(rows)
        mean, usual = x.mean(0), y.mean(0)
        x -= mean
        square, product = x.mT @ x, x.mT @ (y - usual)
        size = square.diagonal().sum() / len(x)

        def answers(penalty: float) -> Tensor:
            bent = square.clone()
            bent.diagonal().add_(penalty * size)
            weight = torch.cholesky_solve(product, torch.linalg.cholesky(bent))
            return (asked - mean) @ weight + usual

        return answers

    def neighbours(self, rows: slice | Tensor, settings: Mapping[str, Any]) -> Judged:
        """Not asked for."""
        return Judged(math.nan, None)


def measure(job: Job) -> Results:
    """Accuracy of both at each share of the labels.

    ``baselines``: columns data_set, replicate, baseline, fraction, labels, value.
    """
    name, replicate = job.wildcards.image_set, int(job.wildcards.replicate)
    cache = job.results / job.params.cache
    one = RealExperiment(name, job.config, cache, job.seed, replicate, job.device)
    rows = []
    for baseline, network in {PIXELS: nn.Flatten(), FEATURES: random_features(one)}.items():
        seen = one.frozen(network)  # type: ignore[arg-type]
        features = Ridge(seen.train, seen.labels, seen.test, one.classes, one.quality, one.device)
        for fraction, labelled in one.labelled_rows.items():
            value = one.probed(features, fraction)[PROBE].value
            rows.append((baseline, fraction, len(labelled), value))
            job.tell(f"{baseline}, {len(labelled)} labels: {value:.3f}")
    found = pd.DataFrame(rows, columns=["baseline", "fraction", "labels", "value"])
    return {"baselines": found.assign(data_set=name, replicate=replicate)}


def random_features(one: RealExperiment) -> nn.Module:
    """From images to relu(<w, x> - b), (N, ``RANDOM``).

    Projections and thresholds have variance 1 over the training images, as in the panel of
    :mod:`featlearn.core.evidence.baselines`.
    """
    pixels = extract(nn.Flatten(), one.train.images, one.plain)
    random = generator(*one.name, "random features")
    # its usual start would be drawn from the generator of all
    layer = nn.utils.skip_init(nn.Linear, pixels.shape[1], RANDOM)  # type: ignore[no-untyped-call]
    with torch.no_grad():
        size = pixels.square().sum(1).mean().sqrt()
        layer.weight.copy_(torch.randn(layer.weight.shape, generator=random) / size)
        layer.bias.copy_(torch.randn(RANDOM, generator=random))
    return nn.Sequential(nn.Flatten(), layer, nn.ReLU())
