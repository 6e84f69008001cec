"""What is read off a learner: alignment with atoms, firing, loss, what a representation encodes.

Quantities are tensors (R,), one number a replicate. A *singleton* is a living neuron with more than
half of its squared norm along one atom; an atom is *covered* if some singleton is aligned with it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import pandas as pd
import torch
from torch import Tensor

from featlearn.contrastive.data import Samples, SparseCoding
from featlearn.contrastive.model import Batch, codes, contrastive_loss, encode, similarities
from featlearn.core.evidence.frames import tidy
from featlearn.core.training.heads import Regression, choose, regress

if TYPE_CHECKING:
    from featlearn.contrastive.train import Trained

#: Share of the squared norm along one atom from which a neuron counts as a singleton.
SINGLETON_SHARE = 0.5
#: Constants of the sets of Lemma B.2 and of Theorem C.1 (the paper: small, gamma < 1/100).
C0, GAMMA = 0.01, 0.01


def quantity_frame(quantities: Mapping[str, Tensor], **key: object) -> pd.DataFrame:
    """Columns of ``key``, then replicate, quantity, value; of quantities (R,)."""
    values = torch.stack([each.double().cpu() for each in quantities.values()])
    axes = {"quantity": [*quantities], "replicate": range(values.shape[1])}
    frame = tidy({name: [each] for name, each in key.items()} | axes, value=values)
    return frame[[*key, "replicate", "quantity", "value"]]


def history_frame(arm: str, done: Trained) -> pd.DataFrame:
    """What was observed during a training: columns arm, replicate, step, quantity, value."""
    steps = zip(done.steps, done.history, strict=True)
    frame = pd.concat([quantity_frame(seen, arm=arm, step=step) for step, seen in steps],
                      ignore_index=True)  # fmt: skip
    return frame[["arm", "replicate", "step", "quantity", "value"]]


@dataclass(frozen=True)
class Alignment:
    """How neurons lie to the atoms."""

    alpha: Tensor  #: (R, m, d): ``<w_i, M_j>``
    norm: Tensor  #: (R, m): ``||w_i||``
    #: (R, m) bool: Neurons that fire at all. What never fires encodes nothing and counts as no
    #: singleton.
    alive: Tensor

    @classmethod
    def of(cls, w: Tensor, atoms: Tensor, alive: Tensor | None = None) -> Alignment:
        """All neurons count as living unless ``alive`` is given."""
        norm = w.norm(dim=-1)
        living = torch.ones_like(norm, dtype=torch.bool) if alive is None else alive
        return cls(torch.bmm(w, atoms), norm, living)

    @property
    def share(self) -> Tensor:
        """(R, m): largest share of a neuron's squared norm along one atom."""
        return self.alpha.square().amax(-1) / self.norm.square().clamp_min(1e-30)

    @property
    def best(self) -> Tensor:
        """(R, m): that atom."""
        return self.alpha.abs().argmax(-1)

    @property
    def singleton(self) -> Tensor:
        """(R, m) bool."""
        return (self.share > SINGLETON_SHARE) & self.alive

    @property
    def signal_share(self) -> Tensor:
        """(R, m): share of a neuron's squared norm in ``span(M)``."""
        return self.alpha.square().sum(-1) / self.norm.square().clamp_min(1e-30)

    def covered(self) -> Tensor:
        """(R, d) bool: atoms with a singleton."""
        holds = torch.zeros_like(self.alpha, dtype=torch.bool)
        holds.scatter_(-1, self.best.unsqueeze(-1), self.singleton.unsqueeze(-1))
        return holds.any(1)

    def strength(self, tau: float) -> Tensor:
        """(R, d): ``F_j / (tau log d)`` with ``F_j = sum_i alpha_ij^2``."""
        return self.alpha.square().sum(1) / (tau * math.log(self.alpha.shape[-1]))


def mean_over(values: Tensor, chosen: Tensor, empty: float = 0.0) -> Tensor:
    """Mean of ``values`` over the ``chosen`` entries of all axes but the first; else ``empty``."""
    values, chosen = values.flatten(1).double(), chosen.flatten(1)
    count = chosen.sum(1)
    total = torch.where(chosen, values, 0.0).sum(1)
    return torch.where(count > 0, total / count.clamp_min(1), empty)


