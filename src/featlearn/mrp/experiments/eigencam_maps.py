"""Figures of maps: the paper's pairs and triples on part-composed pictures, each with its count."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from matplotlib.lines import Line2D
from torch import Tensor

from featlearn.core.drawing.plots import COLOURS, FILLS
from featlearn.core.files import read_tensors
from featlearn.images.cam.cam_folder import photographs, weighted_maps
from featlearn.images.cam.eigencam import part_use
from featlearn.images.figures import enlarged, height_of, image_cell, page, photograph_maps, slots
from featlearn.images.train.classifier import Classifier
from featlearn.images.worlds.world import Pictures
from featlearn.mrp.images.cams import look, own_masks, trained_classifier
from featlearn.mrp.images.experiment import PictureExperiment
from featlearn.mrp.images.labels import SHORT

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, FigureBase

    from featlearn.core.run.job import Job

#: Outline of a part that is hit, and of one that is not.
HIT: tuple[float, tuple[float, ...]] = (0, ())
MISSED: tuple[float, tuple[float, ...]] = (0, (1.5, 1.2))
#: Stands above a picture that is drawn again without its noise.
CLEAN = "no noise"


class Answer(NamedTuple):
    """What a classifier makes of N pictures."""

    overlay: Tensor  #: uint8 (N, 3, L, L): its map over the picture
    hit: Tensor  #: (N, P) bool: parts that the map hits
    predicted: Tensor  #: (N,)


class Sheet(NamedTuple):
    """Pictures beside what some classifiers make of them.

    ``pictures``: N multi-view ones. ``clean`` uint8 (N, 3, S, S): the same without noise.
    ``coverage`` (N, P, S, S): how much of each pixel each part of the class covers. ``answers``: by
    classifier.
    """

    pictures: Pictures
    clean: Tensor
    coverage: Tensor
    answers: Mapping[str, Answer]

    def first(self, count: int) -> Sheet:
        answers = {name: Answer(*(part[:count] for part in one))
                   for name, one in self.answers.items()}  # fmt: skip
        pictures = self.pictures.subset(slice(count))
        return Sheet(pictures, self.clean[:count], self.coverage[:count], answers)


@dataclass(frozen=True)
class View:
    """What the figures are made of: an experiment, its classifiers by name, which classes and how
    many pictures are shown, and the pixels of a map's cell.
    """

    experiment: PictureExperiment
    classifiers: Mapping[str, Classifier]
    shown: Mapping[str, Any]
    map_cell: int

    def sheet(self, pictures: Pictures) -> Sheet:
        parts = pictures.parts_of_class[pictures.labels]
        clean = self.experiment.other_world(noise=0.0).render(pictures, pictures.strengths)
        masks = own_masks(pictures, parts)
        coverage = pictures.coverage()[torch.arange(len(parts))[:, None], parts]
        answers = {}
        for name, classifier in self.classifiers.items():
            seen = look(self.experiment, classifier, pictures.images, map_cell=self.map_cell)
            overlay, hit = enlarged(pictures.images, seen.heat), part_use(seen.heat, masks).hit
            answers[name] = Answer(overlay, hit, seen.scores.argmax(1))
        return Sheet(pictures, clean, coverage, answers)

    def of_class(self, number: int) -> Pictures:
        """All test pictures of a class (counted from 1), by their number: no choice."""
        pictures = self.experiment.test[0]
        return pictures.subset((pictures.labels == number - 1).nonzero()[:, 0])

    def right(self, pictures: Pictures) -> dict[str, Tensor]:
        """Which pictures each classifier is right about, (N,) bool by its name."""
        images, labels = pictures.images, pictures.labels
        return {name: self.experiment.read(one, images, one.scores).argmax(1) == labels
                for name, one in self.classifiers.items()}  # fmt: skip

    def all_right(self, pictures: Pictures) -> Sheet:
        """Of those that all classifiers are right about; of all where there are none."""
        rows = torch.stack([*self.right(pictures).values()]).all(0)
        return self.sheet(pictures.subset(rows) if bool(rows.any()) else pictures)


def _height(shown: Sheet, across: int, count: int) -> float:
    down = -(-count // across)
    lower = 0.14 * down if _comma(shown) == "\n" else 0.0
    return height_of(2 + len(shown.answers), across, down) + lower


def _comma(shown: Sheet) -> str:
    """Between count and answer below a map: with many maps a line is too short for both."""
    return ", " if len(shown.answers) <= 2 else "\n"


def _slots(part: FigureBase, shown: Sheet, across: int, named: bool = False) -> None:
    """A slot a picture: itself, itself without noise, each classifier's map with the count."""
    cells_of = slots(part, len(shown.pictures.labels), [CLEAN, *shown.answers], across)
    for number, cells in enumerate(cells_of):
        _slot(cells, shown, number)
        if named:
            label = int(shown.pictures.labels[number]) + 1
            cells[0].set_xlabel(f"class {label}", fontsize=8, labelpad=2)


