"""Figures of maps: the paper's pairs and triples on part-composed pictures, each with its count."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from torch import Tensor

from featlearn.core.files import read_tensors
from featlearn.core.plots import COLOURS, FILLS, canvas
from featlearn.images.classifier import Classifier
from featlearn.images.overlay import overlay
from featlearn.images.part_use import part_use
from featlearn.images.photographs import photographs, weighted_maps
from featlearn.images.pictures import Pictures
from featlearn.mrp.figures.eigencam import SHORT
from featlearn.mrp.images.cams import look, own_masks, trained_classifier
from featlearn.mrp.images.experiment import PictureExperiment

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, FigureBase

    from featlearn.core.job import Job

#: By the names that stand above their maps.
Classifiers = Mapping[str, Classifier]
#: Pictures are drawn with at least so many pixels a side, so that their heat is smooth.
PIXELS = 128
#: Outline of a part that is hit, and of one that is not.
HIT: tuple[float, tuple[float, ...]] = (0, ())
MISSED: tuple[float, tuple[float, ...]] = (0, (1.5, 1.2))
#: Of a pixel of a picture.
WHITE = 255
#: Stands above the parts of a picture on white.
PARTS = "its parts"
#: Cells of a picture and its maps, and the gap to the next, in widths of a cell.
GAP = 0.25


@dataclass(frozen=True)
class Sheet:
    """Pictures beside what some classifiers make of them.

    Attributes
    ----------
    pictures
        N multi-view ones.
    coverage : (N, P, S, S)
        How much of each pixel each part of the own class covers.
    overlays
        uint8 (N, 3, L, L) a classifier, by its name.
    hit : (N, P) bool a classifier
        Which parts its map hits.
    predicted : (N,) a classifier
        The class that it says.
    """

    pictures: Pictures
    coverage: Tensor
    overlays: Mapping[str, Tensor]
    hit: Mapping[str, Tensor]
    predicted: Mapping[str, Tensor]

    def first(self, count: int) -> Sheet:
        """The first ``count`` of the pictures."""
        return Sheet(
            self.pictures.subset(slice(count)),
            self.coverage[:count],
            *(
                {name: values[:count] for name, values in each.items()}
                for each in (self.overlays, self.hit, self.predicted)
            ),
        )


@dataclass(frozen=True)
class View:
    """What the figures are made of: an experiment, its classifiers by name, and settings.

    Attributes
    ----------
    shown
        Classes and numbers of pictures.
    map_cell
        Pixels of a map's cell, see :func:`~featlearn.mrp.images.cams.look`.
    """

    experiment: PictureExperiment
    classifiers: Classifiers
    shown: Mapping[str, Any]
    map_cell: int

    def sheet(self, pictures: Pictures) -> Sheet:
        """Maps of the classifiers on ``pictures``."""
        parts = pictures.parts_of_class[pictures.labels]
        masks = own_masks(pictures, parts)
        coverage = pictures.coverage()[torch.arange(len(parts))[:, None], parts]
        overlays, hit, predicted = {}, {}, {}
        for name, classifier in self.classifiers.items():
            seen = look(self.experiment, classifier, pictures.images, map_cell=self.map_cell)
            overlays[name] = enlarged(pictures.images, seen.heat)
            hit[name] = part_use(seen.heat, masks).hit
            predicted[name] = seen.scores.argmax(1)
        return Sheet(pictures, coverage, overlays, hit, predicted)


def enlarged(images: Tensor, heat: Tensor) -> Tensor:
    """Overlays of images (N, 3, S, S) of few pixels: their squares stay, the heat is smooth.

    Returns
    -------
    Tensor
        uint8 (N, 3, L, L), with at least ``PIXELS`` a side.
    """
    times = -(-PIXELS // images.shape[-1])
    large = images.repeat_interleave(times, 2).repeat_interleave(times, 3)
    smooth = torch.nn.functional.interpolate(
        heat[:, None], scale_factor=times, mode="bilinear", align_corners=False
    )[:, 0]
    return overlay(large, smooth.clamp(0, 1))


def first_of_class(pictures: Pictures, label: int, count: int) -> Pictures:
    """The first ``count`` pictures of a class (counted from 0), by their number: no choice."""
    return pictures.subset((pictures.labels == label).nonzero()[:count, 0])


def first_of_each_class(pictures: Pictures, count: int) -> Pictures:
    """The first picture of each of the first ``count`` classes that there are."""
    there = torch.unique(pictures.labels).tolist()[:count]
    rows = [int((pictures.labels == label).nonzero()[0, 0]) for label in there]
    return pictures.subset(torch.tensor(rows))


# --------------------------------------------------------------------------- figures


def one_class(shown: Sheet, every: Sheet) -> Figure:
    """Figure 1: many pictures of one class under one classifier, and the count over all of them.

    Parameters
    ----------
    shown
        The pictures that are drawn.
    every
        All test pictures of the class.
    """
    across = 3
    down = -(-len(shown.pictures.labels) // across)
    drawn = page(0.77 * _height(shown, across, down) + 0.65)
    left, right = drawn.subfigures(1, 2, squeeze=False, width_ratios=[3.4, 1])[0]
    _slots(left, shown, across)
    _counts(right.subplots(), every)
    left.suptitle(_class_name(shown.pictures, 0), x=0.01, ha="left", fontsize=9, weight="bold")
    _key(drawn)
    return drawn


def each_class(shown: Sheet, across: int) -> Figure:
    """Figures 3 and 5: a picture of each class beside the maps of several classifiers."""
    down = -(-len(shown.pictures.labels) // across)
    drawn = page(_height(shown, across, down) + 0.45)
    _slots(drawn, shown, across, named=True)
    _key(drawn)
    return drawn


def two_classes(panels: Sequence[Sheet], count: int, across: int = 2) -> Figure:
    """Figure 4: panels (a) and (b), one class each: the first ``count`` of all its pictures."""
    heights = [
        _height(every, across, -(-min(count, len(every.pictures.labels)) // across)) + 0.45
        for every in panels
    ]
    drawn = page(sum(heights) + 0.35)
    for letter, part, every in zip(
        "ab", drawn.subfigures(len(panels), 1, height_ratios=heights, squeeze=False)[:, 0], panels,
        strict=True,
    ):  # fmt: skip
        _slots(part, every.first(count), across)
        name = f"({letter}) {_class_name(every.pictures, 0)}"
        part.suptitle(name, x=0.01, ha="left", fontsize=9, weight="bold")
        part.supxlabel(_overall(every), x=0.01, ha="left", fontsize=8)
    _key(drawn)
    return drawn


def photograph_maps(photographs: Tensor, overlays: Mapping[str, Tensor]) -> Figure:
    """Photographs (N, 3, S, S) in the first row, below it one row of maps a network."""
    rows = {"photograph": photographs, **overlays}
    count = len(photographs)
    drawn = canvas(max(3.0, 1.35 * count), 1.4 * len(rows) + 0.1)
    axes = drawn.subplots(len(rows), count, squeeze=False)
    for row, (name, pictures) in zip(axes, rows.items(), strict=True):
        for ax, picture in zip(row, pictures, strict=True):
            image_cell(ax, picture, photographs.shape[-1])
        row[0].set_ylabel(name, fontsize=8)
    return drawn


# --------------------------------------------------------------------------- pieces of the sheets


def page(height: float) -> Figure:
    """Pictures close together: words between them need little room."""
    drawn = canvas(8.2, height)
    engine = drawn.get_layout_engine()
    if isinstance(engine, ConstrainedLayoutEngine):
        engine.set(w_pad=0.02, h_pad=0.02, wspace=0.0, hspace=0.0)
    return drawn


def _height(shown: Sheet, across: int, down: int) -> float:
    lower = 0.14 * down if _comma(shown) == "\n" else 0.0
    return height_of(2 + len(shown.overlays), across, down) + lower


def _comma(shown: Sheet) -> str:
    """Between count and answer below a map: with many maps a line is too short for both."""
    return ", " if len(shown.overlays) <= 2 else "\n"


def height_of(width: int, across: int, down: int) -> float:
    """Inches of rows of slots of ``width`` cells, words included, on a page 8.2 inches wide."""
    return down * (8.0 / (across * width + (across - 1) * GAP) + 0.26)


def _slots(part: FigureBase, shown: Sheet, across: int, named: bool = False) -> None:
    """A slot a picture: itself, its own parts alone, its map under each classifier with the count."""
    cells_of = slots(part, len(shown.pictures.labels), [PARTS, *shown.overlays], across)
    for number, cells in enumerate(cells_of):
        _slot(cells, shown, number)
        if named:
            cells[0].set_xlabel(
                f"class {int(shown.pictures.labels[number]) + 1}", fontsize=8, labelpad=2
            )


def slots(part: FigureBase, count: int, names: Sequence[str], across: int) -> list[list[Axes]]:
    """The empty cells of each picture: one for itself, one for each of ``names``."""
    width = 1 + len(names)
    ratios = [*([1.0] * width + [GAP]) * across][:-1]
    axes = part.subplots(
        -(-count // across), len(ratios), squeeze=False, gridspec_kw={"width_ratios": ratios}
    )
    for ax in axes.flat:
        ax.set_axis_off()
    found = []
    for number in range(count):
        row, slot = divmod(number, across)
        found.append(list(axes[row, slot * (width + 1) : slot * (width + 1) + width]))
        if row == 0:
            for ax, name in zip(found[-1], ["picture", *names], strict=True):
                ax.set_title(name, fontsize=8, weight="normal", loc="center", pad=3)
    return found


def _slot(cells: Sequence[Axes], shown: Sheet, number: int) -> None:
    size = shown.pictures.images.shape[-1]
    image_cell(cells[0], shown.pictures.images[number], size)
    # without the noise, in which small parts drown
    covered = shown.coverage[number].amax(0) > 0
    image_cell(cells[1], shown.pictures.images[number].masked_fill(~covered, WHITE), size)
    for ax, (name, overlays) in zip(cells[2:], shown.overlays.items(), strict=True):
        image_cell(ax, overlays[number], size)
        hit = shown.hit[name][number].tolist()
        for coverage, one in zip(shown.coverage[number], hit, strict=True):
            ax.contour(coverage.numpy(), levels=[0.5], colors=FILLS["white"],
                       linewidths=1.0, linestyles=[HIT if one else MISSED])  # fmt: skip
        said = int(shown.predicted[name][number])
        right = said == int(shown.pictures.labels[number])
        ax.set_xlabel(
            f"{sum(hit)} of {len(hit)}" + ("" if right else f"{_comma(shown)}says {said + 1}"),
            fontsize=8,
            color=COLOURS["ink"] if right else COLOURS["red"],
            labelpad=2,
        )


def image_cell(ax: Axes, picture: Tensor, size: int) -> None:
    """A picture in coordinates of ``size`` pixels, whatever its own resolution."""
    ax.set_axis_on()
    edges = (-0.5, size - 0.5, size - 0.5, -0.5)
    ax.imshow(picture.permute(1, 2, 0).numpy(), interpolation="nearest", extent=edges)
    ax.set_xticks([])
    ax.set_yticks([])
    ax.grid(visible=False)
    for spine in ax.spines.values():
        spine.set_visible(False)


def _counts(ax: Axes, every: Sheet) -> None:
    """How often the map hits which parts, over all pictures of the class."""
    hit = next(iter(every.hit.values()))
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
    ax.set_title(f"parts hit, all {len(hit)} pictures", fontsize=8, weight="normal", loc="right")
    ax.grid(axis="y", visible=False)


def _always_the_same(hit: Tensor) -> str:
    """How often a map is on one part only, and then on the part that it is mostly on."""
    alone = hit[hit.sum(1) == 1]
    told = f"one part only: {100 * len(alone) / len(hit):.0f} %"
    if not len(alone):
        return told
    same = float(alone.double().mean(0).max())
    return f"{told},\nof which the same: {100 * same:.0f} %"


def _overall(every: Sheet) -> str:
    """Over all test pictures of a class, in words: right answers and parts hit of each network."""
    told = [
        f"{name} {int((said == every.pictures.labels).sum())} right, "
        f"{float(every.hit[name].sum(1).double().mean()):.2f} parts hit a picture"
        for name, said in every.predicted.items()
    ]
    return f"all {len(every.pictures.labels)} pictures of the class: {'; '.join(told)}"


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


# --------------------------------------------------------------------------- the paper's figures


def maps(job: Job) -> Figure:
    """Draw the figure that the job's wildcard names, of classifiers of the first replicate."""
    experiment = PictureExperiment("images", job.config, job.seed, 0)
    labels, encoders = job.params.labels, job.params.encoders.items()
    classifiers = {
        SHORT[start]: trained_classifier(experiment, kind, read_tensors(file), labels)
        for file, (start, kind) in zip(job.files("classifiers"), encoders, strict=True)
    }
    return MAPS[job.wildcards.figure](
        View(experiment, classifiers, job.params.shown, job.params.map_cell)
    )


