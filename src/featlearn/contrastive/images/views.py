"""What a network sees: images, and two views of each under every augmentation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import torch

from featlearn.contrastive.images.experiment import ImageExperiment
from featlearn.contrastive.images.measure import by_class
from featlearn.core.plots import canvas
from featlearn.images.draws import Draws
from featlearn.images.figures.mosaic import bare

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Rows of a block, in words.
VIEWS = {"none": "none", "crop": "crop", "colour": "crop + colour\ndistortion"}
SHOWN = 8


def views(experiments: Mapping[str, ImageExperiment]) -> Figure:
    """Images of different classes above, below them two views by each augmentation.

    Parameters
    ----------
    experiments
        By name of the data set, in the order of the panels.
    """
    lines = 1 + 2 * (len(VIEWS) - 1)
    drawn = canvas(7.2, (0.85 * lines + 0.3) * len(experiments))
    axes = drawn.subplots(lines * len(experiments), SHOWN, squeeze=False)
    for number, (name, experiment) in enumerate(experiments.items()):
        block = iter(axes[number * lines : (number + 1) * lines])
        rows = by_class(experiment.train.labels, SHOWN)[:SHOWN]
        images = experiment.train.images[rows]
        for kind, words in VIEWS.items():
            augment = experiment.augment(kind)
            draws = Draws((*experiment.name, "shown-views"), 0, len(images))
            for view, made in enumerate(augment.two_views(images, draws)):
                if kind == "none" and view:
                    continue  # both views are the image itself
                line = next(block)
                for ax, picture in zip(line, augment.denormalise(made), strict=False):
                    ax.imshow(torch.movedim(picture, 0, 2).numpy(), interpolation="nearest")
                label = (
                    f"{name}\nno augmentation" if kind == "none" else f"{words}\nview {view + 1}"
                )
                line[0].set_ylabel(label, rotation=0, ha="right", va="center", fontsize=8)
                for ax in line:
                    bare(ax)
    return drawn
