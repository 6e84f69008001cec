"""Training of chapter 2: two full gradient steps, then mini-batches; and its opponents.

All replicates train at once. Between two products a step touches the activations rarely, replicate
by replicate, and goes back through the samples alone that the hinge loss still asks for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import torch
from torch import Tensor

from featlearn.core.training.loops import followed
from featlearn.core.training.optimisers import build, set_rate
from featlearn.emergence.data import Law
from featlearn.emergence.model import BLOCK, Network, full_gradients


@dataclass(frozen=True)
class Schedule:
    """The two full steps, ``theta <- (1 - 2 eta lambda) theta - eta gradient`` (eq. 2.4)."""

    first_rate: float  #: eta of step 1
    #: Factor of w in step 1: 0 with lambda_w = 1 / (2 eta), "complete forgetting".
    first_kept: float
    noise: float  #: sigma_xi, the noise of the smoothed activation in both

    @classmethod
    def of(cls, law: Law, pairs: int, preset: str) -> Schedule:
        """``theory`` and ``practical``: Theorem A.20's rate. ``partial_forget``: half of w stays.

        The last is no part of the thesis: the cosines that it prints after one step fall with d,
        which they cannot if nothing of the start is left. Its rate was chosen by them.
        """
        k = law.relevant
        if preset == "partial_forget":
            # by width, so that the outputs after the step are as large as with 300 pairs
            return cls(5.0 * 300 / pairs, 0.5, k**-1.5)
        own = _structured(law)
        rate = own.weighted_gamma**2 * own.scale**2 / (k * pairs**3)
        return cls(rate, 0.0, k**-1.5)


def _structured(law: Law) -> Law:
    """What start and rate follow from: without structure gamma of parity is zero."""
    return replace(law, structured=True)


def theory_stage(law: Law, pairs: int, steps: int, multiple: float = 1.0) -> dict[str, float]:
    """Rates after the two full steps by the theory: ``k^2 / (T m^(1/3))`` for all, no momentum.

    The weight decay that it allows would shorten weights by some per cent a step; zero is in its
    range. ``multiple`` times as large a rate shows whether it is only too slow.
    """
    rate = multiple * law.relevant**2 / (steps * pairs ** (1 / 3))
    return {"weight_rate": rate, "head_rate": rate, "momentum": 0.0}


def start_stds(law: Law) -> tuple[float, float, float]:
    """sigma_w, sigma_b, sigma_a of the start: 1 / k, 1 / k^2, scale^2 / (gamma k^2)."""
    k, own = law.relevant, _structured(law)
    return 1 / k, 1 / k**2, own.scale**2 / (own.weighted_gamma * k**2)


def class_weights(law: Law, y: Tensor) -> Tensor:
    """``alpha_y = 1 / (2 Pr[y])`` of each sample (eq. A.293): both labels weigh the same."""
    p = law.positive_share
    each = torch.tensor([1 / (2 * (1 - p)), 1 / (2 * p)], dtype=y.dtype, device=y.device)
    return each[(y > 0).long()]


def two_steps(
    network: Network, x: Tensor, y: Tensor, weight: Tensor, schedule: Schedule,
    begun: tuple[Tensor, Tensor] | None = None,
) -> tuple[Network, Network]:  # fmt: skip
    """The networks after the first and after the second full step.

    Step 1 forgets w (or a share of it) and moves a, b and w along the gradient; step 2, with a rate
    of 1 and lambda = 1/2, forgets w and a. ``begun``: the gradients at the start, where known.
    """
    by_rows, by_a = begun or full_gradients(network, x, y, weight, schedule.noise)
    rows = network.rows.clone()
    rows[..., :-1] *= schedule.first_kept
    first = Network(rows - schedule.first_rate * by_rows, network.a - schedule.first_rate * by_a,
                    network.kept * schedule.first_kept)  # fmt: skip
    by_rows, by_a = full_gradients(first, x, y, weight, schedule.noise)
    rows = first.rows.clone()
    rows[..., :-1] = 0
    return first, Network(rows - by_rows, -by_a, 0.0)


def rescaled(first: Network, second: Network) -> Network:
    """The directions of ``first`` at the lengths, and with the biases, of ``second``."""
    lengths = second.q.norm(dim=-1, keepdim=True)
    rows = torch.cat(
        [torch.nn.functional.normalize(first.q, dim=-1) * lengths, second.rows[..., -1:]], -1
    )
    return Network(rows, first.a)


class Descent:
    """Gradient descent with momentum, in place; ``velocity <- momentum velocity + gradient``."""

    def __init__(self, tensors: Sequence[Tensor], rates: Sequence[float], momentum: float):
        self.tensors, self.rates, self.momentum = tensors, rates, momentum
        self.velocities = [torch.zeros_like(tensor) for tensor in tensors]

    def step(self, gradients: Sequence[Tensor]) -> None:
        for tensor, rate, velocity, gradient in zip(
            self.tensors, self.rates, self.velocities, gradients, strict=True
        ):
            velocity.mul_(self.momentum).add_(gradient)
            tensor.sub_(velocity, alpha=rate)


class Adam(Descent):
    """Adam of PyTorch, kept by :func:`descend`; in the input space it would take other steps."""

    def __init__(self, tensors: Sequence[Tensor], rates: Sequence[float]):
        super().__init__(tensors, rates, 0.9)
        groups: list[dict[str, Any]] = [
            {"params": [own], "lr_scale": rate} for own, rate in zip(tensors, rates, strict=True)
        ]
        self.optimiser = build("adam", groups)
        set_rate(self.optimiser, 1.0)
        squares = [torch.zeros_like(own) for own in tensors]
        counts = [torch.zeros((), device=own.device) for own in tensors]
        for own, *state in zip(tensors, counts, self.velocities, squares, strict=True):
            names = ("step", "exp_avg", "exp_avg_sq")
            self.optimiser.state[own] = dict(zip(names, state, strict=True))
        self.velocities = [*self.velocities, *squares, *counts]

    def step(self, gradients: Sequence[Tensor]) -> None:
        for own, gradient in zip(self.tensors, gradients, strict=True):
            own.grad = gradient
        self.optimiser.step()


class Gradient(NamedTuple):
    """Of the hinge loss of a batch: by rows (R, N, D + 1), by a (R, N)."""

    rows: Tensor
    a: Tensor


def live_neurons(network: Network, x: Tensor) -> list[Tensor]:
    """Of each replicate the neurons that some sample of ``x`` (R, n, D + 1) reaches. The others
    give nothing on these samples and get no gradient from them: they never move."""
    result = []
    for rows, own in zip(network.rows, x, strict=True):
        reached = [((part @ rows.T) > 0).any(0) for part in torch.split(own, BLOCK)]
        result.append(torch.nonzero(torch.stack(reached).any(0))[:, 0])
    return result


def batch_gradient(
    network: Network, x: Tensor, y: Tensor, live: Sequence[Tensor] | None = None
) -> Gradient:
    """Of the mean hinge loss of a batch (R, B, D + 1), no noise; the same as autograd's. ``live``
    are those of :func:`live_neurons`, if known: the products are as much smaller."""
    by_rows, by_a = torch.zeros_like(network.rows), torch.zeros_like(network.a)
    every = torch.arange(by_a.shape[1], device=by_a.device)
    for r, at in enumerate([every] * len(x) if live is None else live):
        rows, a = network.rows[r].index_select(0, at), network.a[r].index_select(0, at)
        z = x[r] @ rows.T
        act = z.clamp(0, 1)
        c = y[r] * (y[r] * (act @ a) <= 1) / -len(z)
        by_a[r].index_copy_(0, at, c @ act)
        by_rows[r].index_copy_(0, at, _pull_back(c, z, x[r]))
    return Gradient(by_rows.mul_(network.a[..., None]), by_a)


def logistic_gradient(network: Network, x: Tensor, y: Tensor) -> Gradient:
    """Of the mean logistic loss of a network with plain ReLUs at a batch (R, B, d + 1)."""
    z = x @ network.rows.mT
    act = z.clamp_min(0)
    g = (act @ network.a[..., None])[..., 0]
    c = y * (-y * g).sigmoid() / -x.shape[1]
    by_a = (c[:, None] @ act)[:, 0]
    live = torch.ops.aten.threshold_backward(c[..., None].expand_as(z), z, 0.0)
    return Gradient((live.mT @ x).mul_(network.a[..., None]), by_a)


def _pull_back(c: Tensor, z: Tensor, x: Tensor) -> Tensor:
    """Rows ``sum_n c_n sigma'(z_ni) x_n`` over the samples with a ``c`` other than zero."""
    asks = torch.nonzero(c)[:, 0]
    if len(asks) < 0.8 * len(c):  # else gathering costs more than it saves
        c, z, x = (each.index_select(0, asks) for each in (c, z, x))
    # c where 0 < z < 1, in one pass
    live = torch.ops.aten.hardtanh_backward(c[:, None].expand_as(z), z, 0.0, 1.0)
    return live.T @ x


