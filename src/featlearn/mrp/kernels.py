"""What kernels hold: features, several of them, noise; and which may win a feature (section 5).

Theorem 1(b), (c) say that a kernel captures at most one feature. An *impure* kernel holds more: two
of the same class (*sibling*: they occur together in every sample of their class) or features of
different classes (*cross*); it may be both.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from featlearn.mrp.data import Samples
from featlearn.mrp.model import Activation, correlations


@dataclass(frozen=True)
class Capture:
    """Which kernel holds which feature.

    A feature is *captured* when a kernel's correlation with it reaches ``varrho``; such a kernel is
    a *winner*. ``correlation`` (R, K, k, L): ``<w_r, v_{i,l}>``. ``by_class``: only kernels of the
    feature's class count (a class under a fixed head cannot use those of another).
    """

    correlation: Tensor
    varrho: float
    by_class: bool = False

    def strength(self) -> Tensor:
        """``Lambda_{i,l}`` (R, k, L): the largest positive correlation of an eligible kernel."""
        if not self.by_class:
            return self.correlation.amax(1).clamp_min(0)
        replicates, kernels, classes, views = self.correlation.shape
        blocks = self.correlation.view(replicates, classes, kernels // classes, classes, views)
        each = torch.arange(classes, device=blocks.device)
        return blocks[:, each, :, each].permute(1, 0, 2, 3).amax(2).clamp_min(0)

    def captured(self) -> Tensor:
        """(R, k, L) bool."""
        return self.strength() >= self.varrho

    def held(self) -> Tensor:
        """(R, K) number of features that each kernel holds."""
        return (self.correlation >= self.varrho).flatten(2).sum(-1)

    def largest_off_diagonal(self) -> Tensor:
        """(R,) the largest |correlation| of a winner with a feature that is not its strongest."""
        size = self.correlation.abs().flatten(2)
        best = size.amax(-1, keepdim=True)
        winner = self.held() > 0
        # the strongest is put at -1, below any |correlation|, so the maximum is over the others
        others = torch.where(size == best, -1.0, size).amax(-1)
        return torch.where(winner, others, 0.0).amax(-1).clamp_min(0)

    def summary(self) -> dict[str, Tensor]:
        """What the kernels of a model hold, each (R,)."""
        return {
            "captured": self.captured().flatten(1).double().mean(-1),
            "weakest_feature": self.strength().flatten(1).amin(-1),
            "winners": (self.held() > 0).sum(-1),
            "impure_winners": (self.held() > 1).sum(-1),
            "largest_off_diagonal": self.largest_off_diagonal(),
        }

    def counts(self) -> dict[str, Tensor]:
        """Numbers of kernels, each (R,), and ``largest``, the largest correlation of any.

        ``winners`` hold a feature, ``impure`` ones more than one, ``sibling`` ones two of a class,
        ``cross`` ones features of two classes.
        """
        in_class = (self.correlation >= self.varrho).sum(-1)  # (R, K, k)
        features, classes = in_class.sum(-1), (in_class > 0).sum(-1)
        return {
            "winners": (features > 0).sum(-1),
            "impure": (features > 1).sum(-1),
            "sibling": (in_class > 1).any(-1).sum(-1),
            "cross": (classes > 1).sum(-1),
            "largest": self.correlation.flatten(1).amax(1),
        }

    def second_best(self) -> Tensor:
        """(R, k, L) largest |correlation| of a feature with a kernel whose strongest it is not."""
        size = self.correlation.abs().flatten(2)
        strongest = size == size.amax(-1, keepdim=True)
        return size.masked_fill(strongest, 0).amax(1).view(-1, *self.correlation.shape[2:])

    def purity(self) -> dict[str, Tensor]:
        """Counts of kernels with shares and the largest off-diagonal correlation, each (R,)."""
        counts = self.counts()
        return {
            **counts,
            "impure_share": impure_share(counts["impure"], counts["winners"]),
            "captured": self.captured().flatten(1).double().mean(-1),
            "off_diagonal": self.second_best().flatten(1).amax(-1),
        }


def capture(
    w: Tensor, features: Tensor, activation: Activation, *, by_class: bool = False
) -> Capture:
    """Correlations of kernels (R, K, d) with features (R, k, L, d), ready to be counted."""
    return Capture(correlations(w, features), activation.varrho, by_class)


def impure_share(impure: Tensor, winners: Tensor) -> Tensor:
    """Share of the winners that are impure; 0 where there is no winner."""
    return impure / winners.clamp_min(1)


def lottery_sets(correlation: Tensor, constant: float = 0.25) -> Tensor:
    """``M_{i,l} = { r : <w_r, v_{i,l}> >= Lambda_{i,l} (1 - C_M / log k) }`` (section 5.2).

    Kernels that start close enough to the best one may overtake it. The theorems presuppose that a
    kernel belongs to one set at most.

    ``correlation`` (R, K, k, L): of the **initial** kernels with the features. ``constant``:
    ``C_M``, which the paper leaves open. A proof step wants it above 1, which at k = 10 admits
    every kernel above 0.57 of the best; 0.25 gives sets of a few kernels. Returns a Tensor (R, K,
    k, L) bool, true of positive correlations only.
    """
    share = 1 - constant / math.log(correlation.shape[2])
    best = correlation.amax(1, keepdim=True)
    return (correlation >= best * share) & (correlation > 0)


def memberships(sets: Tensor) -> Tensor:
    """In how many lottery sets each kernel is: (R, K, k, L) bool to (R, K) int64."""
    return sets.flatten(2).sum(-1)


#: Patches of the feature that a winner holds most, of other features, and without a feature.
KINDS = ("own", "other", "background")


def alignment(
    w: Tensor, features: Tensor, noise: Tensor, samples: Samples, varrho: float
) -> dict[str, Tensor]:
    """``|<w_r, xi_p>|`` for all kernels and patches, summarised by kind of patch.

    A winner's ``own`` patches are those of its strongest feature; every other patch with a feature
    is ``other`` to it, and to a kernel that holds none.

    ``w`` (R, K, d). ``features`` (R, k, L, d). ``noise`` (R, N, P, d): ``xi_p`` of ``samples``.
    Returns a dict: ``largest``, ``rms`` and the number of ``pairs`` of kernel and patch, each
    (:data:`KINDS`, R); 0 where there is no pair.
    """
    best, strongest = correlations(w, features).flatten(2).max(-1)
    strongest = torch.where(best >= varrho, strongest, -2)  # -2 owns no patch
    largest = torch.zeros(len(KINDS), len(w), dtype=torch.float64)
    rms, pairs = torch.zeros_like(largest), torch.zeros(largest.shape, dtype=torch.int64)
    for r in range(len(w)):  # one at a time: N * P * K numbers each
        size = (noise[r].flatten(0, 1) @ w[r].T).abs()
        owner = samples.owner[r].flatten()[:, None]
        own = owner == strongest[r][None]
        background = (owner < 0).expand_as(own)
        for kind, chosen in enumerate((own, ~own & ~background, background)):
            values = size[chosen].double()
            pairs[kind, r] = values.numel()
            if values.numel():
                largest[kind, r] = values.max()
                rms[kind, r] = float((values**2).sum() / values.numel()) ** 0.5
    return {"largest": largest, "rms": rms, "pairs": pairs}
