"""The loop of every training: interrupted and started again, it ends in the same bytes."""

from __future__ import annotations

import json
import math
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from typing import Any

import pandas as pd
import torch
from safetensors.torch import load, save
from torch import Tensor, nn

from featlearn.core.errors import ConfigError, DivergedError, FeatlearnError
from featlearn.core.training import optimisers
from featlearn.core.training.devices import tell_compiler
from featlearn.core.training.loops import (
    Checkpoint,
    Checkpoints,
    Listening,
    next_place,
    state_digest,
)
from featlearn.images.rng import Draws
from featlearn.images.train.distributed import (
    Processes,
    current,
    from_first,
    running_statistics,
    share_batch_norm,
)
from featlearn.images.train.objective import Objective
from featlearn.images.train.plan import Batch, Batches, Plan, Training

#: Turns uint8 images (B, 3, S, S) into normalised ones, float (B, 3, size, size).
Augment = Callable[[Tensor, Draws], Tensor]
Report = Callable[[int, Callable[[], dict[str, str]]], None]
#: On CUDA, processes agree this often (in steps) whether one was told to stop: it costs a wait.
AGREE_EVERY = 16


class _Run:
    """State of one training; :func:`fit` is its life."""

    def __init__(
        self, objective: Objective, augment: Augment, training: Training, plan: Plan,
        name: tuple[object, ...], device: torch.device, processes: Processes,
    ):  # fmt: skip
        self.objective, self.augment, self.training = objective, augment, training
        self.plan, self.name, self.device, self.processes = plan, name, device, processes
        self.step = 0
        self.schedule = plan.schedule()
        self.memory = torch.channels_last if training.channels_last else torch.contiguous_format
        objective.to(device=device)
        processes.copy_first_(objective.state_dict().values())
        if training.channels_last:
            objective.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        if training.sync_batch_norm and processes.count > 1:
            share_batch_norm(objective, device)
        self.optimiser = optimisers.build(
            training.optimiser, _checked(objective, training), momentum=training.momentum
        )
        self.trained = [p for group in self.optimiser.param_groups for p in group["params"]]
        if training.compile:
            _compile(objective)
        self.history = History()
        self.stop_wanted = torch.zeros((), device=device)
        #: Most seconds between two checkpoints.
        self.longest = math.inf

    def make_step(self, parts: list[Batch]) -> None:
        """One optimiser step on the parts of a batch."""
        optimisers.set_rate(self.optimiser, self.schedule.rate(self.step))
        self.optimiser.zero_grad(set_to_none=True)
        scalars: dict[str, Tensor] = {}
        for part in parts:
            part.draws.seed_torch("layers", self.device)  # of dropout
            for key, value in self._descend(part).items():
                own = value * part.share
                scalars[key] = scalars[key] + own if key in scalars else own
        self._exchange(scalars)
        if self.training.clip is not None:
            scalars |= self._clip(self.training.clip)
        self.optimiser.step()
        self.history.add(self.step, scalars, parts[0].draws.size)
        self.step += 1
        self.objective.after_step(self.step, self.plan.steps)

    def _descend(self, part: Batch) -> dict[str, Tensor]:
        images = self.augment(part.images, part.draws).contiguous(memory_format=self.memory)
        half = self.training.precision == "bfloat16"
        found = self.objective.parts(images, part.labels, part.draws)
        scalars: dict[str, Tensor] = {}
        while True:
            # a part is computed when it is asked for
            with torch.autocast(self.device.type, torch.bfloat16, enabled=half):
                own = next(found, None)
            if own is None:
                return scalars
            torch.autograd.backward(own["loss"] * part.share)
            for key, value in own.items():
                scalars[key] = scalars[key] + value.detach() if key in scalars else value.detach()

    def _clip(self, largest: float) -> dict[str, Tensor]:
        norms = {}
        for prefix, module in self.objective.clipped().items():
            own = {id(parameter) for parameter in module.parameters()}
            trained = [parameter for parameter in self.trained if id(parameter) in own]
            norms[f"{prefix}gradient_norm"] = nn.utils.clip_grad_norm_(trained, largest)
        return norms

    def _exchange(self, scalars: dict[str, Tensor]) -> None:
        """Sum over processes what each has for its rows."""
        if self.processes.count == 1:
            return
        statistics = running_statistics(self.objective)
        for statistic in statistics:
            statistic.div_(self.processes.count)
        gradients = [p.grad for p in self.trained if p.grad is not None]
        told = list(scalars.values())
        self.processes.sum_([*gradients, *statistics, *told, self.stop_wanted])

    def record_if_due(self) -> None:
        """Write a row of the history every ``record_every`` steps and after the last."""
        every = self.training.record_every
        due = self.plan.per_epoch if every == "epoch" else every
        if self.step % due and self.step != self.plan.steps:
            return
        self.check_finite()
        rate = self.schedule.rate(self.step - 1)
        epoch = self.step / self.plan.per_epoch
        self.history.record(self.step, epoch, self.plan.seen(self.step), rate)

    def check_finite(self) -> None:
        """Raise if a loss since the last call was not finite."""
        self.history.settle()
        if (lost := self.history.lost) >= 0:
            raise DivergedError(
                f"step {lost + 1} of {self.plan.steps}: the loss is not finite, at learning rate "
                f"{self.schedule.rate(lost):.3g}. Lower training.learning_rate, lengthen "
                "training.warmup or set training.clip; with bfloat16, try float32."
            )

    def agreed_to_stop(self, told: bool) -> bool:
        """True in all processes at the same step, once one of them was ``told`` to stop."""
        if self.processes.count == 1:
            return told
        look = self.device.type != "cuda" or self.step % AGREE_EVERY == 0
        stop = look and bool(self.stop_wanted > 0)
        self.stop_wanted.fill_(float(told))
        return stop

    def identity(self, images: Tensor, labels: Tensor | None, more: Any) -> dict[str, Any]:
        """All that the numbers of this run depend on."""
        ends = {"first": images[0], "last": images[-1]}
        return {
            "training": self.training.identity(),
            "name": [str(part) for part in self.name],
            "images": [list(images.shape), state_digest(ends)],
            "labels": None if labels is None else state_digest({"labels": labels}),
            "start": state_digest(self.objective.state_dict()),
            "processes": self.processes.count,
            "device": self.device.type,
            "torch": torch.__version__,
            "more": more,
        }

    def is_checkpoint_due(self, saved: float) -> bool:
        """True at the end, and as often as settings or job say; ``saved``: monotonic time."""
        unit, every = next(iter(self.training.checkpoint_every.items()))
        if unit == "seconds":
            every = min(every, self.longest)
        passed = self.step % every == 0 if unit == "steps" else time.monotonic() - saved >= every
        return passed or (self.step == self.plan.steps and self.longest == math.inf)

    def checkpoint(self) -> Checkpoint:
        """The whole state after the last step."""
        tensors, plain = self.history.state()
        for name, tensor in self.objective.state_dict().items():
            tensors[f"model/{name}"] = tensor
        for name, tensor in optimisers.state_tensors(self.optimiser, self.objective).items():
            tensors[f"optimiser/{name}"] = tensor
        return Checkpoint(self.step, tensors, plain)

    def load(self, checkpoint: Checkpoint) -> None:
        """Go on from ``checkpoint``."""
        self.step = checkpoint.step
        self.history.load(checkpoint.tensors, checkpoint.plain)
        self.objective.load_state_dict(_below("model/", checkpoint.tensors))
        state = _below("optimiser/", checkpoint.tensors)
        optimisers.load_state_tensors(self.optimiser, self.objective, state)


