"""Pictures that a set holds twice, pixel for pixel: what was trained on is no test."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Mapping

import torch
from torch import Tensor


def digests(images: Tensor) -> list[bytes]:
    """A digest of each of ``images`` (N, 3, S, S) uint8."""
    return [hashlib.blake2b(one.numpy().data, digest_size=16).digest() for one in images]


def repeats(parts: Mapping[str, tuple[Tensor, Tensor]]) -> dict[str, tuple[Tensor, Tensor]]:
    """Which pictures stand in another part as well, and which under another class.

    Parameters
    ----------
    parts
        By name: images (N, 3, S, S) uint8, as decoded, and labels (N,) int64, or (N, classes).

    Returns
    -------
    dict
        By name: bool (N,), the same pixels stand in another part; bool (N,), the same pixels have
        another label, in whatever part.
    """
    known = {name: digests(images) for name, (images, _) in parts.items()}
    places: dict[bytes, set[str]] = defaultdict(set)
    labels: dict[bytes, set[tuple[int, ...]]] = defaultdict(set)
    for name, (_, own) in parts.items():
        for one, label in zip(known[name], own.reshape(len(own), -1).tolist(), strict=True):
            places[one].add(name)
            labels[one].add(tuple(label))
    return {
        name: (
            torch.tensor([len(places[one]) > 1 for one in own], dtype=torch.bool),
            torch.tensor([len(labels[one]) > 1 for one in own], dtype=torch.bool),
        )
        for name, own in known.items()
    }
