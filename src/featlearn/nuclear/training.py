"""Training on some domains for one that is not seen (DomainBed's protocol, section 6.3.2).

A batch holds as many images of every training domain. What is chosen is chosen on images of the
training domains that were held out; the unseen domain is looked at once, at the end.
"""

from __future__ import annotations

import copy
import math
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from featlearn.core.seeds import generator
from featlearn.images.datasets import Labelled
from featlearn.images.nuclear_norm import nuclear_norm

State = dict[str, Tensor]


class Trained(NamedTuple):
    """Weights that were chosen: the best checkpoint, and the dense average of SWAD."""

    best: State
    swad: State
    averaged: int  #: segments in the average
    checkpoint: int  #: step of the best checkpoint


class Net(nn.Module):
    """Encoder and linear head.

    With ``frozen`` norms over batches keep the statistics that the encoder came with, as in the
    released code; from a random start they then do nothing.
    """

    def __init__(self, encoder: nn.Module, width: int, classes: int, frozen: bool = False):
        super().__init__()
        self.encoder, self.head, self.frozen = encoder, nn.Linear(width, classes), frozen

    def train(self, mode: bool = True) -> Net:
        """Training or evaluation mode; frozen norms stay in evaluation mode."""
        super().train(mode)
        for module in self.modules() if self.frozen else ():
            if isinstance(module, nn.modules.batchnorm._BatchNorm):
                module.eval()
        return self


def pixels(images: Tensor, device: torch.device | str) -> Tensor:
    """uint8 to float in [-1, 1]."""
    return images.to(device).float() / 127.5 - 1


@torch.no_grad()
def evaluate(net: Net, data: Labelled, device: torch.device | str) -> tuple[float, float, Tensor]:
    """Accuracy, mean cross-entropy, and features (n, p) on the processor."""
    net.eval()
    right, loss, features = 0.0, 0.0, []
    for images, labels in zip(
        torch.split(data.images, 512), torch.split(data.labels, 512), strict=True
    ):
        phi = net.encoder(pixels(images, device))
        logits, y = net.head(phi), labels.to(device)
        right += float((logits.argmax(1) == y).sum())
        loss += float(functional.cross_entropy(logits, y, reduction="sum"))
        features.append(phi.cpu())
    return right / len(data.labels), loss / len(data.labels), torch.cat(features)


def penalty_scale(scale: str, rows: int) -> float:
    """``none``: the sum of singular values as printed. ``batch``: over the rows, as released."""
    return {"none": 1.0, "batch": 1 / rows, "sqrt_batch": 1 / math.sqrt(rows)}[scale]


def coral(features: Sequence[Tensor]) -> Tensor:
    """Squared differences of means and covariances over pairs of domains (Sun et al. 2016)."""
    means = [one.mean(0) for one in features]
    covariances = [torch.cov(x.T) for x in features]
    total, pairs = features[0].new_zeros(()), 0
    for i in range(len(features)):
        for j in range(i):
            total = total + (means[i] - means[j]).square().mean()
            total = total + (covariances[i] - covariances[j]).square().mean()
            pairs += 1
    return total / max(1, pairs)


def objective(
    net: Net, batch: list[tuple[Tensor, Tensor]], arm: Mapping[str, Any], step: int,
    draws: torch.Generator,
) -> Tensor:  # fmt: skip
    """The loss of an arm on one batch, a pair (images, labels) a domain."""
    theta = arm.get("nu", 0.0) if step >= arm.get("nu_start_step", 0) else 0.0
    if not arm.get("mixup"):
        phi = net.encoder(torch.cat([x for x, _ in batch]))
        loss = functional.cross_entropy(net.head(phi), torch.cat([y for _, y in batch]))
        if theta:
            scale = penalty_scale(arm.get("nu_scale", "none"), len(phi))
            loss = loss + theta * scale * nuclear_norm(phi)
        if arm.get("coral"):
            loss = loss + arm["coral"] * coral(phi.split([len(y) for _, y in batch]))
        return loss
    order = torch.randperm(len(batch), generator=draws).tolist()
    total = batch[0][0].new_zeros(())
    for i, j in zip(order, order[1:] + order[:1], strict=True):
        # a symmetric Beta as a ratio of two Gammas, from the stream of this training
        pair = torch._standard_gamma(torch.full((2,), float(arm["mixup"])), generator=draws)
        own = float(pair[0] / pair.sum().clamp(min=1e-30))
        (x, y), (other, labels) = batch[i], batch[j]
        phi = net.encoder(own * x + (1 - own) * other)
        logits = net.head(phi)
        total = total + own * functional.cross_entropy(logits, y)
        total = total + (1 - own) * functional.cross_entropy(logits, labels)
        if theta:
            scale = penalty_scale(arm.get("nu_scale", "none"), len(phi))
            total = total + theta * scale * nuclear_norm(phi)
    return total / len(batch)


