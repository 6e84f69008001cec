"""From a pre-trained method to accuracies: probes, fine-tuning with and without regulariser."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from featlearn.core.seeds import seeded
from featlearn.images.augment import Augment
from featlearn.images.datasets import Labelled
from featlearn.images.encoders import build_encoder
from featlearn.images.features import extract
from featlearn.images.loop import fit
from featlearn.images.methods import build_two_view
from featlearn.images.methods.two_view import TwoViewObjective, untouched
from featlearn.images.probe import choose_probe
from featlearn.images.regularised import Regularised

#: Of the labelled pictures those on which a probe's penalty is chosen; then all are used.
VALIDATION = 0.2
#: Penalties of the probes; see :mod:`featlearn.core.heads`.
PENALTIES = (1e-1, 1e-2, 1e-3, 1e-4)


@dataclass(frozen=True)
class Bench:
    """What all networks of a replicate share.

    Parameters
    ----------
    settings
        ``size``, ``encoder``, ``training``; and ``finetuning`` where that is asked for.
    augment
        Of the pre-training and of fine-tuning.
    name
        Of the random streams.
    device
    """

    settings: Mapping[str, Any]
    augment: Augment
    name: tuple[object, ...]
    device: torch.device

    def method(self, settings: Mapping[str, Any]) -> TwoViewObjective:
        """A method around a new encoder; methods of a replicate start from the same encoder."""
        with seeded(*self.name, "start"):
            encoder = build_encoder(self.settings["encoder"], self.settings["size"])
            return build_two_view(settings, encoder, self.augment)

    def pretrain(self, method: TwoViewObjective, pictures: Tensor, *stream: object) -> None:
        """Train in place, for the epochs of the config."""
        self._fit(method, pictures, None, self.settings["training"], *stream)

    def regularise(self, method: TwoViewObjective, pictures: Tensor, *stream: object) -> None:
        """Go on with the pre-training on the target's pictures alone (Table F.9)."""
        self._fit(method, pictures, None, self.settings["finetuning"]["continued"], *stream)

    def features(self, method: TwoViewObjective, pictures: Tensor) -> Tensor:
        """(N, width) of the frozen encoder."""
        plain = self.augment.plain()
        return extract(method.encoder, pictures, plain, device=self.device)

    def finetune(
        self,
        method: TwoViewObjective,
        labelled: Labelled,
        classes: int,
        weight: float,
        *stream: object,
    ) -> Regularised:
        """Encoder and head trained together from a copy of ``method``; see :class:`Regularised`."""
        tuned = Regularised(copy.deepcopy(method), classes, weight)
        settings = self.settings["finetuning"]["training"]
        settings = settings | {"batch_size": min(settings["batch_size"], len(labelled.labels))}
        self._fit(tuned, labelled.images, labelled.labels, settings, *stream)
        return tuned

    def accuracy(self, tuned: Regularised, labelled: Labelled) -> float:
        """Share of the pictures whose highest score is their class."""
        plain = self.augment.plain()
        scores = extract(tuned, labelled.images, plain, outputs=tuned.scores, device=self.device)
        return float((scores.argmax(1) == labelled.labels).double().mean())

    def _fit(
        self, objective: Any, pictures: Tensor, labels: Tensor | None,
        settings: Mapping[str, Any], *stream: object,
    ) -> None:  # fmt: skip
        fit(
            objective, pictures.to(self.device), None if labels is None else labels.to(self.device),
            untouched, settings, (*self.name, *stream), self.device,
        )  # fmt: skip


def probe(
    features: tuple[Tensor, Tensor], labels: tuple[Tensor, Tensor], classes: int
) -> tuple[float, float]:
    """Training and test accuracy of a linear head, solved to its optimum.

    Its penalty is chosen on a fifth of the labelled pictures, then it is solved again on all.

    Parameters
    ----------
    features, labels
        Of the labelled pictures, in random order, and of the test pictures.
    """
    held = max(1, round(VALIDATION * len(labels[0])))
    x, y = features[0].double(), labels[0]
    chosen = choose_probe((x[held:], y[held:]), (x[:held], y[:held]), classes, PENALTIES).probe
    both = [
        float((chosen.predict(own.double()) == label).double().mean())
        for own, label in zip(features, labels, strict=True)
    ]
    return both[0], both[1]
