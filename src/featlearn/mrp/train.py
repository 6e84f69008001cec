"""Training by full-batch gradient descent, all replicates in one program.

The masked loss enters with its **exact expectation over masks** (the algorithm of the paper,
equation (2)), in closed form; see :mod:`featlearn.mrp.gradients`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Literal, Protocol

import torch
from torch import Tensor

from featlearn.core.errors import DivergedError
from featlearn.core.loops import Loop, State
from featlearn.mrp import fused
from featlearn.mrp.gradients import (
    TeacherFactor,
    classification_descent,
    encode_in_blocks,
    head_descent,
    mae_descent,
    mae_descent_as_printed,
    teacher_student_descent,
)
from featlearn.mrp.model import Activation

#: A kernel entry this large has left every regime that the paper describes.
OVERFLOW = 1e3

# --------------------------------------------------------------------------- what is watched


def correlations(w: Tensor, features: Tensor) -> Tensor:
    """``<w_r, v_{i,l}>``: (R, K, d) and (R, k, L, d) to (R, K, k, L)."""
    replicates, classes, views, dimension = features.shape
    flat = features.reshape(replicates, classes * views, dimension)
    return torch.bmm(w, flat.transpose(1, 2)).view(replicates, -1, classes, views)


def capture_strength(w: Tensor, features: Tensor) -> Tensor:
    """``Lambda_{i,l} = max_r [<w_r, v_{i,l}>]^+`` (R, k, L)."""
    return correlations(w, features).amax(1).clamp_min(0)


@dataclass
class Trace:
    """What a loop wrote down: step numbers and, at each, one tensor a name."""

    steps: list[int] = field(default_factory=list)
    values: dict[str, list[Tensor]] = field(default_factory=dict)

    def add(self, step: int, **seen: Tensor) -> None:
        self.steps.append(step)
        for name, tensor in seen.items():
            self.values.setdefault(name, []).append(tensor.detach().cpu().clone())

    def stacked(self, name: str) -> Tensor:
        """(steps, ...) of one name."""
        return torch.stack(self.values[name])

    def state(self) -> dict[str, Tensor]:
        """All of it as tensors by name; :meth:`of` is the way back."""
        return {f"trace/{name}": self.stacked(name) for name in self.values}

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


# --------------------------------------------------------------------------- pre-training


def _pick(value: float | Tensor, chosen: Tensor) -> float | Tensor:
    """One number for all, or the numbers of the chosen replicates."""
    return value[chosen] if isinstance(value, Tensor) else value


class Pretraining(Protocol):
    """A way to pre-train: gives the negative gradient of its masked loss."""

    @property
    def fusible(self) -> Activation | None:
        """Its activation, if it has compiled passes (see :mod:`featlearn.mrp.fused`)."""
        ...

    def descent(self, x: Tensor, w: Tensor, step: int, chosen: Tensor) -> Tensor:
        """For the ``chosen`` replicates, with their samples ``x`` and kernels ``w``."""
        ...


@dataclass(frozen=True)
class MaskedAutoencoder:
    """MAE-style pre-training (appendix H).

    Parameters
    ----------
    theta
        Probability that a patch is kept; a number, or (R,).
    gradient
        ``true``, or ``as_printed`` for the vector of Fact 2.2, which is not the gradient.
    """

    activation: Activation
    theta: float | Tensor
    gradient: Literal["true", "as_printed"] = "true"

    @property
    def fusible(self) -> Activation | None:
        return self.activation if self.gradient == "true" else None

    def descent(self, x: Tensor, w: Tensor, step: int, chosen: Tensor) -> Tensor:
        formula = mae_descent if self.gradient == "true" else mae_descent_as_printed
        return formula(x, w, _pick(self.theta, chosen), self.activation)


@dataclass(frozen=True)
class TeacherStudent:
    """Teacher-student pre-training (section 3.2): the teacher's kernels are ``tau_t * w``."""

    activation: Activation
    factor: TeacherFactor

    @property
    def fusible(self) -> Activation:
        return self.activation

    def descent(self, x: Tensor, w: Tensor, step: int, chosen: Tensor) -> Tensor:
        return teacher_student_descent(
            x,
            w,
            _pick(self.factor.theta, chosen),
            self.activation,
            tau=_pick(self.factor(step), chosen),
        )


class FixedTeacher:
    """A teacher that never changes: the discussion of BEiT (appendix H.3), not run in the paper.

    Parameters
    ----------
    x : (R, N, P, d)
        The training samples, whose outputs under the teacher are computed once.
    teacher : (R, K, d)
        Its kernels, e.g. ``tau`` times those of a finished pre-training.
    """

    def __init__(self, activation: Activation, theta: float, x: Tensor, teacher: Tensor):
        self.activation, self.theta = activation, theta
        self.target = encode_in_blocks(x, teacher, activation)
        self.fusible = activation

    def descent(self, x: Tensor, w: Tensor, step: int, chosen: Tensor) -> Tensor:
        return teacher_student_descent(
            x, w, self.theta, self.activation, target=self.target[chosen]
        )