def fig_1(view: View) -> Figure:
    """Figure 1, on part-composed pictures: what a supervised network looks at

    Eigen-CAM maps of a convolutional network that was trained with labels only, on the first multi-view
    test pictures of one class by their number, so that nobody chose them; beside them the count over all
    test pictures of the class. Outlines are the class's parts: solid where the mean heat on the part is
    at least half of the picture's largest, dotted where it is less. Where cells of the layer's map are
    larger than a part's half, maps of shifted pictures are interleaved, so that its cells are finer. The pictures stand in for the
    paper's photographs of cars; beside each stand its own parts on white, without the noise. The paper reads a
    lottery off its pictures: the network looks at one part of a class. *What to see:* after a lottery a map would be
    on one part only in nearly all pictures, and always on the same: the two shares below the bars. A high bar
    of *none* means that maps lie beside the parts, and tell no lottery either way. Where supervised training plays a
    lottery, an answer stands the loss of a part better after pre-training. When one is erased (in brackets the
    share of answers that supervised training loses, less that of SimMIM),
    {{ said("mrp/cam-stands-erasure", holds="fewer answers turn wrong after SimMIM",
            fails="no fewer answers turn wrong after SimMIM") }}.
    """
    pictures, label = view.experiment.test[0], view.shown["classes"][0] - 1
    every = view.sheet(first_of_class(pictures, label, len(pictures.labels)))
    return one_class(every.first(view.shown["many"]), every)


