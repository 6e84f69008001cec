"""What a trained encoder knows, how it fires, what its channels respond to."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import pandas as pd
import torch
from torch import Tensor

from featlearn.contrastive.images.experiment import ImageExperiment
from featlearn.images.adversarial import Attack, steadiness
from featlearn.images.datasets import Labelled, split_rows
from featlearn.images.embedding import purity, silhouette, tsne
from featlearn.images.encoders import Encoder
from featlearn.images.features import extract
from featlearn.images.firing import Firing, firing
from featlearn.images.linear_probe import choose_probe
from featlearn.images.neighbours import nearest_neighbours
from featlearn.images.regression import explained_share
from featlearn.images.replicate import Weights
from featlearn.images.visualise import (
    GREY,
    as_pictures,
    chroma_share,
    maximise_channels,
    pixels,
    roughness,
)

#: A quantity, the layer it is of (empty for the whole encoder), its value.
Row = tuple[str, str, float]
COLUMNS = ("quantity", "layer", "value")
#: Most channels of a layer, and images, in the pattern that a figure shows.
SHOWN_CHANNELS, SHOWN_IMAGES = 64, 64


class Measured:
    """An encoder of a replicate, and what is read off it.

    Parameters
    ----------
    experiment
    kind
        Which encoder of the config.
    weights
        After its training; None for its start.
    """

    def __init__(self, experiment: ImageExperiment, kind: str, weights: Weights | None = None):
        self.experiment, self.start = experiment, experiment.encoder(kind)
        self.encoder = experiment.encoder(kind, weights).to(experiment.device)
        self.settings, self.plain = experiment.settings, experiment.augment("none")

    # ------------------------------------------------------------------------------- probes

    def features(self, images: Tensor) -> Tensor:
        """Of uint8 images (N, 3, S, S): (N, width)."""
        return extract(self.encoder, images, self.plain, device=self.experiment.device)

    def probes(self) -> Iterator[Row]:
        """Linear probe and nearest neighbours for the class, ridge regression for the colour."""
        train, test = self.experiment.train, self.experiment.test
        shares = {"chosen": self.settings["probe"]["validation_share"]}
        rows = split_rows(train.labels, shares, *self.experiment.name, "probe")
        features, fresh = self.features(train.images), self.features(test.images)
        fitted, chosen = ((features[rows[part]], train.labels[rows[part]])
                          for part in ("train", "chosen"))  # fmt: skip
        classes = len(self.experiment.classes)
        probe = choose_probe(fitted, chosen, classes).probe
        yield "class accuracy", "", _right(probe.predict(fresh), test.labels)
        count = self.settings["probe"]["neighbours"]
        bank = (features, train.labels)
        nearest = nearest_neighbours(bank, fresh, classes, [count], temperature=None)[0]
        yield "class accuracy of neighbours", "", _right(nearest, test.labels)
        colours = mean_colour(train.images)
        yield (
            "colour explained",
            "",
            explained_share(
                (fitted[0], colours[rows["train"]]),
                (chosen[0], colours[rows["chosen"]]),
                (fresh, mean_colour(test.images)),
            ),
        )

    def steadiness(self) -> Row:
        """Mean cosine between the features of test images and of attacked ones.

        The attack is that of the adversarial training, on the cosine itself.
        """
        images = self.experiment.test.images[: self.settings["steadiness"]["images"]]
        attack = Attack(**self.settings["adversarial"]["attack"])
        name = (*self.experiment.name, "attack")
        return "cosine under attack", "", steadiness(self.encoder, images, self.plain, attack, name)

    # ------------------------------------------------------------------------------- layers

    @cached_property
    def fired(self) -> dict[str, Firing]:
        """Firing of each rectified layer on the first test images."""
        images = self.experiment.test.images[: self.settings["firing"]["images"]]
        layers = self.encoder.rectified
        return firing(self.encoder, layers, images, self.plain, device=self.experiment.device)

    def firing_rows(self) -> Iterator[Row]:
        """Firing rate, share of channels that fire anywhere, and Hoyer's sparsity, by layer."""
        for layer, seen in self.fired.items():
            yield "firing rate", layer, seen.rate
            yield "firing rate of images", layer, seen.image_rate
            yield "sparsity", layer, seen.sparsity

    def patterns(self) -> pd.DataFrame:
        """Columns layer, channel, image, label, share: where the first channels fire."""
        labels = self.experiment.test.labels[: self.settings["firing"]["images"]]
        rows = by_class(labels, SHOWN_IMAGES)
        frames = []
        for layer, seen in self.fired.items():
            shown = seen.shares[rows][:, :SHOWN_CHANNELS]
            images, channels = shown.shape
            frames.append(
                pd.DataFrame(
                    {
                        "layer": layer,
                        "channel": torch.arange(channels).repeat(images).numpy(),
                        "image": torch.arange(images).repeat_interleave(channels).numpy(),
                        "label": labels[rows].repeat_interleave(channels).numpy(),
                        "share": shown.flatten().numpy(),
                    }
                )
            )
        return pd.concat(frames, ignore_index=True)

    # ------------------------------------------------------------------------------- pictures

    @cached_property
    def seen(self) -> Tensor:
        """Images that maximise channels of the last layer, float (channels, 3, S, S) in [0, 1]."""
        wanted = self.settings["visualisation"]
        channels = range(min(wanted["channels"], self.encoder.width))
        return maximise_channels(
            self.encoder,
            self.encoder.last_layer,
            channels,
            self.experiment.size,
            self.plain.mean,
            self.plain.std,
            (*self.experiment.name, "visualisation"),
            steps=wanted["steps"],
            rate=wanted["rate"],
            pull=wanted["pull"],
        ).cpu()

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

    def rows(self) -> pd.DataFrame:
        """All quantities, with the columns of :data:`COLUMNS`."""
        rows = [*self.probes(), self.steadiness(), *self.firing_rows(), *self.picture_rows()]
        rows.append(self.movement())
        return pd.DataFrame(rows, columns=list(COLUMNS))

    # ------------------------------------------------------------------------------- map

    def map(self) -> tuple[pd.DataFrame, pd.DataFrame]:
        """t-SNE of the first test images, and how well the classes lie apart in it.

        Returns
        -------
        points : DataFrame
            Columns x, y, label, red, green, blue (the image's mean colour, in [0, 1]).
        rows : DataFrame
            With the columns of :data:`COLUMNS`.
        """
        wanted = self.settings["embedding"]
        test = self.experiment.test
        part = Labelled(test.images[: wanted["images"]], test.labels[: wanted["images"]])
        name = (*self.experiment.name, "embedding")
        points = tsne(self.features(part.images), name, wanted["perplexity"])
        colours = mean_colour(part.images)
        frame = pd.DataFrame(
            {
                "x": points[:, 0],
                "y": points[:, 1],
                "label": part.labels.numpy(),
                **{colour: colours[:, place].numpy()
                   for place, colour in enumerate(("red", "green", "blue"))},
            }
        )  # fmt: skip
        placed = torch.from_numpy(points)
        rows = [
            ("silhouette of the map", "", silhouette(placed, part.labels)),
            ("purity of the map", "", purity(placed, part.labels)),
        ]
        return frame, pd.DataFrame(rows, columns=list(COLUMNS))


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
