"""A training step against its floor (its own matrix products), against autograd, and as sizes grow.

Sizes are those of the headline at desk scale, with 16 replicates.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import pandas as pd
import torch
from torch import Tensor

from bench.timing import ratio, side_by_side
from featlearn.mrp.gradients import (
    classification_descent,
    mae_descent,
    mae_loss,
    teacher_student_descent,
    teacher_student_descent_sampled,
    teacher_student_loss,
)
from featlearn.mrp.model import Activation, class_scores, encode, fixed_block_head

THETA, TAU = 0.5, 2.0
ACTIVATION = Activation(q=4, varrho=0.3)
DESK = {"replicates": 16, "samples": 300, "patches": 20, "dimension": 40, "classes": 10, "m": 5}


class Problem:
    """Random data of given sizes: timings do not depend on what the numbers are."""

    def __init__(
        self, replicates: int, samples: int, patches: int, dimension: int, classes: int, m: int
    ):
        stream = torch.Generator().manual_seed(0)
        self.x = torch.randn((replicates, samples, patches, dimension), generator=stream) * 0.3
        self.y = torch.randint(classes, (replicates, samples), generator=stream)
        self.w = torch.randn((replicates, classes * m, dimension), generator=stream) * 0.1
        self.u = fixed_block_head(classes, classes * m, replicates)

    def one(self, replicate: int) -> Problem:
        """A single replicate of this problem."""
        part = object.__new__(Problem)
        for name in ("x", "y", "w", "u"):
            setattr(part, name, getattr(self, name)[replicate : replicate + 1])
        return part


def steps(p: Problem) -> dict[str, Callable[[], object]]:
    """The three kinds of training step of this paper."""
    return {
        "mae": lambda: mae_descent(p.x, p.w, THETA, ACTIVATION),
        "teacher-student": lambda: teacher_student_descent(p.x, p.w, THETA, ACTIVATION, tau=TAU),
        "supervised": lambda: classification_descent(p.x, p.y, p.w, p.u, ACTIVATION),
    }


def products(p: Problem) -> dict[str, Callable[[], object]]:
    """The matrix products of each kind of step and nothing else, a replicate at a time.

    One replicate's operands fit the cache, which is the fastest order found for the products.
    """
    rows = p.x.flatten(1, 2)
    answers = torch.bmm(rows, p.w.transpose(1, 2))

    def outer(count: int) -> None:
        for x, w, s in zip(rows, p.w, answers, strict=True):
            x @ w.T
            for _ in range(count):
                s.T @ x

    def mae() -> None:
        outer(1)
        for w, s in zip(p.w, answers, strict=True):
            s @ (w @ w.T)
            s.T @ s

    return {"mae": mae, "teacher-student": lambda: outer(1), "supervised": lambda: outer(1)}


def autograd(p: Problem) -> dict[str, Callable[[], object]]:
    """The same steps by autograd, one replicate after the other in one process."""
    singles = [p.one(replicate) for replicate in range(p.x.shape[0])]

    def each(loss: Callable[[Problem, Tensor], Tensor]) -> Callable[[], object]:
        def run() -> None:
            for single in singles:
                w = single.w.clone().requires_grad_()
                loss(single, w).sum().backward()

        return run

    def supervised(single: Problem, w: Tensor) -> Tensor:
        scores = class_scores(encode(single.x, w, ACTIVATION.q, ACTIVATION.varrho), single.u)
        return torch.nn.functional.cross_entropy(scores.flatten(0, 1), single.y.flatten())

    def teacher(single: Problem, w: Tensor) -> Tensor:
        with torch.no_grad():
            target = encode(single.x, TAU * w, ACTIVATION.q, ACTIVATION.varrho)
        return teacher_student_loss(single.x, w, target, THETA, ACTIVATION)

    return {
        "mae": each(lambda single, w: mae_loss(single.x, w, THETA, ACTIVATION)),
        "teacher-student": each(teacher),
        "supervised": each(supervised),
    }


def step_ratios() -> pd.DataFrame:
    """One row a kind of step: times its own products, and how much faster than autograd."""
    p = Problem(**DESK)
    ours, floor, rival = steps(p), products(p), autograd(p)
    rows = []
    for kind in ours:
        timed = side_by_side({"step": ours[kind], "products": floor[kind], "autograd": rival[kind]})
        rows += [
            (f"{kind}: step / its matrix products", ratio(timed, "step", "products"), "<= 1.5"),
            (f"{kind}: autograd one by one / step", ratio(timed, "autograd", "step"), ">= 4"),
        ]
    return pd.DataFrame(rows, columns=["what", "ratio", "wanted"])


def sampled_masks() -> pd.DataFrame:
    """Exact expectation over masks against sampled masks: cost, and relative error."""
    p = Problem(**DESK | {"replicates": 4})
    exact = teacher_student_descent(p.x, p.w, THETA, ACTIVATION, tau=TAU)
    rows = []
    for masks in (1, 4, 16, 64):
        stream = torch.Generator().manual_seed(masks)

        def sampled(masks: int = masks, stream: torch.Generator = stream) -> Tensor:
            return teacher_student_descent_sampled(
                p.x, p.w, THETA, ACTIVATION, tau=TAU, masks=masks, stream=stream
            )

        timed = side_by_side({"sampled": sampled, "exact": steps(p)["teacher-student"]}, turns=5)
        error = float((sampled() - exact).norm() / exact.norm())
        rows.append((masks, ratio(timed, "sampled", "exact"), error))
    return pd.DataFrame(rows, columns=["masks", "cost_to_exact", "relative_error"])


#: What grows, the sizes tried, and the slope of cost over size that the products have.
GROWTH = {
    "replicates": ((4, 8, 16, 32), 1),
    "samples": ((150, 300, 600, 1200), 1),
    "patches": ((10, 20, 40, 80), 1),
    "dimension": ((20, 40, 80, 160), 1),
    "m": ((5, 10, 20, 40), 2),
}


def growth() -> pd.DataFrame:
    """Seconds of a MAE step as one size grows; K enters twice, through S^T S and S (W W^T)."""
    rows = []
    for size, (values, slope) in GROWTH.items():
        for value in values:
            p = Problem(**DESK | {size: value})
            step = steps(p)["mae"]
            step()
            best = min(_seconds(step) for _ in range(5))
            rows.append((size, value, best, slope))
    return pd.DataFrame(rows, columns=["size", "value", "seconds", "expected_slope"])


def _seconds(run: Callable[[], object]) -> float:
    started = time.perf_counter()
    run()
    return time.perf_counter() - started
