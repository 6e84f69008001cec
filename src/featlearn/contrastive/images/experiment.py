"""One replicate of the comparison of augmentations, on one data set."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

import pandas as pd
import torch
from torch import Tensor

from featlearn.contrastive.images.config import ARMS, is_made
from featlearn.core.evidence.frames import tidy
from featlearn.core.seeds import seeded
from featlearn.images.activation_maximisation import (
    GREY,
    as_pictures,
    chroma_share,
    of_last_layer,
    pixels,
    roughness,
)
from featlearn.images.augment import Augment, channel_statistics
from featlearn.images.data.datasets import Classified, Labelled, split_rows
from featlearn.images.encoders import Encoder
from featlearn.images.methods.adversarial import AdversarialSimCLR, Attack, steadiness
from featlearn.images.methods.simclr import SimCLR
from featlearn.images.methods.two_view import untouched
from featlearn.images.probes import (
    choose_probe,
    explained_share,
    nearest_neighbours,
    purity,
    silhouette,
    tsne,
)
from featlearn.images.sparsity import FilterTrace, Firing, distances_to_end, firing
from featlearn.images.train.classifier import Classifier
from featlearn.images.train.objective import Objective
from featlearn.images.train.replicate import SetReplicate, Weights
from featlearn.images.worlds.shapes import GLYPHS, ShapeDials, sample


class ImageExperiment(SetReplicate):
    """Data, networks and trainings of a replicate.

    All arms of a replicate share images, initial weights and the order of the images.
    """

    paper, stream, wildcard = "contrastive", "augmentations", "image_data"

    @cached_property
    def images(self) -> Classified:
        """Training and test images, and the names of the classes."""
        if is_made(self.settings):
            return Classified(self._made("train"), self._made("test"), GLYPHS)
        settings = self.settings
        return self.opened(settings["real"], settings["train_images"], f"{self.key}.real")

    def _made(self, role: str) -> Labelled:
        shapes = dict(self.settings["shapes"])
        counts = {"train": shapes.pop("train"), "test": shapes.pop("test")}
        made = sample(ShapeDials(**shapes), counts[role], (*self.name, role))
        return Labelled(made.images, made.labels)

    @cached_property
    def statistics(self) -> dict[str, list[float]]:
        """Mean and standard deviation of each channel of the training images."""
        return channel_statistics(self.images.train.images)

    @cached_property
    def plain(self) -> Augment:  # type: ignore[override]
        return self.augment("none")

    @property
    def size(self) -> int:
        return int(self.images.train.images.shape[-1])

    def augment(self, views: str) -> Augment:
        """What happens to an image before the network sees it: ``none``, ``crop`` or ``colour``."""
        groups = {"none": (), "crop": ("crop",), "colour": ("crop", "colour")}[views]
        steps = [step for group in groups for step in self.settings["augmentation"][group]]
        return Augment({"steps": steps, **self.statistics})

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
                return Classifier(encoder, len(self.images.classes))
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

    def fitted(self, kind: str, arm: str) -> tuple[Encoder, pd.DataFrame, pd.DataFrame]:
        """Train encoder ``kind`` by ``arm``.

        Returns the encoder, the history of :func:`fit`, and a trace with columns progress (share of
        the training that is over) and distance (of the first filters from where they end, over that
        at the start).
        """
        encoder = self.encoder(kind)
        objective = FilterTrace(self.objective(arm, encoder), self.settings["trace_points"])
        supervised = ARMS[arm].method == "supervised"
        train, training = self.images.train, self.training(arm)
        history = self.train_on(
            train.images,
            train.labels if supervised else None,
            objective,
            self.augment(ARMS[arm].views) if supervised else untouched,
            training,
            "training",
            report=self.progress(self.label(f"{kind} {arm}"), training, len(train.images)),
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
        for role, part in (("train", experiment.images.train), ("test", experiment.images.test))
        for label, name in enumerate(experiment.images.classes)
    ]
    return pd.DataFrame(rows, columns=["role", "class", "images"])


#: A quantity, the layer it is of (empty for the whole encoder), its value.
Row = tuple[str, str, float]
COLUMNS = ("quantity", "layer", "value")
#: Most channels of a layer, and images, in the pattern that a figure shows.
SHOWN_CHANNELS, SHOWN_IMAGES = 64, 64


class Measured:
    """An encoder of a replicate, and what is read off it; without ``weights`` at its start."""

    def __init__(self, experiment: ImageExperiment, kind: str, weights: Weights | None = None):
        self.experiment, self.start = experiment, experiment.encoder(kind)
        self.encoder = experiment.encoder(kind, weights).to(experiment.device)
        self.settings, self.plain = experiment.settings, experiment.plain

    def features(self, images: Tensor) -> Tensor:
        """Of uint8 images (N, 3, S, S): (N, width)."""
        return self.experiment.read(self.encoder, images)

    def probes(self) -> Iterator[Row]:
        """Linear probe and nearest neighbours for the class, ridge regression for the colour."""
        train, test = self.experiment.images.train, self.experiment.images.test
        shares = {"chosen": self.settings["probe"]["validation_share"]}
        rows = split_rows(train.labels, shares, *self.experiment.name, "probe", groups=train.groups)
        features, fresh = self.features(train.images), self.features(test.images)
        fitted, chosen = ((features[rows[part]], train.labels[rows[part]])
                          for part in ("train", "chosen"))  # fmt: skip
        classes = len(self.experiment.images.classes)
        probe = choose_probe(fitted, chosen, classes)
        yield "class accuracy", "", _right(probe.predict(fresh), test.labels)
        count = self.settings["probe"]["neighbours"]
        bank = (features, train.labels)
        nearest = nearest_neighbours(bank, fresh, classes, [count], temperature=None)[0]
        yield "class accuracy of neighbours", "", _right(nearest, test.labels)
        colours = mean_colour(train.images)
        share = explained_share(
            (fitted[0], colours[rows["train"]]),
            (chosen[0], colours[rows["chosen"]]),
            (fresh, mean_colour(test.images)),
        )
        yield "colour explained", "", share

    def steadiness(self) -> Row:
        """Mean cosine between features of test images and of those that the attack on it gives."""
        images = self.experiment.images.test.images[: self.settings["steadiness"]["images"]]
        attack = Attack(**self.settings["adversarial"]["attack"])
        name = (*self.experiment.name, "attack")
        return "cosine under attack", "", steadiness(self.encoder, images, self.plain, attack, name)

    @cached_property
    def fired(self) -> dict[str, Firing]:
        """Firing of each rectified layer on the first test images."""
        images = self.experiment.images.test.images[: self.settings["firing"]["images"]]
        layers = self.encoder.rectified
        return firing(self.encoder, layers, images, self.plain, device=self.experiment.device)

    def firing_rows(self) -> Iterator[Row]:
        """Firing rate, share of channels that fire anywhere, and Hoyer's sparsity, by layer."""
        for layer, fired in self.fired.items():
            yield "firing rate", layer, fired.rate
            yield "firing rate of images", layer, fired.image_rate
            yield "sparsity", layer, fired.sparsity

    def patterns(self) -> pd.DataFrame:
        """Columns layer, channel, image, label, share: where the first channels fire."""
        labels = self.experiment.images.test.labels[: self.settings["firing"]["images"]]
        rows = by_class(labels, SHOWN_IMAGES)
        frames = []
        for layer, fired in self.fired.items():
            shown = fired.shares[rows][:, :SHOWN_CHANNELS].numpy()
            axes = {"layer": [layer], "image": range(len(rows)), "channel": range(shown.shape[1])}
            frame = tidy(axes, label=labels[rows][:, None])
            frames.append(frame.assign(share=shown.ravel()))  # in its own precision
        frame = pd.concat(frames, ignore_index=True)
        return frame[["layer", "channel", "image", "label", "share"]]

    @cached_property
    def seen(self) -> Tensor:
        """Images that maximise channels of the last layer, float (channels, 3, S, S) in [0, 1]."""
        size, dials = self.experiment.size, self.settings["visualisation"]
        return of_last_layer(self.encoder, self.plain, size, dials, self.experiment.name)

    @property
    def filters(self) -> Tensor:
        """Kernels of the first convolution on pixel values, (channels, 3, k, k)."""
        # inputs are divided by std
        return first_filters(self.encoder) / self.plain.std.view(1, 3, 1, 1)

    def movement(self) -> Row:
        """Distance of the first filters from their start, over their norm there."""
        start = first_filters(self.start)
        moved = (first_filters(self.encoder) - start).norm() / start.norm()
        return "movement of filters", self.encoder.first_layer, float(moved)

    def picture_rows(self) -> Iterator[Row]:
        """How colourful and how rough pictures and filters are, means over channels."""
        deviation = self.seen - GREY
        moved = deviation.flatten(1).norm(dim=1) > 1e-6  # a dead channel has no gradient
        yield "visualised channels", self.encoder.last_layer, float(moved.double().mean())
        if moved.any():
            chroma = float(chroma_share(deviation[moved]).mean())
            yield "chroma of pictures", self.encoder.last_layer, chroma
            rough = float(roughness(deviation[moved]).mean())
            yield "roughness of pictures", self.encoder.last_layer, rough
        first = self.encoder.first_layer
        yield "chroma of filters", first, float(chroma_share(self.filters).mean())

    def pictures(self) -> pd.DataFrame:
        """Columns kind (feature, filter), channel, row, column, red, green, blue (uint8)."""
        shown = {"feature": self.seen, "filter": as_pictures(self.filters[: len(self.seen)])}
        frames = [pixels(kind, (value * 255).round()) for kind, value in shown.items()]
        return pd.concat(frames, ignore_index=True)

    def responses(self) -> dict[str, pd.DataFrame]:
        """What the encoder knows and responds to."""
        return {"evaluation": self.rows(), "patterns": self.patterns(), "pictures": self.pictures()}

    def rows(self) -> pd.DataFrame:
        """All quantities, with the columns of :data:`COLUMNS`."""
        rows = [*self.probes(), self.steadiness(), *self.firing_rows(), *self.picture_rows()]
        rows.append(self.movement())
        return pd.DataFrame(rows, columns=list(COLUMNS))

    def map(self) -> dict[str, pd.DataFrame]:
        """t-SNE of the first test images, and how well the classes lie apart in it.

        ``map``: columns x, y, label, red, green, blue (the image's mean colour, in [0, 1]).
        ``separation``: the columns of :data:`COLUMNS`.
        """
        wanted = self.settings["embedding"]
        test = self.experiment.images.test
        part = Labelled(test.images[: wanted["images"]], test.labels[: wanted["images"]])
        name = (*self.experiment.name, "embedding")
        points = tsne(self.features(part.images), name, wanted["perplexity"])
        colours = mean_colour(part.images)
        channels = dict(zip(("red", "green", "blue"), colours.T.numpy(), strict=True))
        frame = pd.DataFrame(
            {"x": points[:, 0], "y": points[:, 1], "label": part.labels.numpy(), **channels}
        )
        placed = torch.from_numpy(points)
        rows = [
            ("silhouette of the map", "", silhouette(placed, part.labels)),
            ("purity of the map", "", purity(placed, part.labels)),
        ]
        return {"map": frame, "separation": pd.DataFrame(rows, columns=list(COLUMNS))}


def first_filters(encoder: Encoder) -> Tensor:
    """Weights (channels, 3, k, k) of the first convolution, on the CPU."""
    weight: Tensor = encoder.get_submodule(encoder.first_layer).weight  # type: ignore[assignment]
    return weight.detach().cpu()


def mean_colour(images: Tensor) -> Tensor:
    """Mean over the pixels of uint8 images (N, 3, S, S): float64 (N, 3) in [0, 1]."""
    return images.sum((2, 3), dtype=torch.int64).double() / (255 * images[0, 0].numel())


def by_class(labels: Tensor, most: int) -> Tensor:
    """Rows of the first images of each class, class after class, ``most`` in all or fewer."""
    kinds = torch.unique(labels).tolist()
    each = max(1, most // len(kinds))
    return torch.cat([(labels == kind).nonzero().squeeze(1)[:each] for kind in kinds])


def _right(predicted: Tensor, labels: Tensor) -> float:
    return float((predicted.cpu() == labels).double().mean())
