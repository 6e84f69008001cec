"""What frozen features hold: linear probes, ridge regression, nearest neighbours, t-SNE."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from featlearn.core.seeds import derive_seed
from featlearn.core.training import heads
from featlearn.core.training.heads import PENALTIES

Quality = TypeVar("Quality")

#: What is done with an encoder; the names stand in tables and figures.
FINE_TUNED, PROBE, NEIGHBOURS = "fine-tuned", "linear probe", "nearest neighbours"


class LinearProbe(NamedTuple):
    """A fitted probe: scores are ``features @ weight.T + bias``.

    ``weight`` (K, width). ``bias`` (K,). ``penalty``, ``objective``: see
    :mod:`featlearn.core.training.heads`.
    """

    weight: Tensor
    bias: Tensor
    penalty: float
    objective: float

    def scores(self, features: Tensor) -> Tensor:
        """(N, K), on the device of ``features`` and in the precision of the probe."""
        weight = self.weight.to(features.device)
        return features.to(weight.dtype) @ weight.T + self.bias.to(features.device)

    def predict(self, features: Tensor) -> Tensor:
        """Class of each image, int64 (N,)."""
        return self.scores(features).argmax(1)


def fit_path(
    features: Tensor, labels: Tensor, classes: int, penalties: Sequence[float], **options: Any
) -> list[LinearProbe]:
    """As :func:`featlearn.core.training.heads.fit_path`, without the replicate axis."""
    fitted = heads.fit_path(features[None], labels[None], classes, penalties, **options)
    return [LinearProbe(one.weight[0], one.bias[0], float(one.penalty[0]), float(one.objective[0]))
            for one in fitted]  # fmt: skip


def choose_probe(
    training: tuple[Tensor, Tensor], validation: tuple[Tensor, Tensor], classes: int,
    penalties: Sequence[float] = PENALTIES,
) -> LinearProbe:  # fmt: skip
    """Fit on both splits at the penalty of the path that scores best on the validation split.

    ``training``, ``validation``: features (N, width) and labels, as in :func:`fit_path`. The score
    is the accuracy, or the mean average precision with several labels an image; ties go to the
    larger penalty.
    """
    path = fit_path(*training, classes, sorted(penalties, reverse=True))
    scores = [score(probe.scores(validation[0]), validation[1]) for probe in path]
    best = max(range(len(path)), key=scores.__getitem__)  # the first of the best
    features, labels = (torch.cat(parts) for parts in zip(training, validation, strict=True))
    return fit_path(features, labels, classes, [path[best].penalty])[0]


def score(scores: Tensor, labels: Tensor) -> float:
    """Accuracy for labels (N,); mean average precision for labels (N, K)."""
    labels = labels.to(scores.device)
    if labels.dim() == 1:
        return float((scores.argmax(1) == labels).double().mean())
    return float(average_precision(scores, labels).nanmean())


def average_precision(scores: Tensor, labels: Tensor) -> Tensor:
    """Area under the steps of precision over recall, float64 (K,); nan without a positive image.

    ``scores`` (N, K). ``labels`` (N, K): 1 yes, 0 no, -1 not counted.
    """
    columns = zip(scores.double().unbind(1), labels.unbind(1), strict=True)
    return torch.stack([_average_precision(s, y) for s, y in columns])


def _average_precision(scores: Tensor, labels: Tensor) -> Tensor:
    scores, labels = scores[labels >= 0], labels[labels >= 0]
    order = scores.argsort(descending=True, stable=True)
    hit = labels[order] > 0
    right = hit.cumsum(0).double()  # of whole numbers: CUDA has no repeatable sum of floats
    if not len(right) or right[-1] == 0:
        return scores.new_full((), float("nan"))
    ranked = scores[order]
    last = torch.ones_like(hit)
    last[:-1] = ranked[1:] != ranked[:-1]  # equal scores are one threshold
    precision = (right / torch.arange(1, len(hit) + 1, device=hit.device))[last]
    recall = (right / right[-1])[last]
    return (recall.diff(prepend=recall.new_zeros(1)) * precision).sum()


#: Penalties that are tried, relative to the mean square of the standardised features.
RIDGE_PENALTIES = tuple(10.0**power for power in range(-6, 3))


def explained_share(
    training: tuple[Tensor, Tensor], validation: tuple[Tensor, Tensor],
    testing: tuple[Tensor, Tensor], penalties: Sequence[float] = RIDGE_PENALTIES,
) -> float:  # fmt: skip
    """R^2 on test data of a ridge regression with intercept, mean over the targets.

    The penalty is the best one on ``validation``. Each: features (N, width) and targets (N, K).
    Returns ``1 - sum (y - prediction)^2 / sum (y - mean of the test y)^2``, at most 1.
    """
    mean, std = training[0].double().mean(0), training[0].double().std(0, correction=0)
    usual = training[1].double().mean(0)

    def ready(data: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
        return (data[0].double() - mean) / std.clamp_min(1e-12), data[1].double() - usual

    (x, y), chosen, (x_test, y_test) = ready(training), ready(validation), ready(testing)
    # directions that do not vary at all are left with the penalty alone
    square = x.T @ x / len(x)
    values, turn = torch.linalg.eigh(square)
    product = turn.T @ (x.T @ y / len(x))
    weights = [turn @ (product / (values.clamp_min(0) + one)[:, None]) for one in penalties]
    errors = [float((chosen[0] @ weight - chosen[1]).square().mean()) for weight in weights]
    weight = weights[errors.index(min(errors))]
    residual = (x_test @ weight - y_test).square().sum(0)
    spread = (y_test - y_test.mean(0)).square().sum(0)
    return float((1 - residual / spread).mean())


def nearest_neighbours(
    training: tuple[Tensor, Tensor], features: Tensor, classes: int,
    neighbours: Sequence[int] = (20, 200), *, temperature: float | None = 0.07, chunk: int = 1024,
) -> Tensor:  # fmt: skip
    """Class of each image by the vote of its nearest training images in cosine similarity.

    ``training``: features (M, width) and labels int64 (M,). ``features`` (N, width). ``classes``:
    their number. ``neighbours``: how many vote: one result each. ``temperature``: a neighbour at
    similarity s has ``exp(s / temperature)`` votes (Wu et al.: 0.07); None: one. ``chunk``: images
    at a time. Ties go to the first image and the first class. Returns int64 ``(len(neighbours),
    N)``. Raises ValueError if there are fewer training images than neighbours, or shapes do not
    fit.
    """
    bank, labels = training
    if not neighbours or min(neighbours) < 1 or max(neighbours) > len(bank):
        raise ValueError(
            f"neighbours: {list(neighbours)}; expected from 1 to {len(bank)}, the training images"
        )
    if bank.shape[1] != features.shape[1] or labels.shape != bank.shape[:1]:
        raise ValueError(
            f"training: features {tuple(bank.shape)}, labels {tuple(labels.shape)}; "
            f"expected (M, {features.shape[1]}) and (M,)"
        )
    bank = functional.normalize(bank.float(), dim=1)
    own = functional.one_hot(labels, classes).float()
    parts = []
    for start in range(0, len(features), chunk):
        similarity = functional.normalize(features[start : start + chunk].float(), dim=1) @ bank.T
        votes = torch.ones_like(similarity)
        if temperature is not None:  # at most 1: no overflow at low temperatures
            votes = ((similarity - 1) / temperature).exp()
        ordered, _ = similarity.topk(max(neighbours), dim=1)
        parts.append(
            torch.stack(
                [((votes * _nearest(similarity, ordered[:, k - 1], k)) @ own).argmax(1)
                 for k in neighbours]
            )
        )  # fmt: skip
    return torch.cat(parts, 1)


def _nearest(similarity: Tensor, smallest: Tensor, k: int) -> Tensor:
    """Which of the training images are the ``k`` nearest ones; bool like ``similarity``."""
    above = similarity > smallest[:, None]
    equal = similarity == smallest[:, None]
    room = k - above.sum(1, keepdim=True)
    return above | (equal & (equal.cumsum(1) <= room))


class Frozen(Generic[Quality]):
    """Features of training and test images, computed once for all numbers of labels.

    ``train``, ``labels``: (N, width) and int64 (N,) or (N, classes). ``test``: (M, width).
    ``classes``: their number. ``quality``: of the test images' scores (M, classes), on the CPU.
    ``device``: where probes are solved.
    """

    def __init__(
        self, train: Tensor, labels: Tensor, test: Tensor, classes: int,
        quality: Callable[[Tensor], Quality], device: torch.device | str = "cpu",
    ):  # fmt: skip
        self.train, self.labels, self.test = (one.to(device) for one in (train, labels, test))
        self.classes, self.quality = classes, quality

    def probe(self, fitted: slice | Tensor, chosen: slice | Tensor) -> Quality:
        """Of the linear probe on both sets of rows; its penalty does best on ``chosen``."""
        first, second = ((self.train[rows], self.labels[rows]) for rows in (fitted, chosen))
        probe = choose_probe(first, second, self.classes)
        return self.quality(probe.scores(self.test).cpu())

    def neighbours(self, rows: slice | Tensor, settings: Mapping[str, Any]) -> Quality:
        """Of the vote of the nearest ones among ``rows``: ``count`` of them, ``temperature``."""
        bank = self.train[rows], self.labels[rows]
        voters = [min(settings["count"], len(bank[0]))]
        predicted = nearest_neighbours(
            bank, self.test, self.classes, voters, temperature=settings["temperature"]
        )[0]
        return self.quality(functional.one_hot(predicted.cpu(), self.classes))


def tsne(
    features: Tensor, name: tuple[object, ...], perplexity: float = 30.0
) -> NDArray[np.float64]:
    """t-SNE (van der Maaten and Hinton 2008) from the principal components: ``(N, 2)``.

    ``features`` (N, width): centred, and divided by one number. ``name``: of the random stream.
    ``perplexity``: less than N. One thread: scikit-learn's sums depend on their number. Raises
    ValueError if there are not more images than the perplexity.
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
        fitted = TSNE(perplexity=perplexity, init=start, learning_rate="auto",
                      random_state=derive_seed(*name, "tsne") % 2**32,
                      n_jobs=1).fit_transform(scaled)  # fmt: skip
    return np.asarray(fitted, dtype=np.float64)


