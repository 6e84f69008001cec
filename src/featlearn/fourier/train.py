"""Training of the polynomial network for R networks at once, with the gradient in closed form.

The objective is Definition 4.1: mean cross-entropy + lambda ||theta||_{2,k+1}, the norm to the
first power. AdamW follows it (section C.10.1; "SGD" in the text), with weight decay as the
alternative to the penalty. With h the looked-up sums, z = h^k and r = softmax(f) - onehot(y)::

    dL/dw = mean r^T z          dL/du_j[a] = mean over inputs with a_j = a of  k h^(k-1) (r w)

Sums are looked up and their gradients added by index: with one-hot inputs, k of the k + 1 products
of a step would multiply zeros.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from math import cos, pi, sqrt
from typing import Literal

import torch
from torch import Tensor

from featlearn.core.training.loops import followed
from featlearn.fourier.data import labels, tuples
from featlearn.fourier.network import Network, neuron_norms, norm, power, rows_of, sums

#: Hidden values that are worked on at once: three such arrays of a MB each.
IN_CACHE = 2**18


@dataclass(frozen=True)
class Training:
    """How long and how fast.

    ``steps``, ``rate``: number of steps, largest learning rate. ``batch_size``: inputs of a step,
    drawn with replacement, or ``all``. ``schedule``: after a linear ``warmup`` (steps) the rate
    stays ``constant`` or falls by ``cosine`` to 0; the thesis does not say which.
    """

    steps: int
    rate: float
    batch_size: int | Literal["all"]
    schedule: str
    warmup: int = 10
    betas: tuple[float, float] = (0.9, 0.98)

    def rate_at(self, step: int) -> float:
        """Of the step after ``step`` steps."""
        falls = (1 + cos(pi * step / self.steps)) / 2 if self.schedule == "cosine" else 1.0
        return self.rate * min(1.0, (step + 1) / self.warmup) * falls


def gradient(network: Network, a: Tensor) -> Network:
    """Of the mean cross-entropy of inputs (R, B, k).

    Hidden values are passed over several times, so that on a processor they are computed by pieces
    that its cache holds, of some networks or of some inputs of one.
    """
    u, w = network
    replicates, count, width = len(u), a.shape[1], u.shape[-1]
    most = u.numel() + a.numel() * width if u.is_cuda else IN_CACHE
    networks, inputs = max(1, most // (count * width)), max(1, most // width)
    slope = Network(torch.zeros_like(u), torch.zeros_like(w))
    for first in range(0, replicates, networks):
        some = slice(first, first + networks)
        for part in torch.split(a[some], inputs, 1):
            _add_gradient(
                Network(slope.u[some], slope.w[some]), Network(u[some], w[some]), part, count
            )
    return slope


def _add_gradient(slope: Network, network: Network, a: Tensor, count: int) -> None:
    """Add the gradient of the cross-entropies of inputs (R, B, k), over ``count``."""
    u, w = network
    replicates, k, p, width = u.shape
    rows = rows_of(a, p, replicates)
    h = sums(u, rows)
    low = power(h, k - 1)
    z = h * low if low is h else h.mul_(low)
    # (R, p, B): over an axis in front a softmax of few numbers is computed for many inputs at once
    residual = (w @ z.mT).softmax(1)
    y = labels(a, p)[:, None]
    residual.scatter_add_(1, y, w.new_full(y.shape, -1))
    residual /= count
    slope.w.baddbmm_(residual, z)
    by_h = (residual.mT @ (k * w)).mul_(low).view(-1, width)
    by_u = slope.u.view(-1, width)
    for own in rows.T:
        by_u.index_add_(0, own, by_h)


def add_penalty(slope: Network, network: Network, strength: Tensor) -> None:
    """Add the gradient of ``strength`` (R,) times ||theta||_{2,k+1} to ``slope``::

        d||theta||/dtheta_i = ||theta_i||^(k-1) theta_i / ||theta||^k

    A neuron of zeros has none.
    """
    whole = norm(network)[:, None].clamp_min(torch.finfo(network.w.dtype).tiny)
    shares = (neuron_norms(network) / whole) ** (network.k - 1)
    factor = strength[:, None] * shares / whole  # (R, m)
    slope.u.addcmul_(network.u, factor[:, None, None])
    slope.w.addcmul_(network.w, factor[:, None])


def batches(
    index: Tensor, k: int, p: int, training: Training, streams: Sequence[torch.Generator]
) -> Iterator[Tensor]:
    """Inputs of each step, (R, B, k) drawn with replacement, or all of them. ``index`` int64 (S,
    n): numbers of the training inputs of each of S replicates, which have a stream each."""
    size = training.batch_size
    if size == "all":
        yield from repeat(tuples(index, k, p), training.steps)
        return
    for _ in range(training.steps):
        drawn = [torch.randint(index.shape[1], (size,), generator=stream) for stream in streams]
        yield tuples(index.gather(1, torch.stack(drawn).to(index.device)), k, p)


class Adam:
    """Adam with decoupled weight decay, a rate of decay for each network."""

    def __init__(self, network: Network, decay: Tensor, betas: tuple[float, float]):
        self.network, self.betas = network, betas
        self.decays = [decay.view(-1, 1, 1, 1), decay.view(-1, 1, 1)]
        self.first = Network(*(torch.zeros_like(own) for own in network))
        self.second = Network(*(torch.zeros_like(own) for own in network))

    def tensors(self) -> dict[str, Tensor]:
        """All that the next step depends on, by name."""
        parts = {"weights": self.network, "first": self.first, "second": self.second}
        return {f"{part}/{name}": own for part, network in parts.items()
                for name, own in network._asdict().items()}  # fmt: skip

    def step(self, slope: Network, rate: float, number: int) -> None:
        """The step of this number, from 1."""
        old, older = self.betas
        scale = sqrt(1 - older**number)
        for own, by, first, second, decay in zip(
            self.network, slope, self.first, self.second, self.decays, strict=True
        ):
            own.mul_(1 - rate * decay)
            first.lerp_(by, 1 - old)
            second.mul_(older).addcmul_(by, by, value=1 - older)
            # the usual 1e-8 under the root's own bias correction
            below = second.sqrt().div_(scale).add_(1e-8)
            own.addcdiv_(first, below, value=-rate / (1 - old**number))


def train(
    start: Network, order: Iterator[Tensor], training: Training, penalty: Tensor, decay: Tensor,
    see: Callable[[int, Network], Tensor | None], label: str = "training",
    enough: Callable[[Mapping[int, Tensor]], bool] = lambda _: False,
) -> tuple[Network, dict[int, Tensor]]:  # fmt: skip
    """Train R networks; within a job it goes on where it was killed.

    ``order``: inputs of each step, (S, B, k); R is a multiple of S, and networks r and r + S see
    the same. ``penalty``, ``decay``: strength of the norm in the objective and of the weight decay,
    (R,). ``see``: called before the first step (0) and after each; what it returns is kept.
    ``enough``: asked of all that is kept: whether to end there. Returns the networks after the last
    step, and what ``see`` returned, by step. Raises DivergedError if a weight overflows.
    """
    adam = Adam(Network(start.u.clone(), start.w.clone()), decay, training.betas)
    network, parts = adam.network, adam.tensors()

    def take(step: int, a: Tensor) -> None:
        slope = gradient(network, a.repeat(len(network.w) // len(a), 1, 1))
        add_penalty(slope, network, penalty)
        adam.step(slope, training.rate_at(step - 1), step)

    weights = [name for name in parts if name.startswith("weights/")]
    return network, followed(
        label, parts, weights, order, take, lambda step: see(step, network), start=True,
        enough=enough, training=repr(training), penalty=penalty.tolist(), decay=decay.tolist(),
    )  # fmt: skip
