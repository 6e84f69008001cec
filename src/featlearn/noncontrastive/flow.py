"""Gradient flow of the population objective: the whole paper in a few variables.

For isotropic noise the gradient closes on ``B``, the Gram matrix ``G`` and the head ``E``: nine
numbers for two neurons, at any dimension. Time is ``t = eta * steps``; the head moves ``kappa =
eta_E / eta`` times as fast.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from featlearn.noncontrastive.integrate import integrate
from featlearn.noncontrastive.population import Law, Objective, State, descent


@dataclass(frozen=True)
class Layout:
    """How a state lies in a vector: B, the upper triangle of G, the off-diagonals of E."""

    neurons: int  #: ``m``
    head: bool = True  #: Whether E is among the variables; without, it is zero

    @property
    def size(self) -> int:
        """Length of the vector: 9 for two neurons with a head."""
        m = self.neurons
        return 2 * m + m * (m + 1) // 2 + (m * (m - 1) if self.head else 0)

    @cached_property
    def _places(self) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """The upper triangle of G, its off-diagonals; where each entry of G and of E stands."""
        m = self.neurons
        rows, columns = torch.triu_indices(m, m)
        triangle, gram = rows * m + columns, torch.zeros(m, m, dtype=torch.long)
        gram[rows, columns] = gram[columns, rows] = 2 * m + torch.arange(len(rows))
        off = (~torch.eye(m, dtype=torch.bool)).flatten().nonzero().squeeze(1)
        head = torch.zeros(m * m, dtype=torch.long)
        head[off] = 2 * m + len(rows) + torch.arange(len(off))
        return triangle, off, gram.flatten(), head

    def pack(self, state: State) -> Tensor:
        """(S, size) from a state with one batch axis."""
        triangle, off = (places.to(state.b.device) for places in self._places[:2])
        parts = [state.b.flatten(1), state.g.flatten(1)[:, triangle]]
        if self.head:
            parts.append(state.e.flatten(1)[:, off])
        return torch.cat(parts, 1)

    def unpack(self, y: Tensor) -> State:
        """A state from (..., size)."""
        m, lead = self.neurons, y.shape[:-1]
        gram, head = (places.to(y.device) for places in self._places[2:])
        b = y[..., : 2 * m].reshape(*lead, m, 2)
        g = y[..., gram].view(*lead, m, m)
        if not self.head:
            return State(b, g, y.new_zeros(*lead, m, m))
        e = y[..., head].view(*lead, m, m)
        return State(b, g, e - torch.diag_embed(e.diagonal(dim1=-2, dim2=-1)))


def velocity(
    state: State,
    law: Law,
    kappa: Tensor,
    objective: Objective = "batch",
    *,
    stop_gradient: bool = True,
) -> State:
    """Time derivatives of B, G and E; ``kappa`` (...) is the relative speed of the head."""
    down = descent(state, law, objective, stop_gradient=stop_gradient)
    turned = down.mixing @ state.g
    return State(down.b, turned + turned.transpose(-1, -2), kappa[..., None, None] * down.e)


@dataclass(frozen=True)
class Trajectory:
    """What :func:`trajectory` returns; see :class:`featlearn.noncontrastive.integrate.Path`."""

    states: State  #: With axes (S, T) in front
    #: ``hits`` and ``at_hits``: (S, K) times of the watched levels, and the states there.
    hits: Tensor
    at_hits: State
    stopped: Tensor  #: (S,)


def trajectory(
    start: State,
    law: Law,
    kappa: Tensor,
    times: Tensor,
    objective: Objective = "batch",
    *,
    head: bool = True,
    stop_gradient: bool = True,
    watch: Callable[[State, Tensor], Tensor] | None = None,
    until: Callable[[State, Tensor], Tensor] | None = None,
    **options: Any,
) -> Trajectory:
    """The flow from many starts.

    ``start``: (S, ...) states, float64. ``law``: (S, ...) or a single law. ``kappa``: (S,) speed of
    the head over that of the encoder. ``times``: (S, T) or (T,), rising, in units of ``eta *
    steps``. ``head``: false freezes the head at the identity: the paper's "no prediction head".
    ``watch``, ``until``: levels (S, K) whose rise to zero is timed, and a condition (S,) that ends
    a trajectory, of a state and of which starts it belongs to. ``options``: for
    :func:`featlearn.noncontrastive.integrate.integrate`.
    """
    layout = Layout(start.neurons, head)
    count = start.b.shape[0]
    if law.noise.dim() == 0:
        law = law.expand(count)

    def field(y: Tensor, which: Tensor) -> Tensor:
        state = layout.unpack(y)
        moved = velocity(state, law[which], kappa[which], objective, stop_gradient=stop_gradient)
        return layout.pack(moved)

    path = integrate(
        field,
        layout.pack(start),
        times.expand(count, -1) if times.dim() == 1 else times,
        watch=(lambda y, which: watch(layout.unpack(y), which)) if watch else None,
        until=(lambda y, which: until(layout.unpack(y), which)) if until else None,
        **options,
    )
    return Trajectory(
        layout.unpack(path.states), path.hits, layout.unpack(path.at_hits), path.stopped
    )


def canonical_start(dimension: float) -> State:
    """The start of all deterministic runs: unit neurons, neuron 1 ahead on the strong feature.

    ``B = [[2, 1], [1, 1]] / sqrt(d)``, noise parts at right angles, ``E = 0``; it meets Lemma B.1.
    A single state, float64.
    """
    b = torch.tensor([[2.0, 1.0], [1.0, 1.0]], dtype=torch.float64) / dimension**0.5
    g = torch.diag(1 - b.square().sum(-1))
    return State(b, g, torch.zeros(2, 2, dtype=torch.float64))
