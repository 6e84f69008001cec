"""The three algorithms of the paper, all replicates in one program.

A  with RandomMask: the subspace of the signal grows at b = 0 until T1 (stage I), thresholds are
   raised and neurons become singletons until T2 (stage II), and training goes on (stage III).
B  without augmentation: the same step on identical views, thresholds at zero.
C  thresholds trained by gradient descent (footnote 4).

Each step draws fresh samples: gradient descent on the population, no data set.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import torch
from torch import Tensor

from featlearn.contrastive.closed_forms import apply_pair_operator, bias_at_t1
from featlearn.contrastive.data import Masking, SparseCoding, positives, sample
from featlearn.contrastive.model import Batch, Descent, descent, descent_as_printed, weight_descent
from featlearn.core.errors import DivergedError
from featlearn.core.training.loops import Checkpoint, Loop, State

#: What a replicate's T1 or T2 is before it has come.
NOT_YET = -1
#: The tensors of a learner that its steps change.
SAVED = ("w", "b", "norm", "norm_start", "norm_t1", "t1", "t2")

Report = Callable[[int, Callable[[], dict[str, str]]], None]
#: Reads quantities, each (R,), off weights (R, m, D) and thresholds (R, m).
Observe = Callable[[Tensor, Tensor], Mapping[str, Tensor]]


@dataclass(frozen=True)
class Thresholds:
    """How the thresholds ``b_i`` move (section 3 and appendix D)."""

    #: ``scheduled``: zero until T1, then raised with the norm; ``zero``: always zero; ``trained``:
    #: by gradient descent from step 0.
    rule: Literal["scheduled", "zero", "trained"] = "scheduled"
    #: ``G``: T1 is the first step at which every ``||w_i||`` is ``G`` times its initial value. The
    #: paper gives four incompatible definitions of T1; see :func:`printed_growth`.
    growth: float = 4.0
    scale: float = 1.0  #: ``b0``: ``b_i(T1) = b0 sqrt(2 log d / d) ||w_i(T1)||``
    #: ``kb``: a threshold grows by ``kb eta / d`` a step at least. The paper prints 1, which kills
    #: every neuron at finite d.
    rate: float = 0.05
    #: Thresholds are frozen beyond ``cap log d / sqrt d`` (the paper: polylog(d) / sqrt d).
    cap: float = 1.0
    learning_rate: float = 0.0  #: ``eta_b`` of trained thresholds


@dataclass(frozen=True)
class Training:
    """How weights move."""

    #: ``anchors`` and ``negatives``: ``K`` and ``|N|`` of a step.
    anchors: int
    negatives: int
    learning_rate: float  #: ``eta``
    steps: int  #: Number of steps, stage I included
    #: ``lambda``: weights shrink by ``1 - eta lambda`` a step, as in every recursion of the proofs;
    #: the gradient of ``lambda ||w||^2`` has twice that.
    decay: float = 0.001
    tau: float = 1.0  #: Temperature
    #: ``complementary`` (RandomMask), ``independent`` or ``none``.
    masking: Masking = "complementary"
    #: ``true``, or ``as_printed`` for the vector of A.1, which is not the gradient.
    gradient: Literal["true", "as_printed"] = "true"
    #: Replace the steps of stage I by the population map: exact for small weights, and free.
    exact_stage_one: bool = True
    #: All anchors of a step see the same negatives; else each draws its own, as printed.
    shared_negatives: bool = True
    #: Mask the negatives too (Remark 2.4 says that it adds nothing).
    augment_negatives: bool = False


def printed_growth(c0: float, gamma: float) -> dict[str, float]:
    """``G`` of the paper's four definitions of T1, by where they stand."""
    c1 = 2 + 2 * (1 - gamma) * c0
    return {
        "main text": 1 / (gamma * c0),
        "appendix A.2, C": math.sqrt((2 * (1 + gamma * c0) + c1) / c1),
        "appendix C.2": math.sqrt(2 * (1 + 2 * gamma * c0) / c1),
        "proof of C.1": 1 + 2 * (1 + 2 * c0) / c1,
    }


@dataclass
class Trained:
    w: Tensor  #: (R, m, D)
    b: Tensor  #: (R, m)
    #: ``t1`` and ``t2``: (R,): Steps at which the stages began, :data:`NOT_YET` where they did not.
    t1: Tensor
    t2: Tensor
    #: Weights and thresholds at ``start``, ``t1``, ``t2`` and ``end``; a moment that never came
    #: holds what was there at the end.
    moments: dict[str, tuple[Tensor, Tensor]] = field(default_factory=dict)
    #: ``steps`` and ``history``: recorded steps, and at each what was observed.
    steps: list[int] = field(default_factory=list)
    history: list[Mapping[str, Tensor]] = field(default_factory=list)


