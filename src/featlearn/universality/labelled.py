"""Labelled samples of every task of a world, and converged probes on representations of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from featlearn.core.evidence.frames import rows
from featlearn.core.seeds import Streams
from featlearn.core.training.heads import choose
from featlearn.universality.data import World, classes_of, draw_latent, draw_world, noise_of, seen
from featlearn.universality.methods import encode

PARTS = ("train", "validation", "test")


class Labelled(NamedTuple):
    """Samples of one task."""

    latent: tuple[Tensor, Tensor]  #: shared (R, n, s) and private (R, n, q) features
    views: Tensor  #: (R, n, d)
    classes: Tensor  #: (R, n)


class Scene(NamedTuple):
    """A world with the labelled samples of its tasks."""

    world: World
    streams: Streams
    tasks: list[dict[str, Labelled]]


def scene(seed: int, name: str, ladders: Mapping[str, Any]) -> Scene:
    """The world ``name`` of a config's ladders: the same whichever experiment asks."""
    own = ladders["worlds"][name]
    count = ladders["replicates" if name == next(iter(ladders["worlds"])) else "elsewhere"]
    streams = Streams(seed, "universality", f"rungs-{name}", range(count))
    sizes = (own["shared"], own["private"], ladders["spurious"])
    world = draw_world(sizes, ladders["tasks"], ladders["classes"], streams("world"))
    tasks = [
        {part: labelled(world, task, ladders["samples"][part], streams(f"{part}-{task}"))
         for part in PARTS}
        for task in range(ladders["tasks"])
    ]  # fmt: skip
    return Scene(world, streams, tasks)


def labelled(world: World, task: int, count: int, random: list[torch.Generator]) -> Labelled:
    """Samples of one task, a view each."""
    which = torch.full((count,), task)
    latent = draw_latent(world, which, random)
    views = seen(world, latent, which, noise_of(world, count, random))
    return Labelled(latent, views, classes_of(world, latent, task))


def encoded(weights: Mapping[str, Tensor], spans: int = 1) -> Callable[[Labelled], Tensor]:
    """Samples to their representation by the networks (spans x R) of these ``weights``."""
    return lambda own: encode(weights, own.views.repeat(spans, 1, 1))


def probed(
    parts: Mapping[str, tuple[Tensor, Tensor]], labels: int, classes: int,
    penalties: Sequence[float],
) -> dict[str, Tensor]:  # fmt: skip
    """Test and training accuracy (P,) of converged probes: ``value`` and ``training``.

    ``parts``: features (P, n, width) and classes (P, n) of training, validation and test.
    ``labels``: the first of the training samples; validation, which costs labels, too, has no more.
    """
    (x, y), (x_held, y_held) = parts["train"], parts["validation"]
    held = min(labels, x_held.shape[1])
    chosen = choose((x[:, :labels], y[:, :labels]), (x_held[:, :held], y_held[:, :held]), classes,
                    penalties)  # fmt: skip
    return {"value": chosen.heads.accuracy(*parts["test"]), "training": chosen.train_accuracy}


def in_spans(
    found: Mapping[str, Tensor], spans: Sequence[Mapping[str, Any]], **same: Any
) -> Iterator[dict[str, Any]]:
    """Rows of what was :func:`probed` of networks (spans x R); ``spans``: what rows say of each."""
    chunks = (own.chunk(len(spans)) for own in found.values())
    for told, *own in zip(spans, *chunks, strict=True):
        yield from rows(dict(zip(found, own, strict=True)), **told, **same)


def probes(
    drawn: Scene, ladders: Mapping[str, Any], represent: Callable[[Labelled], Tensor],
    spans: Sequence[Mapping[str, Any]], tasks: Sequence[int],
) -> list[dict[str, Any]]:  # fmt: skip
    """Rows of the accuracies of probes on these tasks, by labels.

    ``represent``: samples to features (spans x R, n, width). ``spans``: what rows say of each.
    """
    told: list[dict[str, Any]] = []
    for task in tasks:
        parts = {part: (represent(own), own.classes.repeat(len(spans), 1))
                 for part, own in drawn.tasks[task].items()}  # fmt: skip
        for labels in ladders["labels"]:
            found = probed(parts, labels, ladders["classes"], ladders["penalties"])
            told += in_spans(found, spans, task=task, labels=labels)
    return told