def train(
    net: Net, learned: Sequence[Labelled], chosen: Labelled, arm: Mapping[str, Any],
    training: Mapping[str, Any], name: tuple[object, ...], device: torch.device | str,
) -> Trained:  # fmt: skip
    """Adam with a constant rate; the checkpoint of the best validation accuracy, and SWAD."""
    optimiser = torch.optim.Adam(
        net.parameters(), training["rate"], weight_decay=training["weight_decay"], fused=True
    )
    draws = generator(*name, "batches")
    orders: list[Tensor] = [torch.empty(0, dtype=torch.long) for _ in learned]
    size, every = training["batch_size"], training["checkpoint_every"]
    best, best_state, at = -1.0, _state(net), 0
    swad = Swad(training["swad"]["converge"], training["swad"]["tolerance"],
                training["swad"]["ratio"])  # fmt: skip
    segment = Average()
    for step in range(1, training["steps"] + 1):
        net.train()
        batch = []
        for i, own in enumerate(learned):
            while len(orders[i]) < size:
                more = torch.randperm(len(own.labels), generator=draws)
                orders[i] = torch.cat([orders[i], more])
            rows, orders[i] = orders[i][:size], orders[i][size:]
            batch.append((pixels(own.images[rows], device), own.labels[rows].to(device)))
        loss = objective(net, batch, arm, step, draws)
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        segment.add(_state(net))
        if step % every == 0 or step == training["steps"]:
            accuracy, validation, _ = evaluate(net, chosen, device)
            if accuracy > best:
                best, best_state, at = accuracy, _state(net), step
            swad.add(segment, validation)
            segment = Average()
    dense, averaged = swad.finish()
    return Trained(best_state, dense, averaged, at)


def _state(net: nn.Module) -> State:
    return {key: value.detach().clone() for key, value in net.state_dict().items()}


class Average:
    """A running mean of weights; ``loss`` is the validation loss at the end of a segment."""

    def __init__(self) -> None:
        self.state: State = {}
        self.count, self.loss = 0, math.inf

    def add(self, state: State, count: int = 1) -> None:
        """Take ``count`` times ``state`` into the mean."""
        self.count += count
        share = count / self.count
        for key, value in state.items():
            if key not in self.state:
                self.state[key] = value.clone()
            elif value.is_floating_point():
                self.state[key].lerp_(value, share)


class Swad:
    """Dense averaging in the valley of the validation loss (Cha et al. 2021, Algorithm 1).

    Parameters
    ----------
    converge
        Segments of which the first must be the lowest for the valley to begin (N_s).
    tolerance
        Segments that must all lie above the threshold for it to end (N_e).
    ratio
        The threshold is the mean loss of the ``converge`` segments times 1 + ratio.
    """

    def __init__(self, converge: int, tolerance: int, ratio: float):
        self.ratio = ratio
        self.start: deque[Average] = deque(maxlen=converge)
        self.smooth: deque[Average] = deque(maxlen=tolerance)
        self.threshold: float | None = None
        self.dead = False
        self.mean, self.segments = Average(), 0
        self.last: Average | None = None

    def add(self, segment: Average, loss: float) -> None:
        """A segment's mean weights, and the validation loss at its end."""
        if self.dead:
            return
        one = copy.copy(segment)
        one.loss, self.last = loss, one
        self.start.append(one)
        self.smooth.append(one)
        if self.threshold is None:
            full = len(self.start) == self.start.maxlen
            if not full or min(own.loss for own in self.start) < self.start[0].loss:
                return
            self.threshold = (
                sum(own.loss for own in self.start) / len(self.start) * (1 + self.ratio)
            )
            # of what came before, back to the first that lies above the threshold
            before = list(self.smooth)[: -len(self.start)]
            kept: list[Average] = []
            for own in reversed(before):
                if own.loss > self.threshold:
                    break
                kept.insert(0, own)
            self._take([*kept, self.start[0]])
            self.smooth = deque(list(self.start)[1:], maxlen=self.smooth.maxlen)
        elif len(self.smooth) == self.smooth.maxlen:
            self._drop_or_die()

    def _drop_or_die(self) -> None:
        assert self.threshold is not None
        if min(own.loss for own in self.smooth) > self.threshold:
            self.dead = True
        else:
            self._take([self.smooth.popleft()])

    def _take(self, segments: Sequence[Average]) -> None:
        for own in segments:
            self.mean.add(own.state, own.count)
            self.segments += 1

    def finish(self) -> tuple[State, int]:
        """The dense average and how many segments it holds; the last segment if none converged."""
        if self.threshold is None:
            assert self.last is not None
            return self.last.state, 0
        while not self.dead and self.smooth:
            self._drop_or_die()
        return self.mean.state, self.segments
