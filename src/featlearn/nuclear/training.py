"""Training on some domains for one that is not seen (DomainBed's protocol, section 6.3.2).

A batch holds as many images of every training domain; held-out images of these serve choices.
"""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.func import functional_call, stack_module_state, vmap

from featlearn.core.files import below
from featlearn.core.run.progress import Progress
from featlearn.core.seeds import generator
from featlearn.core.training import loops
from featlearn.core.training.loops import Checkpoint, Loop
from featlearn.core.training.losses import cross_entropies
from featlearn.images.data.datasets import Labelled
from featlearn.images.encoders import Encoder
from featlearn.images.rng import Draws
from featlearn.images.worlds.domains import Part
from featlearn.nuclear.penalties import Mixed, losses
from featlearn.nuclear.swad import Average, State, Swad, under

#: uint8 images to what a network sees; with draws at random.
Sight = Callable[[Tensor, Draws | None], Tensor]


class Net(nn.Module):
    """Encoder and linear head: images to features and scores.

    ``size``: pixels of the images' sides. ``features``: ``mean`` over the encoder's last map, or
    all cells of the ``map``. ``frozen``: norms over batches keep the encoder's statistics, as in
    the released code; from a random start they then do nothing.
    """

    def __init__(
        self, encoder: Encoder, size: int, classes: int, features: str = "mean",
        frozen: bool = False,
    ):  # fmt: skip
        super().__init__()
        self.encoder, self.whole, self.frozen = encoder, features == "map", frozen
        cells = math.prod(encoder.grid(size)) if self.whole else 1
        self.head = nn.Linear(encoder.width * cells, classes)

    def forward(self, images: Tensor) -> tuple[Tensor, Tensor]:
        """(B, 3, S, S) to features (B, p) and scores (B, classes)."""
        phi = self.encoder.feature_map(images).flatten(1) if self.whole else self.encoder(images)
        return phi, self.head(phi)

    def train(self, mode: bool = True) -> Net:
        """Training or evaluation mode; frozen norms stay in evaluation mode."""
        super().train(mode)
        for module in self.modules() if self.frozen else ():
            if isinstance(module, nn.modules.batchnorm._BatchNorm):
                module.eval()
        return self