def silhouette(points: Tensor, labels: Tensor) -> float:
    """Mean silhouette (Rousseeuw 1987) of points (N, D): 1 for tight classes far apart, 0 for none.

    A point's is ``(b - a) / max(a, b)`` with ``a`` its mean distance to the others of its class and
    ``b`` the least mean distance to the points of another class; 0 in a class of one.
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
    """Mean share of the points' class among their ``neighbours`` nearest: ``points`` (N, D)."""
    distance = torch.cdist(points.double(), points.double())
    distance.fill_diagonal_(float("inf"))
    nearest = distance.argsort(dim=1, stable=True)[:, :neighbours]
    return float((labels[nearest] == labels[:, None]).double().mean())


def accuracies(predicted: Tensor, labels: Tensor, view: Tensor | None = None) -> dict[str, float]:
    """Share of right predictions.

    ``predicted``, ``labels`` int64 (N,). ``view`` int64 (N,): which part of its class a single-view
    image shows, -1 in a multi-view one; None: not known. Returns ``all`` if ``view`` is None; else,
    of the kinds of images that there are, ``multi_view``, ``single_view``, ``single_view_1``,
    ``single_view_2``, ... for each part alone, and ``worst_view``, the least of these.
    """
    right = (predicted.cpu() == labels.cpu()).double()
    if view is None:
        return {"all": float(right.mean())}
    view = view.cpu()
    kinds = {"multi_view": view < 0, "single_view": view >= 0}
    found = {name: float(right[rows].mean()) for name, rows in kinds.items() if rows.any()}
    views = sorted(set(view.tolist()) - {-1})
    each = {f"single_view_{one + 1}": float(right[view == one].mean()) for one in views}
    worst = {"worst_view": min(each.values())} if each else {}
    return found | each | worst
