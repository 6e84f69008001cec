"""Detection: the encoder below Faster R-CNN, on scenes of several part-composed objects."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd
import torch
from torch import Tensor

from featlearn.core.seeds import seeded
from featlearn.images.augment import Augment
from featlearn.images.detection import Detector, detect, detection_precision, pack_targets
from featlearn.images.encoders import Encoder
from featlearn.images.loop import Report, fit
from featlearn.images.scenes import Scenes
from featlearn.mrp.images.experiment import PictureExperiment, Weights
from featlearn.mrp.images.transfer import starts


def detected(
    experiment: PictureExperiment,
    pretrained: Weights,
    supervised: Weights,
    config: Mapping[str, Any],
    tell: Callable[[str], None] = lambda _: None,
) -> pd.DataFrame:
    """Average precision by what the encoder was trained on before.

    Parameters
    ----------
    pretrained, supervised
        Weights of the encoder after SimMIM, and after supervised training, on single objects.
    config
        The ``images`` section; ``detection`` gives scenes, their numbers, detector and training.

    Returns
    -------
    DataFrame
        Columns method, quantity (``ap``, ``ap50``, ``ap75``), value, replicate.
    """
    kind, settings = config["pretraining"]["simmim"]["encoder"], config["detection"]
    scenes = Scenes(experiment.world, settings["scenes"])
    train, test = (
        scenes.sample(settings[f"{part}_scenes"], (*experiment.name, "scenes", part))
        for part in ("train", "test")
    )
    rows = []
    for method, weights in starts(pretrained, supervised).items():
        tell(method)
        found = precision(
            experiment.encoder(kind, weights),
            (train.images, pack_targets(train.boxes, train.labels)),
            (test.images, pack_targets(test.boxes, test.labels)),
            experiment.world.dials.classes,
            settings,
            experiment.plain,
            experiment.name,
            experiment.device,
        )
        rows += [(method, name, value, experiment.replicate) for name, value in found.items()]
    return pd.DataFrame(rows, columns=["method", "quantity", "value", "replicate"])


def precision(
    encoder: Encoder,
    train: tuple[Tensor, Tensor],
    test: tuple[Tensor, Tensor],
    classes: int,
    settings: Mapping[str, Any],
    plain: Augment,
    name: tuple[object, ...],
    device: torch.device,
    report: Report | None = None,
) -> dict[str, float]:
    """Average precisions (``ap``, ``ap50``, ``ap75``) after training a detector on an encoder.

    Parameters
    ----------
    encoder
        Is trained with the rest of the detector.
    train, test
        Images uint8 (N, 3, S, S) and their targets (N, M, 6).
    classes
        Number of classes.
    settings
        ``detector`` (options of :class:`~featlearn.images.detection.Detector`) and ``training``.
    plain
        Normalisation; the detector mirrors images itself, with their boxes.
    name
        Names the random streams: the same for all encoders, which then differ in nothing else.
    """
    with seeded(*name, "detector"):
        detector = Detector(encoder, classes, train[0].shape[-1], **settings["detector"])
    fit(
        detector,
        *train,
        plain,
        settings["training"],
        (*name, "detection"),
        device,
        report=report,
    )
    return detection_precision(detect(detector, test[0], plain, device=device), test[1])
