"""Masked prediction of a teacher's features: data2vec and a relative of BEiT."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from featlearn.core.errors import ConfigError, FeatlearnError
from featlearn.core.seeds import generator
from featlearn.images.encoders.base import Encoder
from featlearn.images.methods.masked import MaskedObjective, MaskToken, masked_share, whole_cells
from featlearn.images.rng import Draws


class Data2Vec(MaskedObjective):
    """Smooth L1 distance to a teacher's features, over the masked positions only.

    ``target = 1/K sum over the last K blocks of norm(block output)`` (section 3.3), without a
    gradient; ``norm`` is a layer norm without parameters. The teacher follows ``teacher <- tau *
    teacher + (1 - tau) * student``, and tau rises linearly from ``tau_start`` to ``tau_end`` over
    the first ``tau_share`` of the training (section 3.2).

    On a convolutional network the target is our choice: at most ``top_blocks`` blocks of the last
    stage; batch norms of the teacher use the batch that it sees, and a position of several mask
    cells counts by its masked share. The options are explained with ``data2vec`` in
    docs/keys/images.md.
    """

    teacher: Encoder

    def __init__(
        self, encoder: Encoder, mask_size: int = 16, mask_ratio: float = 0.6,
        mask_token: str | None = None, top_blocks: int = 6, beta: float = 2.0,
        tau_start: float = 0.999, tau_end: float = 0.9999, tau_share: float = 0.3,
    ):  # fmt: skip
        super().__init__(encoder, mask_size, mask_ratio)
        if not 1 <= top_blocks <= encoder.depth:
            raise ConfigError(
                f"pretraining.top_blocks: {top_blocks}; expected 1 to {encoder.depth}, "
                "the number of the encoder's blocks"
            )
        if not 0 <= tau_start <= tau_end <= 1:
            raise ConfigError(
                f"pretraining.tau_start: {tau_start}; expected 0 <= tau_start <= tau_end <= 1 "
                f"(tau_end is {tau_end})"
            )
        self.mask = MaskToken(encoder, mask_size, mask_token)
        self.top_blocks, self.beta = top_blocks, beta
        self.tau_start, self.tau_end, self.tau_share = tau_start, tau_end, tau_share
        self.predict = nn.Conv2d(encoder.width, encoder.width, 1)
        nn.init.xavier_uniform_(self.predict.weight.view(encoder.width, -1))
        nn.init.zeros_(self.predict.bias)  # type: ignore[arg-type]
        self.teacher = copy.deepcopy(encoder).requires_grad_(False)

    @torch.no_grad()
    def target(self, images: Tensor) -> Tensor:
        """What the teacher makes of whole images: (B, 3, H, W) to float32 (B, width, h, w)."""
        outputs = self.teacher.block_maps(self.teacher.stem(images))
        fitting = [output for output in outputs if output.shape == outputs[-1].shape]
        return average_normalised(fitting[-self.top_blocks :])

    def loss(self, images: Tensor, mask: Tensor) -> Tensor:
        whole_cells(self.encoder, images)
        seen = self.encoder.body(self.mask(self.encoder, images, mask))
        errors = F.smooth_l1_loss(
            self.predict(seen).float(), self.target(images), reduction="none", beta=self.beta
        )
        weights = masked_share(mask, self.mask_size, self.encoder.stride)
        return (errors.mean(1) * weights).sum() / weights.sum()

    def tau(self, step: int, steps: int) -> float:
        """The teacher's tau at the end of ``step`` (from 1) of ``steps``."""
        passed = min(1.0, step / max(1.0, self.tau_share * steps))
        return self.tau_start + passed * (self.tau_end - self.tau_start)

    def after_step(self, step: int, steps: int) -> None:
        follow(self.teacher.parameters(), self.encoder.parameters(), self.tau(step, steps))


@torch.no_grad()
def follow(teacher: Iterable[Tensor], student: Iterable[Tensor], tau: float) -> None:
    """``teacher <- tau * teacher + (1 - tau) * student`` in place, all tensors at once."""
    torch._foreach_lerp_(list(teacher), list(student), 1 - tau)


def average_normalised(maps: list[Tensor]) -> Tensor:
    """Mean over maps (B, C, h, w), each normalised over its channels at each position; float32."""
    total = torch.zeros_like(maps[0], dtype=torch.float32)
    for output in maps:
        last = output.float().movedim(1, -1)
        total = total + F.layer_norm(last, last.shape[-1:]).movedim(-1, 1)
    return total / len(maps)


# --------------------------------------------------------------------------- beit
# The paper (appendix H.3, without formula) reads BEiT as a fixed encoder with a layer that turns
# features of patches into discrete labels: here the nearest centre of k-means.

#: Images that the teacher sees at once while the codes are found.
BATCH = 256


class BEiT(MaskedObjective):
    """Cross-entropy of the teacher's codes, over the masked positions only.

    A position of several mask cells counts by its masked share. The codes must be found beforehand,
    see :meth:`prepare`. ``teacher``: a pretrained encoder, which is not changed; its map is as fine
    as the student's, or finer by a whole factor, and is then averaged. The options are explained
    with ``beit`` in docs/keys/images.md.
    """

    teacher: Encoder
    codebook: Tensor  # (codes, teacher's width); zero before the codes are found

    def __init__(
        self, encoder: Encoder, teacher: Encoder | None = None, mask_size: int = 16,
        mask_ratio: float = 0.4, mask_token: str | None = None, codes: int = 256, rounds: int = 20,
    ):  # fmt: skip
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

        Raises FeatlearnError if the images have fewer positions than there are codes.
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

    ``name``: of the random stream of the start. A centre that loses all its points moves to one of
    those that lie farthest. All sums are matrix products, for the same centres on a GPU every time.
    Raises FeatlearnError if there are fewer points than centres.
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
    """Points that lie apart, drawn by their squared distance (Arthur & Vassilvitskii 2007)."""
    chosen = [points[int(torch.randint(len(points), (), generator=draw))]]
    distance = points.new_full((len(points),), float("inf"))
    for _ in range(number - 1):
        distance = torch.minimum(distance, (points - chosen[-1]).square().sum(1))
        # the first of independent exponential clocks with these rates; exact, and without a cumsum
        clocks = torch.empty(len(points)).exponential_(generator=draw).to(points.device)
        chosen.append(points[(clocks / distance).argmin()])
    return torch.stack(chosen)
