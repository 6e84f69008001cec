"""One replicate on one data set: its images, and networks trained with every kind of head."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pandas as pd
import torch

from featlearn.core.files import PathLike
from featlearn.core.seeds import seeded
from featlearn.images.adversarial import AdversarialSiamese
from featlearn.images.datasets import Labelled, open_images
from featlearn.images.loop import Report
from featlearn.images.methods.siamese import Siamese
from featlearn.images.methods.siblings import Siblings, history_of
from featlearn.images.methods.two_view import untouched
from featlearn.images.objective import Objective
from featlearn.images.on_disk import as_opened
from featlearn.images.replicate import Replicate
from featlearn.noncontrastive.images.cells import Cell, cell_of, robust_cell, training_of

if TYPE_CHECKING:
    from featlearn.core.job import Job

#: The streams of what is reported; a pilot takes another name. Not ``images``: seven trainings on
#: those were seen before the sizes were settled.
STREAM = "heads"

Network = TypeVar("Network", bound=Siamese)


class HeadExperiment(Replicate):
    """One replicate of the experiment on one data set.

    Within a replicate all cells share images, initial weights of encoder and projection, order of
    the images and views: they differ in head, norm and target alone. Part-composed pictures are
    drawn anew in each replicate, with parts of its own; real images are the same in all.

    Parameters
    ----------
    name
        Of the data set; names the random streams.
    settings
        A group of the section ``noncontrastive.images``.
    seed
        Base seed of the run.
    cache, replicate, device
        See :class:`~featlearn.images.replicate.Replicate`.
    stream
        Name of the random streams' branch.
    """

    cache: PathLike

    def __init__(
        self,
        name: str,
        settings: Mapping[str, Any],
        cache: PathLike,
        seed: int,
        replicate: int,
        device: torch.device | str = "cpu",
        stream: str = STREAM,
    ):
        super().__init__(settings, (seed, "noncontrastive", stream, name), replicate, device, cache)
        self.set = name
        if "data" in settings:
            self._open()
        else:
            self._draw()
        self.augment, self.image_size = self.sight(self.train.images)
        self.plain = self.augment.plain()

    @classmethod
    def of(cls, job: Job) -> HeadExperiment:
        """That of a job, whose wildcards name data set and replicate."""
        cache, replicate = job.results / job.params.cache, int(job.wildcards.replicate)
        return cls(job.wildcards.head_set, job.config, cache, job.seed, replicate, job.device)

    def label(self, run: str) -> str:
        """What messages call a training."""
        return f"{self.set} {run}-{self.replicate}"

    def named(self, frame: pd.DataFrame, run: str) -> pd.DataFrame:
        """A frame with where its numbers come from."""
        return frame.assign(data_set=self.set, run=run, replicate=self.replicate)

    def _draw(self) -> None:
        world = self.world_of(self.settings["world"])
        counts = self.settings["samples"]
        train, test = (world.sample(counts[role], (*self.name, role)) for role in ("train", "test"))
        self.train = Labelled(train.images, train.labels)
        self.test = Labelled(test.images, test.labels)
        self.unlabelled = train.images
        self.classes = len(train.parts_of_class)

    def _open(self) -> None:
        data, key = self.settings["data"], f"noncontrastive.images.{self.set}.data"
        opened = self.opened(data, self.settings["train_images"], key)
        self.train, self.test, self.classes = opened.train, opened.test, len(opened.classes)
        self.unlabelled = self.train.images
        further = self.settings["unlabelled_split"]
        if further is not None:
            more = open_images(as_opened(data), self.cache, further).images
            self.unlabelled = torch.cat([self.train.images, more])

    def objective(self, cell: Cell) -> Siamese:
        """The network of a cell at its random start."""
        return self._network(self.settings["encoder"], cell, Siamese)

    def robust_objective(self, arm: str) -> AdversarialSiamese:
        """The network of an arm of Figure 5 at its random start."""
        wanted = self.settings["robust"]
        return self._network(
            wanted["encoder"], robust_cell(arm, wanted), AdversarialSiamese, attack=wanted["attack"]
        )

    def _network(
        self, encoder: Mapping[str, Any], cell: Cell, kind: type[Network], **more: Any
    ) -> Network:
        settings = self.settings
        made = self.network(encoder, self.image_size)
        with seeded(*self.name, "projection"):
            # the head draws after the projection, so that all cells start with the same one
            return kind(
                made,
                self.augment,
                projection=settings["projection"],
                head=cell.head,
                head_hidden=settings["head_hidden"],
                output_norm=cell.norm,
                momentum=settings["momentum"] if cell.target == "ema" else None,
                momentum_schedule=settings["momentum_schedule"],
                decay_all=settings["decay_all"],
                **more,
            )

    def fit(
        self, runs: Sequence[str], folder: Path | None = None, report: Report | None = None
    ) -> tuple[dict[str, Siamese], dict[str, pd.DataFrame]]:
        """Train the networks of ``runs`` side by side, and the histories of their trainings.

        Each ends as if it were trained alone. All have to be as long.
        """
        networks = {run: self.objective(cell_of(run)) for run in runs}
        training, *others = [training_of(run, self.settings) for run in runs]
        if any(other != training for other in others):
            raise ValueError(f"{', '.join(runs)}: expected trainings of the same settings")
        together = self._trained(Siblings(networks), ",".join(runs), training, folder, report)
        return networks, {run: history_of(run, together) for run in runs}

    def fit_robust(
        self, arm: str, folder: Path | None = None, report: Report | None = None
    ) -> tuple[AdversarialSiamese, pd.DataFrame]:
        """Train the network of an arm of Figure 5; the history of its training."""
        objective = self.robust_objective(arm)
        training = self.settings["robust"]["training"]
        return objective, self._trained(objective, arm, training, folder, report)

    def _trained(
        self,
        objective: Objective,
        run: str,
        training: Mapping[str, Any],
        folder: Path | None,
        report: Report | None,
    ) -> pd.DataFrame:
        return self.train_on(
            self.unlabelled,
            None,
            objective,
            untouched,
            training,
            # not the run's name: all cells see the same views
            "training",
            folder=folder,
            report=report,
            identity={"run": run, "settings": dict(self.settings)},
        )