def _below(prefix: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items()
            if name.startswith(prefix)}  # fmt: skip


def _checked(objective: Objective, training: Training) -> optimisers.Groups:
    """The objective's groups, if each trainable parameter is in one of them, once."""
    groups = objective.parameter_groups(training.weight_decay, training.layer_decay)
    found = [id(parameter) for group in groups for parameter in group["params"]]
    for name, parameter in objective.named_parameters():
        if parameter.requires_grad and found.count(id(parameter)) != 1:
            raise FeatlearnError(
                f"parameter {name}: expected in one parameter group, "
                f"found in {found.count(id(parameter))}"
            )
    return groups


def _compile(objective: Objective) -> None:
    compiler = os.environ.get("CXX")
    if any(shutil.which(name) for name in ([compiler] if compiler else ["c++", "g++", "clang++"])):
        tell_compiler()
        objective.compile()
        return
    _say("training.compile: found no C++ compiler (CXX, c++, g++, clang++); goes on without")


@contextmanager
def _arithmetic(precision: str) -> Iterator[None]:
    """Float32 on CUDA is to be float32: PyTorch's own default rounds in convolutions."""
    places = (torch.backends.cuda.matmul, torch.backends.cudnn.conv)  # type: ignore[attr-defined]
    before = [place.fp32_precision for place in places]
    for place in places:
        place.fp32_precision = "tf32" if precision == "tensorfloat32" else "ieee"
    try:
        yield
    finally:
        for place, old in zip(places, before, strict=True):
            place.fp32_precision = old


