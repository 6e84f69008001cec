"""One replicate of an experiment on images: its data, networks and named random streams."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import pandas as pd
import torch
from torch import Tensor, nn

from featlearn.core.files import PathLike
from featlearn.core.run.progress import Progress
from featlearn.core.seeds import derive_seed, seeded
from featlearn.images.augment import Augment, channel_statistics
from featlearn.images.data.datasets import Classified, open_classified, placed
from featlearn.images.encoders import Encoder, build_encoder
from featlearn.images.rng import Draws
from featlearn.images.train.features import extract
from featlearn.images.train.loop import Report, fit
from featlearn.images.train.objective import Objective
from featlearn.images.train.plan import Plan, Training
from featlearn.images.weights import refuse_others
from featlearn.images.worlds.world import World

if TYPE_CHECKING:
    from featlearn.core.run.job import Job

Weights = Mapping[str, Tensor]


class Replicate:
    """What all networks share that are compared within a replicate.

    Pictures that are drawn are other ones in each replicate; real images are the same in all.

    ``settings``: the config's group with data, encoders and augmentation. ``shared``: name of the
    random streams that all replicates share: ``(seed, paper, experiment, ...)``, by the base seed
    of the run. ``replicate``: which one. ``device``: where networks are trained. ``cache``: folder
    of decoded images; None for images that are drawn. ``name``: ``(*shared, replicate)``.
    """

    plain: Augment  #: What normalises images, and no more

    def __init__(
        self, settings: Mapping[str, Any], shared: tuple[object, ...], replicate: int,
        device: torch.device | str = "cpu", cache: PathLike | None = None,
    ):  # fmt: skip
        self.settings, self.shared, self.replicate = settings, shared, replicate
        self.name = (*shared, replicate)
        self.device, self.cache = torch.device(device), cache

    @cached_property
    def looks(self) -> int:
        """Number of the alphabet of parts: each replicate has its own."""
        return derive_seed(*self.name, "alphabet") % 2**31

    def world_of(self, dials: Mapping[str, Any]) -> World:
        """The part-composed pictures of this replicate, with these dials."""
        return World({**dials, "alphabet": self.looks})

    def opened(self, data: Mapping[str, Any], most: int | None, key: str) -> Classified:
        """Real images, the same in all replicates; see :func:`open_classified`."""
        assert self.cache is not None
        return open_classified(data, self.cache, *self.shared, most=most, key=key)

    def sight(self, images: Tensor) -> tuple[Augment, int]:
        """The settings' augmentation of training ``images``, and the side of what it gives."""
        augmentation = dict(self.settings["augmentation"])
        if self.settings["normalisation"] == "own":
            augmentation |= channel_statistics(images)
        return Augment(augmentation), augmentation.get("size") or images.shape[-1]

    def network(
        self, settings: Mapping[str, Any], size: int, *stream: object,
        weights: Weights | None = None,
    ) -> Encoder:  # fmt: skip
        """An encoder for images of ``size`` pixels, at its random start or with ``weights``."""
        with seeded(*self.name, "encoder", *stream):
            made = build_encoder(settings, size)
        if weights is not None:
            refuse_others(weights, made, "weights")
            made.load_state_dict(dict(weights))
        return made

    def train_on(
        self, images: Tensor, labels: Tensor | None, objective: Objective,
        augment: Callable[[Tensor, Draws], Tensor], training: Mapping[str, Any], *stream: object,
        folder: Path | None = None, report: Report | None = None,
        identity: Mapping[str, Any] | None = None,
    ) -> pd.DataFrame:  # fmt: skip
        """Train ``objective`` in place, by the random streams ``stream``; see :func:`fit`."""
        return fit(objective, placed(images, self.device),
                   None if labels is None else placed(labels, self.device), augment, training,
                   (*self.name, *stream), self.device, folder, report, identity)  # fmt: skip

    def read(
        self, network: nn.Module, images: Tensor, outputs: Callable[[Tensor], Tensor] | None = None
    ) -> Tensor:
        """What a network gives of images as they are; see :func:`extract`."""
        return extract(network, images, self.plain, outputs=outputs, device=self.device)

    def progress(self, label: str, training: Mapping[str, Any], images: int) -> Report:
        """Tells how far a training on so many images is."""
        return Progress(label, Plan(Training.of(training), images).steps).report


class SetReplicate(Replicate):
    """A replicate on one data set of a paper's section ``images``, drawn or real.

    ``name``: of the data set. ``settings``: its group of the section. ``stream``: of the random
    streams, where it is another one than that of what is reported: a pilot's. The others: see
    :class:`Replicate`.
    """

    paper: ClassVar[str]
    stream: ClassVar[str]  #: Name of the random streams of what is reported
    wildcard: ClassVar[str]  #: That names the data set of a job

    def __init__(
        self, name: str, settings: Mapping[str, Any], cache: PathLike, seed: int, replicate: int,
        device: torch.device | str = "cpu", stream: str | None = None,
    ):  # fmt: skip
        shared = (seed, self.paper, stream or self.stream, name)
        super().__init__(settings, shared, replicate, device, cache)
        self.set, self.key = name, f"{self.paper}.images.{name}"

    @classmethod
    def of(cls, job: Job) -> Self:
        """That of a job, whose wildcards name data set and replicate, the first one if none."""
        name, replicate = job.wildcards[cls.wildcard], int(getattr(job.wildcards, "replicate", 0))
        cache = job.results / job.params.cache
        return cls(name, job.config, cache, job.seed, replicate, job.device)

    def label(self, what: str) -> str:
        """What messages call a training."""
        return f"{self.set} {what}-{self.replicate}"

    def named(self, frame: pd.DataFrame, **about: str) -> pd.DataFrame:
        """A frame with where its numbers come from."""
        return frame.assign(data_set=self.set, **about, replicate=self.replicate)
