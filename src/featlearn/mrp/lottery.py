"""The lottery sets: which kernels may win a feature, as the initial draw decides (section 5.2).

A kernel that starts close enough to the best one may overtake it; one that starts further behind
may not. The theorems speak of the kernels of these sets, and presuppose that a kernel belongs to
one set at most.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor


def lottery_sets(correlation: Tensor, constant: float = 0.25) -> Tensor:
    """``M_{i,l} = { r : <w_r, v_{i,l}> >= Lambda_{i,l} (1 - C_M / log k) }`` at the start.

    Parameters
    ----------
    correlation : (R, K, k, L)
        Correlations of the **initial** kernels with the features; the sets are never recomputed.
    constant
        ``C_M``. The paper leaves it open. A proof step wants it above 1, which at k = 10 admits
        every kernel above 0.57 of the best; 0.25 gives sets of a few kernels.

    Returns
    -------
    Tensor
        (R, K, k, L) bool. Only kernels with a positive correlation belong to a set.
    """
    classes = correlation.shape[2]
    share = 1 - constant / math.log(classes)
    best = correlation.amax(1, keepdim=True)
    return (correlation >= best * share) & (correlation > 0)


def memberships(sets: Tensor) -> Tensor:
    """In how many lottery sets each kernel is: (R, K, k, L) bool to (R, K) int64."""
    return sets.flatten(2).sum(-1)


def winner_in_set(correlation: Tensor, sets: Tensor) -> Tensor:
    """Does the strongest kernel of each feature belong to its lottery set?

    Parameters
    ----------
    correlation : (R, K, k, L)
        After training.
    sets : (R, K, k, L) bool
        Of the initial kernels.

    Returns
    -------
    Tensor
        (R, k, L) bool.
    """
    winner = correlation.argmax(1, keepdim=True)
    return torch.gather(sets, 1, winner).squeeze(1)


def expected_largest_gaussian(count: int) -> float:
    """``sqrt(2 ln n)``: the leading order of the largest of n standard Gaussians."""
    return math.sqrt(2 * math.log(count))


def expected_shared(kernels: int, features: int, mean_size: float) -> float:
    """Expected number of kernels in two sets or more, if sets of ``mean_size`` fall independently.

    Correlations with orthonormal features are independent, so the number of sets of a kernel is
    binomial: ``features`` trials of probability ``mean_size / kernels``.
    """
    p = mean_size / kernels
    none = (1 - p) ** features
    one = features * p * (1 - p) ** (features - 1)
    return kernels * (1 - none - one)