class _Pace:
    def __init__(self, run: _Run):
        self.run, self.last = run, (time.monotonic(), run.plan.seen(run.step))

    def __call__(self) -> dict[str, str]:
        run, now, seen = self.run, time.monotonic(), self.run.plan.seen(self.run.step)
        then, before = self.last
        self.last = now, seen
        means = run.history.means()
        latest = run.history.rows[-1][4:] if run.history.rows else []
        known = means if run.history.images else dict(zip(run.history.names, latest, strict=True))
        return {
            "epoch": f"{run.step / run.plan.per_epoch:.1f}/{run.plan.steps / run.plan.per_epoch:g}",
            "loss": f"{known['loss']:.4f}",
            "images/s": f"{(seen - before) / max(now - then, 1e-9):.0f}",
        }


def fit(
    objective: Objective, images: Tensor, labels: Tensor | None, augment: Augment,
    settings: Mapping[str, Any], name: tuple[object, ...], device: torch.device | str = "cpu",
    folder: str | os.PathLike[str] | None = None, report: Report | None = None,
    identity: Mapping[str, Any] | None = None,
) -> pd.DataFrame:  # fmt: skip
    """Train ``objective`` in place.

    Under ``torchrun`` (see :func:`~featlearn.images.train.distributed.joined`) every process calls
    this with the same arguments; the first writes checkpoints.

    ``objective``: is moved to ``device`` and ends in evaluation mode. ``images`` (N, 3, S, S)
    uint8: in memory, memory-mapped, or on ``device``. ``labels`` (N,) int64 or None. ``augment``:
    makes network inputs of a batch. ``settings``: see :class:`Training`. ``name``: of the run's
    random streams. ``folder``: for checkpoints; None for that of the job, if there is one (see
    :mod:`featlearn.core.training.loops`). A SIGTERM is then obeyed after the running step, with the
    state saved. ``report``: called after every step with its number and a function that says what
    is seen. ``identity``: what else the numbers depend on, as plain values; a checkpoint with
    another one is not resumed.

    Returns a row every ``record_every``: step, epoch and images (done), learning_rate (of the last
    step), loss and the objective's further scalars (means over the images since the row before),
    gradient_norm (before clipping). Raises ConfigError if a setting is unknown or impossible,
    DivergedError if a loss is not finite, FeatlearnError if a checkpoint cannot be written.
    """
    training = Training.of(settings)
    device, processes = torch.device(device), current()
    plan = Plan(training, len(images))
    _check_smallest(plan, processes)
    devices = [device] if device.type == "cuda" else []
    with torch.random.fork_rng(devices), _arithmetic(training.precision):
        run = _Run(objective, augment, training, plan, name, device, processes)
        kept = None
        if folder is None and (found := next_place()) is not None:
            folder, run.longest = found
        if folder is not None:
            kept = Checkpoints(folder, run.identity(images, labels, identity))
            _resume(run, kept)
        objective.train()
        batches = Batches(images, labels, plan, name, processes, device)
        _train(run, batches, report, kept)
        objective.eval()
    return run.history.frame()


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _check_smallest(plan: Plan, processes: Processes) -> None:
    """Every process needs an image of every batch; batches are split between pairs."""
    least = 2 * processes.count - 1
    smallest = min(plan.place(step)[2] for step in (0, plan.per_epoch - 1))
    if smallest < least:
        raise ConfigError(
            f"training: batch_size: {plan.training.batch_size}; of {plan.images} images the "
            f"smallest batch has {smallest}, expected at least {least} for "
            f"{processes.count} processes: change it, or set drop_last: true"
        )


