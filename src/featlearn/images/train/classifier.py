"""Supervised training and fine-tuning: an encoder with a linear head, mixup and CutMix."""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from featlearn.core.errors import ConfigError
from featlearn.images.encoders.base import Encoder
from featlearn.images.rng import Draws
from featlearn.images.train.objective import Objective


class Classifier(Objective):
    """Cross-entropy of an encoder with a linear head.

    ``classes``: number of classes. ``several``: labels are (N, classes) with 1 yes, 0 no, -1 not
    counted, and the loss is the sum over classes of the binary cross-entropy (VOC). The options are
    explained with ``classifier`` in docs/keys/images.md: label smoothing of Szegedy et al. 2016,
    mixup of Zhang et al. 2018, CutMix of Yun et al. 2019. Raises ConfigError if one is out of
    range, or mixes images with several labels.
    """

    encoder: Encoder

    def __init__(
        self, encoder: Encoder, classes: int, *, several: bool = False, head_std: float = 0.0,
        label_smoothing: float = 0.0, mixup: float = 0.0, cutmix: float = 0.0, freeze: bool = False,
    ):  # fmt: skip
        super().__init__()
        _check(classes, several, label_smoothing, head_std=head_std, mixup=mixup, cutmix=cutmix)
        self.encoder, self.classes, self.several = encoder, classes, several
        self.label_smoothing, self.mixup, self.cutmix = label_smoothing, mixup, cutmix
        self.freeze = freeze
        # a head of zeros needs no stream: what its layer draws is thrown away
        with nullcontext() if head_std else torch.random.fork_rng(devices=[]):
            self.head = nn.Linear(encoder.width, classes)
        nn.init.zeros_(self.head.bias)
        if head_std:
            nn.init.trunc_normal_(self.head.weight, 0, head_std, -2 * head_std, 2 * head_std)
        else:
            nn.init.zeros_(self.head.weight)
        if freeze:
            encoder.requires_grad_(False)

    def train(self, mode: bool = True) -> Classifier:
        super().train(mode)
        if self.freeze:
            self.encoder.eval()
        return self

    def scores(self, images: Tensor) -> Tensor:
        """Normalised images (B, 3, S, S) to scores (B, classes)."""
        return self.head(self.encoder(images))

    def forward(self, images: Tensor, labels: Tensor | None, draws: Draws) -> dict[str, Tensor]:
        """``loss``, and ``accuracy``: the share of images whose best score is a wanted class.

        ``images`` (B, 3, S, S). ``labels`` int64 (B,), or (B, classes) with several labels an
        image. Of mixed images either class counts as right only if its share is the larger one.
        """
        if labels is None:
            raise ValueError("labels: expected the classes of the images, got none")
        if self.several:
            return self._yes_or_no(self.scores(images), labels)
        targets = functional.one_hot(labels, self.classes).to(images.dtype)
        if self.mixup or self.cutmix:
            images, targets = mix(images, targets, draws, mixup=self.mixup, cutmix=self.cutmix)
        scores = self.scores(images).float()
        right = scores.argmax(1) == targets.argmax(1)
        loss = functional.cross_entropy(scores, targets, label_smoothing=self.label_smoothing)
        return {"loss": loss, "accuracy": right.float().mean()}

    def _yes_or_no(self, scores: Tensor, labels: Tensor) -> dict[str, Tensor]:
        scores, counted = scores.float(), labels >= 0
        smooth = self.label_smoothing
        targets = (labels > 0).float() * (1 - smooth) + smooth / 2
        each = functional.binary_cross_entropy_with_logits(scores, targets, reduction="none")
        best = scores.argmax(1, keepdim=True)
        right = labels.gather(1, best) > 0
        return {"loss": (each * counted).sum(1).mean(), "accuracy": right.float().mean()}


def _check(classes: int, several: bool, label_smoothing: float, **positive: float) -> None:
    if classes < 2 and not several:
        raise ConfigError(f"classes: {classes}; expected at least 2")
    if not 0 <= label_smoothing < 1:
        raise ConfigError(f"finetuning.label_smoothing: {label_smoothing}; expected in [0, 1)")
    for name, value in positive.items():
        if value < 0:
            raise ConfigError(f"finetuning.{name}: {value}; expected at least 0")
    if several and (positive["mixup"] or positive["cutmix"]):
        raise ConfigError("finetuning.mixup, finetuning.cutmix: expected 0 with several labels")


