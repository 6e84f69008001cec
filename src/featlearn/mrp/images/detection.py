"""Detection: the encoder below Faster R-CNN, on scenes of several part-composed objects."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd

from featlearn.core.seeds import seeded
from featlearn.images.detection import Detector, detect, detection_precision, pack_targets
from featlearn.images.encoders import Encoder
from featlearn.images.loop import fit
from featlearn.images.scenes import Scenes
from featlearn.mrp.images.experiment import PictureExperiment, Weights
from featlearn.mrp.images.transfer import FROM_SCRATCH, PRETRAINED, SUPERVISED


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
    kind = config["pretraining"]["simmim"]["encoder"]
    starts = {FROM_SCRATCH: None, SUPERVISED: supervised, PRETRAINED: pretrained}
    rows = []
    for method, weights in starts.items():
        tell(method)
        found = _precision(experiment, experiment.encoder(kind, weights), config["detection"])
        rows += [(method, quantity, value, experiment.replicate) for quantity, value in found]
    return pd.DataFrame(rows, columns=["method", "quantity", "value", "replicate"])


def _precision(
    experiment: PictureExperiment, encoder: Encoder, settings: Mapping[str, Any]
) -> list[tuple[str, float]]:
    """Average precisions on fresh scenes after training a detector on the encoder."""
    scenes = Scenes(experiment.world, settings["scenes"])
    train = scenes.sample(settings["train_scenes"], (*experiment.name, "scenes", "train"))
    test = scenes.sample(settings["test_scenes"], (*experiment.name, "scenes", "test"))
    with seeded(*experiment.name, "detector"):
        detector = Detector(
            encoder,
            experiment.world.dials.classes,
            scenes.dials.image_size,
            **settings["detector"],
        )
    fit(
        detector,
        train.images,
        pack_targets(train.boxes, train.labels),
        experiment.plain,
        settings["training"],
        (*experiment.name, "detection"),
        experiment.device,
    )
    found = detect(detector, test.images, experiment.plain, device=experiment.device)
    return list(detection_precision(found, pack_targets(test.boxes, test.labels)).items())
