"""A training step against its floor (its own matrix products), against autograd, and as sizes grow.

Sizes are those of the headline at desk scale, with 16 replicates.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import pandas as pd
import torch
from matplotlib.figure import Figure
from torch import Tensor

from bench.timing import ratio, side_by_side
from featlearn.core.drawing.plots import COLOURS, canvas
from featlearn.core.training import devices
from featlearn.mrp import fused
from featlearn.mrp.gradients import (
    classification_descent,
    mae_descent,
    mae_loss,
    teacher_student_descent,
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
    """The three kinds of training step of this paper, uncompiled."""
    return {
        "mae": lambda: mae_descent(p.x, p.w, THETA, ACTIVATION),
        "teacher-student": lambda: teacher_student_descent(p.x, p.w, THETA, ACTIVATION, tau=TAU),
        "supervised": lambda: classification_descent(p.x, p.y, p.w, p.u, ACTIVATION),
    }


def compiled_steps(p: Problem) -> dict[str, Callable[[], object]]:
    """Those that have compiled passes, on samples laid out for them."""
    x = fused.patch_major(p.x)
    if not devices.compiler_works(lambda: fused.summed(x.new_zeros((2, 3, 32)), ACTIVATION.q)):
        return {}
    return {
        "mae": lambda: mae_descent(x, p.w, THETA, ACTIVATION),
        "teacher-student": lambda: teacher_student_descent(x, p.w, THETA, ACTIVATION, tau=TAU),
        "supervised": lambda: classification_descent(x, p.y, p.w, p.u, ACTIVATION),
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


def calls(p: Problem) -> dict[str, Callable[[], object]]:
    """The calls of a compiled step's passes, as many as there are blocks, on next to nothing."""
    blocks, q = list(fused.responses(fused.patch_major(p.x), p.w, ACTIVATION.varrho)), ACTIVATION.q
    few, push, each = torch.randn((2, 3, 16)), torch.randn((2, 16)), torch.ones((2, 1, 1))
    scores, seen = torch.randn((2, DESK["classes"], 4)), torch.zeros((3, 2))

    def supervised() -> None:
        for _ in blocks:
            fused.summed(few, q)
            fused.judge(scores, p.y[:2, :4], seen)
            fused.weigh(few, push, q)

    def teacher() -> None:
        for _ in blocks:
            fused.teacher_student(few, each, each, q)

    return {"supervised": supervised, "teacher-student": teacher}


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
    ours, compiled, floor, rival = steps(p), compiled_steps(p), products(p), autograd(p)
    rows = []
    for kind in ours:
        variants = {"plain": ours[kind]}
        if kind in compiled:
            variants["compiled"] = compiled[kind]
        rivals = {**variants, "products": floor[kind], "autograd": rival[kind]}
        called = calls(p).get(kind) if kind in compiled else None
        timed = side_by_side(rivals | ({"calls": called} if called else {}))
        if called:
            wide = timed.pivot_table(index="turn", columns="rival", values="seconds")
            less = (wide["compiled"] - wide["calls"]).rename("seconds").reset_index()
            timed = pd.concat([timed, less.assign(rival="without calls")])
            what = "step without the calls of its passes / its matrix products"
            rows.append((kind, "compiled", what, ratio(timed, "without calls", "products"), ""))
        for name in variants:
            counts = name == list(variants)[-1]  # the plain step is the fallback of a compiled one
            to_floor, to_rival = ratio(timed, name, "products"), ratio(timed, "autograd", name)
            rows += [
                (kind, name, "step / its matrix products", to_floor, "<= 1.2" if counts else ""),
                (kind, name, "autograd one by one / step", to_rival, ">= 4" if counts else ""),
            ]
    return pd.DataFrame(rows, columns=["training", "passes", "what", "ratio", "wanted"])


#: Vector operations an entry in a compiled pass, counted in its formula at q = 4; reads and writes
#: of the responses.
PASSES = {
    "sum over patches": (8, 1),
    "weigh patches": (7, 2),
    "teacher-student, both at once": (28, 3),
}


