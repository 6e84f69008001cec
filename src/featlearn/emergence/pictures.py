"""Pictures of some classes as a network gets them, each replicate with its own split of the set.

Where a set has a test part of its own all replicates share it; else each takes other pictures.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from featlearn.core.errors import FeatlearnError
from featlearn.core.files import PathLike
from featlearn.core.seeds import generator
from featlearn.core.training.heads import choose
from featlearn.images.data.datasets import in_random_order, open_classified

if TYPE_CHECKING:
    from featlearn.core.run.job import Job

#: What is taken of a set: pictures to learn from, to choose by, and to test on.
PARTS = ("train", "validation", "test")
#: Penalties of the converged heads; see :mod:`featlearn.core.training.heads`.
PENALTIES = (1e-1, 1e-2, 1e-3, 1e-4)


@dataclass(frozen=True)
class Pictures:
    """Pictures by part."""

    #: Part to (R, n, C, S, S) float32: minus the mean of all training pixels of the replicate, over
    #: their standard deviation. C is 1 for sets without colour.
    x: Mapping[str, Tensor]
    y: Mapping[str, Tensor]  #: Part to (R, n) int64
    classes: tuple[str, ...]  #: Names, in the order of the labels

    def flat(self, part: str) -> Tensor:
        """(R, n, C S S)."""
        return self.x[part].flatten(2)

    def majority(self) -> Tensor:
        """(R,) test accuracy of each replicate's most frequent training class."""
        most = torch.mode(self.y["train"], 1)[0]
        return (self.y["test"] == most[:, None]).double().mean(1)


def open_pictures(
    settings: Mapping[str, Any], cache: PathLike, streams: tuple[object, ...],
    replicates: Sequence[int], key: str, device: torch.device | str = "cpu",
) -> Pictures:  # fmt: skip
    """Open the pictures of ``settings``, a replicate each.

    ``settings``: ``data``, as :func:`featlearn.images.data.datasets.open_classified` takes it;
    ``samples`` by part; ``classes``, names of those that are kept (all by default); ``inverted``,
    the share of pictures whose light and dark are exchanged, at random. ``cache``: folder of
    decoded pictures. ``streams``: name of the random streams, to which the replicate is added.
    ``key``: of ``settings`` in the config, for messages. Raises ``FeatlearnError`` if the set lacks
    a class, or has too few pictures.
    """
    drawn = [_replicate(settings, cache, (*streams, r), key) for r in replicates]
    x = {part: torch.stack([one[0][part] for one in drawn]) for part in PARTS}
    y = {part: torch.stack([one[1][part] for one in drawn]) for part in PARTS}
    if all(bool((own == own[:, :, :1]).all()) for own in x.values()):
        x = {part: own[:, :, :1] for part, own in x.items()}  # no colour
    return Pictures({part: own.to(device) for part, own in x.items()},
                    {part: own.to(device) for part, own in y.items()}, drawn[0][2])  # fmt: skip


def of_job(
    job: Job, experiment: str, key: str, config: Mapping[str, Any] | None = None
) -> Pictures:
    """The ``pictures`` of a config, the job's if none is given, for its ``replicates``."""
    config = job.config if config is None else config
    streams = (job.seed, "emergence", experiment)
    return open_pictures(
        config["pictures"], job.results / job.params.cache, streams,
        range(config["replicates"]), key, job.device,
    )  # fmt: skip


def _replicate(
    settings: Mapping[str, Any], cache: PathLike, name: tuple[object, ...], key: str
) -> tuple[dict[str, Tensor], dict[str, Tensor], tuple[str, ...]]:
    opened = open_classified(settings["data"], cache, *name, key=f"{key}.data")
    wanted = settings.get("classes") or list(opened.classes)
    if lost := [one for one in wanted if one not in opened.classes]:
        raise FeatlearnError(f"{key}.classes: {lost[0]!r} is none of {', '.join(opened.classes)}")
    numbers = torch.tensor([opened.classes.index(one) for one in wanted])
    samples = settings["samples"]
    x, y = {}, {}
    for source, parts, stream in (
        (opened.train, ["train", "validation"], "learned"),
        (opened.test, ["test"], "tested"),
    ):
        rows = torch.isin(source.labels, numbers).nonzero().squeeze(1)
        counts = [samples[part] for part in parts]
        if len(rows) < sum(counts):
            raise FeatlearnError(
                f"{key}.samples: {sum(counts)} for {' and '.join(parts)}; expected at most the "
                f"{len(rows)} pictures of {', '.join(wanted)}"
            )
        groups = None if source.groups is None else source.groups[rows]
        dealt = in_random_order(len(rows), groups, counts, generator(*name, stream))
        for part, own in zip(parts, dealt, strict=True):
            pixels = source.images[rows[own]].float() / 255
            turned = torch.rand(len(pixels), generator=generator(*name, f"{part}-inverted"))
            turn = (turned < settings.get("inverted", 0))[:, None, None, None]
            x[part] = torch.where(turn, 1 - pixels, pixels)
            # 0, 1, ... in the order of the names
            y[part] = (source.labels[rows[own]][:, None] == numbers).long().argmax(1)
    mean, scale = x["train"].mean(), x["train"].std()
    return {part: (own - mean) / scale for part, own in x.items()}, y, tuple(wanted)


def head_accuracies(
    features: Mapping[str, Tensor], labels: Mapping[str, Tensor], classes: int
) -> dict[str, Tensor]:
    """Accuracy (R,) of a converged linear head on each part, its penalty chosen on validation.
    Parts beyond train and validation may be called as one likes; features (R, n, d)."""
    own = {part: (x.double(), labels[part]) for part, x in features.items()}
    result = choose(own["train"], own["validation"], classes, PENALTIES)
    return {part: result.train_accuracy if part == "train" else result.heads.accuracy(*pair)
            for part, pair in own.items()}  # fmt: skip
