"""One replicate on one data set: its images, and networks trained with every kind of head."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import pandas as pd
import torch
from torch import Tensor
from torch.nn import functional

from featlearn.core.files import PathLike
from featlearn.core.seeds import generator, seeded
from featlearn.images.data.datasets import Labelled, open_images
from featlearn.images.data.on_disk import as_opened
from featlearn.images.methods.adversarial import AdversarialSiamese
from featlearn.images.methods.siamese import Siamese, off_diagonal
from featlearn.images.methods.simclr import Siblings, history_of
from featlearn.images.methods.two_view import untouched
from featlearn.images.probes import choose_probe, score
from featlearn.images.train.objective import Objective
from featlearn.images.train.replicate import SetReplicate
from featlearn.noncontrastive.images.cells import Cell, cell_of, robust_cell, training_of

Network = TypeVar("Network", bound=Siamese)


class HeadExperiment(SetReplicate):
    """One replicate of the experiment on one data set.

    Within a replicate all cells share images, initial weights of encoder and projection, order of
    the images and views: they differ in head, norm and target alone.
    """

    paper, wildcard = "noncontrastive", "head_set"
    #: Not ``images``: seven trainings on those were seen before the sizes were settled.
    stream = "heads"
    cache: PathLike
    #: Of part-composed pictures, (classes, parts of a class).
    parts_of_class: Tensor | None = None

    def __init__(self, *given: Any, **more: Any):
        super().__init__(*given, **more)
        if "data" in self.settings:
            self._open()
        else:
            self._draw()
        self.augment, self.image_size = self.sight(self.train.images)
        self.plain = self.augment.plain()

    def _draw(self) -> None:
        world = self.world_of(self.settings["world"])
        counts = self.settings["samples"]
        train, test = (world.sample(counts[role], (*self.name, role)) for role in ("train", "test"))
        self.train = Labelled(train.images, train.labels)
        self.test = Labelled(test.images, test.labels)
        self.unlabelled, self.parts_of_class = train.images, train.parts_of_class
        self.classes = len(train.parts_of_class)

    def _open(self) -> None:
        data = self.settings["data"]
        opened = self.opened(data, self.settings["train_images"], f"{self.key}.data")
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
                **more,
            )

    def fit(
        self, runs: Sequence[str], group: str = ""
    ) -> tuple[dict[str, Siamese], dict[str, pd.DataFrame]]:
        """Train ``runs`` of equal length, each as if alone; networks, and histories, by name.

        ``group``: what messages call them.
        """
        networks = {run: self.objective(cell_of(run)) for run in runs}
        training, *others = [training_of(run, self.settings) for run in runs]
        if any(other != training for other in others):
            raise ValueError(f"{', '.join(runs)}: expected trainings of the same settings")
        together = self._trained(Siblings(networks), ",".join(runs), training, group)
        return networks, {run: history_of(run, together) for run in runs}

    def fit_robust(self, arm: str) -> tuple[AdversarialSiamese, pd.DataFrame]:
        """Train the network of an arm of Figure 5; the history of its training."""
        objective = self.robust_objective(arm)
        return objective, self._trained(objective, arm, self.settings["robust"]["training"], arm)

    def _trained(
        self, objective: Objective, run: str, training: Mapping[str, Any], told: str
    ) -> pd.DataFrame:
        return self.train_on(
            self.unlabelled,
            None,
            objective,
            untouched,
            training,
            # not the run's name: all cells see the same views
            "training",
            report=self.progress(self.label(told), training, len(self.unlabelled)),
            identity={"run": run, "settings": dict(self.settings)},
        )


#: Bins of the histogram of correlations, from -1 to 1.
BINS = 40
#: Where neurons are read: what the probe sees, and what the loss sees.
ENCODER, PROJECTION = "encoder", "projection"
#: A neuron whose standard deviation is less than this share of its mean size does not vary.
STILL = 1e-5


def measure(experiment: HeadExperiment, network: Siamese) -> dict[str, pd.DataFrame]:
    """Read a network off un-augmented images: neurons on test images, the probe trained on all.

    Returns ``values``: columns layer, quantity, value; layer is empty for accuracies: of the class,
    and of each part where classes are made of parts.
    ``histogram``: layer, low, high, pairs, which are ordered pairs of different neurons by their
    correlation. ``spectrum``: layer, number (from 1), share of an eigenvalue of the correlation
    matrix.
    """
    scores, labels = probed(experiment, network), experiment.test.labels
    rows: list[tuple[str, str, float]] = [("", "accuracy", score(scores, labels))]
    if experiment.parts_of_class is not None:
        said, true = (experiment.parts_of_class[one] for one in (scores.cpu().argmax(1), labels))
        right = (said == true).double().mean(0).tolist()
        rows += [("", f"part {number}", share) for number, share in enumerate(right, 1)]
    histograms, spectra = [], []
    for layer in (ENCODER, PROJECTION):
        z = read_off(experiment, network, layer)
        matrix = correlations(z)
        shares = spectrum(matrix)
        rows += [
            (layer, "correlation", mean_absolute(matrix)),
            (layer, "effective_rank", effective_rank(shares)),
            (layer, "spread", spread(z)),
        ]
        histograms.append(histogram(matrix).assign(layer=layer))
        numbers = range(1, len(shares) + 1)
        spectra.append(pd.DataFrame({"layer": layer, "number": numbers, "share": shares.tolist()}))
    return {
        "values": pd.DataFrame(rows, columns=["layer", "quantity", "value"]),
        "histogram": pd.concat(histograms, ignore_index=True)[["layer", "low", "high", "pairs"]],
        "spectrum": pd.concat(spectra, ignore_index=True),
    }


def read_off(experiment: HeadExperiment, network: Siamese, layer: str) -> Tensor:
    """Outputs of a layer for the test images, (N, width)."""
    outputs = network.project if layer == PROJECTION else network.encoder.forward
    return experiment.read(network, experiment.test.images, outputs)


def probed(experiment: HeadExperiment, network: Siamese) -> Tensor:
    """Test scores (N, classes) of a linear probe, its penalty chosen on training images."""
    train, test = experiment.train, experiment.test
    features = [experiment.read(network.encoder, part.images) for part in (train, test)]
    held_out = max(1, round(experiment.settings["validation_share"] * len(train.labels)))
    stream = generator(*experiment.name, "probe")
    chosen, fitted = torch.randperm(len(train.labels), generator=stream).tensor_split([held_out])
    probe = choose_probe(
        (features[0][fitted], train.labels[fitted]),
        (features[0][chosen], train.labels[chosen]),
        experiment.classes,
    )
    return probe.scores(features[1])


def correlations(z: Tensor) -> Tensor:
    """Correlations (width, width) float64 of ``z (N, width)``; 0 for a neuron that is constant."""
    z = z.double()
    centred = z - z.mean(0)
    deviation = centred.square().mean(0).sqrt()
    still = deviation <= STILL * z.abs().mean(0)
    unit = torch.where(still, 0.0, centred / torch.where(still, 1.0, deviation))
    return (unit.T @ unit / len(z)).clamp(-1, 1)


def mean_absolute(matrix: Tensor) -> float:
    """Mean absolute correlation of two different neurons that vary; 1 if fewer than two do."""
    live = int((matrix.diagonal() > 0).sum())
    if live < 2:
        return 1.0
    return float(off_diagonal(matrix).abs().sum() / (live * (live - 1)))


def spectrum(matrix: Tensor) -> Tensor:
    """Eigenvalues of a correlation matrix over their sum, from large to small."""
    values = torch.linalg.eigvalsh(matrix).flip(0).clamp(min=0)
    total = values.sum()
    if float(total) == 0:
        return functional.one_hot(torch.tensor(0), len(values)).double()
    return values / total


def effective_rank(shares: Tensor) -> float:
    """Exponential of the entropy of the spectrum (Roy and Vetterli 2007): 1 to the width."""
    positive = shares[shares > 0]
    return float((-(positive * positive.log()).sum()).exp())


def spread(z: Tensor) -> float:
    """Standard deviation over the images of outputs of length 1, times the root of their width.

    Close to 1 if outputs point in all directions, 0 if all point in the same one: complete collapse
    (Chen and He 2021, Figure 2).
    """
    unit = functional.normalize(z.double(), dim=1)
    return float(unit.std(0, correction=0).square().mean().mul(z.shape[1]).sqrt())


def histogram(matrix: Tensor) -> pd.DataFrame:
    """Ordered pairs of different neurons that vary, by their correlation."""
    live = matrix.diagonal() > 0
    different = live[:, None] & live[None, :] & ~torch.eye(len(matrix), dtype=torch.bool)
    edges = torch.linspace(-1, 1, BINS + 1, dtype=torch.float64)
    # the last bin holds 1 itself
    place = ((matrix[different] + 1) / 2 * BINS).floor().long().clamp(0, BINS - 1)
    pairs = torch.bincount(place, minlength=BINS)
    columns = {"low": edges[:-1], "high": edges[1:], "pairs": pairs}
    return pd.DataFrame({name: values.numpy() for name, values in columns.items()})