class Stack:
    """Networks ``nets`` (R) of one shape, and their weights (R, ...)."""

    def __init__(self, nets: Sequence[Net], device: torch.device | str):
        self.net = copy.deepcopy(nets[0]).to(device)
        with torch.no_grad():
            parameters, buffers = stack_module_state(list(nets))
        self.parameters = {
            key: value.detach().to(device).requires_grad_() for key, value in parameters.items()
        }
        self.buffers = {key: value.to(device) for key, value in buffers.items()}

    @property
    def state(self) -> State:
        """All weights and statistics (R, ...), not copied."""
        return {key: own.detach() for key, own in self.parameters.items()} | self.buffers

    def __call__(self, images: Tensor) -> tuple[Tensor, Tensor]:
        """(R, B, 3, S, S) to features (R, B, p) and scores (R, B, classes)."""
        return self._run({**self.parameters, **self.buffers}, images, 0)

    def _run(self, state: State, images: Tensor, axis: int | None) -> tuple[Tensor, Tensor]:
        def one(own: State, x: Tensor) -> Any:
            return functional_call(self.net, own, (x,))

        phi, scores = vmap(one, in_dims=(0, axis))(state, images)
        return phi, scores

    @torch.no_grad()
    def evaluate(
        self, state: State, rows: slice, data: Labelled | Part, sight: Sight
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Accuracy and mean cross-entropy (r,), features (r, n, p) of ``rows`` on the processor."""
        self.net.eval()
        own = {key: value[rows] for key, value in state.items()}
        right, loss, features = [], [], []
        for start in range(0, len(data.labels), 512):
            seen = slice(start, start + 512)
            phi, scores = self._run(own, sight(data.images[seen], None), None)
            y = data.labels[seen].to(scores.device)
            right.append((scores.argmax(2) == y).sum(1).cpu())
            loss.append(cross_entropies(scores, y.expand(len(scores), -1)).sum(1).cpu())
            features.append(phi.cpu())
        count = len(data.labels)
        return (torch.stack(right).sum(0) / count, torch.stack(loss).sum(0) / count,
                torch.cat(features, 1))  # fmt: skip


@dataclass(frozen=True)
class Trial:
    """What the networks of a trial learn from and are chosen by, and the name of its streams."""

    learned: Sequence[Part]  #: of each training domain
    chosen: Part
    name: tuple[object, ...]


class Trained(NamedTuple):
    """Weights (R, ...): the best checkpoints, the dense averages, and those of the last step."""

    best: State
    swad: State
    last: State
    averaged: list[int]  #: segments in the average
    checkpoint: Tensor  #: step of the best checkpoint, (R,)


def train(
    stack: Stack, trials: Sequence[Trial], arms: Sequence[Mapping[str, Any]],
    training: Mapping[str, Any], sight: Sight, loop: Loop,
) -> Trained:  # fmt: skip
    """Adam with a constant rate; the checkpoint of the best validation accuracy, and SWAD.

    Networks lie trial by trial, in each ``arms``; all arms of a trial see the same batches.
    ``loop`` keeps the state of a training that is killed.
    """
    own, per, steps = _Course(stack, trials, training), len(arms), training["steps"]
    own.go_on(loop.latest())
    progress, begun, first = Progress("nuclear_stack", steps), time.monotonic(), own.step
    each = training["batch_size"] * sum(len(one.learned) for one in trials) * per
    while own.step < steps:
        own.step += 1
        stack.net.train()
        seen = [one.next(own.step, arms, sight) for one in own.batches]
        images = torch.cat([one.images for one in seen])
        phi, scores = stack(images)
        loss = losses(phi, scores, Mixed.together(seen), arms, len(trials), own.step)
        own.optimiser.zero_grad()
        loss.sum().backward()  # type: ignore[no-untyped-call]
        own.optimiser.step()
        own.segment.add(stack.state)
        if own.step % training["checkpoint_every"] == 0 or own.step == steps:
            found = [stack.evaluate(stack.state, slice(i * per, (i + 1) * per), trial.chosen, sight)
                     for i, trial in enumerate(trials)]  # fmt: skip
            counts = [own.step > arm.get("nu_start_step", 0) for _ in trials for arm in arms]
            own.look(torch.cat([one[0] for one in found]), torch.cat([one[1] for one in found]),
                     torch.tensor(counts) | (own.step == steps))  # fmt: skip
        loop.after(own.step, own.kept)
        seconds = max(time.monotonic() - begun, 1e-9)
        pace = {"images a second": f"{each * (own.step - first) / seconds:.0f}"}
        progress.report(own.step, pace.copy)
    return own.end()


class _Course:
    """What a training has come to after ``step`` steps: all that its next steps depend on."""

    def __init__(self, stack: Stack, trials: Sequence[Trial], training: Mapping[str, Any]):
        self.stack, self.step = stack, 0
        self.optimiser = torch.optim.Adam(
            stack.parameters.values(), training["rate"], weight_decay=training["weight_decay"],
            fused=True,
        )  # fmt: skip
        self.batches = [Batches(trial, training["batch_size"]) for trial in trials]
        self.best = _copy(stack.state)
        count = len(next(iter(self.best.values())))
        self.accuracy, self.at = torch.full((count,), -1.0), torch.zeros(count, dtype=torch.long)
        self.segment = Average()
        self.valleys = [Swad(**training["swad"]) for _ in range(count)]

    def look(self, accuracy: Tensor, loss: Tensor, begun: Tensor) -> None:
        """A segment ends: validation accuracy and loss (R,) of the networks as they are now.

        ``begun`` (R,): whose penalty counts by now: checkpoints before it do not have it.
        """
        better = (accuracy > self.accuracy) & begun
        self.accuracy = torch.where(better, accuracy, self.accuracy)
        self.at = torch.where(better, self.step, self.at)
        for key, value in self.stack.state.items():
            self.best[key][better] = value[better]
        for i, valley in enumerate(self.valleys):
            mean = {key: value[i].clone() for key, value in self.segment.state.items()}
            valley.add(Average.of(mean, self.segment.count), float(loss[i]))
        self.segment = Average()

    def end(self) -> Trained:
        ends = [valley.finish() for valley in self.valleys]
        dense = {key: torch.stack([end[0][key] for end in ends]) for key in self.best}
        return Trained(self.best, dense, _copy(self.stack.state), [end[1] for end in ends], self.at)

    def kept(self) -> loops.State:
        """Tensors by name, and plain values."""
        valleys = [valley.kept() for valley in self.valleys]
        parts = {"now": self.stack.state, "best": self.best, "segment": self.segment.state}
        for key, own in self.stack.parameters.items():
            parts[f"adam/{key}"] = self.optimiser.state[own]
        parts |= {f"batches/{i}": own.kept() for i, own in enumerate(self.batches)}
        parts |= {f"swad/{i}": own for i, (own, _) in enumerate(valleys)}
        tensors = {"accuracy": self.accuracy, "at": self.at}
        for name, own in parts.items():
            tensors |= under(name, own)
        return tensors, {"segment": self.segment.count, "swad": [told for _, told in valleys]}

    def go_on(self, saved: Checkpoint | None) -> None:
        """Undo :meth:`kept`, right after the start; without a checkpoint nothing."""
        if saved is None:
            return
        self.step, tensors, told = saved.step, saved.tensors, saved.plain
        self.accuracy, self.at = tensors["accuracy"], tensors["at"]
        for name, whole in (("now", self.stack.state), ("best", self.best)):
            for key, value in below(name, tensors).items():
                whole[key].copy_(value)
        for i, batches in enumerate(self.batches):
            batches.go_on(below(f"batches/{i}", tensors))

        def placed(name: str) -> State:
            place = next(iter(self.best.values())).device
            return {key: value.to(place) for key, value in below(name, tensors).items()}

        for key, own in self.stack.parameters.items():
            self.optimiser.state[own] = placed(f"adam/{key}")
        self.segment = Average.of(placed("segment"), told["segment"])
        for i, valley in enumerate(self.valleys):
            valley.go_on(placed(f"swad/{i}"), told["swad"][i])


def _copy(state: State) -> State:
    return {key: value.clone() for key, value in state.items()}


class Batches:
    """The batches of one trial: as many images of each domain, each once an epoch."""

    def __init__(self, trial: Trial, size: int):
        self.trial, self.size = trial, size
        self.draws = generator(*trial.name, "batches")
        self.orders = [torch.empty(0, dtype=torch.long) for _ in trial.learned]

    def kept(self) -> State:
        """What the batches to come depend on."""
        orders = {str(i): order for i, order in enumerate(self.orders)}
        return {"draws": self.draws.get_state(), **orders}

    def go_on(self, tensors: State) -> None:
        """Undo :meth:`kept`."""
        self.draws.set_state(tensors["draws"])
        self.orders = [tensors[str(i)] for i in range(len(self.orders))]

    def next(self, step: int, arms: Sequence[Mapping[str, Any]], sight: Sight) -> Mixed:
        """The batch of ``step`` for all arms; where an arm mixes, of domains in a random ring."""
        images, labels = [], []
        for i, own in enumerate(self.trial.learned):
            while len(self.orders[i]) < self.size:
                more = torch.randperm(len(own.labels), generator=self.draws)
                self.orders[i] = torch.cat([self.orders[i], more])
            rows, self.orders[i] = self.orders[i][: self.size], self.orders[i][self.size :]
            images.append(own.images[rows])
            labels.append(own.labels[rows])
        draws = Draws((*self.trial.name, "augmentation"), step, self.size * len(images))
        x = sight(torch.cat(images), draws)
        y = torch.cat(labels).to(x.device)
        return Mixed.of(x, y, len(images), arms, (*self.trial.name, "mixing", step))
