"""What a section ``images`` means: pictures, drawn in each job, networks, named streams."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pandas as pd
import torch

from featlearn.core.seeds import seeded
from featlearn.images.augment import Augment
from featlearn.images.data.datasets import in_turn
from featlearn.images.encoders import Encoder
from featlearn.images.methods import build_method
from featlearn.images.train.classifier import Classifier
from featlearn.images.train.replicate import Replicate, Weights
from featlearn.images.worlds.world import Pictures, World

if TYPE_CHECKING:
    from featlearn.core.run.job import Job


class PictureExperiment(Replicate):
    """One replicate of an experiment on part-composed images.

    Each replicate has an alphabet of parts, pictures and initial weights; methods and numbers of
    labels share them, so that they compare in pairs.

    ``name``: of the random streams, ``"images"`` for what is reported and ``"images-validation"``
    for what dials are chosen on. ``config``: ``world``, ``samples``, ``encoders`` and
    ``augmentation`` of the ``images`` section.
    """

    def __init__(
        self,
        name: str,
        config: Mapping[str, Any],
        seed: int,
        replicate: int,
        device: torch.device | str = "cpu",
    ):
        super().__init__(config, (seed, "mrp", name), replicate, device)
        self.world = self.world_of(config["world"])
        self.plain = Augment({"preset": "none"})
        self.augment = Augment(config["augmentation"])

    def other_world(self, **dials: Any) -> World:
        """A world whose parts look alike, with other dials."""
        return self.world_of({**self.settings["world"], **dials})

    @cached_property
    def train(self) -> Pictures:
        """The training pictures: unlabelled in pre-training, the first of them labelled after."""
        return balanced(self.world.sample(self.settings["samples"]["train"], (*self.name, "train")))

    @cached_property
    def test(self) -> list[Pictures]:
        """Fresh pictures: multi-view ones, then single-view ones of each part."""
        return self.tests_of(self.world)

    def tests_of(self, world: World) -> list[Pictures]:
        """The same of another world."""
        count = self.settings["samples"]["test"]
        multi = world.sample(count, (*self.name, "test-multi-view"), single_view_share=0.0)
        single = [
            world.sample(
                count, (*self.name, f"test-view-{view + 1}"), single_view_share=1.0, view=view
            )
            for view in range(world.dials.parts_per_class)
        ]
        return [multi, *single]

    def encoder(self, kind: str, weights: Weights | None = None) -> Encoder:
        """Encoder ``kind`` of the config, at its random start or with ``weights``."""
        size = self.world.dials.image_size
        return self.network(self.settings["encoders"][kind], size, kind, weights=weights)

    def pretrain(self, method: str, settings: Mapping[str, Any]) -> tuple[Encoder, pd.DataFrame]:
        """An encoder trained without labels, and the history of its training.

        ``method``: names the streams. ``settings``: ``encoder`` (a kind), ``objective`` (see
        :func:`build_method`), ``training``.
        """
        encoder = self.encoder(settings["encoder"])
        with seeded(*self.name, method, "objective"):
            objective = build_method(settings["objective"], encoder)
        images, training = self.train.images, settings["training"]
        return encoder, self.train_on(
            images, None, objective, self.augment, training, method, identity=settings,
            report=self.progress(f"{method}-{self.replicate}", training, len(images)),
        )  # fmt: skip

    def classifier(
        self,
        encoder: Encoder,
        pictures: Pictures,
        settings: Mapping[str, Any],
        stream: tuple[object, ...],
    ) -> tuple[Classifier, pd.DataFrame]:
        """Train ``encoder`` with a new head; ``stream`` orders pictures alike for all encoders."""
        classes = len(pictures.parts_of_class)
        classifier = Classifier(encoder, classes, **settings["objective"])
        images, labels, training = pictures.images, pictures.labels, settings["training"]
        return classifier, self.train_on(
            images, labels, classifier, self.augment, training, *stream
        )


def experiment_of(job: Job) -> PictureExperiment:
    """The replicate that a job's wildcard names, of what is reported."""
    replicate = int(job.wildcards.replicate)
    return PictureExperiment("images", job.config, job.seed, replicate, job.device)


def balanced(pictures: Pictures) -> Pictures:
    """The same pictures in an order in which the first ones hold all classes alike."""
    return pictures.subset(in_turn(pictures.labels))
