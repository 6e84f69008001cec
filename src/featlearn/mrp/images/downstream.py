"""What an encoder is worth downstream: frozen, and fine-tuned with few and with many labels."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd
import torch
from torch import Tensor, nn

from featlearn.images.accuracy import accuracies
from featlearn.images.classifier import Classifier
from featlearn.images.encoders import Encoder
from featlearn.images.features import extract
from featlearn.images.pictures import Pictures
from featlearn.images.replicate import Weights
from featlearn.mrp.images.experiment import PictureExperiment
from featlearn.mrp.images.frozen import Frozen, Quality

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
    features = frozen(experiment, experiment.encoder(kind, weights))
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
            PROBE: probed(features, count, settings["probe"]["validation_share"]),
            NEIGHBOURS: features.neighbours(slice(count), settings["neighbours"]),
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


def frozen(experiment: PictureExperiment, network: nn.Module) -> Frozen[dict[str, float]]:
    """Features that ``network`` gives of an experiment's pictures, judged by their accuracies."""
    train, *test = (
        extract(network, pictures.images, experiment.plain, device=experiment.device)
        for pictures in (experiment.train, *experiment.test)
    )
    return Frozen(
        train,
        experiment.train.labels,
        torch.cat(test),
        len(experiment.train.parts_of_class),
        lambda scores: accuracies(scores.argmax(1), *truth(experiment.test)),
        experiment.device,
    )


def probed(features: Frozen[Quality], count: int, share: float) -> Quality:
    """A linear probe on the first ``count`` labels, the last ``share`` of which choose."""
    fitted = count - max(1, round(share * count))
    return features.probe(slice(fitted), slice(fitted, count))


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
