"""k-nearest-neighbour probe on frozen features (Wu et al. 2018, section 3.4)."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional


def nearest_neighbours(
    training: tuple[Tensor, Tensor],
    features: Tensor,
    classes: int,
    neighbours: Sequence[int] = (20, 200),
    *,
    temperature: float | None = 0.07,
    chunk: int = 1024,
) -> Tensor:
    """Class of each image by the vote of its nearest training images in cosine similarity.

    Parameters
    ----------
    training
        Features (M, width) and labels int64 (M,).
    features : (N, width)
        What is to be classified, on the same device.
    classes
        Number of classes.
    neighbours
        How many vote: one result each.
    temperature
        A neighbour at similarity s has ``exp(s / temperature)`` votes (Wu et al.: 0.07); None: one.
    chunk
        Images at a time; memory is ``chunk * M``.

    Returns
    -------
    Tensor
        int64 ``(len(neighbours), N)``.

    Raises
    ------
    ValueError
        If there are fewer training images than neighbours, or shapes do not fit.

    Notes
    -----
    Among equally similar training images the first ones count, among classes with as many votes
    the first one: the result does not depend on how a device sorts.
    """
    bank, labels = training
    if not neighbours or min(neighbours) < 1 or max(neighbours) > len(bank):
        raise ValueError(
            f"neighbours: {list(neighbours)}; expected from 1 to {len(bank)}, the training images"
        )
    if bank.shape[1] != features.shape[1] or labels.shape != bank.shape[:1]:
        raise ValueError(
            f"training: features {tuple(bank.shape)}, labels {tuple(labels.shape)}; "
            f"expected (M, {features.shape[1]}) and (M,)"
        )
    bank = functional.normalize(bank.float(), dim=1)
    own = functional.one_hot(labels, classes).float()
    parts = []
    for start in range(0, len(features), chunk):
        similarity = functional.normalize(features[start : start + chunk].float(), dim=1) @ bank.T
        votes = _votes(similarity, temperature)
        sorted_ = similarity.topk(max(neighbours), dim=1).values
        parts.append(
            torch.stack(
                [
                    ((votes * _nearest(similarity, sorted_[:, k - 1], k)) @ own).argmax(1)
                    for k in neighbours
                ]
            )
        )
    return torch.cat(parts, 1)


def _votes(similarity: Tensor, temperature: float | None) -> Tensor:
    if temperature is None:
        return torch.ones_like(similarity)
    return ((similarity - 1) / temperature).exp()  # at most 1: no overflow at low temperatures


def _nearest(similarity: Tensor, smallest: Tensor, k: int) -> Tensor:
    """Which of the training images are the ``k`` nearest ones; bool like ``similarity``."""
    above = similarity > smallest[:, None]
    equal = similarity == smallest[:, None]
    room = k - above.sum(1, keepdim=True)
    return above | (equal & (equal.cumsum(1) <= room))
