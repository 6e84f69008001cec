"""Non-contrastive learning: BYOL (Grill et al. 2020), SimSiam (Chen and He 2021), and without head.

The framework of Wen and Li 2022, section 8 and Figure 8: no negative examples, an online branch
with a prediction head, a target branch without, no gradient through the target.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from featlearn.core.errors import ConfigError
from featlearn.images.augment import Augment
from featlearn.images.encoders.base import Encoder
from featlearn.images.methods.teachers import follow
from featlearn.images.methods.two_view import ProjectionHead, TwoViewObjective


class IdentityHead(nn.Module):
    """A linear head ``z + E z`` that starts as the identity and whose diagonal stays 1."""

    def __init__(self, width: int):
        super().__init__()
        #: ``E`` of the paper; its diagonal has no effect and stays zero
        self.mixing = nn.Parameter(torch.zeros(width, width))

    def forward(self, z: Tensor) -> Tensor:
        return z + F.linear(z, self.off_diagonal())

    def off_diagonal(self) -> Tensor:
        """``E`` (width, width): row ``j`` mixes the other neurons into output ``j``."""
        return off_diagonal(self.mixing)


class LinearHead(nn.Linear):
    """A linear head without bias at PyTorch's random start, all entries trained."""

    def __init__(self, width: int):
        super().__init__(width, width, bias=False)

    def off_diagonal(self) -> Tensor:
        """Its matrix (width, width) with zeros on the diagonal."""
        return off_diagonal(self.weight)


class OutputNorm(nn.Module):
    """What both branches end with (section 8).

    ``batch``: each neuron to mean 0 and variance 1 over the batch, without scale and running
    statistics. ``l2``: each row to length 1.
    """

    def __init__(self, kind: str, width: int):
        super().__init__()
        self.batch = (nn.BatchNorm1d(width, affine=False, track_running_stats=False)
                      if kind == "batch" else None)  # fmt: skip

    def forward(self, z: Tensor) -> Tensor:
        z = z.float()  # under autocast, too
        return F.normalize(z, dim=1) if self.batch is None else self.batch(z)


class Siamese(TwoViewObjective):
    """Two views of an image are to agree; the prediction head makes the branches differ.

    With ``z_i`` the projections of the two views, ``o_i = norm(head(z_i))`` and ``t_i = norm(z_i)``
    without a gradient (or of a moving average of encoder and projection), the loss is ``d(o_1, t_2)
    / 2 + d(o_2, t_1) / 2``. The distance is squared: the mean over neurons after ``batch``, so ``2
    - 2 *`` the mean correlation of a neuron with its target; the sum after ``l2``, so ``2 - 2
    cos``.

    ``encoder``, ``augment``: see :class:`TwoViewObjective`. ``projection``: options of
    :class:`ProjectionHead`. ``momentum``: of the moving average that is the target (BYOL: 0.99);
    None for the network itself (SimSiam). ``stop_gradient``: False lets the gradient pass through
    the target. The others are explained with ``noncontrastive.images`` in
    docs/keys/noncontrastive.md. Weight decay is also of norms and biases, as in the paper's code.
    """

    def __init__(
        self, encoder: Encoder, augment: Augment, projection: Mapping[str, Any] | None = None,
        head: str = "identity", head_hidden: int | None = None, output_norm: str = "batch",
        momentum: float | None = None, stop_gradient: bool = True,
    ):  # fmt: skip
        made = ProjectionHead(encoder.width, **(projection or {}))
        super().__init__(encoder, augment, made)
        if momentum is not None and not stop_gradient:
            raise ConfigError(
                "pretraining.stop_gradient: false; expected true beside momentum: a moving average "
                "has no gradient"
            )
        width = made.width
        self.head = _head(head, width, head_hidden or (projection or {}).get("hidden", 512))
        self.norm = OutputNorm(output_norm, width)
        self.summed = output_norm == "l2"
        self.momentum, self.stop_gradient = momentum, stop_gradient
        self.target: nn.Module | None = None
        if momentum is not None:
            branch = nn.Sequential(encoder, self.projection)
            self.target = copy.deepcopy(branch).requires_grad_(False)

    def judged(
        self, features: tuple[Tensor, Tensor], views: tuple[Tensor, Tensor]
    ) -> dict[str, Tensor]:
        """``loss``, ``correlation`` of the projection, and what :meth:`mixing` gives."""
        online = self.projection(features[0]), self.projection(features[1])
        if self.target is None:
            targets = tuple(z.detach() for z in online) if self.stop_gradient else online
        else:
            targets = self.still(views[0]), self.still(views[1])
        return self.compared(online, (targets[0], targets[1]))

    def still(self, view: Tensor) -> Tensor:
        """What the target makes of a view (B, 3, S, S), without a gradient: (B, width)."""
        with torch.no_grad():
            return self.project(view) if self.target is None else self.target(view)

    def compared(
        self, online: tuple[Tensor, Tensor], targets: tuple[Tensor, Tensor]
    ) -> dict[str, Tensor]:
        """The scalars of :meth:`judged` from projections of both branches, each (B, width)."""
        loss = (self.distance(online[0], targets[1]) + self.distance(online[1], targets[0])) / 2
        return {"loss": loss, "correlation": mean_correlation(online[0].detach()), **self.mixing()}

    def distance(self, online: Tensor, target: Tensor) -> Tensor:
        """Between what the head makes of ``online`` and ``target``, projections (B, width)."""
        squares = (self.norm(self.head(online)) - self.norm(target)).square()
        return squares.sum(1).mean() if self.summed else squares.mean()

    @torch.no_grad()
    def mixing(self) -> dict[str, Tensor]:
        """``off_diagonal``: norm of ``E``; ``asymmetry``: that of ``E - E^T``; empty without."""
        if not isinstance(self.head, IdentityHead | LinearHead):
            return {}
        own = self.head.off_diagonal().float()
        return {"off_diagonal": own.norm(), "asymmetry": (own - own.T).norm()}

    def parameter_groups(
        self, weight_decay: float, layer_decay: float | None = None
    ) -> list[dict[str, Any]]:
        groups = super().parameter_groups(weight_decay, layer_decay)
        return [{**group, "weight_decay": weight_decay} for group in groups]

    def after_step(self, step: int, steps: int) -> None:
        if self.target is not None:
            own = [*self.encoder.parameters(), *self.projection.parameters()]
            follow(self.target.parameters(), own, self.momentum or 0.0)


def _head(kind: str, width: int, hidden: int) -> nn.Module:
    if kind == "mlp":
        return ProjectionHead(width, hidden, width)
    return {"none": nn.Identity, "identity": IdentityHead, "linear": LinearHead}[kind](width)


def off_diagonal(matrix: Tensor) -> Tensor:
    """A square matrix with zeros on its diagonal."""
    return matrix - torch.diag_embed(matrix.diagonal())


def mean_correlation(z: Tensor) -> Tensor:
    """Mean absolute correlation of column pairs of ``z (B, width)``; constant ones have none."""
    z = z.float()
    centred = z - z.mean(0)
    unit = centred / centred.norm(dim=0).clamp(min=1e-12)
    count = z.shape[1]
    return off_diagonal(unit.T @ unit).abs().sum() / max(count * (count - 1), 1)
