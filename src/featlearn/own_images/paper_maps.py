"""Figures 1, 3, 4 and 5 of the paper on masked pre-training, on photographs that a config names.

Pictures are test images that every network of a figure classifies rightly, chosen by a rule: those
come first whose maps differ most. A last picture averages all of them. What the parts of an object
are is not known, so a map is told by how much of the picture is warm.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from featlearn.images.api import heat_maps
from featlearn.images.figures import enlarged, height_of, image_cell, page, slots
from featlearn.images.train.features import extract
from featlearn.own_images.analysis import short
from featlearn.own_images.pictures import classifiers

if TYPE_CHECKING:
    from matplotlib.figure import Figure, FigureBase

    from featlearn.core.run.job import Job

#: Heat from which a pixel counts as warm.
WARM = 0.5
#: Pictures of Figure 1, and of a panel of the others.
MANY, FEW = 11, 5


@dataclass(frozen=True)
class Seen:
    """Test images that all networks are right about, with maps.

    ``images`` uint8 (N, 3, S, S); ``labels`` (N,); ``heat`` (N, S, S) in [0, 1] by network.
    """

    images: Tensor
    labels: Tensor
    heat: Mapping[str, Tensor]
    classes: tuple[str, ...]

    def of(self, rows: Tensor) -> Seen:
        heat = {name: own[rows] for name, own in self.heat.items()}
        return Seen(self.images[rows], self.labels[rows], heat, self.classes)

    def ordered(self) -> Seen:
        """Those first whose first and last maps differ most, by the mean over pixels."""
        first, *_, last = [*self.heat.values()] * 2
        apart = (first - last).abs().mean((1, 2))
        return self.of(apart.argsort(descending=True, stable=True))

    def one_a_class(self) -> Seen:
        _, place = torch.unique(self.labels, return_inverse=True)
        rows = [int((place == one).nonzero()[0, 0]) for one in range(int(place.max()) + 1)]
        return self.of(torch.tensor(sorted(rows)))

    def most_right(self, count: int) -> list[Seen]:
        """The classes with the most pictures, each alone."""
        counts = torch.bincount(self.labels)
        most = [one for one in counts.argsort(descending=True, stable=True) if counts[one]]
        return [self.of((self.labels == label).nonzero()[:, 0]) for label in most[:count]]


def maps(job: Job) -> Figure:
    """Draw the figure that the job's wildcard names, of classifiers of the first replicate."""
    trained = classifiers(job, job.params.columns, iter(job.files("classifiers")))
    test = next(iter(trained.values()))[0].test
    right = torch.ones(len(test), dtype=torch.bool)
    for one, network in trained.values():
        scores = extract(network, test.images, one.plain, outputs=network.scores, device=one.device)
        right &= scores.argmax(1) == test.labels
    rows = right.nonzero()[:, 0]
    images = test.images[rows if len(rows) else slice(None)]
    labels = test.labels[rows if len(rows) else slice(None)]
    heat = {head: heat_maps(network.encoder, one.plain.normalise(images), device=str(one.device))
            for head, (one, network) in trained.items()}  # fmt: skip
    draw = {"fig-1": fig_1, "fig-3": fig_3, "fig-4": fig_4, "fig-5": fig_5}[job.wildcards.figure]
    return draw(Seen(images, labels, heat, test.classes))


def _panel(part: FigureBase, shown: Seen, every: Seen, across: int) -> None:
    """A slot a picture, and one for the average of ``every`` picture."""
    count = len(shown.images)
    images = torch.cat([shown.images, every.images.float().mean(0, keepdim=True).byte()])
    heat = {name: torch.cat([own, every.heat[name].mean(0, keepdim=True)])
            for name, own in shown.heat.items()}  # fmt: skip
    overlays = {name: enlarged(images, own) for name, own in heat.items()}
    for number, cells in enumerate(slots(part, len(images), list(heat), across)):
        image_cell(cells[0], images[number], images.shape[-1])
        words = f"mean of {len(every.images)}" if number == count else ""
        words = words or short(shown.classes[int(shown.labels[number])])
        cells[0].set_xlabel(words, fontsize=8, labelpad=2)
        for ax, (name, own) in zip(cells[1:], heat.items(), strict=True):
            image_cell(ax, overlays[name][number], images.shape[-1])
            warm = every.heat[name] if number == count else own[number]
            share = float((warm >= WARM).double().mean())
            ax.set_xlabel(f"{100 * share:.0f} % warm", fontsize=8, labelpad=2)


def _height(shown: Seen, across: int) -> float:
    return height_of(1 + len(shown.heat), across, -(-(len(shown.images) + 1) // across)) + 0.3


def _sheet(shown: Seen, every: Seen, across: int) -> Figure:
    drawn = page(_height(shown, across))
    _panel(drawn, shown, every, across)
    return drawn


def fig_1(seen: Seen) -> Figure:
    """Figure 1, on photographs: what does a supervised network look at?

    *What to see:* whether maps of one class are warm on one part, and on another from picture to picture; the last
    picture averages all.

    Eigen-CAM maps of a network trained with labels only, on the class of which it has the most right. Below: share of
    the picture with at least half of the largest heat.
    """
    every = seen.most_right(1)[0]
    return _sheet(every.of(torch.arange(min(MANY, len(every.images)))), every, 4)


def fig_3(seen: Seen) -> Figure:
    """Figure 3, on photographs: supervised against mask reconstruction

    *What to see:* the paper expects more parts, so a larger warm share, at the right.

    Networks with the same labels, the right one after SimMIM on the same images. The last picture averages all that
    both have right; before it those whose maps differ most, one a class.
    """
    shown = seen.ordered().one_a_class().ordered()
    return _sheet(shown.of(torch.arange(min(FEW, len(shown.images)))), seen, 2)


def fig_4(seen: Seen) -> Figure:
    """Figure 4, on photographs: further pairs, two classes

    *What to see:* as Figure 3, for the two classes of which both networks have the most right, (a) and (b). Pictures
    whose maps differ most come first; the last averages all of the class.
    """
    panels = seen.most_right(2)
    shown = [own.ordered().of(torch.arange(min(FEW, len(own.images)))) for own in panels]
    heights = [_height(one, 2) + 0.2 for one in shown]
    drawn = page(sum(heights))
    parts = drawn.subfigures(len(panels), 1, height_ratios=heights, squeeze=False)[:, 0]
    for letter, part, one, every in zip("ab", parts, shown, panels, strict=False):
        _panel(part, one, every, 2)
        name = short(seen.classes[int(every.labels[0])])
        part.suptitle(f"({letter}) {name}", x=0.01, ha="left", fontsize=9, weight="bold")
    return drawn


def fig_5(seen: Seen) -> Figure:
    """Figure 5, on photographs: three vision transformers

    *What to see:* as Figure 3, for small transformers trained with labels only, and fine-tuned after MAE and after
    data2vec on the same images. The paper shows public ViT-Base networks.
    """
    return fig_3(seen)
