"""Training by full-batch gradient descent, all replicates in one program.

The masked loss enters with its **exact expectation over masks** (the algorithm of the paper,
equation (2)), in closed form; see :mod:`featlearn.mrp.gradients`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor

from featlearn.core.errors import DivergedError
from featlearn.core.training.loops import Loop, State
from featlearn.mrp import fused
from featlearn.mrp.data import Problem, Samples
from featlearn.mrp.gradients import (
    Descent,
    classification_descent,
    mae_descent,
    per_replicate,
    teacher_factor,
    teacher_student_descent,
)
from featlearn.mrp.model import Activation, capture_strength

#: A kernel entry this large has left every regime that the paper describes.
OVERFLOW = 1e3


@dataclass
class Trace:
    """What a loop wrote down: step numbers and, at each, one tensor a name."""

    steps: list[int] = field(default_factory=list)
    values: dict[str, list[Tensor]] = field(default_factory=dict)

    def add(self, step: int, **values: Tensor) -> None:
        self.steps.append(step)
        for name, tensor in values.items():
            self.values.setdefault(name, []).append(tensor.detach().cpu().clone())

    def __getitem__(self, name: str) -> Tensor:
        """(steps, ...) of one name."""
        return torch.stack(self.values[name])

    def state(self) -> dict[str, Tensor]:
        """All of it as tensors by name; :meth:`of` is the way back."""
        return {f"trace/{name}": self[name] for name in self.values}

    @classmethod
    def of(cls, tensors: Mapping[str, Tensor], steps: list[int]) -> Trace:
        """The trace of a checkpoint."""
        values = {
            name.removeprefix("trace/"): list(tensor.unbind())
            for name, tensor in tensors.items()
            if name.startswith("trace/")
        }
        return cls(list(steps), values)


Report = Callable[[int, Callable[[], dict[str, str]]], None]
#: Reads further quantities, each (R, ...), off kernels (R, K, d) and features (R, k, L, d).
Observe = Callable[[Tensor, Tensor], Mapping[str, Tensor]]


def silent(_: int, __: Callable[[], dict[str, str]]) -> None:
    pass


class Pretrained(NamedTuple):
    """Outcome of a pre-training.

    ``at_capture`` are the kernels right after a replicate's last capture, or of the end where some
    feature was never captured. ``trace`` has ``strength`` (steps, R, k, L), ``Lambda`` over time; a
    finished replicate keeps its value.
    """

    w: Tensor  #: (R, K, d), kernels at each replicate's own end
    at_capture: Tensor  #: (R, K, d)
    hit: Tensor  #: (R, k, L) int64, first step with ``Lambda >= varrho``; -1 for never
    stopped: Tensor  #: (R,) int64, number of steps
    diverged: Tensor  #: (R,) bool, passed ``OVERFLOW``; ``w`` is from the step before
    trace: Trace


def pretrain(
    x: Tensor,
    features: Tensor,
    w: Tensor,
    activation: Activation,
    *,
    theta: float | Tensor,
    learning_rate: float | Tensor,
    max_steps: int,
    schedule: str | None = None,
    patches_per_feature: int = 1,
    captured_at: float | None = None,
    hit_factor: float = 1.0,
    min_steps: int = 0,
    record_every: int = 20,
    may_diverge: bool = False,
    observe: Observe | None = None,
    report: Report = silent,
) -> Pretrained:
    """Pre-train by gradient descent. Labels are not used.

    MAE-style (appendix H), or with ``schedule`` by a teacher whose kernels are ``tau_t * w``
    (section 3.2).

    A replicate ends ``hit_factor`` times later than the step at which all features were captured,
    or at ``max_steps``, or when it diverges. Finished replicates leave the batch.

    ``x`` (R, N, P, d). ``features`` (R, k, L, d): only to see what was captured, and to stop. ``w``
    (R, K, d): start; not changed. ``theta``, ``learning_rate``: probability that a patch is kept,
    and rate; each a number, or (R,). ``schedule``, ``patches_per_feature``: of the teacher, see
    :func:`featlearn.mrp.gradients.teacher_factor`. ``captured_at``: correlation at which a feature
    counts as captured; left out, ``varrho``. ``min_steps``: no replicate ends earlier. ``observe``:
    what else goes into the trace. ``report``: called after every step with its number and a
    function that gives words for a reader. Raises DivergedError if a kernel leaves the finite
    numbers or grows beyond ``OVERFLOW``; with ``may_diverge`` the result marks the replicate.
    """
    threshold = activation.varrho if captured_at is None else captured_at
    w = w.clone()
    replicates = w.shape[0]
    strength = capture_strength(w, features)
    hit = torch.where(strength >= threshold, 0, -1)
    stopped = torch.zeros(replicates, dtype=torch.int64, device=w.device)
    diverged = torch.zeros(replicates, dtype=torch.bool, device=w.device)
    trace = Trace()
    observed = dict(observe(w, features)) if observe else {}
    trace.add(0, strength=strength, **observed)
    running = torch.arange(replicates, device=w.device)
    batch = fused.prepared(x, w.shape[1], max_steps, activation)
    live, at_capture, step = w, w.clone(), 0

    def of_running(value: float | Tensor) -> float | Tensor:
        return value[running] if isinstance(value, Tensor) else value

    def descent() -> Tensor:
        kept = of_running(theta)
        if schedule is not None:
            tau = teacher_factor(schedule, step - 1, kept, patches_per_feature, activation.q)
            return teacher_student_descent(batch, live, kept, activation, tau=tau)
        return mae_descent(batch, live, kept, activation)

    def look() -> None:
        for name, values in (observe(live, features[running]) if observe else {}).items():
            observed[name][running] = values

    with Loop("pre-training", {"w": w}, max_steps=max_steps) as loop:
        if saved := loop.latest():
            step, trace = saved.step, Trace.of(saved.tensors, saved.plain["steps"])
            kept = {name: tensor.to(w.device) for name, tensor in saved.tensors.items()}
            w, live, at_capture = kept["w"], kept["live"], kept["at_capture"]
            hit, stopped, diverged = kept["hit"], kept["stopped"], kept["diverged"]
            strength, running = kept["strength"], kept["running"]
            observed = {name: kept[f"seen/{name}"] for name in observed}
            batch = fused.select(batch, running)

        def state() -> State:
            tensors = {"w": w, "live": live, "at_capture": at_capture, "hit": hit}
            tensors |= {"stopped": stopped, "diverged": diverged, "strength": strength}
            tensors |= {"running": running, **{f"seen/{n}": observed[n] for n in observed}}
            return tensors | trace.state(), {"steps": trace.steps}

        while step < max_steps and running.numel():
            step += 1
            following = live + per_replicate(of_running(learning_rate), live) * descent()
            lost = ~(following.abs().amax((1, 2)) < OVERFLOW)
            if lost.any():
                if not may_diverge:
                    _refuse_diverged(following, step)
                following[lost] = live[lost]
                diverged[running[lost]] = True
            live = following
            now = capture_strength(live, features[running])
            strength[running] = now
            fresh = (hit[running] < 0) & (now >= threshold)
            hit[running] = torch.where(fresh, step, hit[running])
            last = fresh.flatten(1).any(1) & (hit[running] >= 0).flatten(1).all(1)
            at_capture[running[last]] = live[last]
            if step % record_every == 0:
                look()
                trace.add(step, strength=strength, **observed)
            report(step, lambda: {"captured": f"{int((hit >= 0).sum())}/{hit.numel()} features"})
            done = _finished(hit[running], step, hit_factor) & (step >= min_steps) | lost
            if done.any() or step == max_steps:
                look()
                w[running], stopped[running] = live, step
                running, live = running[~done], live[~done]
                batch = fused.select(batch, ~done)
            loop.after(step, state)
    if trace.steps[-1] != step:
        trace.add(step, strength=strength, **observed)
    never = (hit < 0).flatten(1).any(1)
    at_capture[never] = w[never]
    return Pretrained(w, at_capture, hit, stopped, diverged, trace)


def _finished(hit: Tensor, step: int, factor: float) -> Tensor:
    """(R,) bool: all captured, and ``factor`` times as long ago as that took."""
    last = hit.flatten(1).amax(1)
    return (hit.flatten(1) >= 0).all(1) & (step >= factor * last)


def _refuse_diverged(w: Tensor, step: int) -> None:
    largest = float(w.abs().max())
    if not largest < OVERFLOW:
        raise DivergedError(
            f"step {step}: a kernel entry reached {largest:.3g} (limit {OVERFLOW:g}); lower the "
            "learning rate or stop earlier"
        )


class Classifier(NamedTuple):
    """A trained classifier: kernels (R, K, d), head (R, k, K), and the trace of its training."""

    w: Tensor
    u: Tensor
    trace: Trace


def train_classifier(
    x: Tensor,
    y: Tensor,
    w: Tensor,
    u: Tensor,
    activation: Activation,
    *,
    encoder_rate: float,
    head_rate: float,
    steps: int,
    features: Tensor,
    order: Literal["simultaneous", "u_then_w"] = "simultaneous",
    masks: Callable[[int], Tensor] | None = None,
    record_every: int = 20,
    report: Report = silent,
) -> Classifier:
    """Full-batch gradient descent on the cross-entropy, head and encoder at once.

    Supervised training from scratch is ``head_rate=0`` with a fixed-block head; fine-tuning moves
    both (equations (14), (15)).

    ``x`` (R, N, P, d). ``y`` (R, N) int64. ``w`` (R, K, d), ``u`` (R, k, K): start; not changed.
    ``encoder_rate``, ``head_rate``: the paper's ``eta_1`` and ``eta_2``. ``features`` (R, k, L, d):
    only to write down ``Lambda``. ``order``: ``simultaneous`` as equations (14), (15) say;
    ``u_then_w`` as their proof has it: the encoder's gradient sees the new head. ``masks``: gives
    the patches (R, N, P) that a step sees; the others are zeros in it, in its loss, too.
    """
    w, u = w.clone(), u.clone()
    batch = fused.prepared(x, w.shape[1], steps, activation)
    trace, step = Trace(), 0
    with Loop("classification", {"w": w, "u": u}, steps=steps) as loop:
        if saved := loop.latest():
            step, trace = saved.step, Trace.of(saved.tensors, saved.plain["steps"])
            w, u = saved.tensors["w"].to(w.device), saved.tensors["u"].to(u.device)

        def state() -> State:
            return {"w": w, "u": u, **trace.state()}, {"steps": trace.steps}

        while True:
            seen = batch if masks is None else batch * masks(step).unsqueeze(-1)
            down = classification_descent(seen, y, w, u, activation)
            if step % record_every == 0 or step == steps:
                _refuse_diverged(w, step)
                trace.add(step, loss=down.loss, accuracy=down.accuracy, wrong_mass=down.wrong_mass,
                          strength=capture_strength(w, features))  # fmt: skip
            report(step, partial(_loss_words, down.loss))
            if step == steps:
                break
            if head_rate:
                u = u + head_rate * down.u
                if order == "u_then_w":
                    down = classification_descent(seen, y, w, u, activation)
            w = w + encoder_rate * down.w
            step += 1
            loop.after(step, state)
    return Classifier(w, u, trace)


def _loss_words(loss: Tensor) -> dict[str, str]:
    return {"loss": f"{float(loss.mean()):.4f}"}


def supervise(
    problem: Problem,
    w: Tensor,
    *,
    learning_rate: float,
    head_too: bool = False,
    theta: float | None = None,
    **options: Any,
) -> Classifier:
    """The network of Lemma 1, kernels trained from their start ``w`` under fixed blocks.

    With ``head_too`` the head starts at the blocks and is trained as well, at the same rate.
    (From zero it would not leave the start: neither has a gradient without the other.) With
    ``theta`` masks augment the data: each step keeps each patch with that probability.
    ``options``: of :func:`train_classifier`.
    """
    masks = None if theta is None else partial(problem.masks, theta)
    return train_classifier(
        problem.train.x, problem.train.y, w, problem.blocks(w), problem.activation,
        encoder_rate=learning_rate, head_rate=learning_rate if head_too else 0.0,
        features=problem.features, masks=masks, **options,
    )  # fmt: skip


def finetune(problem: Problem, w: Tensor, **options: Any) -> Classifier:
    """A new linear head from zero and the encoder ``w`` (R, K, d), trained together.

    ``options``: of :func:`train_classifier`.
    """
    head = w.new_zeros((w.shape[0], problem.spec.classes, w.shape[1]))
    return train_classifier(
        problem.train.x, problem.train.y, w, head, problem.activation, features=problem.features,
        **options,
    )  # fmt: skip


class Fitted(NamedTuple):
    """Outcome of a supervised training, at each replicate's own end."""

    w: Tensor  #: (R, K, d)
    loss: Tensor  #: (R,), on the training data
    accuracy: Tensor  #: (R,), likewise
    steps: Tensor  #: (R,) int64
    converged: Tensor  #: (R,) bool: all training labels are right, the loss is below the tolerance


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
    """Supervised training of the encoder alone (Lemma 1) until the labels are fitted.

    A replicate stopped too early has lost features only because it had no time. Replicates that
    have fitted their data leave the batch; ``converged`` marks those that did.

    ``parts``: the training set, in one part or several (see :func:`featlearn.mrp.data.packed`).
    ``w`` (R, K, d), ``u`` (R, k, K): kernels at the start, and the head, which stays as it is.
    ``tolerance``: mean cross-entropy below which a replicate that has all its labels right ends; 0
    trains all for ``max_steps``. ``check_every``: steps between two checks of who has finished.
    ``watch`` is called at the steps in ``watched``. ``report``, Raises: as of :func:`pretrain`.
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
            kept = {name: tensor.to(w.device) for name, tensor in saved.tensors.items()}
            step, w, live, running = saved.step, kept["w"], kept["live"], kept["running"]
            loss, accuracy, steps = kept["loss"], kept["accuracy"], kept["steps"]
            head = u[running]
            batch = [(fused.select(x, running), y[running]) for x, y in batch]
            looked = {at: kept[f"looked/{at}"] for at in saved.plain["looked"]}
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


def _fitted(loss: Tensor, accuracy: Tensor, tolerance: float) -> Tensor:
    # half a sample of a million: an accuracy of 1 up to the rounding of its mean
    return (loss < tolerance) & (accuracy > 1 - 5e-7)


def _descent(
    batch: Sequence[tuple[Tensor, Tensor]], w: Tensor, u: Tensor, activation: Activation
) -> Descent:
    """The mean over the training set from the means over its parts."""
    samples = sum(y.shape[1] for _, y in batch)
    total = Descent(
        torch.zeros_like(w), torch.zeros_like(u), *(w.new_zeros(w.shape[0]) for _ in range(3))
    )
    for x, y in batch:
        part = classification_descent(x, y, w, u, activation)
        for summed, one in zip(total, part, strict=True):
            summed.add_(one, alpha=y.shape[1] / samples)
    return total


def _words(loss: Tensor, replicates: int) -> dict[str, str]:
    return {
        "training": f"{loss.shape[0]}/{replicates} replicates",
        "loss": f"{float(loss.max()):.4f}",
    }
