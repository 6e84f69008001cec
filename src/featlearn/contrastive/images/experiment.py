"""One replicate of the comparison of augmentations, on one data set."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd
import torch

from featlearn.contrastive.images.config import ARMS, is_made
from featlearn.core.files import PathLike
from featlearn.core.seeds import seeded
from featlearn.images.adversarial import AdversarialSimCLR
from featlearn.images.augment import Augment, channel_statistics
from featlearn.images.classified import Classified
from featlearn.images.classifier import Classifier
from featlearn.images.datasets import Labelled
from featlearn.images.encoders import Encoder
from featlearn.images.filter_trace import FilterTrace, distances_to_end
from featlearn.images.loop import Report
from featlearn.images.methods.simclr import SimCLR
from featlearn.images.methods.two_view import untouched
from featlearn.images.objective import Objective
from featlearn.images.replicate import Replicate, Weights
from featlearn.images.shapes import GLYPHS, ShapeDials, sample


class ImageExperiment(Replicate):
    """Data, networks and trainings of a replicate.

    All arms of a replicate share images, initial weights and the order of the images. On made
    images a replicate has images of its own; on real ones all replicates share them.

    Parameters
    ----------
    experiment
        Names the random streams: ``augmentations`` for what is reported, another name for what
        sizes and rates are looked at with.
    name
        Of the data set.
    settings
        A group of ``contrastive.images``.
    seed
        Base seed of the run.
    cache, replicate, device
        See :class:`~featlearn.images.replicate.Replicate`.
    """

    def __init__(
        self,
        experiment: str,
        name: str,
        settings: Mapping[str, Any],
        cache: PathLike,
        seed: int,
        replicate: int,
        device: torch.device | str = "cpu",
    ):
        super().__init__(
            settings, (seed, "contrastive", experiment, name), replicate, device, cache
        )
        self.key = f"contrastive.images.{name}"

    # ------------------------------------------------------------------------------- images

    @cached_property
    def images(self) -> Classified:
        """Training and test images, and the names of the classes."""
        if is_made(self.settings):
            return Classified(self._made("train"), self._made("test"), GLYPHS)
        settings = self.settings
        return self.opened(settings["real"], settings["train_images"], f"{self.key}.real")

    @property
    def train(self) -> Labelled:
        """Training images; contrastive trainings use no labels."""
        return self.images.train

    @property
    def test(self) -> Labelled:
        """Fresh images."""
        return self.images.test

    @property
    def classes(self) -> tuple[str, ...]:
        """Names of the classes."""
        return self.images.classes

    def _made(self, role: str) -> Labelled:
        shapes = dict(self.settings["shapes"])
        counts = {"train": shapes.pop("train"), "test": shapes.pop("test")}
        made = sample(ShapeDials(**shapes), counts[role], (*self.name, role))
        return Labelled(made.images, made.labels)

    @cached_property
    def statistics(self) -> dict[str, list[float]]:
        """Mean and standard deviation of each channel of the training images."""
        return channel_statistics(self.train.images)

    @property
    def size(self) -> int:
        """Side of the images."""
        return int(self.train.images.shape[-1])

    def augment(self, views: str) -> Augment:
        """What happens to an image before the network sees it: ``none``, ``crop`` or ``colour``."""
        groups = {"none": (), "crop": ("crop",), "colour": ("crop", "colour")}[views]
        steps = [step for group in groups for step in self.settings["augmentation"][group]]
        return Augment({"steps": steps, **self.statistics})

    # ------------------------------------------------------------------------------- networks

    def encoder(self, kind: str, weights: Weights | None = None) -> Encoder:
        """Encoder ``kind`` of the config, at its random start or with ``weights``."""
        return self.network(self.settings["encoders"][kind], self.size, kind, weights=weights)

    def objective(self, arm: str, encoder: Encoder) -> Objective:
        """What a training of ``arm`` minimises."""
        method, views = ARMS[arm].method, ARMS[arm].views
        contrastive = self.settings["contrastive"]
        options = {key: contrastive[key] for key in ("projection", "temperature")}
        with seeded(*self.name, "objective"):
            if method == "supervised":
                return Classifier(encoder, len(self.classes))
            if method == "contrastive":
                return SimCLR(encoder, self.augment(views), **options)
            adversarial = self.settings["adversarial"]
            return AdversarialSimCLR(
                encoder,
                self.augment(views),
                **options,
                attack=adversarial["attack"],
                regulariser=adversarial["regulariser"],
            )

    def training(self, arm: str) -> Mapping[str, Any]:
        """Settings of the training of ``arm``; an adversarial one has those of a contrastive one
        where it has none of its own.
        """
        method = ARMS[arm].method
        own = self.settings[method].get("training")
        return self.settings["contrastive"]["training"] if own is None else own

    def fitted(
        self,
        kind: str,
        arm: str,
        folder: Path | None = None,
        report: Report | None = None,
    ) -> tuple[Encoder, pd.DataFrame, pd.DataFrame]:
        """Train encoder ``kind`` by ``arm``.

        Returns
        -------
        encoder
        history : DataFrame
            Of :func:`fit`.
        trace : DataFrame
            Columns progress (share of the training that is over) and distance (of the first filters
            from where they end, over that at the start).
        """
        encoder = self.encoder(kind)
        objective = FilterTrace(self.objective(arm, encoder), self.settings["trace_points"])
        supervised = ARMS[arm].method == "supervised"
        history = self.train_on(
            self.train.images,
            self.train.labels if supervised else None,
            objective,
            self.augment(ARMS[arm].views) if supervised else untouched,
            self.training(arm),
            "training",
            folder=folder,
            report=report,
            identity={"arm": arm, "encoder": kind, "settings": self.settings},
        )
        distance = distances_to_end(objective.trace.cpu())
        progress = torch.arange(len(distance), dtype=torch.float64) / (len(distance) - 1)
        trace = pd.DataFrame({"progress": progress.numpy(), "distance": distance.numpy()})
        return encoder, history, trace


def counts(experiment: ImageExperiment) -> pd.DataFrame:
    """Images of each class: columns role (train, test), class, images."""
    rows = [
        (role, name, int((part.labels == label).sum()))
        for role, part in (("train", experiment.train), ("test", experiment.test))
        for label, name in enumerate(experiment.classes)
    ]
    return pd.DataFrame(rows, columns=["role", "class", "images"])
