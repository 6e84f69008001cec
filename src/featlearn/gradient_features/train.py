"""Algorithms 1 and 4 to 7 of chapter 3, for all replicates at once, with gradients in closed form.

A step of R networks is two batched matrix products, forward and back::

    dL/da_i = E[l' relu(<w_i, x> - b_i)]        dL/dw_i = a_i E[l' 1[<w_i, x> > b_i] x]

All have the same two stages: a first step that wipes out the start (its weight decay is 1 / eta_1)
and leaves minus the gradient, then small steps without decay, of all weights (Algorithms 1 and 5)
or of the output layer alone on one fixed sample (Algorithms 4, 6 and 7). Algorithm 5, on the
population, is Algorithm 1 with a law's support for a sample.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import torch
from torch import Tensor

from featlearn.gradient_features.law import Sample
from featlearn.gradient_features.model import LOSSES, Loss, Network


def gradients(network: Network, inputs: Sample, loss: Loss) -> tuple[Tensor, Tensor]:
    """Of the expected loss, by w (R, M, d) and a (R, M)."""
    above = torch.baddbmm(-network.b[:, None], inputs.x, network.w.mT)  # (R, n, M)
    active = above > 0
    features = above.relu_()
    g = (features @ network.a[..., None]).squeeze(-1)
    slope = inputs.weight * loss.slope(g, inputs.y)
    by_a = (features.mT @ slope[..., None]).squeeze(-1)
    by_w = (active * slope[..., None]).mT @ inputs.x
    return network.a[..., None] * by_w, by_a


def first_step(network: Network, inputs: Sample, rate: float, loss: Loss) -> Network:
    """Step 1 of all algorithms: with decay 1 / rate, minus the gradients are what is left."""
    by_w, by_a = gradients(network, inputs, loss)
    return Network(-rate * by_w, -rate * by_a, network.b)


#: Of the first step, so small that output weights are negligible after it; sigma_a makes up for it.
FIRST_RATE = 1e-4


def scaled_first_step(network: Network, inputs: Sample, norm: float) -> Network:
    """The first step with the sigma_a that gives the median neuron of a replicate this ``norm``.

    So its threshold lies where it is wanted among the projections of the data.
    """
    one = first_step(network, inputs, 1.0, LOSSES["hinge"])
    scale = norm / one.w.norm(dim=-1).quantile(0.5, dim=1, keepdim=True)
    return Network(one.w * scale[..., None], one.a * FIRST_RATE, one.b)


def descend(
    network: Network, fresh: Callable[[], Sample], rate: float, steps: int, loss: Loss
) -> Iterator[Network]:
    """Steps 2 to T of Algorithm 1: the network after each, all weights, ``fresh`` inputs a step.

    With the same support each time these are the population's steps (Algorithm 5).
    """
    for _ in range(steps):
        by_w, by_a = gradients(network, fresh(), loss)
        network = Network(network.w - rate * by_w, network.a - rate * by_a, network.b)
        yield network


class Fitted(NamedTuple):
    """An output layer after gradient descent on a fixed sample."""

    network: Network
    smoothness: Tensor  #: (R,) L, the largest curvature that the loss can have by a
    losses: Tensor  #: (R, steps + 1) before each step, and in the end


def fit_output(
    network: Network, inputs: Sample, steps: int, loss: Loss, *, rate: Tensor | None = None
) -> Fitted:
    """Steps 2 to T of Algorithms 4, 6 and 7: a alone, on the same ``inputs``.

    Parameters
    ----------
    rate
        (R,); left out, 1 / L, with L the largest eigenvalue of the features' second moment times
        the largest second derivative of the loss (the main text misprints 1 / t for 1 / L).

    Raises
    ------
    ValueError
        If the loss has no second derivative, which 1 / L needs.
    """
    features = network.features(inputs.x)
    weighted = features * inputs.weight[..., None]
    smoothness = loss.bend * torch.linalg.eigvalsh(weighted.mT @ features)[:, -1]
    if rate is None:
        if not smoothness.isfinite().all():
            raise ValueError("rate: a loss with a kink has no smoothness; expected a rate")
        rate = 1 / smoothness
    a = network.a
    losses = []
    for step in range(steps + 1):
        g = (features @ a[..., None]).squeeze(-1)
        losses.append((inputs.weight * loss.value(g, inputs.y)).sum(-1))
        if step < steps:
            slope = loss.slope(g, inputs.y)
            a = a - rate[:, None] * (weighted.mT @ slope[..., None]).squeeze(-1)
    return Fitted(network._replace(a=a), smoothness, torch.stack(losses, 1))


def uniform_parity_network(start: Network, inputs: Sample, rate: float) -> Network:
    """Before step 2 of Algorithm 6: W after the first step, and a = 0 as in the proof.

    The thesis prints the rate 1 / (k |xi_(k-1)|); twice that makes the entries of good neurons
    +-1/k, which is the step of the grid of thresholds.
    """
    stepped = first_step(start, inputs, rate, LOSSES["hinge"])
    return stepped._replace(a=torch.zeros_like(stepped.a))


class Stripped(NamedTuple):
    """Labels without their Hermite coefficients of degree 0 and 1: y - constant - <slope, x>."""

    inputs: Sample
    constant: Tensor  #: (R,) rho
    slope: Tensor  #: (R, d) beta

    def predict(self, network: Network, x: Tensor) -> Tensor:
        """The network's output with both put back, (R, n)."""
        return network(x) + self.constant[:, None] + (x @ self.slope[..., None]).squeeze(-1)


def strip(inputs: Sample) -> Stripped:
    """First lines of Algorithm 7."""
    own = inputs.weight * inputs.y
    constant, slope = own.sum(-1), (own[:, None] @ inputs.x).squeeze(1)
    rest = inputs.y - constant[:, None] - (inputs.x @ slope[..., None]).squeeze(-1)
    return Stripped(inputs._replace(y=rest), constant, slope)


def multi_index_network(
    start: Network, stripped: Stripped, rate: float, streams: list[torch.Generator]
) -> Network:
    """Before step 2 of Algorithm 7: W after the first step, thresholds drawn again from N(0, 1)."""
    stepped = first_step(start, stripped.inputs, rate, LOSSES["square"])
    count = stepped.b.shape[1]
    drawn = [torch.randn(count, generator=stream, dtype=torch.float64) for stream in streams]
    b = torch.stack(drawn).to(stepped.b)
    return Network(stepped.w, torch.zeros_like(stepped.a), b)