def passes() -> pd.DataFrame:
    """Each part of a compiled step by itself: arithmetic, traffic, and the share of the step.

    ``to_products`` is the time to that of the step's two matrix products: what the parts add to the
    ratio of the step. ``call`` is a compiled pass over next to nothing.
    """
    p = Problem(**DESK)
    x, kernels, q = fused.patch_major(p.x), p.w.shape[1], ACTIVATION.q
    if not compiled_steps(p):
        return pd.DataFrame(columns=["part", "flops_per_entry", "bytes_per_entry", "to_products"])
    block = next(fused.responses(x, p.w, ACTIVATION.varrho))
    replicates, _, width = block.t.shape
    push = torch.randn((replicates, width))
    each = torch.ones((replicates, 1, 1))
    few, few_push = torch.randn((2, 3, 16)), torch.randn((2, 16))
    seen, total = torch.zeros((3, replicates)), torch.zeros_like(p.w[:replicates])
    scores = torch.randn((replicates, DESK["classes"], DESK["samples"]))
    products_flops = 4.0 * p.x.shape[-1]

    def products_of_block() -> None:
        for n, (rows, w) in enumerate(zip(block.x, p.w, strict=False)):
            rows @ w.T
            block.t[n].view(-1, kernels).T @ rows

    runs = {
        "two matrix products": products_of_block,
        "sum over patches": lambda: fused.summed(block.t, q),
        "weigh patches": lambda: fused.weigh(block.t, push, q),
        "teacher-student, both at once": lambda: fused.teacher_student(block.t, each, each, q),
        "softmax and counts": lambda: fused.judge(scores, p.y[:replicates], seen),
        "gradient of the block": lambda: block.add_to(total),
        "call": lambda: fused.weigh(few, few_push, q),
    }
    timed = side_by_side(runs, turns=40)
    rows = []
    for name in runs:
        operations, moves = PASSES.get(name, (float("nan"), float("nan")))
        if name == "two matrix products":
            operations, moves = products_flops, 2
        share = ratio(timed, name, "two matrix products")
        best = timed.loc[timed["rival"] == name, "seconds"].min()
        rate = operations * block.t.numel() / best / 1e9
        rows.append((name, operations, 4 * moves, 1e3 * best, rate, share))
    return pd.DataFrame(
        rows,
        columns=[
            "part",
            "flops_per_entry",
            "bytes_per_entry",
            "milliseconds",
            "gflops",
            "to_products",
        ],
    )


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
    started = time.process_time()
    run()
    return time.process_time() - started


def draw_growth(timed: pd.DataFrame) -> Figure:
    """Cost over size, log-log, beside the slope that the matrix products have."""
    sizes = list(dict.fromkeys(timed["size"]))
    drawn = canvas(8.2, 2.4)
    for ax, size in zip(drawn.subplots(1, len(sizes), sharey=True), sizes, strict=True):
        own = timed[timed["size"] == size]
        value, seconds = own["value"].to_numpy(), own["seconds"].to_numpy()
        slope = own["expected_slope"].iloc[0]
        ax.loglog(value, 1e3 * seconds, "o-", color=COLOURS["blue"], label="measured")
        reference = 1e3 * seconds[-1] * (value / value[-1]) ** slope
        ax.loglog(value, reference, "--", color=COLOURS["grey"], label=f"slope {slope}")
        ax.set_xticks(value, [str(v) for v in value])
        ax.set_xticks([], minor=True)
        fitted = np.polyfit(np.log(value), np.log(seconds), 1)[0]
        ax.set(title=f"{size}: {fitted:.2f}", xlabel=size)
        ax.legend(fontsize=8)
    drawn.axes[0].set_ylabel("a MAE step (ms)")
    return drawn


BENCHMARKS = {
    "step-ratios": step_ratios,
    "passes": passes,
    "growth": growth,
}
FIGURES = {"growth": draw_growth}