# --------------------------------------------------------------------------- mixing
# Image 2i mixes with image 2i + 1 and the other way round: as the order of a batch is random, so is
# the partner, and a batch that processes split at even places mixes as one that is not.


@torch.no_grad()
def mix(
    images: Tensor, targets: Tensor, draws: Draws, *, mixup: float = 0.8, cutmix: float = 1.0
) -> tuple[Tensor, Tensor]:
    """Mix each image with its neighbour, and their targets in the same proportion.

    Zhang et al. 2018 (mixup), Yun et al. 2019 (CutMix). The last image of an odd batch stays.
    ``images`` (B, 3, h, w). ``targets`` (B, classes): probabilities. ``draws``: random numbers of
    this step. ``mixup``, ``cutmix``: parameter of each proportion's symmetric Beta distribution; 0
    for without; with both, one of them at random. Raises ValueError if this process's part of the
    batch starts at an odd place, or is not as long as ``images``.
    """
    if len(images) != len(draws) or len(targets) != len(images):
        raise ValueError(
            f"images: {len(images)}, targets: {len(targets)}; expected {len(draws)} of both, "
            "as many as draws"
        )
    first = range(draws.size)[slice(None) if draws.rows is None else draws.rows].start
    if first % 2:
        raise ValueError(f"draws.rows: starts at {first}; expected an even place: pairs are mixed")
    if not mixup and not cutmix:
        return images, targets
    uniform = draws.uniform("mix", 5)
    cuts = uniform[:, 0] < (0.5 if mixup and cutmix else float(bool(cutmix)))
    own = torch.where(cuts, _beta(uniform[:, 2], cutmix), _beta(uniform[:, 2], mixup))
    own, cuts, place = (x.to(images.device) for x in (own, cuts, uniform[:, 3:]))
    height, width = images.shape[2:]
    kept = own.view(-1, 1, 1).expand(-1, height, width)
    outside = ~_boxes(own, place, height, width)
    kept = torch.where(cuts.view(-1, 1, 1), outside.to(own.dtype), kept)
    share = kept.mean((1, 2)).to(targets)
    kept = kept.unsqueeze(1).to(images)
    return (torch.lerp(_neighbours(images), images, kept),
            torch.lerp(_neighbours(targets), targets, share.unsqueeze(1)))  # fmt: skip


def _neighbours(values: Tensor) -> Tensor:
    """Rows 1, 0, 3, 2, ...; a last one without neighbour stays."""
    order = torch.arange(len(values), device=values.device)
    partner = (order ^ 1).clamp(max=len(values) - 1)
    if values.dim() == 4 and values.is_contiguous(memory_format=torch.channels_last):
        return values.permute(0, 2, 3, 1).index_select(0, partner).permute(0, 3, 1, 2)
    return values.index_select(0, partner)


def _beta(uniform: Tensor, parameter: float) -> Tensor:
    """Symmetric Beta numbers from uniform ones, by the inverse distribution function."""
    if parameter in (0.0, 1.0):
        return uniform
    from scipy.special import betaincinv  # slow to import

    drawn = betaincinv(parameter, parameter, uniform.numpy().astype(np.float64))
    return torch.from_numpy(drawn).to(uniform.dtype)


def _boxes(own: Tensor, place: Tensor, height: int, width: int) -> Tensor:
    """Pixels of the other image, bool ``(n, h, w)``: a box of area ``1 - own`` about ``place``."""
    inside = []
    for axis, length in enumerate((height, width)):
        centre = (place[:, axis] * length).floor()
        half = ((1 - own).sqrt() * length).floor().div(2, rounding_mode="floor")
        line = torch.arange(length, device=own.device).view(1, -1)
        inside.append((line >= (centre - half).view(-1, 1)) & (line < (centre + half).view(-1, 1)))
    return inside[0].unsqueeze(2) & inside[1].unsqueeze(1)
