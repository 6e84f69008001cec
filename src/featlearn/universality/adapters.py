"""A small network on cached features of a frozen encoder (section F.3.4, "adapter").

Linear - ReLU - linear, then a linear classifier. Tensors carry a leading axis P = labels x R. The
NT-Xent loss of two augmented copies of the batch, where it has a weight, is taken at its output.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor
from torch.nn import functional

from featlearn.universality.methods import Weights, layer, unit

#: Temperature of NT-Xent, as in the thesis' code.
TEMPERATURE = 0.5


@dataclass(frozen=True)
class Cached:
    """Frozen features of one target.

    ``copies`` (R, N, n, width): of N augmented copies of the training samples. ``parts``: features
    (R, n, width) and classes (R, n) by part. ``classes``: their number. ``floors``: of what learns
    nothing, by name, features (R, n, width) by part.
    """

    copies: Tensor
    parts: dict[str, tuple[Tensor, Tensor]]
    classes: int
    floors: dict[str, dict[str, Tensor]] = field(default_factory=dict)

    def standardised(self) -> Cached:
        """By mean and spread of the training samples, each feature alone."""
        x = self.parts["train"][0]
        mean, spread = x.mean(1, keepdim=True), x.std(1, keepdim=True).clamp_min(1e-6)
        parts = {part: ((own - mean) / spread, y) for part, (own, y) in self.parts.items()}
        copies = (self.copies - mean[:, None]) / spread[:, None]
        return Cached(copies, parts, self.classes, self.floors)


def nt_xent(a: Tensor, b: Tensor, temperature: float = TEMPERATURE) -> Tensor:
    """(P,) SimCLR's loss of two views (P, n, width): 2 n - 2 negatives, both directions."""
    z = unit(torch.cat([a, b], 1))
    logits = z @ z.mT / temperature
    logits = logits.masked_fill(torch.eye(logits.shape[-1], dtype=torch.bool), float("-inf"))
    count = a.shape[1]
    own = torch.cat([logits.diagonal(count, -2, -1), logits.diagonal(-count, -2, -1)], -1)
    return (logits.logsumexp(-1) - own).mean(-1)


def adapted(weights: Weights, x: Tensor) -> Tensor:
    """Output (P, n, out) of adapters."""
    inner = torch.relu(torch.baddbmm(weights["bias"], x, weights["first"].mT))
    return torch.baddbmm(weights["offset"], inner, weights["last"].mT)


def scored(weights: Weights, x: Tensor) -> Tensor:
    """(P, n, classes)."""
    return torch.baddbmm(weights["free"], adapted(weights, x), weights["head"].mT)


def train_adapters(
    cached: Cached, labels: Sequence[int], copies: int, weight: float,
    sizes: tuple[int, int, int, float], random: Sequence[torch.Generator],
) -> Weights:  # fmt: skip
    """Adapters for each number of labels, of each replicate, by Adam with a cosine.

    ``copies``: augmented copies that are used; two different ones are a pair, so ``weight`` asks
    for two. ``weight``: of NT-Xent beside the cross-entropy (lambda). ``sizes``: width of the
    adapter, samples of a step, steps, learning rate. ``random``: a generator a replicate.
    """
    if weight and copies < 2:
        raise ValueError(f"copies: {copies}; expected two or more for a contrastive loss")
    inside, batch, steps, rate = sizes
    width, many = cached.copies.shape[-1], len(labels)
    weights = {
        "first": layer(inside, width, random), "bias": torch.zeros(len(random), 1, inside),
        "last": layer(inside, inside, random), "offset": torch.zeros(len(random), 1, inside),
        "head": torch.zeros(len(random), cached.classes, inside),
        "free": torch.zeros(len(random), 1, cached.classes),
    }  # fmt: skip
    weights = {name: value.repeat(many, 1, 1).requires_grad_() for name, value in weights.items()}
    optimiser = torch.optim.Adam(list(weights.values()), lr=rate, foreach=True)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, steps)
    rows, y = torch.arange(len(random))[:, None], cached.parts["train"][1]
    for _ in range(steps):
        place = torch.stack([torch.rand(batch, generator=own) for own in random])
        pair = torch.stack([torch.randperm(copies, generator=own)[:2] for own in random])
        drawn = [(place * count).long() for count in labels]
        views = [torch.cat([cached.copies[rows, pair[:, view, None], own] for own in drawn])
                 for view in range(2 if weight else 1)]  # fmt: skip
        classes = torch.cat([y[rows, own] for own in drawn])
        outputs = [adapted(weights, view) for view in views]
        scores = torch.baddbmm(weights["free"], outputs[0], weights["head"].mT)
        loss = functional.cross_entropy(scores.flatten(0, 1), classes.flatten()) * len(scores)
        if weight:
            loss = loss + weight * nt_xent(outputs[0], outputs[1]).sum()
        optimiser.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        schedule.step()
    return {name: value.detach() for name, value in weights.items()}
