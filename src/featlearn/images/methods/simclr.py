"""SimCLR (Chen et al. 2020, "A Simple Framework for Contrastive Learning").

NT-Xent between two views of each image.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from featlearn.core.errors import ConfigError
from featlearn.images.augment import Augment
from featlearn.images.distributed import current, gathered
from featlearn.images.draws import Draws
from featlearn.images.encoders.base import Encoder
from featlearn.images.methods.two_view import ProjectionHead, TwoViewObjective


def nt_xent(
    views: Sequence[Tensor], temperature: float, others: Sequence[Tensor] | None = None
) -> Tensor:
    """Normalised temperature-scaled cross-entropy (SimCLR, equation 1), for two or more views.

    With unit vectors ``z`` an anchor's loss is the mean over its positives ``j``, the same image in
    the other views, of ``-log(exp(z_i z_j / tau) / sum_k exp(z_i z_k / tau))``, where ``k`` runs
    over all views of all images but the anchor itself.

    Parameters
    ----------
    views
        V tensors (B, D), row ``b`` of each from the same image; their vectors need no unit length.
    temperature
        ``tau``.
    others
        V tensors (B', D) of further images, which are negatives and no anchors.

    Returns
    -------
    Tensor
        Mean over the V * B anchors.
    """
    count, size = len(views), len(views[0])
    anchors = functional.normalize(torch.cat(list(views)).float(), dim=1)
    bank = anchors
    if others is not None:
        more = functional.normalize(torch.cat(list(others)).float(), dim=1)
        bank = torch.cat([anchors, more])
    logits = anchors @ bank.T / temperature
    itself = torch.arange(count * size, device=logits.device)
    # an anchor is no candidate for itself: the diagonal of the left square
    logits = logits.diagonal_scatter(logits.new_full((count * size,), float("-inf")))
    log_share = logits - logits.logsumexp(1, keepdim=True)
    shifts = torch.arange(1, count, device=logits.device) * size
    positives = (itself[:, None] + shifts) % (count * size)
    return -log_share.gather(1, positives).mean()


class SimCLR(TwoViewObjective):
    """NT-Xent between two views, on normalised projections.

    In several processes the images of all of them are each other's negatives, as if there were
    one; the parts of an accumulated batch do not see each other.

    Parameters
    ----------
    encoder, augment
        See :class:`TwoViewObjective`.
    projection
        Options of :class:`ProjectionHead`.
    temperature
        Of NT-Xent.
    """

    def __init__(
        self,
        encoder: Encoder,
        augment: Augment,
        projection: Mapping[str, Any] | None = None,
        temperature: float = 0.5,
    ):
        if temperature <= 0:
            raise ConfigError(f"pretraining.temperature: {temperature}; expected more than 0")
        super().__init__(encoder, augment, ProjectionHead(encoder.width, **(projection or {})))
        self.temperature = temperature
        self._draws: Draws | None = None

    def forward(self, images: Tensor, labels: Tensor | None, draws: Draws) -> dict[str, Tensor]:
        """``loss`` and ``retrieval`` of two views of the images, uint8 (B, 3, S, S)."""
        self._draws = draws
        return super().forward(images, labels, draws)

    def features(self, first: Tensor, second: Tensor) -> tuple[Tensor, Tensor]:
        """What the encoder makes of both views at once: batch norms see them together."""
        both = self.encoder(torch.cat([first, second])).chunk(2)
        return both[0], both[1]

    def judged(
        self, features: tuple[Tensor, Tensor], views: tuple[Tensor, Tensor]
    ) -> dict[str, Tensor]:
        """``loss``, and ``retrieval``: the share of anchors whose positive is the nearest."""
        return self.compared(list(self.projection(torch.cat(features)).chunk(2)))

    def compared(self, projected: list[Tensor]) -> dict[str, Tensor]:
        """``loss`` and ``retrieval`` of projections (B, D), one a view."""
        others = self._of_others(projected)
        loss = nt_xent(projected, self.temperature, others)
        with torch.no_grad():
            found = retrieval(projected[0], projected[1])
        return {"loss": loss, "retrieval": found}

    def _of_others(self, projected: list[Tensor]) -> list[Tensor] | None:
        """Projections of the images of the other processes."""
        if current().count == 1 or self._draws is None or self._draws.rows is None:
            return None
        rows, size = self._draws.rows, self._draws.size
        return [gathered(each, rows, size) for each in projected]


def retrieval(anchors: Tensor, positives: Tensor) -> Tensor:
    """Share of rows whose positive is nearer than those of all other rows, by cosine; a scalar."""
    near = functional.normalize(anchors.float(), dim=1)
    far = functional.normalize(positives.float(), dim=1)
    similarity = near @ far.T
    return (similarity.diagonal() >= similarity.amax(1)).float().mean()
