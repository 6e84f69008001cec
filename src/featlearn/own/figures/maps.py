"""Eigen-CAM maps on real images: supervised | SimMIM, supervised | MAE | data2vec, as in the paper.

What the parts of a photograph are is not known, so nothing is counted here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from featlearn.core.files import read_tensors
from featlearn.core.plots import COLOURS
from featlearn.images.classifier import Classifier
from featlearn.mrp.figures.eigencam_maps import enlarged, height_of, image_cell, page, slots
from featlearn.mrp.images.cams import look
from featlearn.mrp.images.real import RealExperiment
from featlearn.mrp.images.real_config import RANDOM, map_panels, method_of
from featlearn.own.tables.images import METHODS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from featlearn.core.job import Job

#: Letters of a class's name that stand below a picture.
LETTERS = 16


@dataclass(frozen=True)
class Panel:
    """Images beside what some classifiers make of them.

    Attributes
    ----------
    title
        Which data.
    images
        uint8 (N, 3, S, S).
    truth
        Names of the classes of each image; none where that is not known.
    overlays
        uint8 (N, 3, L, L) a classifier, by its name.
    said
        The class that it gives the highest score, for each image.
    """

    title: str
    images: Tensor
    truth: Sequence[Sequence[str]]
    overlays: Mapping[str, Tensor]
    said: Mapping[str, Sequence[str]]


def shown_rows(labels: Tensor, count: int) -> Tensor:
    """Which images are shown, by a rule and not by hand.

    With one class an image: the first image of each class, then the second of each, and so on;
    else the first by number.
    """
    if labels.dim() > 1:
        return torch.arange(min(count, len(labels)))
    rank = torch.zeros_like(labels)
    for label in torch.unique(labels).tolist():
        rows = labels == label
        rank[rows] = torch.arange(int(rows.sum()))
    known = (labels >= 0).nonzero()[:, 0]
    place = rank[known] * (int(labels.max()) + 1) + labels[known]
    return known[place.argsort()][:count]


def panel(
    title: str, experiments: Mapping[str, tuple[RealExperiment, Classifier]], count: int
) -> Panel:
    """Maps of classifiers, by their names, on the same test images.

    Parameters
    ----------
    experiments
        Each classifier with the experiment that it was trained in; all have the same test images.
    """
    test = next(iter(experiments.values()))[0].test
    rows = shown_rows(test.labels, count)
    images = test.images[rows]
    overlays, said = {}, {}
    for name, (experiment, classifier) in experiments.items():
        seen = look(experiment, classifier, images)
        overlays[name] = enlarged(images, seen.heat)
        said[name] = [test.classes[label] for label in seen.scores.argmax(1).tolist()]
    truth = [_named(row, test.classes) for row in test.labels[rows]]
    return Panel(title, images, truth, overlays, said)


def _named(label: Tensor, classes: Sequence[str]) -> list[str]:
    if label.dim():
        return [classes[number] for number in (label != 0).nonzero()[:, 0].tolist()]
    return [classes[int(label)]]


def maps_figure(panels: Sequence[Panel]) -> Figure:
    """One panel below the other; a slot an image: itself, then its map under each classifier."""
    across = [3 if len(one.overlays) < 3 else 2 for one in panels]
    heights = [
        height_of(1 + len(one.overlays), wide, -(-len(one.images) // wide)) + 0.3
        for one, wide in zip(panels, across, strict=True)
    ]
    drawn = page(sum(heights))
    parts = drawn.subfigures(len(panels), 1, height_ratios=heights, squeeze=False)[:, 0]
    for part, one, wide in zip(parts, panels, across, strict=True):
        part.suptitle(one.title, x=0.01, ha="left", fontsize=9, weight="bold")
        cells_of = slots(part, len(one.images), list(one.overlays), wide)
        for number, cells in enumerate(cells_of):
            image_cell(cells[0], one.images[number], one.images.shape[-1])
            known = one.truth[number]
            _below(cells[0], known[0] + (f" + {len(known) - 1}" if len(known) > 1 else "")
                   if known else "no class", COLOURS["ink"])  # fmt: skip
            for ax, name in zip(cells[1:], one.overlays, strict=True):
                image_cell(ax, one.overlays[name][number], one.images.shape[-1])
                said = one.said[name][number]
                if said not in known:
                    _below(ax, f"says {said}", COLOURS["red"])
    return drawn


def _below(ax: Axes, words: str, colour: str) -> None:
    text = words if len(words) <= LETTERS else f"{words[: LETTERS - 1]}…"
    ax.set_xlabel(text.replace("$", r"\$"), fontsize=8, color=colour, labelpad=2)


def maps(job: Job) -> Figure:
    """Heat maps

    Eigen-CAM maps of classifiers of the first replicate, trained with the most labels: beside each image
    that of the network trained with labels only, and those of the same network after pre-training and
    fine-tuning. Sets with the same images and encoder stand in one row of panels. Images are test images
    by a rule, not by hand: the first of each class by number, then the second of each (where an image may
    show several classes, the first by number). Below a picture stands its class; below a map what the
    network says, where that is another. *What to see:* the paper expects the maps on the right to be warm
    on more parts of the object. What the parts are is not known here, so nothing is counted, and a map shows one
    direction of a layer only.
    """
    cache = job.results / job.params.cache
    files = iter(job.files("classifiers"))
    drawn = []
    for columns in map_panels(job.config):
        seen: dict[str, tuple[RealExperiment, Classifier]] = {}
        for name, start in columns:
            job.tell(f"{name}, {start}")
            settings = job.config[name]
            own = RealExperiment(name, settings, cache, job.seed, 0, job.device)
            method = method_of(settings, start)
            head = "supervised" if start == RANDOM else METHODS.get(method, method)
            head = f"{head} ({name})" if head in seen else head
            seen[head] = own, own.classifier(own.encoder(), read_tensors(next(files)))
        names = dict.fromkeys(name for name, _ in columns)
        drawn.append(panel(", ".join(names), seen, job.config[columns[0][0]]["shown"]))
    return maps_figure(drawn)