def weight_quantities(
    w: Tensor, b: Tensor, atoms: Tensor, tau: float, alive: Tensor | None = None
) -> dict[str, Tensor]:
    """What can be read off weights and thresholds; cheap enough for every record."""
    seen = Alignment.of(w, atoms, alive)
    signal = seen.alpha.norm(dim=-1)
    dense = (seen.norm.square() - signal.square()).clamp_min(0).sqrt()
    return {
        "signal_norm": signal.mean(1),
        "dense_norm": dense.mean(1),
        "signal_share": seen.signal_share.mean(1),
        "singletons": seen.singleton.double().mean(1),
        "covered": seen.covered().double().mean(1),
        "strength_mean": seen.strength(tau).mean(1),
        "bias": b.mean(1),
        "bias_over_norm": (b / seen.norm.clamp_min(1e-30)).mean(1),
        "squared_norm": seen.norm.square().sum(1),
    }


@dataclass(frozen=True)
class Watch:
    """Fixed samples on which a learner is watched; watching moves no random stream of training."""

    batch: Batch
    samples: Samples
    tau: float

    def alive(self, w: Tensor, b: Tensor) -> Tensor:
        """(R, m) bool: neurons that fire on any of the samples."""
        each = zip(*(torch.split(part, 1) for part in (self.samples.x, w, b)), strict=True)
        return torch.cat([(encode(*one) != 0).any(1) for one in each])

    def behaviour(self, w: Tensor, b: Tensor) -> dict[str, Tensor]:
        """Loss, logits, firing and what the representation encodes, replicate by replicate."""
        rows = [self._of_one(w[r : r + 1], b[r : r + 1], slice(r, r + 1)) for r in range(len(w))]
        return {name: torch.cat([row[name] for row in rows]) for name in rows[0]}

    def _of_one(self, w: Tensor, b: Tensor, row: slice) -> dict[str, Tensor]:
        batch = Batch(*(part[row] for part in self.batch))
        seen = codes(batch, w, b)
        positive, negative = similarities(seen.anchor, seen.positive, seen.negative)
        x, z, xi = self.samples.x[row], self.samples.z[row], self.samples.xi[row]
        f, signal, noise = encode(x, w, b), encode(x - xi, w, b), encode(xi, w, b)
        fires = f != 0
        some = (z != 0).any(-1)
        return {
            "loss": contrastive_loss(seen, self.tau),
            "retrieval": (positive > negative.amax(-1, keepdim=True)).flatten(1).double().mean(1),
            "alive": fires.any(1).double().mean(1),
            "firing": fires.double().mean((1, 2)),
            "cosine_noise": torch.cosine_similarity(f, noise, dim=-1).mean(-1),
            "cosine_signal": mean_over(torch.cosine_similarity(f, signal, dim=-1), some),
        }


def firing_precision(seen: Alignment, w: Tensor, b: Tensor, samples: Samples) -> dict[str, Tensor]:
    """Fact E.3: share of the firings of all living singletons in which their atom is active."""
    fires = encode(samples.x, w, b) != 0
    index = seen.best.unsqueeze(1).expand(-1, samples.z.shape[1], -1)
    active = samples.z.gather(-1, index) != 0
    chosen = seen.singleton.unsqueeze(1)
    hits = (fires & active & chosen).sum((1, 2)).double()
    return {"firing_precision": hits / (fires & chosen).sum((1, 2)).clamp_min(1)}


@dataclass(frozen=True)
class Lottery:
    """The sets of Lemma B.2, read off the initial weights."""

    #: (R, m, d) bool: ``i in M_j``: ``alpha_ij(0)^2 >= c2 log d / d ||P w_i(0)||^2``.
    member: Tensor
    #: (R, m, d) bool: ``i in M*_j``: the same with ``c1``, and no other atom reaches ``c2``.
    lucky: Tensor

    @classmethod
    def of(cls, alpha: Tensor, c0: float = C0, gamma: float = GAMMA) -> Lottery:
        d = alpha.shape[-1]
        c1 = 2 + 2 * (1 - gamma) * c0
        c2 = c1 - gamma * c0
        level = math.log(d) / d * alpha.square().sum(-1, keepdim=True)
        member = alpha.square() >= c2 * level
        alone = member.sum(-1, keepdim=True) == 1
        return cls(member, (alpha.square() >= c1 * level) & alone)


