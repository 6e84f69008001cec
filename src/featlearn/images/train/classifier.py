"""Supervised training and fine-tuning: an encoder with a linear head."""

from __future__ import annotations

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
    counted, and the loss is the sum over classes of the binary cross-entropy (VOC).
    ``label_smoothing``: share of the target that is spread over all classes (Szegedy et al. 2016).
    The head starts at zero, with equal scores. Raises ConfigError if an option is out of range.
    """

    encoder: Encoder

    def __init__(
        self, encoder: Encoder, classes: int, *, several: bool = False,
        label_smoothing: float = 0.0,
    ):  # fmt: skip
        super().__init__()
        if classes < 2 and not several:
            raise ConfigError(f"classes: {classes}; expected at least 2")
        if not 0 <= label_smoothing < 1:
            raise ConfigError(f"finetuning.label_smoothing: {label_smoothing}; expected in [0, 1)")
        self.encoder, self.classes, self.several = encoder, classes, several
        self.label_smoothing = label_smoothing
        # a head of zeros needs no stream: what its layer draws is thrown away
        with torch.random.fork_rng(devices=[]):
            self.head = nn.Linear(encoder.width, classes)
        nn.init.zeros_(self.head.bias)
        nn.init.zeros_(self.head.weight)

    def scores(self, images: Tensor) -> Tensor:
        """Normalised images (B, 3, S, S) to scores (B, classes)."""
        return self.head(self.encoder(images))

    def forward(self, images: Tensor, labels: Tensor | None, draws: Draws) -> dict[str, Tensor]:
        """``loss``, and ``accuracy``: the share of images whose best score is a wanted class.

        ``images`` (B, 3, S, S). ``labels`` int64 (B,), or (B, classes) with several labels an
        image.
        """
        if labels is None:
            raise ValueError("labels: expected the classes of the images, got none")
        if self.several:
            return self._yes_or_no(self.scores(images), labels)
        targets = functional.one_hot(labels, self.classes).to(images.dtype)
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
