"""Figures that show pictures: training images as networks get them, and Eigen-CAM maps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from featlearn.core.files import read_tensors
from featlearn.core.plots import COLOURS, canvas
from featlearn.images.api import heat_maps
from featlearn.images.data.datasets import in_turn
from featlearn.images.figures import bare, enlarged, height_of, image_cell, page, slots
from featlearn.images.rng import Draws
from featlearn.images.train.classifier import Classifier
from featlearn.images.train.features import extract
from featlearn.own_images.analysis import METHODS, cut, short
from featlearn.own_images.config import RANDOM, map_panels, method_of
from featlearn.own_images.experiment import RealExperiment, open_roles, reported_already

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from featlearn.core.job import Job
    from featlearn.images.data.datasets import ImageSet

#: Classes and pictures of each that are shown.
CLASSES, EACH = 12, 8
#: Letters of a class's name that stand below a map.
LETTERS = 16


def pictures(job: Job) -> Figure:
    """Pictures that the networks were trained on

    *What to see:* whether the classes can still be told apart; else raise `size`, or keep the whole
    picture with `resize: pad`. The first training images of each class, at the networks' size and
    crop, without augmentation.
    """
    cache = job.results / job.params.cache
    sets: dict[str, tuple[str, ImageSet]] = {}
    for name, settings in job.config.items():
        key = str(sorted(settings["data"].items(), key=str))
        with reported_already():
            opened = open_roles(settings["data"], cache, job.seed, name)
        sets.setdefault(key, (name, opened["train"]))
    rows = [(name, train, label) for name, train in sets.values()
            for label in range(min(CLASSES, len(train.classes)))]  # fmt: skip
    drawn = canvas(8.2, 1.05 * len(rows))
    axes = drawn.subplots(len(rows), EACH, squeeze=False)
    for line, (name, train, label) in zip(axes, rows, strict=True):
        members = train.labels == label if train.labels.dim() == 1 else train.labels[:, label] == 1
        for ax in line:
            bare(ax)
        chosen = members.nonzero()[:EACH, 0].tolist()
        for ax, number in zip(line, chosen, strict=False):
            ax.imshow(train.images[number].permute(1, 2, 0).numpy(), interpolation="nearest")
        for ax in line[len(chosen) :]:
            ax.set_axis_off()
        words = short(train.classes[label])
        line[0].set_ylabel(words if len(sets) == 1 else f"{short(name)}\n{words}",
                           rotation=0, ha="right", va="center", fontsize=8.5)  # fmt: skip
    return drawn


@dataclass(frozen=True)
class Panel:
    """Images beside what some classifiers make of them.

    ``title``: which data. ``images``: uint8 (N, 3, S, S). ``truth``: names of each image's classes,
    if known. ``overlays``: uint8 (N, 3, L, L) a classifier, by its name. ``said``: the class that
    it says.
    """

    title: str
    images: Tensor
    truth: Sequence[Sequence[str]]
    overlays: Mapping[str, Tensor]
    said: Mapping[str, Sequence[str]]


def panel(
    title: str, experiments: Mapping[str, tuple[RealExperiment, Classifier]], count: int
) -> Panel:
    """Maps of classifiers, by their names, on the same test images, each with its experiment."""
    test = next(iter(experiments.values()))[0].test
    # by a rule and not by hand; by number, where an image may have several classes
    turns = in_turn(test.labels) if test.labels.dim() == 1 else torch.arange(len(test))
    rows = turns[:count]
    images = test.images[rows]
    overlays, said = {}, {}
    for name, (experiment, classifier) in experiments.items():
        plain, device = experiment.plain, experiment.device
        inputs = plain(images, Draws(("evaluation",), 0, len(images)))
        heat = heat_maps(classifier.encoder, inputs, device=str(device))
        scores = extract(classifier, images, plain, outputs=classifier.scores, device=device)
        overlays[name] = enlarged(images, heat)
        said[name] = [test.classes[label] for label in scores.argmax(1).tolist()]
    truth = [
        [test.classes[number]
         for number in ((label != 0).nonzero()[:, 0] if label.dim() else [label])]
        for label in test.labels[rows]
    ]  # fmt: skip
    return Panel(title, images, truth, overlays, said)


def maps_figure(panels: Sequence[Panel]) -> Figure:
    """One panel below the other; a slot an image: itself, then its map under each classifier."""
    across = [3 if len(one.overlays) < 3 else 2 for one in panels]
    heights = [height_of(1 + len(one.overlays), wide, -(-len(one.images) // wide)) + 0.3
               for one, wide in zip(panels, across, strict=True)]  # fmt: skip
    drawn = page(sum(heights))
    parts = drawn.subfigures(len(panels), 1, height_ratios=heights, squeeze=False)[:, 0]
    for part, one, wide in zip(parts, panels, across, strict=True):
        part.suptitle(one.title, x=0.01, ha="left", fontsize=9, weight="bold")
        cells_of = slots(part, len(one.images), list(one.overlays), wide)
        for number, (cells, known) in enumerate(zip(cells_of, one.truth, strict=True)):
            image_cell(cells[0], one.images[number], one.images.shape[-1])
            more = f" + {len(known) - 1}" if len(known) > 1 else ""
            _below(cells[0], known[0] + more if known else "no class", COLOURS["ink"])
            for ax, name in zip(cells[1:], one.overlays, strict=True):
                image_cell(ax, one.overlays[name][number], one.images.shape[-1])
                if (said := one.said[name][number]) not in known:
                    _below(ax, f"says {said}", COLOURS["red"])
    return drawn


def _below(ax: Axes, words: str, colour: str) -> None:
    text = cut(words, LETTERS).replace("$", r"\$")
    ax.set_xlabel(text, fontsize=8, color=colour, labelpad=2)


def maps(job: Job) -> Figure:
    """Heat maps

    *What to see:* the paper expects maps after pre-training (right) to be warm on more parts of the
    object. Eigen-CAM maps of the first replicate's classifiers with the most labels, beside the
    image: labels only, then pre-trained and fine-tuned. Test images are the first of each class by
    number, then the second. Below a picture is its class, below a map a wrong answer. Parts are not
    known here, so nothing is counted, and a map shows one direction of a layer.
    """
    cache = job.results / job.params.cache
    files = iter(job.files("classifiers"))
    panels = []
    for columns in map_panels(job.config):
        trained: dict[str, tuple[RealExperiment, Classifier]] = {}
        for name, start in columns:
            job.tell(f"{name}, {start}")
            settings = job.config[name]
            one = RealExperiment(name, settings, cache, job.seed, 0, job.device)
            method = method_of(settings, start)
            head = "supervised" if start == RANDOM else METHODS.get(method, method)
            head = f"{head} ({name})" if head in trained else head
            trained[head] = one, one.classifier(one.encoder(), read_tensors(next(files)))
        names = ", ".join(dict.fromkeys(name for name, _ in columns))
        panels.append(panel(names, trained, job.config[columns[0][0]]["shown"]))
    return maps_figure(panels)
