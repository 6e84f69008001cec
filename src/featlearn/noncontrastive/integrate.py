"""A stiff integrator for many small autonomous systems at once, each with steps of its own.

RODAS, a Rosenbrock method of order 4 with an embedded one of order 3 (Hairer & Wanner, Solving
ODEs II, section IV.7): stiffly accurate and L-stable, so the steps follow the slow drift of a
late phase however fast the settled directions would relax. The systems of a batch never touch: a
trajectory is the same alone and in company, up to rounding.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Tensor

#: Gives the velocities (S, n) of states (S, n); the second argument says which systems they are.
Field = Callable[[Tensor, Tensor], Tensor]

_GAMMA = 0.25
_COMPLEX_STEP = 1e-20
_A = (
    (),
    (1.544,),
    (0.9466785280815826, 0.2557011698983284),
    (3.314825187068521, 2.896124015972201, 0.9986419139977817),
    (1.221224509226641, 6.019134481288629, 12.53708332932087, -0.6878860361058950),
    (1.221224509226641, 6.019134481288629, 12.53708332932087, -0.6878860361058950, 1.0),
)
_C = (
    (),
    (-5.6688,),
    (-2.430093356833875, -0.2063599157091915),
    (-0.1073529058151375, -9.594562251023355, -20.47028614809616),
    (7.496443313967647, -10.24680431464352, -33.99990352819905, 11.70890893206160),
    (8.083246795921522, -7.981132988064893, -31.52159432874371, 16.31930543123136,
     -6.058818238834054),
)  # fmt: skip


def jacobian(field: Field, y: Tensor, which: Tensor) -> Tensor:
    """Jacobians (S, n, n) of the velocities at ``y`` (S, n), exact to rounding.

    By a complex step: the velocities at ``y + i h e`` have the derivative along ``e`` as their
    imaginary part over ``h``, with nothing subtracted. The field must be built of analytic
    operations (no absolute values).
    """
    count, n = y.shape
    directions = torch.eye(n, dtype=y.dtype, device=y.device).repeat(count, 1)
    moved = torch.complex(y.repeat_interleave(n, 0), _COMPLEX_STEP * directions)
    slopes = field(moved, which.repeat_interleave(n)).imag / _COMPLEX_STEP
    # a row of these is the derivative along a direction, a column of the Jacobian
    return slopes.view(count, n, n).transpose(1, 2)


def _step(
    field: Field, y: Tensor, velocity: Tensor, h: Tensor, which: Tensor
) -> tuple[Tensor, Tensor]:
    """One step of lengths ``h`` (S,) from ``y`` with its velocity: new states, error estimates."""
    n = y.shape[1]
    eye = torch.eye(n, dtype=y.dtype, device=y.device)
    system = eye / (_GAMMA * h).view(-1, 1, 1) - jacobian(field, y, which)
    factors = torch.linalg.lu_factor(system)
    stages: list[Tensor] = []
    at = y
    for a, c in zip(_A, _C, strict=True):
        right = velocity
        if stages:
            at = y + sum(weight * k for weight, k in zip(a, stages, strict=True))
            drift = sum(weight * k for weight, k in zip(c, stages, strict=True))
            right = field(at, which) + drift / h.unsqueeze(1)
        stages.append(torch.linalg.lu_solve(*factors, right.unsqueeze(2)).squeeze(2))
    return at + stages[-1], stages[-1]


@dataclass(frozen=True)
class Path:
    """What :func:`integrate` returns, for S systems of n variables."""

    #: (S, T, n) at the wanted times; a system that stopped early stays where it stopped.
    states: Tensor
    #: (S, K): first time at which each watched level rose to zero, infinite if it never did.
    hits: Tensor
    at_hits: Tensor  #: (S, K, n): the state at that time, not a number if there was none
    stopped: Tensor  #: (S,): time at which a system stopped, its last wanted time if it did not
    steps: int  #: Attempts made, all systems in lock-step


@dataclass
class _Piece:
    """One accepted step of some systems: from ``y`` (velocity ``v``) at ``t`` to ``z`` (``u``)."""

    t: Tensor
    h: Tensor
    y: Tensor
    v: Tensor
    z: Tensor
    u: Tensor

    def at(self, share: Tensor, rows: Tensor) -> Tensor:
        """States at a share of the step, for some rows, on the cubic through both ends."""
        s, h = share.unsqueeze(1), self.h[rows].unsqueeze(1)
        return (
            (1 + 2 * s) * (1 - s) ** 2 * self.y[rows]
            + s * (1 - s) ** 2 * h * self.v[rows]
            + s**2 * (3 - 2 * s) * self.z[rows]
            + s**2 * (s - 1) * h * self.u[rows]
        )


def _crossings(piece: _Piece, which: Tensor, fresh: Tensor, watch: Field, path: Path) -> None:
    """Note the levels that rose to zero within a step, their times found by bisection."""
    rose = (watch(piece.z, which) >= 0) & fresh
    if not bool(rose.any()):
        return
    rows, levels = rose.nonzero(as_tuple=True)
    low = torch.zeros_like(piece.h[rows])
    high = torch.ones_like(low)
    for _ in range(40):
        middle = (low + high) / 2
        above = watch(piece.at(middle, rows), which[rows]).gather(1, levels.unsqueeze(1)) >= 0
        above = above.squeeze(1)
        low, high = torch.where(above, low, middle), torch.where(above, middle, high)
    path.hits[which[rows], levels] = piece.t[rows] + high * piece.h[rows]
    path.at_hits[which[rows], levels] = piece.at(high, rows)


def integrate(
    field: Field,
    y: Tensor,
    times: Tensor,
    *,
    watch: Field | None = None,
    until: Field | None = None,
    rtol: float = 1e-6,
    atol: float = 1e-10,
    first_step: float = 1e-3,
    max_steps: int = 20000,
) -> Path:
    """States of every system at given times.

    ``field``: velocities; must act on each row alone. ``y``: (S, n) states at time 0, float64.
    ``times``: (S, T), rising along the second axis, not negative. ``watch``: gives levels (S, K) of
    states; the first time at which each rises to zero is noted. ``until``: gives (S,) bool: a
    system for which it is true stops. ``rtol``, ``atol``: tolerated error of a step, relative to a
    component and absolute. ``first_step``: length of the first attempt, in units of the last time
    of a system. ``max_steps``: attempts, over all systems together in lock-step. Raises
    ``ArithmeticError`` if a system needs more steps, or its step shrinks to nothing.
    """
    count = y.shape[0]
    which = torch.arange(count, device=y.device)
    levels = watch(y, which).shape[1] if watch else 0
    never = torch.full((count, levels), torch.inf, dtype=y.dtype, device=y.device)
    nowhere = torch.full((count, levels, y.shape[1]), torch.nan, dtype=y.dtype, device=y.device)
    states = y.unsqueeze(1).repeat(1, times.shape[1], 1)
    path = Path(states, never, nowhere, times[:, -1].clone(), 0)
    t = torch.zeros(count, dtype=y.dtype, device=y.device)
    end = times[:, -1]
    h = first_step * end.clone()
    velocity = field(y, which)
    for attempt in range(max_steps):
        if len(which) == 0:
            return replace(path, steps=attempt)
        h = torch.minimum(h, end[which] - t)
        new, error = _step(field, y, velocity, h, which)
        tolerance = atol + rtol * torch.maximum(y.abs(), new.abs())
        size = (error / tolerance).square().mean(1).sqrt()
        size = torch.where(size.isfinite(), size, torch.full_like(size, 1e8))
        good = size <= 1
        if bool(good.any()):
            own = which[good]
            ahead = field(new[good], own)
            piece = _Piece(t[good], h[good], y[good], velocity[good], new[good], ahead)
            _fill(piece, own, times, path)
            if watch:
                _crossings(piece, own, path.hits[own].isinf(), watch, path)
            y = torch.where(good.unsqueeze(1), new, y)
            t = torch.where(good, t + h, t)
            velocity[good] = ahead
        # against what moves and not against t: after a wait of d**2 all may happen within one unit
        moves = h.unsqueeze(1) * velocity.abs() > 1e-14 * (y.abs() + atol)
        if bool((~good & ~moves.any(1)).any()):
            raise ArithmeticError("integrate: the step of a system shrank to nothing")
        h = h * (0.9 * size.clamp_min(1e-10) ** -0.25).clamp(0.1, 5.0)
        going = t < end[which] * (1 - 1e-12)
        if until:
            done = going & until(y, which)
            path.stopped[which[done]] = t[done]
            late = times[which[done]] > t[done].unsqueeze(1)
            path.states[which[done]] = torch.where(
                late.unsqueeze(2), y[done].unsqueeze(1), path.states[which[done]]
            )
            going &= ~done
        if not bool(going.all()):
            y, t, h, which = y[going], t[going], h[going], which[going]
            velocity = velocity[going]
    raise ArithmeticError(f"integrate: not at the end after {max_steps} steps")


def _fill(piece: _Piece, which: Tensor, times: Tensor, path: Path) -> None:
    """Write the wanted states that lie within a step."""
    wanted = times[which]
    reached = piece.t + piece.h * (1 + 1e-12)
    within = (wanted > piece.t.unsqueeze(1)) & (wanted <= reached.unsqueeze(1))
    rows, places = within.nonzero(as_tuple=True)
    share = ((wanted[rows, places] - piece.t[rows]) / piece.h[rows]).clamp(0, 1)
    path.states[which[rows], places] = piece.at(share, rows)
