"""The lemma on two racing sequences (F.4 in the later version; Allen-Zhu & Li, C.19).

``x`` grows at least by ``eta C_t x**(q-1)`` a step, ``y`` at most by ``eta S C_t y**(q-1)``. If x
starts ahead by more than the factor ``S**(1/(q-2))``, then y is still near its start when x has
arrived: the kernel that starts ahead wins the feature, the others stay where they were. Teacher and
student use it with ``2q`` in place of ``q``, MAE with ``q + 1``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from featlearn.core.seeds import Streams, derive_seed

#: Draws of ``C_t`` taken from a generator at a time.
BLOCK = 1000


@dataclass(frozen=True)
class Race:
    """How races ended, one an instance.

    Attributes
    ----------
    steps
        Until x arrived.
    growth
        ``y_T / y_0`` at that time; infinite if y overtook x.
    """

    steps: np.ndarray
    growth: np.ndarray


def race(
    q: int,
    ratio: np.ndarray,
    head_start: np.ndarray,
    noises: Sequence[np.random.Generator],
    *,
    goal: float = 1.0,
    step: float = 0.02,
    max_steps: int = 100_000,
    length: float = 10_000,
) -> Race:
    """Iterate both sequences, with equality, until x reaches ``goal``.

    Parameters
    ----------
    q
        Exponent; at least 3.
    ratio
        ``S``, one an instance.
    head_start
        ``x_0 / (y_0 S**(1/(q-2))) - 1``; the lemma wants it above 1 / polylog.
    noises
        Draw ``C_t``, uniform in [0.5, 1.5], the same for x and y; one generator an instance.
    step
        Relative growth of x in its last step; sets ``eta``.
    length
        Number of steps that x shall take, about; sets ``x_0``.
    """
    power = q - 2
    rate = step / goal**power
    x = np.full(ratio.shape, (length * rate * power + goal**-power) ** (-1 / power))
    y = x / ((1 + head_start) * ratio ** (1 / power))
    start, steps = y.copy(), np.zeros(ratio.shape, dtype=int)
    rates = np.empty((0, ratio.size))
    for count in range(max_steps):
        if count % BLOCK == 0:
            rates = rate * np.stack([noise.uniform(0.5, 1.5, BLOCK) for noise in noises], axis=1)
        running = (x < goal) & (y < goal)
        if not running.any():
            break
        drawn = rates[count % BLOCK]
        x = np.where(running, x + drawn * x ** (q - 1), x)
        y = np.where(running, y + drawn * ratio * y ** (q - 1), y)
        steps += running
    return Race(steps, np.where(x >= goal, y / start, np.inf))


def bound(q: int, head_start: np.ndarray) -> np.ndarray:
    """``y_T / y_0`` in continuous time for a distant goal: ``(1 - (1+h)^-(q-2))^(-1/(q-2))``.

    About ``((q-2) h)^(-1/(q-2))``: polylog k for a head start of 1 / polylog k, as the lemma says.
    """
    power = q - 2
    return (1 - (1 + head_start) ** -float(power)) ** (-1 / power)


def race_rows(exponents: Sequence[int], length: int, streams: Streams) -> pd.DataFrame:
    """Races of random ratio and head start, and the same with that start behind.

    Returns
    -------
    DataFrame
        Columns q, replicate, ratio, head_start (negative: behind), growth (infinite: y overtook),
        bound (NaN behind).
    """
    rows = []
    for q in exponents:
        noises = [
            np.random.default_rng(derive_seed(streams.seed, "mrp", "oracles", r, f"race-{q}"))
            for r in streams.replicates
        ]
        ratio = np.array([noise.uniform(0.5, 3) for noise in noises])
        ahead = np.array([noise.uniform(0.05, 0.3) for noise in noises])
        for start in (ahead, -ahead):
            ended = race(q, ratio, start, noises, length=length)
            limit = bound(q, start) if (start > 0).all() else np.full(start.shape, np.nan)
            columns = [streams.replicates, ratio, start, ended.growth, limit]
            rows += [(q, *values) for values in zip(*columns, strict=True)]
    names = ["q", "replicate", "ratio", "head_start", "growth", "bound"]
    return pd.DataFrame(rows, columns=names)
