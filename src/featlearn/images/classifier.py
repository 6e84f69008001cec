"""Supervised training and fine-tuning: an encoder with a linear head.

From scratch and fine-tuned are the same objective; they differ in the weights that the encoder
starts from and in the settings of the training (layer decay, rate, length).
"""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn import functional

from featlearn.core.errors import ConfigError
from featlearn.images.draws import Draws
from featlearn.images.encoders.base import Encoder
from featlearn.images.mixing import mix
from featlearn.images.objective import Objective


class Classifier(Objective):
    """Cross-entropy of an encoder with a linear head.

    Parameters
    ----------
    encoder
    classes
        Number of classes.
    several
        Labels are (N, classes) with 1 yes, 0 no, -1 not counted, and the loss is the sum over
        classes of the binary cross-entropy (VOC), instead of one class an image.
    head_std
        Standard deviation of the head's initial weights (normal, cut at two of them); 0 starts
        from equal probabilities.
    label_smoothing
        Share of the target that is spread over all classes (Szegedy et al. 2016).
    mixup, cutmix
        ``alpha`` of the Beta distribution of the mixing shares (Zhang et al. 2018, Yun et al.
        2019); 0 for none. With both, one of them at random.
    freeze
        Train the head only; the encoder, its norms' statistics included, stays as it is.

    Raises
    ------
    ConfigError
        If a setting is out of range, or mixes images that have several labels.
    """

    encoder: Encoder

    def __init__(
        self,
        encoder: Encoder,
        classes: int,
        *,
        several: bool = False,
        head_std: float = 0.0,
        label_smoothing: float = 0.0,
        mixup: float = 0.0,
        cutmix: float = 0.0,
        freeze: bool = False,
    ):
        super().__init__()
        _check(classes, head_std, label_smoothing, mixup, cutmix, several)
        self.encoder, self.classes, self.several = encoder, classes, several
        self.label_smoothing, self.mixup, self.cutmix = label_smoothing, mixup, cutmix
        self.freeze = freeze
        self.head = nn.Linear(encoder.width, classes)
        nn.init.zeros_(self.head.bias)
        if head_std:
            nn.init.trunc_normal_(self.head.weight, 0, head_std, -2 * head_std, 2 * head_std)
        else:
            nn.init.zeros_(self.head.weight)
        if freeze:
            encoder.requires_grad_(False)

    def train(self, mode: bool = True) -> Classifier:
        """Training mode; a frozen encoder stays in evaluation mode."""
        super().train(mode)
        if self.freeze:
            self.encoder.eval()
        return self

    def scores(self, images: Tensor) -> Tensor:
        """Normalised images (B, 3, S, S) to scores (B, classes).

        For many images: ``extract(classifier, images, preprocess, outputs=classifier.scores)``.
        """
        return self.head(self.encoder(images))

    def forward(self, images: Tensor, labels: Tensor | None, draws: Draws) -> dict[str, Tensor]:
        """``loss``, and ``accuracy``: the share of images whose best score is a wanted class.

        Parameters
        ----------
        images : (B, 3, S, S)
        labels : int64 (B,), or (B, classes) with several labels an image

        Notes
        -----
        Of mixed images either class counts as right only if its share is the larger one.
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
        return {
            "loss": (each * counted).sum(1).mean(),
            "accuracy": right.float().mean(),
        }


def _check(
    classes: int,
    head_std: float,
    label_smoothing: float,
    mixup: float,
    cutmix: float,
    several: bool,
) -> None:
    if classes < 2 and not several:
        raise ConfigError(f"classes: {classes}; expected at least 2")
    if not 0 <= label_smoothing < 1:
        raise ConfigError(f"finetuning.label_smoothing: {label_smoothing}; expected in [0, 1)")
    for name, value in (("head_std", head_std), ("mixup", mixup), ("cutmix", cutmix)):
        if value < 0:
            raise ConfigError(f"finetuning.{name}: {value}; expected at least 0")
    if several and (mixup or cutmix):
        raise ConfigError("finetuning.mixup, finetuning.cutmix: expected 0 with several labels")
