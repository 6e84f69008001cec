"""Some of the pictures that a network was trained on, as it gets them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from featlearn.core.plots import canvas
from featlearn.images.figures.mosaic import bare
from featlearn.mrp.images.real import open_roles, told_already
from featlearn.own.figures.images import short

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from featlearn.core.job import Job
    from featlearn.images.datasets import ImageSet

#: Classes and pictures of each that are shown.
CLASSES, EACH = 12, 8


def pictures(job: Job) -> Figure:
    """Pictures that the networks were trained on

    The first training images of each class by number, at the size and with the crop that the networks get
    (no augmentation). *What to see:* whether what tells the classes apart is still there; else raise `size`,
    or keep the whole picture with `resize: pad`.
    """
    cache = job.results / job.params.cache
    seen: dict[str, tuple[str, ImageSet]] = {}
    for name, settings in job.config.items():
        data = settings["data"]
        key = str(sorted(data.items(), key=str))
        with told_already():
            seen.setdefault(key, (name, open_roles(data, cache, job.seed, name)["train"]))
    rows = [
        (name, train, label)
        for name, train in seen.values()
        for label in range(min(CLASSES, len(train.classes)))
    ]
    drawn = canvas(8.2, 1.05 * len(rows))
    axes = drawn.subplots(len(rows), EACH, squeeze=False)
    for line, (name, train, label) in zip(axes, rows, strict=True):
        own = train.labels == label if train.labels.dim() == 1 else train.labels[:, label] == 1
        chosen = own.nonzero()[:EACH, 0].tolist()
        for ax in line:
            bare(ax)
        for ax, number in zip(line, chosen, strict=False):
            ax.imshow(train.images[number].permute(1, 2, 0).numpy(), interpolation="nearest")
        for ax in line[len(chosen) :]:
            ax.set_axis_off()
        words = short(train.classes[label])
        line[0].set_ylabel(
            words if len(seen) == 1 else f"{short(name)}\n{words}",
            rotation=0, ha="right", va="center", fontsize=8.5,
        )  # fmt: skip
    return drawn