def _slot(cells: Sequence[Axes], shown: Sheet, number: int) -> None:
    size = shown.pictures.images.shape[-1]
    image_cell(cells[0], shown.pictures.images[number], size)
    image_cell(cells[1], shown.clean[number], size)
    for ax, seen in zip(cells[2:], shown.answers.values(), strict=True):
        image_cell(ax, seen.overlay[number], size)
        hit = seen.hit[number].tolist()
        for coverage, one in zip(shown.coverage[number], hit, strict=True):
            ax.contour(coverage.numpy(), levels=[0.5], colors=FILLS["white"],
                       linewidths=1.0, linestyles=[HIT if one else MISSED])  # fmt: skip
        said = int(seen.predicted[number])
        right = said == int(shown.pictures.labels[number])
        ax.set_xlabel(
            f"{sum(hit)} of {len(hit)}" + ("" if right else f"{_comma(shown)}says {said + 1}"),
            fontsize=8,
            color=COLOURS["ink"] if right else COLOURS["red"],
            labelpad=2,
        )


def _counts(ax: Axes, every: Sheet) -> None:
    """How often the map hits which parts, over all pictures of a sheet."""
    hit = next(iter(every.answers.values())).hit
    parts = hit.shape[1]
    kinds = {"none": ~hit.any(1)}
    if parts > 1:
        for part in range(parts):
            alone = torch.arange(parts) == part
            kinds[f"{part + 1} only"] = (hit == alone).all(1)
    if parts > 2:
        kinds["several"] = (hit.sum(1) > 1) & ~hit.all(1)
    kinds["both" if parts == 2 else "all"] = hit.all(1)
    shares = [float(rows.double().mean()) for rows in kinds.values()]
    places = range(len(kinds))
    ax.barh(places, shares, 0.6, color=COLOURS["orange"])
    for place, share in zip(places, shares, strict=True):
        ax.text(share + 0.02, place, f"{100 * share:.0f} %", va="center", fontsize=8)
    ax.set_yticks(places, list(kinds), fontsize=8)
    ax.invert_yaxis()
    ax.set(xlim=(0, 1.18), xticks=[0, 0.5, 1])
    ax.set_xlabel(f"share of pictures\n{_always_the_same(hit)}", fontsize=8, loc="right")
    ax.set_title(f"parts hit, {len(hit)} pictures", fontsize=8, weight="normal", loc="right")
    ax.grid(axis="y", visible=False)


def _always_the_same(hit: Tensor) -> str:
    """How often a map is on one part only, and then on the part that it is mostly on."""
    alone = hit[hit.sum(1) == 1]
    told = f"one part only: {100 * len(alone) / len(hit):.0f} %"
    if not len(alone):
        return told
    same = float(alone.double().mean(0).max())
    return f"{told},\nof which the same: {100 * same:.0f} %"


def _overall(right: Mapping[str, Tensor], every: Sheet) -> str:
    """Of a class, in words: right answers, and parts hit where all networks are right."""
    told = [
        f"{name} right on {int(rows.sum())} of {len(rows)} pictures, "
        f"{float(every.answers[name].hit.sum(1).double().mean()):.2f} parts hit"
        for name, rows in right.items()
    ]
    return "; ".join(told)


def _class_name(pictures: Pictures, number: int) -> str:
    label = int(pictures.labels[number])
    names = [pictures.part_names[part] for part in pictures.parts_of_class[label].tolist()]
    return f"class {label + 1}: {' and '.join(names)}"


def _key(drawn: Figure) -> None:
    marks = [
        Line2D([], [], color=COLOURS["grey"], linestyle=line, label=words)
        for line, words in (
            (HIT, "outline of a part that the map hits"),
            (MISSED, "of one that it does not hit"),
        )
    ]
    drawn.legend(handles=marks, loc="outside lower center", ncols=2, fontsize=8)


def maps(job: Job) -> Figure:
    """Draw the figure that the job's wildcard names, of classifiers of the first replicate."""
    experiment = PictureExperiment("images", job.config, job.seed, 0)
    labels, encoders = job.params.labels, job.params.encoders.items()
    classifiers = {
        SHORT[start]: trained_classifier(experiment, kind, read_tensors(file), labels)
        for file, (start, kind) in zip(job.files("classifiers"), encoders, strict=True)
    }
    draw = {"fig-1": fig_1, "fig-3": fig_3, "fig-4": fig_4, "fig-5": fig_5}[job.wildcards.figure]
    return draw(View(experiment, classifiers, job.params.shown, job.params.map_cell))


