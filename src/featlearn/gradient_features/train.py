"""Algorithms 1 and 4 to 7 of chapter 3, for all replicates at once, with gradients in closed form.

A step of R networks is two batched matrix products, forward and back::

    dL/da_i = E[l' relu(<w_i, x> - b_i)]        dL/dw_i = a_i E[l' 1[<w_i, x> > b_i] x]

All have the same two stages: a first step that wipes out the start (its weight decay is 1 / eta_1)
and leaves minus the gradient, then small steps without decay, of all weights (Algorithms 1 and 5,
which has a law's support for a sample) or of the output layer alone (Algorithms 4, 6 and 7).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import torch
from torch import Tensor

from featlearn.gradient_features.law import Sample
from featlearn.gradient_features.model import LOSSES, Loss, Network


def gradients(network: Network, inputs: Sample, loss: Loss) -> tuple[Tensor, Tensor]:
    """Of the expected loss, by w (R, M, d) and a (R, M)."""
    by_w, by_a = torch.empty_like(network.w), torch.empty_like(network.a)
    # a replicate at a time: what lies between its two products stays in the cache
    for r, (w, a, b) in enumerate(zip(*network, strict=True)):
        x = inputs.x[r]
        above = torch.addmm(-b, x, w.mT)  # (n, M)
        features = above.clamp_min(0)
        slope = inputs.weight[r] * loss.slope(features @ a, inputs.y[r])
        by_a[r] = slope @ features
        asks = slope.nonzero()[:, 0]
        if len(asks) < 0.8 * len(slope):  # else gathering costs more than it saves
            slope, above, x = slope[asks], above[asks], x[asks]
        # the slope where a neuron is active, in one pass
        live = torch.ops.aten.threshold_backward(slope[:, None].expand_as(above), above, 0.0)
        torch.mm(live.mT, x, out=by_w[r])
    return by_w.mul_(network.a[..., None]), by_a


def first_step(network: Network, inputs: Sample, rate: float, loss: Loss) -> Network:
    """Step 1 of all algorithms: with decay 1 / rate, minus the gradients are what is left."""
    by_w, by_a = gradients(network, inputs, loss)
    return Network(-rate * by_w, -rate * by_a, network.b)


#: Of the first step, so small that output weights are negligible after it; sigma_a makes up for it.
FIRST_RATE = 1e-4


def scaled_first_step(network: Network, inputs: Sample, norm: float) -> Network:
    """The first step with the sigma_a that gives the median neuron of a replicate this ``norm``. So
    its threshold lies where it is wanted among the projections of the data."""
    one = first_step(network, inputs, 1.0, LOSSES["hinge"])
    scale = norm / one.w.norm(dim=-1).quantile(0.5, dim=1, keepdim=True)
    return Network(one.w * scale[..., None], one.a * FIRST_RATE, one.b)


def descend(
    network: Network, fresh: Callable[[], Sample], rate: float, steps: int, loss: Loss
) -> Iterator[Network]:
    """Steps 2 to T of Algorithm 1: the network after each, all weights, ``fresh`` inputs a step.
    With the same support each time these are the population's steps (Algorithm 5)."""
    for _ in range(steps):
        by_w, by_a = gradients(network, fresh(), loss)
        network = Network(network.w - rate * by_w, network.a - rate * by_a, network.b)
        yield network


class Fitted(NamedTuple):
    """An output layer along gradient descent on a fixed sample."""

    smoothness: Tensor  #: (R,) L, the largest curvature that the loss can have by a
    looks: tuple[int, ...]  #: numbers of steps
    a: Tensor  #: (R, looks, M)

    def after(self, steps: int) -> Tensor:
        """a (R, M) after so many steps."""
        return self.a[:, self.looks.index(steps)]


def smoothness(network: Network, inputs: Sample, loss: Loss) -> Tensor:
    """L (R,): largest eigenvalue of the features' second moment times that of the loss's bend."""
    features = network.features(inputs.x)
    second = (features * inputs.weight[..., None]).mT @ features
    return loss.bend * torch.linalg.eigvalsh(second)[:, -1]