@dataclass
class Pretrained:
    """Outcome of a pre-training.

    Attributes
    ----------
    w : (R, K, d)
        Kernels at each replicate's own end.
    at_capture : (R, K, d)
        Kernels right after the step that captured a replicate's last feature; where some feature
        was never captured, those of the end.
    hit : (R, k, L) int64
        First step at which a feature was captured (``Lambda >= varrho``); -1 for never.
    stopped : (R,) int64
        Number of steps each replicate made.
    diverged : (R,) bool
        Left the finite numbers or passed ``OVERFLOW``; ``w`` is from the step before.
    trace
        ``strength`` (steps, R, k, L): ``Lambda`` over time; a finished replicate keeps its value.
    """

    w: Tensor
    at_capture: Tensor
    hit: Tensor
    stopped: Tensor
    diverged: Tensor
    trace: Trace


def pretrain(
    x: Tensor,
    features: Tensor,
    w: Tensor,
    method: Pretraining,
    *,
    varrho: float,
    learning_rate: float | Tensor,
    max_steps: int,
    hit_factor: float = 1.0,
    min_steps: int = 0,
    record_every: int = 20,
    may_diverge: bool = False,
    observe: Observe | None = None,
    report: Report = silent,
) -> Pretrained:
    """Pre-train by gradient descent. Labels are not used.

    A replicate ends ``hit_factor`` times later than the step at which all features were captured,
    or at ``max_steps``, or when it diverges. Finished replicates leave the batch.

    Parameters
    ----------
    x : (R, N, P, d)
    features : (R, k, L, d)
        Only to see what was captured, and to stop.
    w : (R, K, d)
        Kernels at the start; not changed.
    varrho
        Correlation at which a feature counts as captured.
    learning_rate
        A number, or (R,).
    min_steps
        No replicate ends earlier, even if its kernels hold all features from the start.
    may_diverge
        True marks a diverged replicate in the result in place of an error.
    observe
        What else to write into the trace; a finished replicate keeps its values.
    report
        Called after every step with its number and a function that says what is seen.

    Raises
    ------
    DivergedError
        If a kernel leaves the finite numbers or grows beyond ``OVERFLOW``.
    """
    w = w.clone()
    replicates = w.shape[0]
    strength = capture_strength(w, features)
    hit = torch.where(strength >= varrho, 0, -1)
    stopped = torch.zeros(replicates, dtype=torch.int64, device=w.device)
    diverged = torch.zeros(replicates, dtype=torch.bool, device=w.device)
    trace = Trace()
    seen = dict(observe(w, features)) if observe else {}
    trace.add(0, strength=strength, **seen)
    running = torch.arange(replicates, device=w.device)
    batch = fused.prepared(x, w.shape[1], max_steps, method.fusible)
    live, own, rate = w, features, _rate(learning_rate, running)
    at_capture = w.clone()
    step = 0
    with Loop("pre-training", {"w": w}, max_steps=max_steps) as loop:
        if saved := loop.latest():
            step, trace = saved.step, Trace.of(saved.tensors, saved.plain["steps"])
            found = {name: tensor.to(w.device) for name, tensor in saved.tensors.items()}
            w, live, at_capture = found["w"], found["live"], found["at_capture"]
            hit, stopped, diverged = found["hit"], found["stopped"], found["diverged"]
            strength, running = found["strength"], found["running"]
            seen = {name: found[f"seen/{name}"] for name in seen}
            batch = fused.select(batch, running)
            own, rate = features[running], _rate(learning_rate, running)

        def state() -> State:
            tensors = {"w": w, "live": live, "at_capture": at_capture, "hit": hit}
            tensors |= {"stopped": stopped, "diverged": diverged, "strength": strength}
            tensors |= {"running": running, **{f"seen/{name}": seen[name] for name in seen}}
            return tensors | trace.state(), {"steps": trace.steps}

        while step < max_steps and running.numel():
            step += 1
            following = live + rate * method.descent(batch, live, step - 1, running)
            lost = ~(following.abs().amax((1, 2)) < OVERFLOW)
            if lost.any():
                if not may_diverge:
                    _raise_diverged(following, step)
                following[lost] = live[lost]
                diverged[running[lost]] = True
            live = following
            now = capture_strength(live, own)
            strength[running] = now
            fresh = (hit[running] < 0) & (now >= varrho)
            hit[running] = torch.where(fresh, step, hit[running])
            last = fresh.flatten(1).any(1) & (hit[running] >= 0).flatten(1).all(1)
            at_capture[running[last]] = live[last]
            if step % record_every == 0:
                _look(observe, live, own, running, seen)
                trace.add(step, strength=strength, **seen)
            report(step, partial(_captured_words, hit))
            done = _finished(hit[running], step, hit_factor) & (step >= min_steps) | lost
            if done.any() or step == max_steps:
                _look(observe, live, own, running, seen)
                w[running], stopped[running] = live, step
                running, live = running[~done], live[~done]
                batch = fused.select(batch, ~done)
                own, rate = features[running], _rate(learning_rate, running)
            loop.after(step, state)
    if trace.steps[-1] != step:
        trace.add(step, strength=strength, **seen)
    never = (hit < 0).flatten(1).any(1)
    at_capture[never] = w[never]
    return Pretrained(w, at_capture, hit, stopped, diverged, trace)


