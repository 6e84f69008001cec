"""What a network sees: images, and two views of each under every augmentation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from featlearn.contrastive.images.config import ordered
from featlearn.contrastive.images.experiment import ImageExperiment, by_class
from featlearn.core.plots import canvas
from featlearn.images.figures import bare
from featlearn.images.rng import Draws

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from featlearn.core.job import Job

#: Rows of a block, in words.
VIEWS = {"none": "none", "crop": "crop", "colour": "crop + colour\ndistortion"}
SHOWN = 8


def image_views(job: Job) -> Figure:
    """What a network sees under each augmentation

    Top: images of different classes. Below: two views of each, as contrastive training gets
    them. It is to tell that the two belong together and to tell them from the views of all
    other images. A made image (*shapes*) is a glyph on a plain colour: the glyph is the class,
    the colour is the image's own, and both are drawn independently. *What to see:* without
    augmentation, and with crops alone, colour and brightness are the same in both views, so
    colour is all that is needed to tell images apart. Colour distortion changes both; what the
    views still share is the shape, and a rest of the colour.
    """
    cache = job.results / job.params.cache
    experiments = {
        name: ImageExperiment("augmentations", name, job.config[name], cache, job.seed, 0)
        for name in ordered(job.config)
    }
    lines = 1 + 2 * (len(VIEWS) - 1)
    drawn = canvas(7.2, (0.85 * lines + 0.3) * len(experiments))
    axes = drawn.subplots(lines * len(experiments), SHOWN, squeeze=False)
    for number, (name, experiment) in enumerate(experiments.items()):
        block = iter(axes[number * lines : (number + 1) * lines])
        rows = by_class(experiment.images.train.labels, SHOWN)[:SHOWN]
        images = experiment.images.train.images[rows]
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
