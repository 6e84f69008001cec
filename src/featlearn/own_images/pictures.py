"""Figures that show pictures: training images as networks get them, and Eigen-CAM maps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import torch

from featlearn.core.drawing.plots import canvas
from featlearn.core.files import read_tensors
from featlearn.images.api import heat_maps
from featlearn.images.data.datasets import in_turn
from featlearn.images.figures import Panel, bare, enlarged, maps_figure
from featlearn.images.rng import Draws
from featlearn.images.train.classifier import Classifier
from featlearn.images.train.features import extract
from featlearn.own_images.analysis import METHODS, short
from featlearn.own_images.config import RANDOM, map_panels, method_of
from featlearn.own_images.experiment import RealExperiment, open_roles, reported_already

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from featlearn.core.run.job import Job
    from featlearn.images.data.datasets import ImageSet

#: Classes and pictures of each that are shown.
CLASSES, EACH = 12, 8


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


def classifiers(
    job: Job, columns: Iterable[tuple[str, str]], files: Iterator[Path]
) -> dict[str, tuple[RealExperiment, Classifier]]:
    """Classifiers of data sets and starts, by how they were trained, each with its experiment.

    ``files``: their weights in the first replicate, of which as many are taken.
    """
    trained: dict[str, tuple[RealExperiment, Classifier]] = {}
    for name, start in columns:
        job.tell(f"{name}, {start}")
        settings, cache = job.config[name], job.results / job.params.cache
        one = RealExperiment(name, settings, cache, job.seed, 0, job.device)
        method = method_of(settings, start)
        head = "supervised" if start == RANDOM else METHODS.get(method, method)
        head = f"{head} ({name})" if head in trained else head
        trained[head] = one, one.classifier(one.encoder(), read_tensors(next(files)))
    return trained


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


def maps(job: Job) -> Figure:
    """Heat maps

    *What to see:* the paper expects maps after pre-training (right) to be warm on more parts of the
    object. Parts are not known here, so nothing is counted.

    Eigen-CAM maps of classifiers with the most labels, beside the image: labels only, then
    pre-trained and fine-tuned. Below a picture is its class, below a map a wrong answer.
    """
    files = iter(job.files("classifiers"))
    panels = []
    for columns in map_panels(job.config):
        trained = classifiers(job, columns, files)
        names = ", ".join(dict.fromkeys(name for name, _ in columns))
        panels.append(panel(names, trained, job.config[columns[0][0]]["shown"]))
    return maps_figure(panels)