def draw_batch(
    spec: SparseCoding, atoms: Tensor, training: Training, streams: Sequence[torch.Generator]
) -> Batch:
    """The anchors, positives and negatives of one step."""
    k = training.anchors
    n = training.negatives * (1 if training.shared_negatives else k)
    drawn = sample(spec, atoms, k + n, streams).x
    negative = drawn[:, k:]
    if training.augment_negatives:
        negative, _ = positives(negative, streams, "independent")
    if not training.shared_negatives:
        negative = negative.unflatten(1, (k, training.negatives))  # type: ignore[no-untyped-call]
    return Batch(*positives(drawn[:, :k], streams, training.masking), negative)


class Learner:
    """The state of a training: one step at a time.

    ``spec``, ``atoms``: the data; ``atoms`` (R, D, d) on the device of the training. ``w`` (R, m,
    D): initial weights. ``training``, ``thresholds``: how weights and thresholds move. ``streams``:
    one generator a replicate, on the device; advanced by training only.
    """

    def __init__(
        self,
        spec: SparseCoding,
        atoms: Tensor,
        w: Tensor,
        training: Training,
        thresholds: Thresholds,
        streams: Sequence[torch.Generator],
    ):
        self.spec, self.atoms, self.streams = spec, atoms, streams
        self.training, self.thresholds = training, thresholds
        self.w = w.clone()
        self.b = torch.zeros(w.shape[:2], dtype=w.dtype, device=w.device)
        self.norm = self.norm_start = w.norm(dim=-1)
        self.norm_t1 = self.norm.clone()
        replicates = len(w)
        self.t1 = torch.full((replicates,), NOT_YET)
        self.t2 = torch.full((replicates,), NOT_YET)
        self.moments = {"start": self.state()}
        self.moments |= {"t1": self.state(), "t2": self.state()}

    def state(self) -> tuple[Tensor, Tensor]:
        return self.w.clone(), self.b.clone()

    def step(self, number: int) -> None:
        """Step ``number``, counted from 1."""
        for rows in self._groups():
            if self._exact(rows):
                self._population_step(rows)
            else:
                self._sampled_step(rows)
        before, self.norm = self.norm, self.w.norm(dim=-1)
        if self.thresholds.rule == "scheduled":
            self._move_thresholds(number, before)

    def _groups(self) -> list[list[int]]:
        """Replicates that step together: one by one on a CPU, so that each fits its cache."""
        rows = list(range(len(self.w)))
        if self.w.device.type == "cpu":
            return [[row] for row in rows]
        growing = [row for row in rows if int(self.t1[row]) == NOT_YET]
        later = [row for row in rows if row not in growing]
        return [group for group in (growing, later) if group]

    def _exact(self, rows: list[int]) -> bool:
        return (
            self.training.exact_stage_one
            and self.thresholds.rule == "scheduled"
            and int(self.t1[rows[0]]) == NOT_YET
        )

    def _population_step(self, rows: list[int]) -> None:
        """The population map of stage I at b = 0 (Induction Hypothesis C.4, exact form)."""
        t, w = self.training, self.w[rows]
        share = 1 - 1 / (t.negatives + 1)
        pull = apply_pair_operator(self.spec, self.atoms[rows], t.masking, w)
        w += t.learning_rate * (share * pull - t.decay * w)
        self.w[rows] = w

    def _sampled_step(self, rows: list[int]) -> None:
        t = self.training
        streams = [self.streams[row] for row in rows]
        batch = draw_batch(self.spec, self.atoms[rows], t, streams)
        down = self._descent(batch, self.w[rows], self.b[rows])
        self.w[rows] = self.w[rows] * (1 - t.learning_rate * t.decay) + t.learning_rate * down.w
        if self.thresholds.rule == "trained":
            self.b[rows] += self.thresholds.learning_rate * down.b

    def _descent(self, batch: Batch, w: Tensor, b: Tensor) -> Descent:
        t = self.training
        if t.gradient == "as_printed":
            return Descent(descent_as_printed(batch, w, b, t.tau), torch.zeros_like(b))
        if self.thresholds.rule == "trained" or not t.shared_negatives:
            return descent(batch, w, b, t.tau)
        return Descent(weight_descent(batch, w, b, t.tau), torch.zeros_like(b))

    def _move_thresholds(self, number: int, before: Tensor) -> None:
        """Raise them at T1, let them grow after it, and note T1 and T2."""
        rule, d = self.thresholds, self.spec.atoms
        raised = (self.t1 != NOT_YET).to(self.w.device)
        least = rule.rate * self.training.learning_rate / d
        # a neuron that nothing feeds decays until its norm is 0, and 0 / 0 is not finite
        smallest = torch.finfo(before.dtype).tiny
        growth = (self.norm / before.clamp_min(smallest) - 1).clamp_min(least)
        growing = raised.unsqueeze(1) & (self.b <= rule.cap * math.log(d) / math.sqrt(d))
        self.b = torch.where(growing, self.b * (1 + growth), self.b)
        grown = ((self.norm >= rule.growth * self.norm_start).all(1) & ~raised).unsqueeze(1)
        self.b = torch.where(grown, rule.scale * bias_at_t1(d) * self.norm, self.b)
        self.norm_t1 = torch.where(grown, self.norm, self.norm_t1)
        reached = raised & (self.norm**2 >= d * self.norm_t1**2).any(1)
        self._note("t1", self.t1, grown.squeeze(1).cpu(), number)
        self._note("t2", self.t2, reached.cpu() & (self.t2 == NOT_YET), number)

    def _note(self, name: str, times: Tensor, now: Tensor, number: int) -> None:
        for row in now.nonzero().flatten().tolist():
            times[row] = number
            self.keep(name, row)

    def saved(self) -> dict[str, Tensor]:
        """All that the next step depends on, by name; :meth:`load` is the way back."""
        result = {name: getattr(self, name) for name in SAVED}
        for name, (w, b) in self.moments.items():
            result |= {f"moments/{name}/w": w, f"moments/{name}/b": b}
        for row, stream in enumerate(self.streams):
            result[f"streams/{row}"] = stream.get_state()
        return result

    def load(self, tensors: Mapping[str, Tensor]) -> None:
        for name in SAVED:
            setattr(self, name, tensors[name].to(getattr(self, name).device))
        for name, (w, b) in self.moments.items():
            w.copy_(tensors[f"moments/{name}/w"])
            b.copy_(tensors[f"moments/{name}/b"])
        for row, stream in enumerate(self.streams):
            stream.set_state(tensors[f"streams/{row}"])

    def keep(self, name: str, row: int) -> None:
        """Remember the state of a replicate as that of a moment."""
        w, b = self.moments[name]
        w[row], b[row] = self.w[row], self.b[row]

    def finish(self) -> None:
        """Give the moments that never came the state of the end."""
        for name, times in (("t1", self.t1), ("t2", self.t2)):
            for row in (times == NOT_YET).nonzero().flatten().tolist():
                self.keep(name, row)
        self.moments["end"] = self.state()


