"""Figure 5: what channels of adversarially trained networks respond to, with a head and without."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from featlearn.images.adversarial import Attack, steadiness
from featlearn.images.methods.siamese import Siamese
from featlearn.images.visualise import GREY, chroma_share, likeness, maximise_channels, pixels
from featlearn.noncontrastive.images.experiment import HeadExperiment
from featlearn.noncontrastive.images.measure import (
    PROJECTION,
    accuracy,
    correlations,
    effective_rank,
    read_off,
    spectrum,
)

#: Test images that are attacked.
ATTACKED = 256


@dataclass(frozen=True)
class Seen:
    """What one network gave.

    Attributes
    ----------
    quantities : DataFrame
        Columns quantity, value.
    pictures : DataFrame
        Columns kind, channel, row, column, red, green, blue (uint8).
    """

    quantities: pd.DataFrame
    pictures: pd.DataFrame


def look(experiment: HeadExperiment, network: Siamese) -> Seen:
    """Images that maximise channels of the encoder's last layer, how alike they are, and more.

    Quantities: ``likeness`` (mean absolute cosine of two pictures) and ``distinct`` (how many
    pictures they make), see :func:`likeness`; ``chroma``, the share of colour; ``live``, the share
    of channels that can be raised; ``accuracy`` of a linear probe; ``rank``, the effective rank of
    the projection; ``steadiness``, the cosine of features under the attack of the training.
    """
    wanted, encoder = experiment.settings["robust"], network.encoder
    dials = wanted["visualisation"]
    seen = maximise_channels(
        encoder,
        encoder.last_layer,
        range(min(dials["channels"], encoder.width)),
        experiment.image_size,
        experiment.plain.mean,
        experiment.plain.std,
        (*experiment.name, "visualisation"),
        steps=dials["steps"],
        rate=dials["rate"],
        pull=dials["pull"],
    ).cpu()
    deviation = seen - GREY
    # around grey, a channel without a gradient is left with steps of the pull alone
    live = deviation.flatten(1).norm(dim=1) > 2 * dials["rate"]
    alike, distinct = likeness(deviation[live]) if int(live.sum()) > 1 else (1.0, 1.0)
    images = experiment.test.images[:ATTACKED]
    name = (*experiment.name, "attack")
    values = {
        "likeness": alike,
        "distinct": distinct,
        "chroma": float(chroma_share(deviation[live]).mean()) if live.any() else 0.0,
        "live": float(live.double().mean()),
        "accuracy": accuracy(experiment, network),
        "rank": effective_rank(spectrum(correlations(read_off(experiment, network, PROJECTION)))),
        "steadiness": steadiness(
            encoder, images, experiment.plain, Attack(**wanted["attack"]), name
        ),
    }
    quantities = pd.DataFrame({"quantity": list(values), "value": list(values.values())})
    return Seen(quantities, pixels("feature", (seen * 255).round()))