def fig_3(view: View, across: int = 2) -> Figure:
    """Figure 3, on part-composed pictures: supervised against mask reconstruction

    The first multi-view test picture of each class, its map under a network trained with labels only and
    under the same network pre-trained by SimMIM and then fine-tuned with the same labels; below each map
    the number of parts of the class that it hits. A wrong answer is told in red. In the paper's
    pairs the right map hits more parts than the left one. *What to see:* so few pairs decide nothing; over all
    pictures (in brackets the difference in parts hit a picture),
    {{ said("mrp/cam-more-parts", holds="SimMIM hits more parts", fails="SimMIM hits no more parts") }}.
    """
    few = first_of_each_class(view.experiment.test[0], view.shown["few"])
    return each_class(view.sheet(few), across)


def fig_4(view: View) -> Figure:
    """Figure 4, on part-composed pictures: further pairs, two classes

    Pairs as in Figure 3, for the first multi-view test pictures of two classes, (a) and (b), which stand
    in for the paper's airplane and yawl; the class and the pictures are chosen by their numbers, before any
    network has answered. The line below a panel counts all test pictures of its class: right answers, and
    parts hit a picture. *What to see:* first whether answers are right (a wrong one is told in red): the map of a
    wrong answer shows what misled it, and says nothing of what a right one rests on. Then the numbers below
    the maps, where the paper's pairs have more on the right: a few pairs can tell either story, which is
    why all pictures are counted. Over all classes and replicates (in brackets the difference in parts hit a picture),
    {{ said("mrp/cam-more-parts", holds="SimMIM hits more parts", fails="SimMIM hits no more parts") }}.
    """
    pictures = view.experiment.test[0]
    panels = [
        view.sheet(first_of_class(pictures, label - 1, len(pictures.labels)))
        for label in view.shown["classes"][1:]
    ]
    return two_classes(panels, view.shown["few"])


