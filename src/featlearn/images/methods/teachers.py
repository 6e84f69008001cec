"""Masked prediction of a teacher's features: data2vec."""

from __future__ import annotations

import copy
from collections.abc import Iterable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from featlearn.core.errors import ConfigError
from featlearn.images.encoders.base import Encoder
from featlearn.images.methods.masked import MaskedObjective, MaskToken, cells, masked_share


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
        top_blocks: int = 6, beta: float = 2.0, tau_start: float = 0.999, tau_end: float = 0.9999,
        tau_share: float = 0.3,
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
        self.mask = MaskToken(encoder, mask_size)
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
        cells((images.shape[-2], images.shape[-1]), self.encoder.stride)  # or it is refused
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
