"""Supervised training until the labels are fitted: what the lottery must be measured at.

A replicate stopped too early has lost features only because it had no time. Replicates that have
fitted their data leave the batch; those that never do are told apart.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor

from featlearn.core.errors import DivergedError
from featlearn.core.loops import Loop, State
from featlearn.mrp import fused
from featlearn.mrp.data import Samples
from featlearn.mrp.gradients import classification_descent
from featlearn.mrp.model import Activation
from featlearn.mrp.train import OVERFLOW, Report


@dataclass
class Fitted:
    """Outcome of a supervised training.

    Attributes
    ----------
    w : (R, K, d)
        Kernels at each replicate's own end.
    loss, accuracy : (R,)
        On the training data, at that end.
    steps : (R,) int64
        Number of steps each replicate made.
    converged : (R,) bool
        All training labels are right and the loss is below the tolerance.
    """

    w: Tensor
    loss: Tensor
    accuracy: Tensor
    steps: Tensor
    converged: Tensor


#: Called with a step and the kernels (R, K, d) of all replicates before it.
Watch = Callable[[int, Tensor], None]


def fit(
    parts: Sequence[Samples],
    w: Tensor,
    u: Tensor,
    activation: Activation,
    *,
    learning_rate: float,
    tolerance: float,
    max_steps: int,
    report: Report,
    check_every: int = 20,
    watch: Watch | None = None,
    watched: Sequence[int] = (),
) -> Fitted:
    """Full-batch gradient descent on the cross-entropy, encoder only (the network of Lemma 1).

    Parameters
    ----------
    parts
        The training set, in one part or several (see :func:`featlearn.mrp.data.packed`).
    w : (R, K, d), u : (R, k, K)
        Kernels at the start, and the head, which stays as it is.
    tolerance
        Mean cross-entropy below which a replicate that has all its labels right ends; 0 trains all
        replicates for ``max_steps``.
    report
        Called after every step with its number and a function that says what is seen.
    check_every
        Steps between two looks at who has finished.
    watch, watched
        ``watch`` is called at the steps in ``watched``.

    Raises
    ------
    DivergedError
        If a kernel leaves the finite numbers or grows beyond ``OVERFLOW``.
    """
    w = w.clone()
    batch = [(fused.prepared(part.x, w.shape[1], max_steps, activation), part.y) for part in parts]
    replicates = w.shape[0]
    loss, accuracy = w.new_zeros(replicates), w.new_zeros(replicates)
    steps = torch.zeros(replicates, dtype=torch.int64, device=w.device)
    running = torch.arange(replicates, device=w.device)
    live, head, step = w.clone(), u, 0
    looked: dict[int, Tensor] = {}
    with Loop("supervised training", {"w": w, "u": u}, max_steps=max_steps) as loop:
        if saved := loop.latest():
            found = {name: tensor.to(w.device) for name, tensor in saved.tensors.items()}
            step, w, live, running = saved.step, found["w"], found["live"], found["running"]
            loss, accuracy, steps = found["loss"], found["accuracy"], found["steps"]
            head = u[running]
            batch = [(fused.select(x, running), y[running]) for x, y in batch]
            looked = {at: found[f"looked/{at}"] for at in saved.plain["looked"]}
            for at, kernels in looked.items():
                assert watch is not None
                watch(at, kernels)

        def state() -> State:
            tensors = {"w": w, "live": live, "running": running, "loss": loss}
            tensors |= {"accuracy": accuracy, "steps": steps}
            tensors |= {f"looked/{at}": kernels for at, kernels in looked.items()}
            return tensors, {"looked": list(looked)}

        while True:
            down = _descent(batch, live, head, activation)
            if watch is not None and step in watched:
                w[running] = live
                looked[step] = w.clone()
                watch(step, w)
            report(step, partial(_words, down.loss, replicates))
            due = step % check_every == 0 or step == max_steps
            going = torch.ones_like(running, dtype=torch.bool)
            if due:
                _refuse_diverged(live, step)
                w[running], steps[running] = live, step
                loss[running], accuracy[running] = down.loss, down.accuracy
                going = ~_fitted(down.loss, down.accuracy, tolerance)
                if step == max_steps or not going.any():
                    break
            live = live + learning_rate * down.w
            if due and not going.all():
                running, live, head = running[going], live[going], head[going]
                batch = [(fused.select(x, going), y[going]) for x, y in batch]
            step += 1
            loop.after(step, state)
    return Fitted(w, loss, accuracy, steps, _fitted(loss, accuracy, tolerance))


def _refuse_diverged(w: Tensor, step: int) -> None:
    largest = float(w.abs().max())
    if not largest < OVERFLOW:
        raise DivergedError(
            f"step {step}: a kernel entry reached {largest:.3g} (limit {OVERFLOW:g}); lower the "
            "learning rate"
        )


def _fitted(loss: Tensor, accuracy: Tensor, tolerance: float) -> Tensor:
    # half a sample of a million: an accuracy of 1 up to the rounding of its mean
    return (loss < tolerance) & (accuracy > 1 - 5e-7)


@dataclass
class _Pass:
    """Negative gradient (R, K, d), loss (R,) and accuracy (R,) on the whole training set."""

    w: Tensor
    loss: Tensor
    accuracy: Tensor


def _descent(
    batch: Sequence[tuple[Tensor, Tensor]], w: Tensor, u: Tensor, activation: Activation
) -> _Pass:
    """The mean over the training set from the means over its parts."""
    samples = sum(y.shape[1] for _, y in batch)
    total = _Pass(torch.zeros_like(w), w.new_zeros(w.shape[0]), w.new_zeros(w.shape[0]))
    for x, y in batch:
        part = classification_descent(x, y, w, u, activation)
        assert part.w is not None
        share = y.shape[1] / samples
        total.w.add_(part.w, alpha=share)
        total.loss.add_(part.loss, alpha=share)
        total.accuracy.add_(part.accuracy, alpha=share)
    return total


def _words(loss: Tensor, replicates: int) -> dict[str, str]:
    return {
        "training": f"{loss.shape[0]}/{replicates} replicates",
        "loss": f"{float(loss.max()):.4f}",
    }
