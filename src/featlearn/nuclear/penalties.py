"""What the algorithms minimise: mixed batches, the penalties on features, and the loss of each."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from featlearn.core.seeds import generator
from featlearn.core.training.losses import cross_entropies
from featlearn.images.nuclear_norm import nuclear_norm

Arm = Mapping[str, Any]


class Mixed(NamedTuple):
    """A batch of B images for each of R networks, domain by domain."""

    images: Tensor  #: (R, B, 3, S, S)
    labels: Tensor  #: (R, B)
    others: Tensor  #: labels of what was mixed in, (R, B)
    own: Tensor  #: share of the image with ``labels``, (R, B); 1 where nothing was mixed
    domains: int

    @classmethod
    def of(
        cls, x: Tensor, y: Tensor, domains: int, arms: Sequence[Arm], name: tuple[object, ...]
    ) -> Mixed:  # fmt: skip
        """One batch for all arms; those with ``mixup`` mix domains in a ring of random order.

        Shares are of a Beta distribution, one for each pair of domains (inter-domain mixup).
        ``name`` is that of the step's random streams.
        """
        size, count = len(y) // domains, len(arms)
        order = torch.randperm(domains, generator=generator(*name, "ring"))
        after = torch.empty_like(order)
        after[order] = order.roll(-1)
        rows = (after[:, None] * size + torch.arange(size)).flatten().to(y.device)
        images = x.expand(count, *x.shape)
        own = torch.ones(count, len(y), device=x.device)
        mixing = [i for i, arm in enumerate(arms) if arm.get("mixup")]
        if mixing:
            images = images.clone()
        for i in mixing:
            # a symmetric Beta as a ratio of two Gammas
            alpha = torch.full((domains, 2), float(arms[i]["mixup"]))
            pair = torch._standard_gamma(alpha, generator=generator(*name, "shares"))
            share = (pair[:, 0] / pair.sum(1).clamp(min=1e-30)).repeat_interleave(size)
            own[i] = share.to(x.device)
            part = own[i].view(-1, 1, 1, 1)
            images[i] = part * x + (1 - part) * x[rows]
        return cls(images, y.expand(count, -1), y[rows].expand(count, -1), own, domains)

    @classmethod
    def together(cls, parts: Sequence[Mixed]) -> Mixed:
        """Batches of several trials below each other."""
        return cls(
            torch.cat([one.images for one in parts]), torch.cat([one.labels for one in parts]),
            torch.cat([one.others for one in parts]), torch.cat([one.own for one in parts]),
            parts[0].domains,
        )  # fmt: skip


def losses(
    phi: Tensor, scores: Tensor, batch: Mixed, arms: Sequence[Arm], trials: int, step: int
) -> Tensor:  # fmt: skip
    """The loss of each network, (R,).

    ``phi`` (R, B, p), ``scores`` (R, B, classes): trial by trial, in each all ``arms``.
    """
    entropy = cross_entropies(scores, batch.labels)
    if any(arm.get("mixup") for arm in arms):
        other = cross_entropies(scores, batch.others)
        entropy = batch.own * entropy + (1 - batch.own) * other
    total = entropy.mean(1)
    for mixed in (False, True):
        for norm in ("nuclear", "frobenius"):
            chosen = [(i, arm["nu"]) for i, arm in enumerate(arms) if arm.get("nu")
                      and step >= arm.get("nu_start_step", 0) and bool(arm.get("mixup")) == mixed
                      and arm.get("norm", "nuclear") == norm]  # fmt: skip
            if chosen:
                rows = _rows([i for i, _ in chosen], len(arms), trials)
                parts = batch.domains if mixed else 1
                own = phi[rows].reshape(len(rows), parts, -1, phi.shape[-1])
                size = nuclear_norm(own) if norm == "nuclear" else own.flatten(2).norm(dim=2)
                # the sum of singular values as printed, and over the rows as released
                count = own.shape[2]
                per = {"none": 1.0, "batch": 1 / count, "sqrt_batch": 1 / math.sqrt(count)}
                scale = [w * per[arms[i].get("nu_scale", "none")] for i, w in chosen]
                weight = torch.tensor(scale, device=phi.device).repeat(trials)
                total = total.index_add(0, rows.to(phi.device), weight * size.mean(1))
    aligned = [i for i, arm in enumerate(arms) if arm.get("coral")]
    if aligned:
        rows = _rows(aligned, len(arms), trials)
        weight = torch.tensor([float(arms[i]["coral"]) for i in aligned], device=phi.device)
        distance = coral(phi[rows].reshape(len(rows), batch.domains, -1, phi.shape[-1]))
        total = total.index_add(0, rows.to(phi.device), weight.repeat(trials) * distance)
    return total


def _rows(arms: Sequence[int], count: int, trials: int) -> Tensor:
    return torch.tensor([trial * count + i for trial in range(trials) for i in arms])


def coral(features: Tensor) -> Tensor:
    """Squared differences of means and covariances over pairs of domains (Sun et al. 2016).

    (R, domains, n, p) to (R,): means over entries, then over pairs.
    """
    count, n = features.shape[1:3]
    means = features.mean(2)
    centred = features - means[:, :, None]
    covariances = centred.mT @ centred / (n - 1)
    first, second = torch.triu_indices(count, count, 1)
    apart = (means[:, first] - means[:, second]).square().mean(2)
    apart = apart + (covariances[:, first] - covariances[:, second]).square().mean((2, 3))
    return apart.mean(1)