def fig_1(view: View) -> Figure:
    """Figure 1, on part-composed pictures: what does a supervised network look at?

    *What to see:* how many maps hit no part (bars). In the paper the part changes from picture to
    picture; after a lottery it would always be the same one.

    Eigen-CAM maps of a network trained with labels only, on pictures of a class that it classifies
    rightly. Parts are outlined (solid: mean heat at least half of the largest). Bars: all such
    pictures; *none*: maps beside the parts.
    """
    every = view.all_right(view.of_class(view.shown["classes"][0]))
    shown = every.first(view.shown["many"])
    drawn = page(0.77 * _height(shown, 3, len(shown.pictures.labels)) + 0.65)
    left, right = drawn.subfigures(1, 2, squeeze=False, width_ratios=[3.4, 1])[0]
    _slots(left, shown, 3)
    _counts(right.subplots(), every)
    left.suptitle(_class_name(shown.pictures, 0), x=0.01, ha="left", fontsize=9, weight="bold")
    _key(drawn)
    return drawn


def fig_3(view: View) -> Figure:
    """Figure 3, on part-composed pictures: supervised against mask reconstruction

    *What to see:* a few pairs decide nothing; over all pictures {{ said("mrp/cam-more-parts",
    holds="SimMIM hits more parts", fails="SimMIM hits no more parts") }} a picture; {{
    said("mrp/cam-agrees", holds="the hottest part of a map is the one that counts most",
    fails="the hottest part of a map is not the one that counts most") }}.

    One picture a class, its map under supervised training (left) and SimMIM with fine-tuning
    (right). Below: parts hit; a wrong answer in red.
    """
    pictures = view.experiment.test[0]
    right = torch.stack([*view.right(pictures).values()]).all(0)
    # a right one if there is one, and then the first
    order = torch.argsort((~right).int(), stable=True)
    labels = pictures.labels[order]
    classes = torch.unique(labels)[: view.shown["few"]]
    rows = torch.stack([order[labels == label][0] for label in classes])
    shown = view.sheet(pictures.subset(rows))
    drawn = page(_height(shown, 2, len(rows)) + 0.45)
    _slots(drawn, shown, 2, named=True)
    _key(drawn)
    return drawn


def fig_4(view: View) -> Figure:
    """Figure 4, on part-composed pictures: further pairs, two classes

    *What to see:* a few pairs can show either; over all classes and replicates {{
    said("mrp/cam-more-parts", holds="SimMIM hits more parts", fails="SimMIM hits no more parts") }}
    a picture.

    Pairs as in Figure 3, for two classes in place of airplane and yawl. Below: right answers of
    each network, and parts hit a picture where both are right.
    """
    classes = [view.of_class(number) for number in view.shown["classes"][1:]]
    panels = [view.all_right(pictures) for pictures in classes]
    shown = [every.first(view.shown["few"]) for every in panels]
    heights = [_height(one, 2, len(one.pictures.labels)) + 0.45 for one in shown]
    drawn = page(sum(heights) + 0.35)
    parts = drawn.subfigures(len(panels), 1, height_ratios=heights, squeeze=False)[:, 0]
    for letter, part, one, every, own in zip("ab", parts, shown, panels, classes, strict=True):
        _slots(part, one, 2)
        name = f"({letter}) {_class_name(every.pictures, 0)}"
        part.suptitle(name, x=0.01, ha="left", fontsize=9, weight="bold")
        part.supxlabel(_overall(view.right(own), every), x=0.01, ha="left", fontsize=8)
    _key(drawn)
    return drawn


def fig_5(view: View) -> Figure:
    """Figure 5, on part-composed pictures: three vision transformers

    *What to see:* a few pictures decide nothing; over all {{ said("mrp/cam-more-parts-mae",
    holds="MAE hits more parts than labels only", fails="MAE hits no more parts than labels only")
    }}.

    One picture a class, with maps of a transformer trained with labels only, after MAE, and after
    data2vec, both then fine-tuned. Below: parts hit.
    """
    return fig_3(view)


def cam_photographs(job: Job) -> Figure:
    """Maps of networks with official weights on photographs

    *What to see:* the warm parts of the objects; their parts are not known here, so nothing is
    counted or concluded.

    The first photographs of the given folder by name, with Eigen-CAM maps of the given networks.
    """
    settings = job.config
    images = photographs(settings["folder"], settings["image_size"], settings["count"])
    found = weighted_maps(settings["models"], images, settings["weights_folder"], job.device)
    return photograph_maps(images, found)
