"""Sums modulo p of k numbers (section 4.2): all inputs by index arithmetic, splits, orbits.

An input (a_1 ... a_k) is the number that its digits to the base p make, a_1 first, so that no set
of all p^k inputs is ever stored. Inputs that are permutations of each other have the same label and
make one *orbit*: a network that does not see the order knows an input once it knows its orbit.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor


def tuples(index: Tensor, k: int, p: int) -> Tensor:
    """Inputs of these numbers, int64 (..., k)."""
    powers = p ** torch.arange(k - 1, -1, -1, device=index.device)
    return index[..., None] // powers % p


def index_of(a: Tensor, p: int) -> Tensor:
    """Numbers of these inputs (..., k), int64 (...)."""
    k = a.shape[-1]
    return (a * p ** torch.arange(k - 1, -1, -1, device=a.device)).sum(-1)


def labels(a: Tensor, p: int) -> Tensor:
    """(a_1 + ... + a_k) mod p of inputs (..., k)."""
    return a.sum(-1) % p


def orbits(index: Tensor, k: int, p: int) -> Tensor:
    """Number of the sorted input: the same for all permutations of one."""
    return index_of(tuples(index, k, p).sort(-1).values, p)


class Split(NamedTuple):
    """Numbers of the inputs for training and of all others."""

    train: Tensor
    test: Tensor


def split_tuples(k: int, p: int, share: float, stream: torch.Generator) -> Split:
    """A random ``share`` of all inputs for training, as in the thesis."""
    order = torch.randperm(p**k, generator=stream)
    count = round(share * p**k)
    return Split(order[:count], order[count:])


def split_orbits(k: int, p: int, share: float, stream: torch.Generator) -> Split:
    """Whole orbits for training, in random order, as long as they make no more than ``share``."""
    own = orbits(torch.arange(p**k), k, p)
    sizes = own.bincount(minlength=p**k)
    order = torch.randperm(p**k, generator=stream)
    chosen = torch.zeros(p**k, dtype=torch.bool)
    chosen[order] = sizes[order].cumsum(0) <= share * p**k
    taught = chosen[own]
    return Split(taught.nonzero().squeeze(1), (~taught).nonzero().squeeze(1))


def split_mixed(k: int, p: int, share: float, stream: torch.Generator) -> Split:
    """A random ``share`` of all inputs for training, from orbits that hold half of the others, too.

    Test inputs are permutations of these, and as many that are new up to order.
    """
    some = split_orbits(k, p, (1 + share) / 2, stream)
    order = some.train[torch.randperm(len(some.train), generator=stream)]
    count = min(round(share * p**k), len(order))
    return Split(order[:count], torch.cat([order[count:], some.test]))


def split(kind: str, k: int, p: int, share: float, stream: torch.Generator) -> Split:
    """By ``kind``: ``tuples``, ``orbits`` or ``mixed``."""
    kinds = {"tuples": split_tuples, "orbits": split_orbits, "mixed": split_mixed}
    if kind not in kinds:
        raise ValueError(f"split {kind!r}: expected one of {', '.join(kinds)}")
    return kinds[kind](k, p, share, stream)
