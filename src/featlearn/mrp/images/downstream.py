"""What an encoder is worth downstream: frozen, and fine-tuned with few and with many labels."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd
import torch
from torch import Tensor, nn

from featlearn.images.encoders import Encoder
from featlearn.images.probes import FINE_TUNED, NEIGHBOURS, PROBE, Frozen, Quality, accuracies
from featlearn.images.train.classifier import Classifier
from featlearn.images.train.replicate import Weights
from featlearn.images.worlds.world import Pictures
from featlearn.mrp.images.experiment import PictureExperiment


def evaluate(
    experiment: PictureExperiment,
    kind: str,
    weights: Weights | None,
    settings: Mapping[str, Any],
    tell: Callable[[str], None] = lambda _: None,
) -> tuple[pd.DataFrame, dict[str, Tensor]]:
    """Accuracies of one start, by number of labels.

    ``kind``, ``weights``: encoder of the config, and its weights after pre-training; None for its
    random start. ``settings``: ``labels`` (list of numbers), ``finetuning``, ``probe`` and
    ``neighbours``. Returns a DataFrame: columns evaluation, labels, quantity (see
    :func:`~featlearn.images.probes.accuracies`), value; a dict: weights of the fine-tuned
    classifiers, named ``<labels>/<parameter>``.
    """
    features = frozen(experiment, experiment.encoder(kind, weights))
    frames: list[pd.DataFrame] = []
    trained: dict[str, Tensor] = {}
    for count in settings["labels"]:
        tell(f"{count} labels")
        values, classifier = fine_tuned(
            experiment, experiment.encoder(kind, weights), count, settings["finetuning"]
        )
        trained |= {f"{count}/{name}": one for name, one in classifier.state_dict().items()}
        by_way = {
            FINE_TUNED: values,
            PROBE: probed(features, count, settings["probe"]["validation_share"]),
            NEIGHBOURS: features.neighbours(slice(count), settings["neighbours"]),
        }
        frames += [long(values, evaluation=way, labels=count) for way, values in by_way.items()]
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
    scores = [experiment.read(classifier, one.images, classifier.scores) for one in pictures]
    return accuracies(torch.cat(scores).argmax(1), *truth(pictures))


def frozen(experiment: PictureExperiment, network: nn.Module) -> Frozen[dict[str, float]]:
    """Features that ``network`` gives of an experiment's pictures, judged by their accuracies."""
    sets = (experiment.train, *experiment.test)
    train, *test = (experiment.read(network, pictures.images) for pictures in sets)
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
    return torch.cat([one.labels for one in pictures]), torch.cat([one.view for one in pictures])


def long(values: Mapping[str, Any], **about: Any) -> pd.DataFrame:
    """A row a quantity: columns ``about``, quantity, value."""
    frame = pd.DataFrame({"quantity": list(values), "value": list(values.values())})
    return frame.assign(**about)[[*about, "quantity", "value"]]


def encoder_of(classifiers: Mapping[str, Tensor], labels: int) -> dict[str, Tensor]:
    """Weights of the encoder within the classifiers that :func:`evaluate` gives."""
    prefix = f"{labels}/encoder."
    return {k.removeprefix(prefix): v for k, v in classifiers.items() if k.startswith(prefix)}
