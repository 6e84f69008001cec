"""Detection on real images: Faster R-CNN on the encoder of each start, as VOC07+12 in Table 1."""

from __future__ import annotations

import pandas as pd

from featlearn.images.datasets import placed
from featlearn.images.detection import targets_of
from featlearn.images.encoders import Encoder
from featlearn.mrp.images.detection import precision
from featlearn.mrp.images.real import RealExperiment, Reporter, report_of


def real_precision(
    experiment: RealExperiment, encoder: Encoder, reporter: Reporter | None = None
) -> pd.DataFrame:
    """Average precisions on the test images, after training a detector on the encoder.

    Parameters
    ----------
    encoder
        At its start; is trained.

    Returns
    -------
    DataFrame
        Columns quantity (``ap``, ``ap50``, ``ap75``) and value.
    """
    settings, train, test = experiment.settings["detection"], experiment.train, experiment.test
    found = precision(
        encoder,
        (placed(train.images, experiment.device), placed(targets_of(train), experiment.device)),
        (test.images, targets_of(test)),
        experiment.classes,
        settings,
        experiment.plain,
        experiment.name,
        experiment.device,
        report_of(reporter, "detection", settings["training"], len(train)),
    )
    return pd.DataFrame({"quantity": list(found), "value": list(found.values())})