def features(x: Tensor, rows: Tensor) -> Tensor:
    """(R, n, N) activations of the neurons ``rows`` (R, N, D + 1) at inputs (R, n, D + 1)."""
    return (x @ rows.mT).clamp_(0, 1)


@dataclass
class Taylor:
    """The network's first-order Taylor model at the start, the NTK at finite width.

    ``f(x) = sum_i a_i sigma'(z_i) <change_i, [phi, 1]> + sum_i head_i sigma(z_i)``, over the first
    neurons of the pairs: the changes of partners are opposite, and only their difference counts.
    """

    #: (R, m, D + 1): Times a_i: the gates' factor is taken in. None for random features, whose w
    #: and b stay.
    change: Tensor | None
    head: Tensor  #: (R, m)
    scale: Tensor  #: (R, m) a_i of the start

    @classmethod
    def start(cls, network: Network, *, kernel: bool) -> Taylor:
        """The zero function; without the ``kernel`` part it is a model on random features."""
        pairs = network.a.shape[1] // 2
        change = torch.zeros_like(network.rows[:, :pairs]) if kernel else None
        return cls(change, torch.zeros_like(network.a[:, :pairs]), network.a[:, :pairs])

    def tensors(self) -> list[Tensor]:
        """What is trained."""
        return [self.head] if self.change is None else [self.head, self.change]

    def output(self, x: Tensor, act: Tensor) -> Tensor:
        """(R, n) at inputs (R, n, D + 1) with the activations (R, n, m) of the start."""
        result = []
        for r in range(len(x)):
            f = act[r] @ self.head[r]
            if self.change is not None:
                f = f + self._kernel(r, x[r], act[r])
            result.append(f)
        return torch.stack(result)

    def _kernel(self, r: int, x: Tensor, act: Tensor) -> Tensor:
        assert self.change is not None
        blocks = []
        for here, own in zip(torch.split(x, BLOCK), torch.split(act, BLOCK), strict=True):
            # the gate: a_i where 0 < sigma(z_i) < 1
            gate = torch.ops.aten.hardtanh_backward(self.scale[r].expand_as(own), own, 0.0, 1.0)
            blocks.append((gate.mul_(here @ self.change[r].T)).sum(1))
        return torch.cat(blocks)

    def gradient(self, x: Tensor, act: Tensor, y: Tensor) -> list[Tensor]:
        """Of the mean hinge loss of a batch by :meth:`tensors`."""
        f = self.output(x, act)
        c = y * (y * f <= 1) / -x.shape[1]
        by_head = (c[:, None] @ act)[:, 0]
        if self.change is None:
            return [by_head]
        by_change = torch.empty_like(self.change)
        for r in range(len(x)):
            by_change[r] = _pull_back(c[r], act[r], x[r])
        return [by_head, by_change.mul_(self.scale[..., None])]