def train(
    learner: Learner, *, record_every: int, observe: Observe | None = None,
    report: Report = lambda *_: None,
) -> Trained:  # fmt: skip
    """Train for ``learner.training.steps`` steps.

    Without a schedule there is neither T1 nor T2; the moments of these names are then a third and
    two thirds of the way.

    Raises ``DivergedError`` if weights or thresholds are not finite at a recorded step.
    """
    steps = learner.training.steps
    thirds = (
        {} if learner.thresholds.rule == "scheduled" else {"t1": steps // 3, "t2": steps // 3 * 2}
    )
    done = Trained(learner.w, learner.b, learner.t1, learner.t2)
    with Loop("training", {"w": learner.w}, training=repr(learner.training)) as loop:
        first = 0
        if saved := loop.latest():
            first = saved.step + 1
            learner.load(saved.tensors)
            done.steps, done.history = saved.plain["steps"], _history(saved, learner.w.device)

        def state() -> State:
            seen = {
                f"history/{place}/{name}": value
                for place, result in enumerate(done.history)
                for name, value in result.items()
            }
            return learner.saved() | seen, {"steps": done.steps}

        for number in range(first, steps + 1):
            if number:
                learner.step(number)
                report(number, lambda: {"norm": f"{float(learner.norm.mean()):.3g}"})
            for name in (name for name, at in thirds.items() if at == number):
                for row in range(len(learner.w)):
                    learner.keep(name, row)
            if number % record_every == 0 or number == steps:
                _refuse_diverged(learner, number)
                if observe is not None:
                    done.steps.append(number)
                    done.history.append(observe(learner.w, learner.b))
            loop.after(number, state)
    if thirds:
        learner.moments["end"] = learner.state()
    else:
        learner.finish()
    done.w, done.b, done.t1, done.t2 = learner.w, learner.b, learner.t1, learner.t2
    done.moments = learner.moments
    return done


def _history(saved: Checkpoint, device: torch.device) -> list[Mapping[str, Tensor]]:
    history: list[dict[str, Tensor]] = [{} for _ in saved.plain["steps"]]
    for name, value in saved.tensors.items():
        if name.startswith("history/"):
            _, place, quantity = name.split("/", 2)
            history[int(place)][quantity] = value.to(device)
    return list(history)


def _refuse_diverged(learner: Learner, number: int) -> None:
    if not bool(learner.w.isfinite().all() & learner.b.isfinite().all()):
        raise DivergedError(
            f"step {number} of {learner.training.steps}: weights or thresholds are no longer "
            f"finite, at learning rate {learner.training.learning_rate:g}; lower it"
        )


def settings(config: Mapping[str, Any], **changes: Any) -> Training:
    """A :class:`Training` from the group ``training`` of the config, with changes."""
    known = {name: config[name] for name in Training.__dataclass_fields__ if name in config}
    return Training(**known | changes)
