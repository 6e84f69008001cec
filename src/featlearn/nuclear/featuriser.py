"""Training a linear featuriser with a fixed head on the signed-uniform model (ours).

Here the algorithm as it is run can be told from l2: Phi(x) = A x of p features, head ones /
sqrt(p), penalties on A or on the nuclear norm of the batch of features. All arms train at once.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn import functional

from featlearn.core.seeds import generator
from featlearn.images.nuclear_norm import nuclear_norm
from featlearn.nuclear.model import signed_uniform

ARMS = ("none", "l2", "nuclear")


def train(
    arms: list[tuple[str, float]], r: int, d: int, gamma: float, features: int, steps: int,
    batch: int, rate: float, name: tuple[object, ...],
) -> Tensor:  # fmt: skip
    """Effective weights (arms, d) after ``steps`` steps of Adam with a cosine schedule.

    ``arms``: penalty and its weight: ``none``, ``l2`` (weight / 2 ||A||^2), or ``nuclear`` (weight
    times the nuclear norm over sqrt(batch)).
    """
    start = torch.randn(features, d, generator=generator(*name, "start")) / math.sqrt(d) * 0.1
    a = start.repeat(len(arms), 1, 1).requires_grad_()
    head = torch.full((features,), 1 / math.sqrt(features))
    adam = torch.optim.Adam([a], rate)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(adam, steps)
    draws = generator(*name, "batches")
    chosen = {kind: [i for i, arm in enumerate(arms) if arm[0] == kind] for kind in ARMS}
    weight = torch.tensor([arm[1] for arm in arms])
    for _ in range(steps):
        invariant = torch.rand(batch, r, generator=draws)
        z = torch.cat([invariant, signed_uniform(batch, d - r, gamma, draws, torch.float32)], 1)
        phi = z @ a.mT
        loss = functional.softplus(-(phi @ head)).mean(1).sum()
        if chosen["l2"]:
            own = a[chosen["l2"]].square().sum((1, 2))
            loss = loss + (weight[chosen["l2"]] * own).sum() / 2
        if chosen["nuclear"]:
            norms = nuclear_norm(phi[chosen["nuclear"]]) / math.sqrt(batch)
            loss = loss + (weight[chosen["nuclear"]] * norms).sum()
        adam.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        adam.step()
        schedule.step()
    return (head @ a.detach()).double()
