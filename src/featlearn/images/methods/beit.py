"""Masked prediction of a fixed teacher's codes, in the spirit of BEiT (Bao et al. 2022).

BEiT predicts discrete visual tokens of the masked patches. The paper on mask-reconstruction
pre-training reads it (appendix H.3) as a pretrained encoder that never changes, with a layer on top
that turns features of patches into discrete pseudo-labels. There is no formula and no experiment;
here that layer is the nearest centre of a k-means clustering of the teacher's features.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from featlearn.core.errors import ConfigError, FeatlearnError
from featlearn.core.seeds import generator
from featlearn.images.draws import Draws
from featlearn.images.encoders.base import Encoder
from featlearn.images.masking import masked_share
from featlearn.images.methods.data2vec import average_normalised
from featlearn.images.methods.masked import MaskedObjective, MaskToken, whole_cells

#: Images that the teacher sees at once while the codes are found.
BATCH = 256


class BEiT(MaskedObjective):
    """Cross-entropy of the teacher's codes, over the masked positions only.

    ``loss = mean over masked positions -log p(code of the teacher at this position)``. Where a
    position of the map holds several mask cells, it counts by its masked share. The codes must be
    found beforehand, see :meth:`prepare`.

    Parameters
    ----------
    encoder
        The student.
    teacher
        A pretrained encoder, which is not changed. Its map is as fine as the student's, or finer by
        a whole factor, and is then averaged.
    mask_size, mask_ratio
        Side of a cell in pixels, share of masked cells (about 0.4 in the paper, in blocks; ours are
        single cells).
    mask_token
        ``pixels`` or ``stem``, see :class:`MaskToken`; None chooses by the encoder.
    codes
        Number of codes (8192 in the paper).
    rounds
        Of the clustering.
    """

    teacher: Encoder
    codebook: Tensor  # (codes, teacher's width); zero before the codes are found

    def __init__(
        self,
        encoder: Encoder,
        teacher: Encoder | None = None,
        mask_size: int = 16,
        mask_ratio: float = 0.4,
        mask_token: str | None = None,
        codes: int = 256,
        rounds: int = 20,
    ):
        super().__init__(encoder, mask_size, mask_ratio)
        if not isinstance(teacher, Encoder):  # nor the settings of one
            raise ConfigError("pretraining.kind: beit needs a teacher, a pretrained encoder")
        if encoder.stride % teacher.stride:
            raise ConfigError(
                f"pretraining.teacher: its cells are {teacher.stride} px, the student's "
                f"{encoder.stride} px; expected a divisor"
            )
        self.mask = MaskToken(encoder, mask_size, mask_token)
        self.rounds, self.found = rounds, False
        self.predict = nn.Conv2d(encoder.width, codes, 1)
        nn.init.trunc_normal_(self.predict.weight, std=0.02)
        nn.init.zeros_(self.predict.bias)  # type: ignore[arg-type]
        self.teacher = teacher.requires_grad_(False).eval()
        self.register_buffer("codebook", torch.zeros(codes, teacher.width))

    def train(self, mode: bool = True) -> BEiT:
        """As ever, but the teacher keeps the statistics of its own training."""
        super().train(mode)
        self.teacher.eval()
        return self

    def prepare(self, images: Tensor, name: tuple[object, ...]) -> None:
        """Find the codes: k-means of the teacher's features of ``images`` (N, 3, H, W).

        Raises
        ------
        FeatlearnError
            If the images have fewer positions than there are codes.
        """
        features = torch.cat(list(self._features_in_batches(images)))
        self.codebook.copy_(k_means(features, len(self.codebook), self.rounds, name))

    def _features_in_batches(self, images: Tensor) -> Iterator[Tensor]:
        for batch in torch.split(images, BATCH):
            yield self.features(batch.to(self.codebook.device)).movedim(1, -1).flatten(0, 2)

    @torch.no_grad()
    def features(self, images: Tensor) -> Tensor:
        """The teacher's normalised features on the student's grid: (B, width, h, w) float32."""
        whole_cells(self.encoder, images)
        maps = average_normalised([self.teacher.feature_map(images)])
        factor = self.encoder.stride // self.teacher.stride
        return F.avg_pool2d(maps, factor) if factor > 1 else maps

    def labels(self, images: Tensor) -> Tensor:
        """Number of the nearest code at each position: (B, 3, H, W) to int64 (B * h * w,)."""
        return nearest(self.features(images).movedim(1, -1).flatten(0, 2), self.codebook)

    def draw_mask(self, images: Tensor, draws: Draws) -> Tensor:
        if not self.found:
            self.found = bool(self.codebook.any())  # they may have come with a checkpoint
            if not self.found:
                raise FeatlearnError("beit: no codes yet; call prepare(images, name)")
        return super().draw_mask(images, draws)

    def loss(self, images: Tensor, mask: Tensor) -> Tensor:
        seen = self.encoder.body(self.mask(self.encoder, images, mask))
        scores = self.predict(seen).float().movedim(1, -1).flatten(0, 2)
        errors = F.cross_entropy(scores, self.labels(images), reduction="none")
        weights = masked_share(mask, self.mask_size, self.encoder.stride).flatten()
        return (errors * weights).sum() / weights.sum()


def nearest(points: Tensor, centres: Tensor) -> Tensor:
    """Index of the nearest centre: points (N, D), centres (K, D), int64 (N,)."""
    return (points @ centres.T - centres.square().sum(1) / 2).argmax(1)


def k_means(points: Tensor, number: int, rounds: int, name: tuple[object, ...]) -> Tensor:
    """Centres (number, D) of points (N, D) by Lloyd's algorithm after a k-means++ start.

    The start is drawn from the stream ``name``. A centre that loses all its points moves to one of
    those that lie farthest from their own centres. All sums are matrix products, so a GPU gives the
    same centres every time.

    Raises
    ------
    FeatlearnError
        If there are fewer points than centres.
    """
    if len(points) < number:
        raise FeatlearnError(f"{len(points)} points for {number} codes; expected at least as many")
    centres = _spread(points, number, generator(*name, "codes"))
    for _ in range(rounds):
        sums, counts, distances = points.new_zeros(centres.shape), points.new_zeros(number), []
        for part in torch.split(points, max(1, 2**24 // number)):  # of the (N, K) matrix
            own = F.one_hot(nearest(part, centres), number).to(part.dtype)
            sums, counts = sums + own.T @ part, counts + own.sum(0)
            distances.append((part - own @ centres).square().sum(1))
        empty = (counts == 0).nonzero()[:, 0]
        farthest = torch.cat(distances).topk(len(empty)).indices
        centres = sums / counts.clamp_min(1)[:, None]
        centres[empty] = points[farthest]
    return centres


def _spread(points: Tensor, number: int, draw: torch.Generator) -> Tensor:
    """Points that lie apart (Arthur & Vassilvitskii 2007): each is drawn with a probability in
    proportion to its squared distance from those before it."""
    chosen = [points[int(torch.randint(len(points), (), generator=draw))]]
    distance = points.new_full((len(points),), float("inf"))
    for _ in range(number - 1):
        distance = torch.minimum(distance, (points - chosen[-1]).square().sum(1))
        # the first of independent exponential clocks with these rates; exact, and without a cumsum
        clocks = torch.empty(len(points)).exponential_(generator=draw).to(points.device)
        chosen.append(points[(clocks / distance).argmin()])
    return torch.stack(chosen)