def fit_output(
    network: Network, inputs: Sample, looks: Iterable[int], loss: Loss, *,
    rate: Tensor | None = None, decay: bool = False,
) -> Fitted:  # fmt: skip
    """Steps 2 to T of Algorithms 4, 6 and 7: a alone, on the same ``inputs``.

    ``looks``: numbers of steps after which a is kept. ``rate``: (R,); left out, 1 / L (Theorem
    B.2). ``decay``: divide the rate by t, as the main text prints it (Theorem 3.4); t = 2 at the
    first. Raises ``ValueError`` if the loss has no second derivative, which 1 / L needs.
    """
    bound = smoothness(network, inputs, loss)
    if rate is None:
        if not bound.isfinite().all():
            raise ValueError("rate: a loss with a kink has no smoothness; expected a rate")
        rate = 1 / bound
    looks = tuple(sorted(looks))
    seen = network.a.new_empty(len(network.a), len(looks), network.a.shape[1])
    for r, x in enumerate(inputs.x):  # one at a time: its features stay in the cache
        features = torch.addmm(-network.b[r], x, network.w[r].mT).relu_()
        a = network.a[r]
        for step in range(looks[-1] + 1):
            if step in looks:
                seen[r, looks.index(step)] = a
            slope = inputs.weight[r] * loss.slope(features @ a, inputs.y[r])
            a = a - rate[r] / (step + 2 if decay else 1) * (slope @ features)
    return Fitted(bound, looks, seen)


def fit_square(network: Network, inputs: Sample, looks: Iterable[int]) -> Fitted:
    """``fit_output`` of the square loss at 1 / L, any number of steps at once. In the eigenbasis of
    the features' second moment each coordinate shrinks by a factor a step."""
    looks = tuple(sorted(looks))
    features = network.features(inputs.x)
    weighted = features * inputs.weight[..., None]
    values, vectors = torch.linalg.eigh(weighted.mT @ features)
    share = (values / values[:, -1:]).clamp(0, 1)
    steps = torch.tensor(looks, dtype=features.dtype)[:, None]
    # 1 - (1 - share)^steps, also where the share is tiny; no step shrinks nothing, 0 * inf = 0
    power = (steps * torch.log1p(-share)[:, None]).nan_to_num(nan=0.0, neginf=-torch.inf)
    done = -torch.expm1(power)
    toward = (vectors.mT @ (weighted.mT @ inputs.y[..., None])).squeeze(-1)
    begun = (vectors.mT @ network.a[..., None]).squeeze(-1)
    tiny = torch.finfo(share.dtype).tiny
    pulled = torch.where(share[:, None] > 0, done / share.clamp_min(tiny)[:, None], steps)
    result = (1 - done) * begun[:, None] + pulled * (toward / values[:, -1:])[:, None]
    return Fitted(2 * values[:, -1], looks, result @ vectors.mT)


def nearest_optimum(network: Network, inputs: Sample, loss: Loss, pull: Tensor) -> Tensor:
    """a (R, M) that minimises ``loss + pull |a - a_1|^2``, a_1 of ``network``, by Newton steps.

    With ``pull = L / 2 T`` the minimum is the best that (B.12) promises of T steps of 1 / L.
    """
    features = network.features(inputs.x)
    a = network.a
    eye = torch.eye(a.shape[1], dtype=a.dtype)

    def value(at: Tensor) -> Tensor:
        seen = (features @ at[..., None]).squeeze(-1)
        risk = (inputs.weight * loss.value(seen, inputs.y)).sum(-1)
        return risk + pull * (at - network.a).square().sum(-1)

    best = value(a)
    for _ in range(100):
        g = (features @ a[..., None]).squeeze(-1)
        slope, bend = (inputs.weight * part(g, inputs.y) for part in (loss.slope, loss.curve))
        down = (features.mT @ slope[..., None]).squeeze(-1) + 2 * pull[:, None] * (a - network.a)
        hessian = (features * bend[..., None]).mT @ features + 2 * pull[:, None, None] * eye
        step = torch.linalg.solve(hessian, down)
        length = torch.ones_like(pull)
        while (worse := value(a - length[:, None] * step) > best).any() and length.min() > 1e-6:
            length = torch.where(worse, length / 2, length)
        a = torch.where(worse[:, None], a, a - length[:, None] * step)
        best, before = value(a), best
        if (before - best <= 1e-12).all():
            break
    return a


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
