"""What an encoder is worth downstream: frozen, and fine-tuned with few and with many labels."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd
import torch
from torch import Tensor

from featlearn.images.accuracy import accuracies
from featlearn.images.classifier import Classifier
from featlearn.images.encoders import Encoder
from featlearn.images.features import extract
from featlearn.images.neighbours import nearest_neighbours
from featlearn.images.pictures import Pictures
from featlearn.images.probe import choose_probe
from featlearn.images.replicate import Weights
from featlearn.mrp.images.experiment import PictureExperiment

#: What is done with an encoder; the names stand in tables and figures.
FINE_TUNED, PROBE, NEIGHBOURS = "fine-tuned", "linear probe", "nearest neighbours"

Told = Callable[[str], None]


def evaluate(
    experiment: PictureExperiment,
    kind: str,
    weights: Weights | None,
    settings: Mapping[str, Any],
    tell: Told = lambda _: None,
) -> tuple[pd.DataFrame, dict[str, Tensor]]:
    """Accuracies of one start, by number of labels.

    Parameters
    ----------
    kind
        Which encoder of the config.
    weights
        Of the encoder after pre-training; None for its random start.
    settings
        ``labels`` (list of numbers), ``finetuning``, ``probe`` and ``neighbours``.
    tell
        Is told what is done next.

    Returns
    -------
    DataFrame
        Columns evaluation, labels, quantity (see :func:`~featlearn.images.accuracy.accuracies`),
        value.
    dict
        Weights of the fine-tuned classifiers, named ``<labels>/<parameter>``.
    """
    frozen = Frozen(experiment, experiment.encoder(kind, weights))
    frames, trained = [], {}
    for count in settings["labels"]:
        tell(f"{count} labels")
        values, classifier = fine_tuned(
            experiment, experiment.encoder(kind, weights), count, settings["finetuning"]
        )
        for name, tensor in classifier.state_dict().items():
            trained[f"{count}/{name}"] = tensor
        seen = {
            FINE_TUNED: values,
            PROBE: frozen.probe(count, settings["probe"]),
            NEIGHBOURS: frozen.neighbours(count, settings["neighbours"]),
        }
        frames += [
            pd.DataFrame({"evaluation": name, "labels": count, **_long(values)})
            for name, values in seen.items()
        ]
    return pd.concat(frames, ignore_index=True), trained


def fine_tuned(
    experiment: PictureExperiment, encoder: Encoder, count: int, settings: Mapping[str, Any]
) -> tuple[dict[str, float], Classifier]:
    """Accuracies after training encoder and head on the first ``count`` labelled pictures."""
    classifier, _ = experiment.classifier(
        encoder, experiment.train.subset(slice(count)), settings, ("fine-tuning", count)
    )
    return tested(experiment, classifier, experiment.test), classifier


def tested(
    experiment: PictureExperiment, classifier: Classifier, pictures: Sequence[Pictures]
) -> dict[str, float]:
    """Accuracies of a classifier on several sets of pictures together."""
    predicted = [
        extract(
            classifier,
            own.images,
            experiment.plain,
            outputs=classifier.scores,
            device=experiment.device,
        ).argmax(1)
        for own in pictures
    ]
    return accuracies(torch.cat(predicted), *truth(pictures))


class Frozen:
    """Features of a frozen encoder, computed once for all numbers of labels."""

    def __init__(self, experiment: PictureExperiment, encoder: Encoder):
        self.experiment = experiment
        self.train, *self.test = (
            extract(encoder, pictures.images, experiment.plain, device=experiment.device)
            for pictures in (experiment.train, *experiment.test)
        )

    def probe(self, count: int, settings: Mapping[str, Any]) -> dict[str, float]:
        """Accuracies of the linear probe; its penalty is chosen on a part of the labelled ones."""
        labels = self.experiment.train.labels[:count]
        held_out = max(1, round(settings["validation_share"] * count))
        fitted, chosen = slice(count - held_out), slice(count - held_out, count)
        probe = choose_probe(
            (self.train[:count][fitted], labels[fitted]),
            (self.train[:count][chosen], labels[chosen]),
            len(self.experiment.train.parts_of_class),
        ).probe
        return self._tested(probe.predict)

    def neighbours(self, count: int, settings: Mapping[str, Any]) -> dict[str, float]:
        """Accuracies of the vote of the nearest labelled pictures."""
        labels = self.experiment.train.labels[:count]
        return self._tested(
            lambda features: nearest_neighbours(
                (self.train[:count], labels),
                features,
                len(self.experiment.train.parts_of_class),
                [min(settings["count"], count)],
                temperature=settings["temperature"],
            )[0]
        )

    def _tested(self, predict: Callable[[Tensor], Tensor]) -> dict[str, float]:
        pictures = self.experiment.test
        predicted = torch.cat([predict(features) for features in self.test])
        return accuracies(predicted, *truth(pictures))


def truth(pictures: Sequence[Pictures]) -> tuple[Tensor, Tensor]:
    """Labels and views of several sets of pictures, one after another."""
    labels = torch.cat([own.labels for own in pictures])
    return labels, torch.cat([own.view for own in pictures])


def _long(values: Mapping[str, float]) -> dict[str, list[Any]]:
    return {"quantity": list(values), "value": list(values.values())}


def encoder_of(classifiers: Mapping[str, Tensor], labels: int) -> dict[str, Tensor]:
    """Weights of the encoder within the classifiers that :func:`evaluate` gives."""
    prefix = f"{labels}/encoder."
    return {
        name.removeprefix(prefix): tensor
        for name, tensor in classifiers.items()
        if name.startswith(prefix)
    }