def _look(
    observe: Observe | None, w: Tensor, features: Tensor, running: Tensor, seen: dict[str, Tensor]
) -> None:
    """Bring ``seen`` up to date for the replicates that are ``running``."""
    if observe is not None:
        for name, values in observe(w, features).items():
            seen[name][running] = values


def _rate(learning_rate: float | Tensor, chosen: Tensor) -> float | Tensor:
    rate = _pick(learning_rate, chosen)
    return rate.view(-1, 1, 1) if isinstance(rate, Tensor) else rate


def _finished(hit: Tensor, step: int, factor: float) -> Tensor:
    """(R,) bool: all captured, and ``factor`` times as long ago as that took."""
    last = hit.flatten(1).amax(1)
    return (hit.flatten(1) >= 0).all(1) & (step >= factor * last)


def _captured_words(hit: Tensor) -> dict[str, str]:
    captured = (hit >= 0).flatten(1)
    return {"captured": f"{int(captured.sum())}/{captured.numel()} features"}


def _raise_diverged(w: Tensor, step: int) -> None:
    raise DivergedError(
        f"step {step}: a kernel entry reached {float(w.abs().max()):.3g} (limit {OVERFLOW:g}); "
        "lower the learning rate or stop earlier"
    )


# --------------------------------------------------------------------------- classification


@dataclass
class Classifier:
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
    record_every: int = 20,
    report: Report = silent,
) -> Classifier:
    """Full-batch gradient descent on the cross-entropy, head and encoder at once.

    One loop for all of them: supervised training from scratch is ``head_rate=0`` with a
    fixed-block head, a linear probe is ``encoder_rate=0`` (the encoder then runs once), and
    fine-tuning moves both (equations (14), (15)).

    Parameters
    ----------
    x : (R, N, P, d)
    y : (R, N) int64
    w : (R, K, d), u : (R, k, K)
        Start; not changed.
    encoder_rate, head_rate
        The paper's ``eta_1`` and ``eta_2``.
    features : (R, k, L, d)
        Only to write down ``Lambda`` over time.
    order
        ``simultaneous`` as equations (14), (15) say; ``u_then_w`` as their proof uses at its first
        step: the encoder's gradient then sees the new head. (With a zero head a simultaneous first
        step leaves the encoder as it is.)
    """
    w, u = w.clone(), u.clone()
    frozen = encode_in_blocks(x, w, activation) if encoder_rate == 0 else None
    batch = x if frozen is not None else fused.prepared(x, w.shape[1], steps, activation)
    trace, step = Trace(), 0
    with Loop("classification", {"w": w, "u": u}, steps=steps) as loop:
        if saved := loop.latest():
            step, trace = saved.step, Trace.of(saved.tensors, saved.plain["steps"])
            w, u = saved.tensors["w"].to(w.device), saved.tensors["u"].to(u.device)

        def state() -> State:
            return {"w": w, "u": u, **trace.state()}, {"steps": trace.steps}

        while True:
            if frozen is not None:
                down = head_descent(frozen, y, u)
            else:
                down = classification_descent(batch, y, w, u, activation)
            if step % record_every == 0 or step == steps:
                if not float(w.abs().max()) < OVERFLOW:
                    _raise_diverged(w, step)
                trace.add(
                    step,
                    loss=down.loss,
                    accuracy=down.accuracy,
                    wrong_mass=down.wrong_mass,
                    strength=capture_strength(w, features),
                )
            report(step, partial(_loss_words, down.loss))
            if step == steps:
                break
            if head_rate:
                u = u + head_rate * down.u
                if order == "u_then_w" and frozen is None:
                    down = classification_descent(batch, y, w, u, activation)
            if down.w is not None:
                w = w + encoder_rate * down.w
            step += 1
            loop.after(step, state)
    return Classifier(w, u, trace)


def _loss_words(loss: Tensor) -> dict[str, str]:
    return {"loss": f"{float(loss.mean()):.4f}"}
