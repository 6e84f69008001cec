"""The toy problem of section 6.3.1 in closed form and by training.

z = y x has z_1 ~ U[0, 1] and z_2 ~ U[0, 1] with probability p, else U[-1, 0]; p is .7 in training
and .3 out of domain. What the thesis leaves open is its mirror image for y = -1.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn import functional

from featlearn.images.nuclear_norm import nuclear_norm
from featlearn.nuclear.model import signed_uniform

#: Probability that x_2 agrees with the label.
ID, OOD = 0.7, 0.3


def accuracy(slope: float, agrees: float) -> float:
    """Of the rule sign(x_1 + slope x_2), for any slope, where x_2 agrees at rate ``agrees``."""
    size = abs(slope)
    wrong = size / 2 if size <= 1 else 1 - 1 / (2 * size)
    return 1 - (1 - agrees if slope > 0 else agrees) * wrong


def draw(n: int, agrees: float, generators: list[torch.Generator]) -> tuple[Tensor, Tensor]:
    """Points (R, n, 2) and labels (R, n) in {-1, 1}."""
    z, y = [], []
    for g in generators:
        first = torch.rand(n, 1, generator=g, dtype=torch.float64)
        z.append(torch.cat([first, signed_uniform(n, 1, agrees - 0.5, g)], 1))
        y.append(torch.randint(2, (n,), generator=g) * 2.0 - 1)
    labels = torch.stack(y).double()
    return labels[..., None] * torch.stack(z), labels


def train(
    x: Tensor, y: Tensor, penalty: float, steps: list[int], rate: float,
    generators: list[torch.Generator], free_head: bool = True,
) -> dict[int, Tensor]:  # fmt: skip
    """Full-batch descent on Phi(x) = A x and a head of one logit; effective weights (R, 2) by step.

    The penalty is on the nuclear norm of all n features over sqrt(n).
    """

    def begin(*shape: int) -> Tensor:
        drawn = [torch.randn(*shape, generator=g, dtype=torch.float64) for g in generators]
        return torch.stack(drawn) / math.sqrt(2)

    a = begin(2, 2).requires_grad_()
    head = begin(2) if free_head else torch.ones(len(x), 2, dtype=torch.float64) / math.sqrt(2)
    head.requires_grad_(free_head)
    moved = [a, head] if free_head else [a]
    seen = {}
    for step in range(max(steps) + 1):
        if step in steps:
            seen[step] = (head[:, None] @ a).squeeze(1).detach()
        phi = x @ a.mT
        loss = functional.softplus(-y * (phi @ head[..., None]).squeeze(-1)).mean(1).sum()
        if penalty:
            loss = loss + penalty * nuclear_norm(phi).sum() / math.sqrt(x.shape[1])
        for value, g in zip(moved, torch.autograd.grad(loss, moved), strict=True):
            value.data -= rate * g
    return seen
