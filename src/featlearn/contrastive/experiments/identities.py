"""The printed gradient against the true one, on random instances in float64; and samples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd
import torch
from torch import Tensor

from featlearn.contrastive.data import SparseCoding, draw_dictionary, random_masks, sample
from featlearn.contrastive.model import (
    Batch,
    codes,
    contrastive_loss,
    descent_as_printed,
    similarities,
)
from featlearn.contrastive.sampled import sampled_frames
from featlearn.core.frames import tidy
from featlearn.core.seeds import Streams

if TYPE_CHECKING:
    from featlearn.core.job import Job
    from featlearn.core.outputs import Results

#: Sizes of an instance.
SPEC = SparseCoding(atoms=8, dimension=16, activity=2.0)
ANCHORS, NEGATIVES, NEURONS = 6, 9, 8
#: Mean size of the thresholds, times the norm of a weight: about half of the neurons are silent.
THRESHOLD = 0.6


def measure(job: Job) -> Results:
    """Compare gradients on random instances, and closed forms of expectations with samples."""
    streams = Streams(job.seed, "contrastive", "identities", range(job.config["replicates"]))
    return {
        "instances": pd.concat(instances(job.config, streams), ignore_index=True),
        "sampled": pd.concat(sampled_frames(job.config, streams), ignore_index=True),
    }


class Instance(NamedTuple):
    """A batch, weights (R, m, D) and thresholds (R, m)."""

    batch: Batch
    w: Tensor
    b: Tensor


def draw_instance(streams: Streams, scale: float) -> Instance:
    """Masked samples of the model, Gaussian weights of standard deviation ``scale``."""
    atoms = draw_dictionary(SPEC, streams("dictionary")).atoms
    x = sample(SPEC, atoms, ANCHORS, streams("anchors")).x
    other = sample(SPEC, atoms, NEGATIVES, streams("negatives")).x
    mask = random_masks(ANCHORS, SPEC.dimension, streams("masks"), dtype=torch.float64)
    batch = Batch(2 * mask * x, 2 * (1 - mask) * x, other)
    w = scale * _gaussian((NEURONS, SPEC.dimension), streams("weights"))
    typical = scale * SPEC.dimension**0.5 * SPEC.sigma
    b = THRESHOLD * typical * _gaussian((NEURONS,), streams("thresholds")).abs()
    return Instance(batch, w, b)


def _gaussian(shape: tuple[int, ...], streams: list[torch.Generator]) -> Tensor:
    return torch.stack([torch.randn(shape, generator=s, dtype=torch.float64) for s in streams])


def by_autograd(given: Instance, *, stop_gradient: bool = True) -> Tensor:
    """Negative gradient of the loss of the weights, by automatic differentiation."""
    w = given.w.clone().requires_grad_()
    seen = codes(given.batch, w, given.b)
    if stop_gradient:
        loss = contrastive_loss(seen, 1.0)
    else:
        logits = torch.cat(similarities(seen.anchor, seen.positive, seen.negative), -1)
        loss = -torch.log_softmax(logits, -1)[..., 0].mean(-1)
    return -torch.autograd.grad(loss.sum(), w)[0]


def printed_errors(given: Instance) -> dict[str, Tensor]:
    """Relative errors and a cosine (R,) of the printed gradient and of one without StopGrad."""
    true = by_autograd(given).flatten(1)
    printed = -descent_as_printed(given.batch, given.w, given.b, 1.0).flatten(1)
    full = by_autograd(given, stop_gradient=False).flatten(1)
    size = true.norm(dim=1)
    return {
        "printed": (printed + true).norm(dim=1) / size,
        "printed_against_descent": (printed - true).norm(dim=1) / size,
        "printed_cosine": torch.cosine_similarity(printed, -true, dim=1),
        "without_stop_gradient": (full - true).norm(dim=1) / size,
    }


def instances(config: Mapping[str, Any], streams: Streams) -> Iterator[pd.DataFrame]:
    """Columns quantity, scale (standard deviation of the weights), replicate, value."""
    for scale in config["weight_scales"]:
        errors = printed_errors(draw_instance(streams, scale))
        axes: dict[str, Any] = {"quantity": [*errors], "scale": [scale],
                                "replicate": streams.replicates}  # fmt: skip
        yield tidy(axes, value=torch.stack([*errors.values()])[:, None])