def _resume(run: _Run, kept: Checkpoints) -> None:
    found = kept.latest() if run.processes.first else None
    if run.processes.count > 1:
        content = b""
        if found is not None:
            words = json.dumps([found.step, found.plain])
            content = f"{words}\n".encode() + save(found.tensors)
        told, _, tensors = from_first(content, run.device).partition(b"\n")
        if told:
            step, plain = json.loads(told)
            found = Checkpoint(step, load(tensors), plain)
    if found is None:
        return
    run.load(found)
    if run.processes.first:
        _say(f"the training goes on after step {run.step} of {run.plan.steps}")


def _train(run: _Run, batches: Batches, report: Report | None, kept: Checkpoints | None) -> None:
    words, saved = _Pace(run), time.monotonic()
    with Listening(kept is not None) as term, closing(batches.steps(run.step)) as steps:
        for parts in steps:
            run.make_step(parts)
            run.record_if_due()
            if report is not None:
                report(run.step, words)
            stop = kept is not None and run.agreed_to_stop(term.told)
            if kept is not None and (stop or run.is_checkpoint_due(saved)):
                run.check_finite()
                if run.processes.first:
                    kept.save(run.checkpoint())
                saved = time.monotonic()
            if stop:
                break
        else:
            return
    term.leave()


class History:
    """Means of a run's scalars over the steps between two rows.

    Scalars wait as tensors and are summed when a row is due: a step waits for no device.
    """

    def __init__(self) -> None:
        self.names: list[str] = []
        self.rows: list[list[float]] = []
        self.waiting: list[tuple[int, int, Tensor]] = []
        self.sums: list[float] = []
        self.images = 0
        #: First step whose loss was not finite; -1 if there is none.
        self.lost = -1

    def add(self, step: int, scalars: Mapping[str, Tensor], images: int) -> None:
        """Add the means over the ``images`` images of a step."""
        if not self.names:
            self.names, self.sums = list(scalars), [0.0] * len(scalars)
        if self.names != list(scalars):
            raise FeatlearnError(
                f"step {step}: the objective gave {list(scalars)}; "
                f"expected {self.names} as at the steps before"
            )
        values = torch.stack([value.detach().float().reshape(()) for value in scalars.values()])
        self.waiting.append((step, images, values))
        self.images += images

    def settle(self) -> None:
        """Sum what waits."""
        rows = torch.stack([row for *_, row in self.waiting]).tolist() if self.waiting else []
        for (step, images, _), row in zip(self.waiting, rows, strict=True):
            self.sums = [old + images * new for old, new in zip(self.sums, row, strict=True)]
            if self.lost < 0 and not math.isfinite(row[self.names.index("loss")]):
                self.lost = step
        self.waiting = []

    def means(self) -> dict[str, float]:
        self.settle()
        means = [total / max(self.images, 1) for total in self.sums]
        return dict(zip(self.names, means, strict=True))

    def record(self, step: int, epoch: float, seen: int, rate: float) -> None:
        """Write a row and start anew."""
        self.rows.append([step, epoch, seen, rate, *self.means().values()])
        self.sums = [0.0] * len(self.sums)
        self.images = 0

    def frame(self) -> pd.DataFrame:
        """Columns step, epoch, images, learning_rate, loss, ... of :func:`fit`."""
        columns = ["step", "epoch", "images", "learning_rate", *self.names]
        return pd.DataFrame(self.rows, columns=columns).astype({"step": "int64", "images": "int64"})

    def state(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """Tensors and plain values for a checkpoint; all numbers in full."""
        self.settle()
        rows = torch.tensor(self.rows, dtype=torch.float64).view(
            len(self.rows), 4 + len(self.names)
        )
        sums = torch.tensor(self.sums, dtype=torch.float64)
        return ({"history/rows": rows, "history/sums": sums},
                {"names": self.names, "images": self.images})  # fmt: skip

    def load(self, tensors: Mapping[str, Tensor], values: Mapping[str, Any]) -> None:
        """Undo :meth:`state`."""
        self.rows = tensors["history/rows"].tolist()
        self.sums = tensors["history/sums"].tolist()
        self.names, self.images = list(values["names"]), int(values["images"])
