"""Fine-tuning with a pre-training loss beside the classes (Shi et al. 2023, "Ours", equation 8).

``mean_n cross-entropy(head(encoder(x_n)), y_n) + weight * contrastive loss`` of two views of the
same labelled images. Weight 0 is fine-tuning on the same views.
"""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn import functional

from featlearn.core.errors import ConfigError
from featlearn.images.draws import Draws
from featlearn.images.encoders.base import Encoder
from featlearn.images.methods.two_view import TwoViewObjective
from featlearn.images.objective import Objective


class Regularised(Objective):
    """Cross-entropy of a linear head on the first view, and the loss of ``method`` on both.

    The encoder's features of the first view serve both terms. The loop gets
    :func:`~featlearn.images.methods.two_view.untouched` for an augmentation.

    Parameters
    ----------
    method
        As it came out of the pre-training, with its queue and its moving average; is trained on.
    classes
        Number of classes. The head starts at zero: equal probabilities.
    weight
        ``lambda`` of the second term. With 0 there is no second view, and only encoder and head
        are trained.
    """

    def __init__(self, method: TwoViewObjective, classes: int, weight: float = 0.1):
        super().__init__()
        if weight < 0:
            raise ConfigError(f"finetuning.weight: {weight}; expected at least 0")
        if classes < 2:
            raise ConfigError(f"classes: {classes}; expected at least 2")
        self.method, self.weight = method, weight
        self.head = nn.Linear(method.encoder.width, classes)
        nn.init.zeros_(self.head.weight)
        nn.init.zeros_(self.head.bias)
        if not weight:
            method.requires_grad_(False)
            method.encoder.requires_grad_(True)

    @property
    def encoder(self) -> Encoder:  # type: ignore[override]
        """That of the method."""
        return self.method.encoder

    def scores(self, images: Tensor) -> Tensor:
        """Normalised images (B, 3, S, S) to scores (B, classes)."""
        return self.head(self.encoder(images))

    def forward(self, images: Tensor, labels: Tensor | None, draws: Draws) -> dict[str, Tensor]:
        """``loss``, ``accuracy`` on the first views, and ``contrast``, the second term unweighted.

        Parameters
        ----------
        images : (B, 3, S, S) uint8
        labels : (B,) int64
        """
        if labels is None:
            raise ValueError("labels: expected the classes of the images, got none")
        views = self.method.views(images, draws)
        if self.weight:
            features = self.method.features(*views)
            contrast = self.method.judged(features, views)["loss"]
        else:
            features = (self.encoder(views[0]),) * 2
            contrast = features[0].new_zeros(())
        scores = self.head(features[0]).float()
        loss = functional.cross_entropy(scores, labels) + self.weight * contrast
        right = (scores.argmax(1) == labels).float().mean()
        return {"loss": loss, "accuracy": right, "contrast": contrast.detach()}

    def after_step(self, step: int, steps: int) -> None:
        """What the method does after a step."""
        if self.weight:
            self.method.after_step(step, steps)