def moment_quantities(
    w: Tensor,
    b: Tensor,
    start: Tensor,
    spec: SparseCoding,
    atoms: Tensor,
    *,
    tau: float,
    alive: Tensor | None = None,
) -> dict[str, Tensor]:
    """What Theorems C.1, D.5, 3.4 and Induction Hypotheses D.1 and E.2 bound, at one moment.

    ``w``, ``b``: weights (R, m, D) and thresholds (R, m) at that moment. ``start``: initial
    weights, from which the lottery sets follow. ``alive`` (R, m) bool, optional: neurons that fire
    at all.
    """
    d = spec.atoms
    seen = Alignment.of(w, atoms, alive)
    lottery = Lottery.of(torch.bmm(start, atoms))
    size = seen.alpha.abs()
    norm = seen.norm.unsqueeze(-1)
    luck_line = math.sqrt(2 * math.log(d) / d) * norm
    threshold = b.unsqueeze(-1)
    return {
        **weight_quantities(w, b, atoms, tau, alive),
        "lucky_above": mean_over(size >= (1 + GAMMA * C0) * luck_line, lottery.lucky),
        "others_below": every_pair(size <= (1 - GAMMA * C0) * luck_line, ~lottery.member),
        "lucky_above_bias": mean_over(size >= (1 + C0) * threshold, lottery.lucky),
        "others_below_bias": every_pair(size <= (1 - C0) * threshold, ~lottery.member),
        "lucky_alignment": mean_over(size / norm, lottery.lucky),
        **lottery_outcome(seen, lottery),
    }


def every_pair(holds: Tensor, chosen: Tensor) -> Tensor:
    """(R,): share of the neurons of which all ``chosen`` pairs (R, m, d) obey.

    The share of the pairs would hide nearly all that do not: a neuron has one large coordinate.
    """
    return (holds | ~chosen).all(-1).double().mean(1)


def lottery_outcome(seen: Alignment, lottery: Lottery) -> dict[str, Tensor]:
    """Which pairs of the initial lottery came true.

    ``lucky_came_true``: share of pairs ``i in M*_j`` in which neuron i is a singleton of atom j;
    ``singletons_foreseen``: share of singletons that were lucky for their atom.
    """
    own = torch.nn.functional.one_hot(
        seen.best, seen.alpha.shape[-1]
    ).bool() & seen.singleton.unsqueeze(-1)
    return {
        "lucky_came_true": mean_over(own, lottery.lucky),
        "singletons_foreseen": mean_over(lottery.lucky, own),
    }


#: Penalties that are tried, of both heads.
PENALTIES = (1e2, 1e1, 1.0, 1e-1, 1e-2, 1e-3, 1e-4)
#: Share of the labels that chooses the penalty; the others train.
VALIDATION_SHARE = 0.2
#: Firings below which the scale of a neuron is not known: one that barely passes its threshold once
#: in training may respond a thousand times as much to a fresh sample.
RARE = 5


class Probe(NamedTuple):
    """``nmse`` (R,): mean squared error over mean square of y; ``accuracy`` (R,) where y != 0.

    On fresh samples, and on those that trained the head.
    """

    nmse: Tensor
    accuracy: Tensor
    train_nmse: Tensor
    train_accuracy: Tensor


class Task(NamedTuple):
    """Features (R, n, m) and responses (R, n) for training and for testing."""

    train: Tensor
    y_train: Tensor
    test: Tensor
    y_test: Tensor


def probe(task: Task) -> Probe:
    """Fit ridge regression of ``y`` and logistic regression of its sign, and test them.

    Each is solved to its optimum on standardised features, its penalty chosen on the last labels;
    where all features are zero they know the mean alone. The classification leaves out samples with
    ``y = 0``, whose sign is undefined.
    """
    (x, y), rest = split(task)
    line = regression(task)
    chosen = choose((x, classes(y)), (rest[0], classes(rest[1])), 1, PENALTIES)
    accuracy = chosen.heads.accuracy(task.test, classes(task.y_test))
    return Probe(
        line.nmse(task.test, task.y_test), accuracy, line.nmse(x, y), chosen.train_accuracy
    )


def split(task: Task) -> tuple[tuple[Tensor, Tensor], tuple[Tensor, Tensor]]:
    """Features and responses that train a head, and those of the last labels that choose it.

    A neuron that fires on fewer than :data:`RARE` of the first counts as silent.
    """
    cut = round(task.train.shape[1] * (1 - VALIDATION_SHARE))
    known = (task.train[:, :cut] != 0).sum(1, keepdim=True) >= RARE
    x = task.train * known
    return (x[:, :cut], task.y_train[:, :cut]), (x[:, cut:], task.y_train[:, cut:])


def regression(task: Task) -> Regression:
    """Ridge regression of ``y``, its penalty chosen on the last labels."""
    return regress(*split(task), PENALTIES)


def classes(y: Tensor) -> Tensor:
    """Labels (R, n, 1): 1 where ``y > 0``, 0 where ``y < 0``, -1, not counted, where ``y = 0``."""
    return ((y > 0).long() - (y == 0).long()).unsqueeze(-1)
