"""Maps of features in the plane (t-SNE), and how well classes lie apart in them."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from featlearn.core.seeds import derive_seed


def tsne(
    features: Tensor, name: tuple[object, ...], perplexity: float = 30.0
) -> NDArray[np.float64]:
    """t-SNE (van der Maaten and Hinton 2008) from the principal components: ``(N, 2)``.

    The sums of scikit-learn's code depend on how they are divided among threads, so there is one.

    Parameters
    ----------
    features : (N, width)
        Each feature is centred; all are divided by one number.
    name
        Of the random stream.
    perplexity
        Less than N.

    Raises
    ------
    ValueError
        If there are not more images than the perplexity.
    """
    from sklearn.manifold import TSNE
    from threadpoolctl import threadpool_limits

    if len(features) <= perplexity:
        raise ValueError(f"features: {len(features)} rows; expected more than {perplexity:g}")
    centred = (features - features.mean(0)).double()
    scaled = (centred / centred.square().mean().sqrt().clamp_min(1e-12)).numpy()
    with threadpool_limits(limits=1):
        left, values, _ = np.linalg.svd(scaled, full_matrices=False)
        start = left[:, :2] * values[:2]
        start *= np.sign(start[np.abs(start).argmax(0), [0, 1]])  # signs of an SVD are free
        start *= 1e-4 / max(start[:, 0].std(), 1e-12)
        fitted = TSNE(
            perplexity=perplexity,
            init=start,
            learning_rate="auto",
            random_state=derive_seed(*name, "tsne") % 2**32,
            n_jobs=1,
        ).fit_transform(scaled)
    return np.asarray(fitted, dtype=np.float64)


def silhouette(points: Tensor, labels: Tensor) -> float:
    """Mean silhouette (Rousseeuw 1987): 1 for tight classes far apart, 0 for none, below for mixed.

    A point's is ``(b - a) / max(a, b)`` with ``a`` its mean distance to the others of its class and
    ``b`` the least mean distance to the points of another class; 0 in a class of one.

    Parameters
    ----------
    points : (N, D)
    labels : (N,)
    """
    distance = torch.cdist(points.double(), points.double())
    kinds, place = torch.unique(labels, return_inverse=True)
    own = torch.nn.functional.one_hot(place, len(kinds)).double()
    counts = own.sum(0)
    sums = distance @ own
    inside = sums.gather(1, place[:, None]).squeeze(1)
    mates = counts[place] - 1
    a = inside / mates.clamp_min(1)
    b = (sums / counts).masked_fill(own.bool(), float("inf")).amin(1)
    score = (b - a) / torch.maximum(a, b).clamp_min(1e-300)
    return float(torch.where(mates > 0, score, 0.0).mean())


def purity(points: Tensor, labels: Tensor, neighbours: int = 10) -> float:
    """Mean share, among the nearest points of each, of points of its class.

    Parameters
    ----------
    points : (N, D)
    labels : (N,)
    neighbours
        How many nearest points count.
    """
    distance = torch.cdist(points.double(), points.double())
    distance.fill_diagonal_(float("inf"))
    nearest = distance.argsort(dim=1, stable=True)[:, :neighbours]
    return float((labels[nearest] == labels[:, None]).double().mean())
