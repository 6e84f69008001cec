"""Images in domains: folders ``domain/class/image``, or domains made of one set of images."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from featlearn.core.errors import FeatlearnError
from featlearn.core.files import PathLike
from featlearn.core.seeds import generator
from featlearn.images import pixel_operations as ops
from featlearn.images.data.datasets import (
    Labelled,
    open_classified,
    open_images,
    split_rows,
    together,
)

#: Domains that are made of one set: of small digits, and of photographs.
MADE = {
    "digits": ("hue", "rotation", "contrast", "noise"),
    "photographs": ("cast", "blur", "edges", "contrast"),
}


class Rows:
    """Images read when needed; ``parts``: (N, 3, S, S) and which rows of them, int64 (n,)."""

    def __init__(self, parts: Sequence[tuple[Tensor, Tensor]]):
        self.parts = list(parts)
        self.ends = torch.tensor([len(rows) for _, rows in self.parts]).cumsum(0)
        self.shape = (int(self.ends[-1]), *self.parts[0][0].shape[1:])

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, at: Tensor | slice) -> Tensor:
        """The images at these places, copied."""
        place = torch.arange(len(self))[at]
        found = torch.empty(len(place), *self.shape[1:], dtype=self.parts[0][0].dtype)
        which = torch.bucketize(place, self.ends, right=True)
        for number, (images, rows) in enumerate(self.parts):
            own = which == number
            found[own] = images[rows[place[own] - (self.ends[number] - len(rows))]]
        return found


class Part(NamedTuple):
    """Images of which no copy is held, and their classes (N,)."""

    images: Rows
    labels: Tensor

    @classmethod
    def joined(cls, parts: Sequence[Part]) -> Part:
        """One after the other."""
        rows = Rows([one for part in parts for one in part.images.parts])
        return cls(rows, torch.cat([part.labels for part in parts]))


class Domains(NamedTuple):
    """Images uint8 of each domain, and the names of the classes that all share."""

    images: dict[str, Labelled]
    classes: tuple[str, ...]


def open_domains(
    settings: Mapping[str, Any], cache: PathLike, name: tuple[object, ...], key: str
) -> Domains:
    """Open or make domains.

    ``settings``: ``made`` (one of :data:`MADE`, or ``folders``), ``data`` as for
    :func:`~featlearn.images.data.datasets.open_images`, ``cue`` (of made digits: how often the hue
    tells the class), ``most`` (images of each domain, all if absent). ``name``: of the random
    streams. Raises FeatlearnError if there are fewer than three domains, or classes of one are
    unknown to the first.
    """
    if settings["made"] == "folders":
        found = _folders(settings["data"], cache, key)
    else:
        found = _made(settings, cache, name, key)
    most = settings.get("most")
    for domain, own in found.images.items() if most else ():
        order = torch.randperm(len(own.labels), generator=generator(*name, "most", domain))
        rows = order[:most].sort()[0]
        groups = None if own.groups is None else own.groups[rows]
        found.images[domain] = Labelled(own.images[rows], own.labels[rows], groups)
    return found


def _folders(data: Mapping[str, Any], cache: PathLike, key: str) -> Domains:
    root = Path(data["path"]).expanduser()
    names = sorted(p.name for p in root.iterdir() if p.is_dir() and p.name[0] != ".") \
        if root.is_dir() else []  # fmt: skip
    if len(names) < 3:
        raise FeatlearnError(
            f"{key}.data.path: {root} holds {len(names)} folders; expected at least three domains, "
            "each with one folder a class"
        )
    images: dict[str, Labelled] = {}
    classes: tuple[str, ...] | None = None
    for domain in names:
        settings = {**data, "kind": "folder", "path": str(root / domain)}
        opened = open_images(settings, cache, "all", classes)
        classes = classes or opened.classes
        groups = together(opened.names, settings)
        images[domain] = Labelled(opened.images, opened.labels, groups)
    if not classes:
        raise FeatlearnError(f"{key}.data.path: {root / names[0]} has no folders of classes")
    return Domains(images, classes)


def _made(
    settings: Mapping[str, Any], cache: PathLike, name: tuple[object, ...], key: str
) -> Domains:
    kind = settings["made"]
    opened = open_classified(settings["data"], cache, *name, key=f"{key}.data")
    every = Labelled(torch.cat([opened.train.images, opened.test.images]),
                     torch.cat([opened.train.labels, opened.test.labels]))  # fmt: skip
    # every image is in one domain only
    order = torch.randperm(len(every.labels), generator=generator(*name, "domains"))
    images = {}
    for domain, rows in zip(MADE[kind], order.tensor_split(len(MADE[kind])), strict=True):
        labels, x = every.labels[rows], every.images[rows].float() / 255
        draws = generator(*name, "make", domain)
        if kind == "digits":
            x = _digits(domain, x, labels, len(opened.classes), settings.get("cue", 0.9), draws)
        else:
            x = _photographs(domain, x)
        images[domain] = Labelled((x.clamp(0, 1) * 255).round().to(torch.uint8), labels)
    return Domains(images, opened.classes)


def _digits(
    domain: str, x: Tensor, labels: Tensor, classes: int, cue: float, draws: torch.Generator
) -> Tensor:
    """Digits on the class's hue with probability ``cue``; in domain ``hue`` on its opposite."""
    other = torch.randint(classes, labels.shape, generator=draws)
    kept = torch.rand(labels.shape, generator=draws) < cue
    shift = classes // 2 if domain == "hue" else 0
    shown = torch.where(kept, (labels + shift) % classes, other)
    red = torch.zeros_like(x)
    red[:, 0], red[:, 1:] = 0.8, 0.2
    ground = ops.hue(red, (shown / classes + 0.5) % 1 - 0.5)
    if domain == "rotation":
        turn = torch.tensor([[0.878, -0.479, 0.0], [0.479, 0.878, 0.0]]).expand(len(x), 2, 3)
        grid = F.affine_grid(turn, list(x.shape), align_corners=False)
        x = F.grid_sample(x, grid, align_corners=False)
    if domain == "contrast":
        x = 0.45 * x
    x = torch.maximum(ground * (1 - x), x)
    if domain == "noise":
        x = x + 0.2 * torch.randn(x.shape, generator=draws)
    return x


def _photographs(domain: str, x: Tensor) -> Tensor:
    if domain == "cast":
        return x * torch.tensor([1.0, 0.7, 0.45]).view(1, 3, 1, 1)
    if domain == "blur":
        return F.avg_pool2d(F.pad(x, (2, 2, 2, 2), mode="replicate"), 5, stride=1)
    if domain == "contrast":
        return ops.contrast(x, torch.full((len(x),), 0.35))
    grey = F.pad(ops.luma(x), (1, 1, 1, 1), mode="replicate")
    across = grey[..., 1:-1, 2:] - grey[..., 1:-1, :-2]
    down = grey[..., 2:, 1:-1] - grey[..., :-2, 1:-1]
    return (across.square() + down.square()).sqrt().mul(2).expand(-1, 3, -1, -1)


def training_parts(own: Labelled, share: float, name: tuple[object, ...]) -> tuple[Part, Part]:
    """A domain's images to learn from and those held out to choose by, class by class."""
    rows = split_rows(own.labels, {"validation": share}, *name, groups=own.groups)
    kept, out = (Part(Rows([(own.images, rows[role])]), own.labels[rows[role]])
                 for role in ("train", "validation"))  # fmt: skip
    return kept, out
