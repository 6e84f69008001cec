"""What is read off a trained network: correlations, ranks, spectra, a linear probe."""

from __future__ import annotations

import pandas as pd
import torch
from torch import Tensor
from torch.nn import functional

from featlearn.core.seeds import generator
from featlearn.images.features import extract
from featlearn.images.linear_probe import choose_probe, score
from featlearn.images.methods.siamese import Siamese, off_diagonal
from featlearn.noncontrastive.images.experiment import HeadExperiment

#: Bins of the histogram of correlations, from -1 to 1.
BINS = 40
#: Where neurons are read: what the probe sees, and what the loss sees.
ENCODER, PROJECTION = "encoder", "projection"
#: A neuron whose standard deviation is less than this share of its mean size does not vary.
STILL = 1e-5


def measure(experiment: HeadExperiment, network: Siamese) -> dict[str, pd.DataFrame]:
    """Read a network off un-augmented images: neurons on test images, the probe trained on all.

    Returns
    -------
    dict
        ``values``: columns layer, quantity, value; layer is empty for the accuracy. ``histogram``:
        layer, low, high, pairs, which are ordered pairs of different neurons by their correlation.
        ``spectrum``: layer, number (from 1), share of an eigenvalue of the correlation matrix.
    """
    rows: list[tuple[str, str, float]] = [("", "accuracy", accuracy(experiment, network))]
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
    images, device = experiment.test.images, experiment.device
    return extract(network, images, experiment.plain, outputs=outputs, device=device)


def accuracy(experiment: HeadExperiment, network: Siamese) -> float:
    """Accuracy on the test images of a linear probe of the frozen encoder.

    Its penalty is chosen on a random part of the training images.
    """
    train, test = experiment.train, experiment.test
    features = [
        extract(network.encoder, part.images, experiment.plain, device=experiment.device)
        for part in (train, test)
    ]
    held_out = max(1, round(experiment.settings["validation_share"] * len(train.labels)))
    stream = generator(*experiment.name, "probe")
    chosen, fitted = torch.randperm(len(train.labels), generator=stream).tensor_split([held_out])
    probe = choose_probe(
        (features[0][fitted], train.labels[fitted]),
        (features[0][chosen], train.labels[chosen]),
        experiment.classes,
    ).probe
    return score(probe.scores(features[1]), test.labels)


def correlations(z: Tensor) -> Tensor:
    """Pearson correlations of the columns of ``z (N, width)``, float64 (width, width).

    A neuron that does not vary has zeros, on the diagonal too.
    """
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
    return pd.DataFrame(
        {"low": edges[:-1].tolist(), "high": edges[1:].tolist(), "pairs": pairs.tolist()}
    )