def fig_5(view: View) -> Figure:
    """Figure 5, on part-composed pictures: three vision transformers

    The first multi-view test picture of each class, with the maps of a vision transformer trained with
    labels only, of one pre-trained by MAE and of one pre-trained by data2vec, both fine-tuned with the
    same labels. Maps are read before the attention of the last block, without the class token. *What to
    see:* so few pictures decide nothing; over all pictures (in brackets the difference in parts hit a picture),
    {{ said("mrp/cam-more-parts-mae", holds="MAE hits more parts than labels only",
            fails="MAE hits no more parts than labels only") }}. Each map has its count below it; the figure of part use
    counts the methods that are compared.
    """
    return fig_3(view)


MAPS: Mapping[str, Callable[[View], Figure]] = {
    "fig-1": fig_1,
    "fig-3": fig_3,
    "fig-4": fig_4,
    "fig-5": fig_5,
}


def cam_photographs(job: Job) -> Figure:
    """Maps of networks with official weights on photographs

    The first photographs of the given folder by name, and the Eigen-CAM maps of the given networks with
    their official weights. *What to see:* the warm parts of the objects. What the parts are is not known here, so
    nothing is counted and nothing concluded.
    """
    settings = job.config
    images = photographs(settings["folder"], settings["image_size"], settings["count"])
    found = weighted_maps(settings["models"], images, settings["weights_folder"], job.device)
    return photograph_maps(images, found)