def batches(
    number: int, size: int, steps: int, streams: Sequence[torch.Generator]
) -> Iterator[Tensor]:
    """(R, B) indices of each step's batch, drawn with replacement."""
    for _ in range(steps):
        drawn = [torch.randint(number, (size,), generator=stream) for stream in streams]
        yield torch.stack(drawn)


def gathered(values: Tensor, index: Tensor) -> Tensor:
    """Of each replicate its rows ``index`` (R, B) of ``values`` (R, n, ...)."""
    index = index.to(values.device)
    result = values.new_empty((*index.shape, *values.shape[2:]))
    for own, at, to in zip(values, index, result, strict=True):
        # copies whole rows, where indexing goes entry by entry
        torch.index_select(own, 0, at, out=to)
    return result


def accuracy(outputs: Tensor, y: Tensor) -> Tensor:
    """(R,) share of right signs; an output of zero is wrong."""
    return (outputs * y > 0).double().mean(1)


def balanced(outputs: Tensor, y: Tensor) -> Tensor:
    """(R,) mean of the shares of right signs among both labels, however rare one is."""
    right = (outputs * y > 0).double()
    shares = [(right * own).sum(1) / own.sum(1) for own in ((y > 0).double(), (y < 0).double())]
    return (shares[0] + shares[1]) / 2


