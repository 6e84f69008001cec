"""Identities on random instances in float64: gradient, decomposition, pseudo-network, operator.

Every function returns one number an instance (R,): a relative error unless its name says more.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd
import torch
from torch import Tensor

from featlearn.contrastive.closed_forms import covariance, pair_operator
from featlearn.contrastive.data import SparseCoding, draw_dictionary, random_masks, sample
from featlearn.contrastive.model import (
    Batch,
    codes,
    contrastive_loss,
    descent,
    descent_as_printed,
    gradient_terms,
    negative_weights,
    pseudo_loss,
    similarities,
    slope,
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
#: Standard deviation of the weights in the instances on which the identities are checked.
IDENTITY_SCALE = 0.7
#: Masks are enumerated at this size.
SMALL = SparseCoding(atoms=4, dimension=8, activity=2.0)
DIRECTIONS = 20


def measure(job: Job) -> Results:
    """Check identities on random instances, and closed forms of expectations by sampling."""
    streams = Streams(job.seed, "contrastive", "identities", range(job.config["replicates"]))
    return {
        "instances": pd.concat(instances(job.config, streams), ignore_index=True),
        "sampled": pd.concat(sampled_frames(job.config, streams), ignore_index=True),
    }


class Instance(NamedTuple):
    """A batch, what it was made from, weights (R, m, D) and thresholds (R, m)."""

    batch: Batch
    z: tuple[Tensor, Tensor]
    noise: Tensor
    atoms: Tensor
    w: Tensor
    b: Tensor
    tau: float


def draw_instance(streams: Streams, scale: float, tau: float = 1.0) -> Instance:
    """Masked samples of the model, Gaussian weights of standard deviation ``scale``."""
    atoms = draw_dictionary(SPEC, streams("dictionary")).atoms
    own = sample(SPEC, atoms, ANCHORS, streams("anchors"))
    other = sample(SPEC, atoms, NEGATIVES, streams("negatives"))
    mask = random_masks(ANCHORS, SPEC.dimension, streams("masks"), dtype=torch.float64)
    batch = Batch(2 * mask * own.x, 2 * (1 - mask) * own.x, other.x)
    w = scale * _gaussian((NEURONS, SPEC.dimension), streams("weights"))
    typical = scale * SPEC.dimension**0.5 * SPEC.sigma
    b = THRESHOLD * typical * _gaussian((NEURONS,), streams("thresholds")).abs()
    return Instance(batch, (own.z, other.z), 2 * mask * own.xi, atoms, w, b, tau)


def _gaussian(shape: tuple[int, ...], streams: list[torch.Generator]) -> Tensor:
    return torch.stack([torch.randn(shape, generator=s, dtype=torch.float64) for s in streams])


def relative_error(result: Tensor, wanted: Tensor) -> Tensor:
    """``|found - wanted| / |wanted|`` over all axes but the first: (R,)."""
    result, wanted = result.flatten(1), wanted.flatten(1)
    return (result - wanted).norm(dim=1) / wanted.norm(dim=1)


def by_autograd(given: Instance, *, stop_gradient: bool = True) -> tuple[Tensor, Tensor]:
    """Negative gradients of the loss of weights and thresholds, by automatic differentiation."""
    w, b = given.w.clone().requires_grad_(), given.b.clone().requires_grad_()
    seen = codes(given.batch, w, b)
    if stop_gradient:
        loss = contrastive_loss(seen, given.tau)
    else:
        positive, negative = similarities(seen.anchor, seen.positive, seen.negative)
        logits = torch.cat([positive, negative], -1) / given.tau
        loss = -given.tau * torch.log_softmax(logits, -1)[..., 0].mean(-1)
    dw, db = torch.autograd.grad(loss.sum(), (w, b))
    return -dw, -db


def gradient_errors(given: Instance) -> dict[str, Tensor]:
    """The hand-written gradient against automatic differentiation."""
    true_w, true_b = by_autograd(given)
    result = descent(given.batch, given.w, given.b, given.tau)
    return {
        "gradient": relative_error(result.w, true_w),
        "threshold_gradient": relative_error(result.b, true_b),
    }


def printed_errors(given: Instance) -> dict[str, Tensor]:
    """The printed gradient against the true one, its negative, and the one without StopGrad."""
    true, _ = by_autograd(given)
    printed = -descent_as_printed(given.batch, given.w, given.b, given.tau)
    full, _ = by_autograd(given, stop_gradient=False)
    return {
        "printed": relative_error(printed, -true),
        "printed_against_descent": relative_error(printed, true),
        "printed_cosine": torch.cosine_similarity(printed.flatten(1), -true.flatten(1), dim=1),
        "without_stop_gradient": relative_error(full, true),
    }


def decomposition_errors(given: Instance) -> dict[str, Tensor]:
    """Definition E.4, corrected and as printed, against the gradient along the atoms."""
    wanted = descent(given.batch, given.w, given.b, given.tau).w @ given.atoms
    terms = gradient_terms(
        given.batch, given.z, given.noise, given.w, given.b, given.atoms, given.tau
    )
    return {
        "decomposition": relative_error(terms.total(), wanted),
        "decomposition_as_printed": relative_error(_printed_terms(given), wanted),
    }


def _printed_terms(given: Instance) -> Tensor:
    """The sum of the four terms with the signs of Definition E.4 as printed, (R, m, d)."""
    batch, w, atoms, b = given.batch, given.w, given.atoms, given.b
    seen = codes(batch, w, b)
    weights = negative_weights(seen, given.tau)
    gate, threshold = slope(seen.u, b), b.unsqueeze(-2)

    def printed(x: Tensor) -> Tensor:
        u = torch.bmm(x, w.mT)
        up, down = (u > threshold).double(), (u < -threshold).double()
        return (u - threshold) * up - (u + threshold) * down  # a minus in print

    kept = weights.sum(-1, keepdim=True)
    own = kept * printed(batch.positive) + torch.bmm(weights, printed(batch.negative))
    rest = kept * seen.positive + torch.bmm(weights, seen.negative)
    z = given.z[0]
    leak = torch.bmm(batch.anchor, atoms) - z
    return ((own * gate).mT @ z + (rest * gate).mT @ leak) / gate.shape[1]


def pseudo_errors(given: Instance, directions: Tensor) -> dict[str, Tensor]:
    """The pseudo-network of Definition E.10: value, gradient, and convexity.

    ``pseudo_convexity`` is the largest fall below the chord, over ``directions`` (n, R, m, D),
    as a share of the loss: 0 for a convex function.
    """
    theta = given.w.clone().requires_grad_()
    value = pseudo_loss(given.batch, theta, given.w, given.b, given.tau)
    (gradient,) = torch.autograd.grad(value.sum(), theta)
    true = descent(given.batch, given.w, given.b, given.tau).w
    loss = contrastive_loss(codes(given.batch, given.w, given.b), given.tau)
    bends = [
        sum(
            sign * pseudo_loss(given.batch, given.w + t * step, given.w, given.b, given.tau)
            for t, sign in ((-1, 1), (0, -2), (1, 1))
        )
        for step in directions
    ]
    bend = torch.stack([torch.as_tensor(each) for each in bends]).amin(0)
    return {
        "pseudo_value": (value.detach() - loss).abs() / loss,
        "pseudo_gradient": relative_error(-gradient, true),
        "pseudo_convexity": (-bend).clamp_min(0) / loss,
    }


def operator_errors(streams: Streams) -> dict[str, Tensor]:
    """Lemma C.2 in its exact form, by enumeration of all masks and exact second moments."""
    atoms = draw_dictionary(SMALL, streams("small-dictionary")).atoms
    c = covariance(SMALL, atoms)
    grid = itertools.product((0.0, 1.0), repeat=SMALL.dimension)
    masks = torch.tensor(list(grid), dtype=torch.float64)
    errors = {}
    for name, second in (("operator", 1 - masks), ("operator_same_view", masks)):
        pair = torch.einsum("mi,rij,mj->rij", 2 * masks, c, 2 * second) / len(masks)
        wanted = pair_operator(SMALL, atoms, "complementary")
        if name == "operator_same_view":
            wanted = c + torch.diag_embed(c.diagonal(dim1=1, dim2=2))
        errors[name] = relative_error(pair, wanted)
    return errors


def instances(config: Mapping[str, Any], streams: Streams) -> Iterator[pd.DataFrame]:
    """All identities on random instances: columns quantity, scale, replicate, value."""
    for scale in config["weight_scales"]:
        given = draw_instance(streams, scale)
        yield _frame(scale, printed_errors(given))
    given = draw_instance(streams, IDENTITY_SCALE, tau=0.8)
    shape = (DIRECTIONS, NEURONS, SPEC.dimension)
    directions = _gaussian(shape, streams("directions")).transpose(0, 1)
    for errors in (
        gradient_errors(given),
        decomposition_errors(given),
        pseudo_errors(given, directions),
        operator_errors(streams),
    ):
        yield _frame(IDENTITY_SCALE, errors)


def _frame(scale: float, errors: Mapping[str, Tensor]) -> pd.DataFrame:
    values = torch.stack([*errors.values()])[:, None]
    axes: dict[str, Any] = {
        "quantity": [*errors],
        "scale": [scale],
        "replicate": range(values.shape[-1]),
    }
    return tidy(axes, value=values)
