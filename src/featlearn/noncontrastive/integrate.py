"""A stiff integrator for many small autonomous systems at once, each with steps of its own.

RODAS, a Rosenbrock method of order 4 with an embedded one of order 3 (Hairer & Wanner, Solving
ODEs II, section IV.7): stiffly accurate and L-stable, so the steps follow the slow drift of a
late phase however fast the settled directions would relax. The systems of a batch never touch: a
trajectory is the same alone and in company, up to rounding.
"""

from __future__ import annotations

from collections.abc import Callable

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


def _step(field: Field, y: Tensor, h: Tensor, which: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """One step of lengths ``h`` (S,): new states, error estimates, velocities at ``y``."""
    n = y.shape[1]
    eye = torch.eye(n, dtype=y.dtype, device=y.device)
    system = eye / (_GAMMA * h).view(-1, 1, 1) - jacobian(field, y, which)
    factors = torch.linalg.lu_factor(system)
    stages: list[Tensor] = []
    velocity = start = field(y, which)
    at = y
    for a, c in zip(_A, _C, strict=True):
        if stages:
            at = y + sum(weight * k for weight, k in zip(a, stages, strict=True))
            velocity = field(at, which)
        right = velocity
        if stages:
            drift = sum(weight * k for weight, k in zip(c, stages, strict=True))
            right = velocity + drift / h.unsqueeze(1)
        stages.append(torch.linalg.lu_solve(*factors, right.unsqueeze(2)).squeeze(2))
    return at + stages[-1], stages[-1], start


def _hermite(share: Tensor, h: Tensor, y: Tensor, v: Tensor, z: Tensor, u: Tensor) -> Tensor:
    """Cubic through states ``y``, ``z`` with velocities ``v``, ``u``, at ``share`` of the step."""
    s, h = share.unsqueeze(1), h.unsqueeze(1)
    return (
        (1 + 2 * s) * (1 - s) ** 2 * y
        + s * (1 - s) ** 2 * h * v
        + s**2 * (3 - 2 * s) * z
        + s**2 * (s - 1) * h * u
    )


def integrate(
    field: Field,
    y: Tensor,
    times: Tensor,
    *,
    rtol: float = 1e-6,
    atol: float = 1e-10,
    first_step: float = 1e-3,
    max_steps: int = 20000,
) -> Tensor:
    """States of every system at given times.

    Parameters
    ----------
    field
        Velocities; must act on each row alone.
    y
        (S, n) states at time 0, float64.
    times
        (S, T), rising along the second axis, not negative.
    rtol, atol
        Tolerated error of a step, relative to a component and absolute.
    first_step
        Length of the first attempt, in units of the last time of a system.
    max_steps
        Attempts, over all systems together in lock-step.

    Returns
    -------
    Tensor
        (S, T, n).

    Raises
    ------
    ArithmeticError
        If a system needs more steps, or its step shrinks to nothing.
    """
    count, n = y.shape
    out = torch.empty(count, times.shape[1], n, dtype=y.dtype, device=y.device)
    which = torch.arange(count, device=y.device)
    t = torch.zeros(count, dtype=y.dtype, device=y.device)
    end = times[:, -1]
    h = first_step * end.clone()
    column = torch.arange(times.shape[1], device=y.device)
    filled = (times <= 0).sum(1)
    out[:] = y.unsqueeze(1)
    for _ in range(max_steps):
        if len(which) == 0:
            return out
        h = torch.minimum(h, end[which] - t)
        new, error, velocity = _step(field, y, h, which)
        tolerance = atol + rtol * torch.maximum(y.abs(), new.abs())
        size = (error / tolerance).square().mean(1).sqrt()
        size = torch.where(size.isfinite(), size, torch.full_like(size, 1e8))
        good = size <= 1
        if bool(good.any()):
            ahead = field(new, which)
            wanted = good.unsqueeze(1) & (column >= filled[which].unsqueeze(1))
            wanted &= times[which] <= (t + h).unsqueeze(1) * (1 + 1e-12)
            row, place = wanted.nonzero(as_tuple=True)
            share = ((times[which[row], place] - t[row]) / h[row]).clamp(0, 1)
            out[which[row], place] = _hermite(
                share, h[row], y[row], velocity[row], new[row], ahead[row]
            )
            filled[which] += wanted.sum(1)
            y = torch.where(good.unsqueeze(1), new, y)
            t = torch.where(good, t + h, t)
        if bool((h < 1e-14 * t.clamp_min(1e-300)).any() & ~good.all()):
            raise ArithmeticError("integrate: the step of a system shrank to nothing")
        h = h * (0.9 * size.clamp_min(1e-10) ** -0.25).clamp(0.1, 5.0)
        going = t < end[which] * (1 - 1e-12)
        if not bool(going.all()):
            y, t, h, which = y[going], t[going], h[going], which[going]
    raise ArithmeticError(f"integrate: not at the end after {max_steps} steps")
