"""Starts and networks on part-composed pictures: names, colours, order. No torch in here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from featlearn.core.drawing.palette import PALETTE

#: What an encoder was trained on before the labels, in the order in which it is shown.
STARTS = {
    "random-cnn": "supervised (CNN)",
    "simmim": "SimMIM (CNN)",
    "random-vit": "supervised (ViT)",
    "mae": "MAE (ViT)",
    "data2vec": "data2vec (ViT)",
}
#: The same where the network is known.
SHORT = {start: words.partition(" (")[0] for start, words in STARTS.items()}
START_COLOURS = {
    "random-cnn": PALETTE["supervised"],
    "simmim": PALETTE["mask reconstruction"],
    "random-vit": PALETTE["supervised"],
    "mae": PALETTE["MAE"],
    "data2vec": PALETTE["teacher-student"],
}

#: What was done before the labels, and how the labelled pictures are shown.
SUPERVISED, PRETRAINED = "supervised", "SimMIM"
PLAIN, AUGMENTED = "plain", "augmented"
#: Linear heads on what no label has shaped, solved to their optimum.
PIXELS, RANDOM, FROZEN = "linear on pixels", "linear on random features", "linear on SimMIM"


@dataclass(frozen=True)
class Arm:
    """A network trained on labels: after ``epochs`` without them, for ``steps`` optimiser steps."""

    start: str
    epochs: float
    augmentation: str
    steps: int


def arms(
    epochs: Sequence[float], labelled_steps: int, unlabelled_steps: Mapping[float, int]
) -> Iterator[Arm]:
    """The trained networks of a replicate.

    Supervised training is as long as fine-tuning, and as long as the longest pre-training and
    fine-tuning together. All have their labelled pictures as they are, and augmented.
    """
    both = labelled_steps + unlabelled_steps[max(epochs)]
    for augmentation in (PLAIN, AUGMENTED):
        for steps in (labelled_steps, both):
            yield Arm(SUPERVISED, 0, augmentation, steps)
        for length in epochs:
            yield Arm(PRETRAINED, length, augmentation, labelled_steps)
