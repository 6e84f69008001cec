"""Transfer: downstream classes made of features that pre-training saw, or did not (section 2.4).

The paper's cases, with V the features of pre-training and V' those of the downstream task: (1)
V' = V in another mixture, (2) one inside the other, (3) an overlap. All are a choice of classes
from a pool: the ``k`` old classes of pre-training, then new ones whose features are orthonormal to
theirs and to each other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from featlearn.core.seeds import Streams
from featlearn.mrp.data import MultiView, Samples, sample
from featlearn.mrp.measure import Prediction, capture, predict
from featlearn.mrp.model import Activation


def extend_features(
    features: Tensor, new_classes: int, streams: Sequence[torch.Generator]
) -> Tensor:
    """Put new classes behind the old ones.

    Parameters
    ----------
    features : (R, k, L, d)
        The old, orthonormal features.
    new_classes
        How many classes of L features each are added.
    streams
        One generator a replicate.

    Returns
    -------
    Tensor
        ``(R, k + new_classes, L, d)`` of the old dtype, all orthonormal: Gaussian vectors made
        orthogonal to what is there. The old ones come back unchanged.

    Raises
    ------
    ValueError
        If the patches have too few dimensions.
    """
    _, classes, views, dimension = features.shape
    if (classes + new_classes) * views > dimension:
        raise ValueError(
            f"new_classes: {new_classes}; {classes + new_classes} classes of {views} orthonormal "
            f"features do not fit into {dimension} dimensions"
        )
    pools = []
    for old, stream in zip(features, streams, strict=True):
        drawn = torch.randn((dimension, new_classes * views), generator=stream, dtype=torch.float64)
        basis = old.cpu().double().reshape(-1, dimension).T
        q, _ = torch.linalg.qr(torch.cat([basis, drawn], dim=1))
        fresh = q[:, classes * views :].T.reshape(new_classes, views, dimension)
        pools.append(torch.cat([old, fresh.to(old)]))
    return torch.stack(pools)


def choose_features(pool: Tensor, table: Sequence[Sequence[int]]) -> Tensor:
    """Give each downstream class its features from a pool.

    Parameters
    ----------
    pool : (R, c, L, d)
    table
        One row a downstream class: flat indices ``L * class + view`` into the pool. A class may
        mix the features of several.

    Returns
    -------
    Tensor
        (R, k', L', d).
    """
    flat = pool.flatten(1, 2)
    chosen = torch.as_tensor(table, device=pool.device)
    return flat[:, chosen]


@dataclass(frozen=True)
class Case:
    """A downstream task of whole classes: the first old ones, then new ones.

    Parameters
    ----------
    old_classes, new_classes
        How many; labels count the old ones first.
    single_view_share
        Of the labelled downstream samples (the paper's ``mu``).
    """

    old_classes: int
    new_classes: int
    single_view_share: float

    @property
    def classes(self) -> int:
        """Number of downstream classes, ``k'``."""
        return self.old_classes + self.new_classes

    def features(self, pool: Tensor, pretrained_classes: int) -> Tensor:
        """(R, k', L, d): its features, where the pool begins with the pre-trained classes."""
        views = pool.shape[2]
        new = range(pretrained_classes, pretrained_classes + self.new_classes)
        classes = [*range(self.old_classes), *new]
        return choose_features(pool, [[views * i + v for v in range(views)] for i in classes])

    def spec(self, pretraining: MultiView) -> MultiView:
        """The distribution: as in pre-training, with ``s / k`` and the spare patches kept."""
        room = pretraining.features_per_class * pretraining.patches_per_feature
        return replace(
            pretraining,
            classes=self.classes,
            patches=pretraining.patches + (self.classes - pretraining.classes) * room,
            sparsity=pretraining.sparsity * self.classes / pretraining.classes,
            single_view_share=self.single_view_share,
        )


@dataclass(frozen=True)
class Task:
    """A downstream task, drawn: its features (R, k', L, d) and three sets of samples."""

    case: Case
    features: Tensor
    train: Samples
    multi_view: Samples
    single_view: Samples

    def to(self, device: torch.device | str) -> Task:
        """The same task elsewhere."""
        sets = [part.to(device) for part in (self.train, self.multi_view, self.single_view)]
        return Task(self.case, self.features.to(device), *sets)


def draw_task(
    case: Case,
    pretraining: MultiView,
    pool: Tensor,
    streams: Streams,
    *,
    train_samples: int,
    test_samples: int,
) -> Task:
    """Draw the samples of a downstream task; ``pool`` from :func:`extend_features`."""
    features = case.features(pool, pretraining.classes).cpu()
    spec = case.spec(pretraining)
    return Task(
        case,
        features,
        sample(spec, features, train_samples, streams("train-data")),
        sample(spec, features, test_samples, streams("test-multi-view"), single_view=False),
        sample(spec, features, test_samples, streams("test-single-view"), single_view=True),
    )


# --------------------------------------------------------------------------- what is measured

#: Columns of ``transfer/accuracy.parquet``; ``classes`` is old, new or all.
TRANSFER_COLUMNS = (
    "case", "recipe", "encoder_rate", "classes", "replicate", "quantity", "value",
)  # fmt: skip

TransferRow = tuple[str, str, float, str, int, str, float]


def transfer_rows(
    name: str,
    recipe: str,
    encoder_rate: float,
    task: Task,
    w: Tensor,
    u: Tensor,
    activation: Activation,
    *,
    by_class: bool = False,
) -> Iterator[TransferRow]:
    """Accuracies and captured features of one classifier, old and new classes apart.

    ``blamed_on_new`` is the share of the single-view samples of old classes that are taken for a
    new class; ``by_class`` as in :func:`featlearn.mrp.measure.capture`.
    """
    old = task.case.old_classes
    seen = {
        "accuracy_multi_view": predict(task.multi_view, w, u, activation),
        "accuracy_single_view": predict(task.single_view, w, u, activation),
    }
    captured = capture(w, task.features, activation, by_class=by_class).captured().double()
    groups = {"all": slice(None), "old": slice(0, old)}
    if task.case.new_classes:
        groups["new"] = slice(old, None)
    for classes, part in groups.items():
        member = torch.zeros(task.case.classes, dtype=torch.bool, device=w.device)
        member[part] = True
        quantities = {key: _accuracy(found, member) for key, found in seen.items()}
        quantities["captured"] = captured[:, part].flatten(1).mean(1)
        if classes == "old" and task.case.new_classes:
            quantities["blamed_on_new"] = _blamed(seen["accuracy_single_view"], old)
        for quantity, values in quantities.items():
            for replicate, value in enumerate(values.tolist()):
                yield name, recipe, encoder_rate, classes, replicate, quantity, value


def _accuracy(seen: Prediction, member: Tensor) -> Tensor:
    """(R,) accuracy on the samples of some classes, ``member`` (k',) bool."""
    chosen = member[seen.y]
    right = (seen.scores.argmax(-1) == seen.y) & chosen
    return right.double().sum(-1) / chosen.double().sum(-1)


def _blamed(seen: Prediction, old: int) -> Tensor:
    chosen = seen.y < old
    blamed = (seen.scores.argmax(-1) >= old) & chosen
    return blamed.double().sum(-1) / chosen.double().sum(-1)
