"""A contrastive step against its own matrix products, against autograd, and as d grows.

Sizes are those of the experiment ``stages`` at desk scale.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import pandas as pd
import torch
from torch import Tensor

from bench.timing import ratio, side_by_side
from featlearn.contrastive.model import Batch, codes, contrastive_loss, weight_descent

DESK = {"replicates": 10, "anchors": 256, "negatives": 256, "dimension": 256, "neurons": 256}
TAU = 1.0


class Problem:
    """Random data of given sizes: timings do not depend on what the numbers are."""

    def __init__(self, replicates: int, anchors: int, negatives: int, dimension: int, neurons: int):
        stream = torch.Generator().manual_seed(0)

        def gaussian(*shape: int) -> Tensor:
            return torch.randn((replicates, *shape), generator=stream)

        self.batch = Batch(
            0.3 * gaussian(anchors, dimension),
            0.3 * gaussian(anchors, dimension),
            0.3 * gaussian(negatives, dimension),
        )
        self.w = gaussian(neurons, dimension) / dimension**0.5
        self.b = 0.3 * gaussian(neurons).abs()
        self.answer = gaussian(anchors, neurons)
        self.weights = torch.softmax(gaussian(anchors, negatives), -1)

    def one(self, r: int) -> tuple[Batch, Tensor, Tensor]:
        """The operands of a single replicate."""
        row = slice(r, r + 1)
        return Batch(*(part[row] for part in self.batch)), self.w[row], self.b[row]


def _each(p: Problem) -> Callable[[], object]:
    """The step as training on a CPU takes it: a replicate at a time."""
    rows = [p.one(r) for r in range(len(p.w))]

    def run() -> None:
        for batch, w, b in rows:
            weight_descent(batch, w, b, TAU)

    return run


def _products(p: Problem) -> Callable[[], object]:
    """The matrix products of a step and nothing else, a replicate at a time."""

    def run() -> None:
        for r in range(len(p.w)):
            anchor, positive, negative = (part[r] for part in p.batch)
            w = p.w[r]
            f = anchor @ w.T
            positive @ w.T
            g = negative @ w.T
            f @ g.T
            p.weights[r] @ g
            p.answer[r].T @ anchor

    return run


def _autograd(p: Problem) -> Callable[[], object]:
    rows = [p.one(r) for r in range(len(p.w))]

    def run() -> None:
        for batch, w, b in rows:
            variable = w.clone().requires_grad_()
            contrastive_loss(codes(batch, variable, b), TAU).sum().backward()

    return run


def step_ratios() -> pd.DataFrame:
    """The step against its floor, against autograd, and against all replicates in one call."""
    p = Problem(**DESK)
    timed = side_by_side(
        {
            "step": _each(p),
            "products": _products(p),
            "autograd": _autograd(p),
            "batched": lambda: weight_descent(p.batch, p.w, p.b, TAU),
        }
    )
    tensors = _tensors(_autograd(p)) / _tensors(_each(p))
    told = [
        ("step / its matrix products", ratio(timed, "step", "products"), "<= 1.2"),
        ("autograd / step", ratio(timed, "autograd", "step"), ">= 1.3"),
        ("all replicates in one call / one by one", ratio(timed, "batched", "step"), ""),
        ("autograd's tensors / step's", tensors, ">= 1"),
    ]
    rows = [(f"contrastive: {what}", share, wanted) for what, share, wanted in told]
    return pd.DataFrame(rows, columns=["what", "ratio", "wanted"])


def _tensors(run: Callable[[], object]) -> float:
    """Bytes that a run allocates for tensors, all in all."""
    with torch.profiler.profile(
        activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True
    ) as seen:
        run()
    return float(sum(max(0, event.self_cpu_memory_usage) for event in seen.key_averages()))


def growth() -> pd.DataFrame:
    """Seconds of one step as d grows, with d_1 = m = 8 d: quadratic in d from some size on."""
    rows = []
    for atoms in (16, 32, 64, 128, 256, 512, 1024):
        p = Problem(1, DESK["anchors"], DESK["negatives"], 8 * atoms, 8 * atoms)
        step = _each(p)
        step()
        best = min(_seconds(step) for _ in range(3))
        rows.append(("atoms", atoms, best, 2))
    return pd.DataFrame(rows, columns=["size", "value", "seconds", "expected_slope"])


def _seconds(run: Callable[[], object]) -> float:
    started = time.perf_counter()
    run()
    return time.perf_counter() - started


BENCHMARKS = {"contrastive-step-ratios": step_ratios, "contrastive-growth": growth}