def descend(
    label: str, optimiser: Descent, order: Iterator[Tensor],
    gradient: Callable[[Tensor], Sequence[Tensor]], see: Callable[[int], Tensor | None],
) -> dict[int, Tensor]:  # fmt: skip
    """Run an optimiser over ``order``: :func:`featlearn.core.training.loops.followed`.

    ``order``: indices of the batches, one a step. ``gradient``: gradients of the optimiser's
    tensors at a batch. ``see``: called with the number of the step, from 1. Returns what it
    returned, by step.
    """
    weights = {f"tensor/{i}": tensor for i, tensor in enumerate(optimiser.tensors)}
    speeds = {f"velocity/{i}": tensor for i, tensor in enumerate(optimiser.velocities)}
    return followed(
        label, weights | speeds, weights, order, lambda _, at: optimiser.step(gradient(at)), see,
        rates=list(optimiser.rates), momentum=optimiser.momentum,
    )  # fmt: skip


def train_network(
    network: Network, x: Tensor, y: Tensor, order: Iterator[Tensor], stage: Mapping[str, Any],
    see: Callable[[int, Network], Tensor | None],
    gradient: Callable[[Network, Tensor, Tensor], Gradient] = batch_gradient,
) -> tuple[Network, dict[int, Tensor]]:  # fmt: skip
    """Stage 3: all parameters, mini-batches, from a network after two steps.

    ``order``, ``see``: as of :func:`descend`; ``see`` gets the network too. ``stage``:
    ``weight_rate`` (of w and b), ``head_rate`` (of a) and ``momentum``, or ``adam`` in its place.
    ``gradient``: of the loss at a batch; of the hinge loss if not told otherwise. Returns the
    network that was trained, a copy of ``network``, and what :func:`descend` returns.
    """
    own = Network(network.rows.clone(), network.a.clone(), network.kept)
    rates = [stage["weight_rate"], stage["head_rate"]]
    trained = [own.rows, own.a]
    adam = stage.get("adam", False)
    optimiser = Adam(trained, rates) if adam else Descent(trained, rates, stage["momentum"])
    return own, descend(
        "training", optimiser, order,
        lambda index: gradient(own, gathered(x, index), gathered(y, index)),
        lambda step: see(step, own),
    )  # fmt: skip


def train_taylor(
    model: Taylor, data: tuple[Tensor, Tensor, Tensor], order: Iterator[Tensor],
    stage: Mapping[str, Any], see: Callable[[int], Tensor | None],
) -> dict[int, Tensor]:  # fmt: skip
    """Train a fixed-feature model in place; ``data`` are inputs, activations and labels. ``stage``
    as in :func:`train_network`; the change meets ``a_i`` of the start in its gradient."""
    rates = [stage["head_rate"], stage["weight_rate"]][: len(model.tensors())]
    optimiser = Descent(model.tensors(), rates, stage["momentum"])
    x, act, y = data

    def gradient(index: Tensor) -> list[Tensor]:
        own = gathered(act, index)
        # random features do not see the inputs, and gathering them costs as much as a step
        seen = own if model.change is None else gathered(x, index)
        return model.gradient(seen, own, gathered(y, index))

    return descend("training of a fixed-feature model", optimiser, order, gradient, see)


def early_gradients(
    network: Network, x: Tensor, y: Tensor, order: Iterator[Tensor], rate: float,
    gradient: Callable[[Network, Tensor, Tensor], Gradient] = batch_gradient,
) -> Tensor:  # fmt: skip
    """(S, R, N, D) gradients by w along plain descent, one for each batch of ``order``."""
    kept = []

    def noted(*batch: Any) -> Gradient:
        result = gradient(*batch)
        kept.append(result.rows[..., :-1].clone())
        return result

    stage = {"weight_rate": rate, "head_rate": rate, "momentum": 0.0}
    train_network(network, x, y, order, stage, lambda step, own: None, noted)
    return torch.stack(kept)


def stretch_cosines(gradients: Tensor) -> dict[str, Tensor]:
    """How far gradients (S, R, N, D) keep their direction: six cosines (R, N), as of Table A.7.

    ``v1``, ``v2``, ``v3`` are means over the thirds of the steps, ``mean`` is theirs. Independent
    gradients have the cosine 0, and ``1 / sqrt(3)`` with the mean, which they are a part of.
    """
    thirds = [part.mean(0) for part in gradients.chunk(3)]
    named = dict(
        zip(("v1", "v2", "v3", "mean"), [*thirds, torch.stack(thirds).mean(0)], strict=True)
    )
    pairs = (("v1", "mean"), ("v2", "mean"), ("v3", "mean"), ("v1", "v2"), ("v1", "v3"),
             ("v2", "v3"))  # fmt: skip
    return {f"{one}-{other}": torch.cosine_similarity(named[one], named[other], dim=-1)
            for one, other in pairs}  # fmt: skip
