"""Detection: an encoder below Faster R-CNN."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from featlearn.core.seeds import seeded
from featlearn.images.augment import Augment
from featlearn.images.detection import Detector, detect, detection_precision
from featlearn.images.encoders import Encoder
from featlearn.images.loop import Report, fit


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
