"""Which parts a classifier uses: what its Eigen-CAM maps point at, and what erasing a part does.

A map shows where a layer's strongest direction lies; whether the prediction rests on it is another
question. Part-composed pictures answer both: the pixels of each part are known, and a picture can
be drawn again without the part, everything else the same to the bit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pandas as pd
import torch
from torch import Tensor
from torch.nn import functional

from featlearn.images.cam.eigencam import PartUse, eigen_cam, heat, part_use
from featlearn.images.encoders.base import watched
from featlearn.images.train.classifier import Classifier
from featlearn.images.train.replicate import Replicate, Weights
from featlearn.images.worlds.world import Pictures, erase
from featlearn.mrp.images.downstream import long
from featlearn.mrp.images.experiment import PictureExperiment

#: Pictures whose masks are made at a time: all parts of the alphabet come with each.
MASKED_AT_ONCE = 64


def trained_classifier(
    experiment: PictureExperiment, kind: str, classifiers: Weights, labels: int
) -> Classifier:
    """The classifier of so many labels of ``downstream.evaluate``; KeyError if there is none."""
    prefix = f"{labels}/"
    weights = {k.removeprefix(prefix): v for k, v in classifiers.items() if k.startswith(prefix)}
    if not weights:
        there = sorted({int(name.partition("/")[0]) for name in classifiers})
        raise KeyError(f"classifier of {labels} labels; there are those of {there}")
    classifier = Classifier(experiment.encoder(kind), len(experiment.world.parts_of_class))
    classifier.load_state_dict(weights)
    return classifier


@dataclass(frozen=True)
class Seen:
    """What a classifier makes of N pictures.

    ``scores`` (N, classes). ``heat`` (N, S, S): Eigen-CAM of the ``cam_layer``, in [0, 1].
    """

    scores: Tensor
    heat: Tensor


def look(
    experiment: Replicate, classifier: Classifier, images: Tensor, map_cell: int | None = None
) -> Seen:
    """Scores and maps of ``images`` (N, 3, S, S) uint8.

    ``map_cell``: pixels of a map's cell, made by :func:`finer` where the layer's own are larger;
    None for the layer's own.
    """
    encoder = classifier.encoder
    layer = encoder.get_submodule(encoder.cam_layer)
    size = (images.shape[-2], images.shape[-1])

    def outputs(inputs: Tensor) -> Tensor:
        scores, activations = watched(classifier.scores, layer, inputs)
        seen = (inputs.shape[-2], inputs.shape[-1])

        def layer_maps(shifted: Tensor) -> Tensor:
            return encoder.as_maps(watched(classifier.scores, layer, shifted)[1], seen)

        own = encoder.as_maps(activations, seen)
        cell = seen[0] // own.shape[-2]
        if map_cell is not None and cell > map_cell:
            own = finer(layer_maps, inputs, cell, cell // map_cell)
        maps = eigen_cam(own)
        shape.append((maps.shape[1], maps.shape[2]))
        return torch.cat([scores, maps.flatten(1)], 1)

    shape: list[tuple[int, int]] = []
    found = experiment.read(classifier, images, outputs)
    scores, maps = found[:, : classifier.classes], found[:, classifier.classes :]
    maps = maps.reshape(len(maps), *shape[0])
    return Seen(scores, heat(maps, size))


def finer(maps_of: Callable[[Tensor], Tensor], inputs: Tensor, cell: int, times: int) -> Tensor:
    """Activation maps with ``times`` as many cells a side, of the same layer of the same network.

    The network sees the images shifted by parts of a cell, mirrored at their edges; its maps are
    interleaved (shift-and-stitch: Sermanet et al. 2014, and Long et al. 2015, section 3.2).

    ``maps_of``: from images (B, 3, S, S) to activations (B, C, S / cell, S / cell). ``times``:
    shifts along each axis, by equal parts of a cell on either side of none.
    """
    shifts = [(2 * place + 1 - times) * cell // (2 * times) for place in range(times)]
    edge = max(map(abs, shifts))
    padded = functional.pad(inputs, (edge,) * 4, mode="reflect")
    height, width = inputs.shape[-2:]
    tops, lefts = ([edge + shift for shift in shifts] for _ in range(2))
    rows = [
        torch.stack(
            [maps_of(padded[..., top : top + height, left : left + width]) for left in lefts], -1
        ).flatten(-2)
        for top in tops
    ]
    return torch.stack(rows, -2).flatten(-3, -2)


@dataclass(frozen=True)
class Erasures:
    """Pictures, and the same with parts of their class erased.

    ``name``: ``multi_view``, or ``single_view_1``, ... by the part that is shown. ``pictures``: N
    of them. ``parts`` (N, P) int64: all of the class, or the one that is shown. ``masks`` (N, P, S,
    S) bool: their pixels. ``without`` (P, N, 3, S, S) uint8: the pictures without each of them.
    ``bare`` (N, 3, S, S) uint8: without any part of their class.
    """

    name: str
    pictures: Pictures
    parts: Tensor
    masks: Tensor
    without: Tensor
    bare: Tensor


def own_masks(pictures: Pictures, parts: Tensor) -> Tensor:
    """Pixels (N, P, S, S) of the parts with the numbers (N, P)."""
    found = []
    for start in range(0, len(parts), MASKED_AT_ONCE):
        rows = slice(start, start + MASKED_AT_ONCE)
        masks, wanted = pictures.part_masks(rows), parts[rows]
        found.append(masks[torch.arange(len(wanted))[:, None], wanted])
    return torch.cat(found)


def erasures_of_tests(experiment: PictureExperiment, count: int) -> list[Erasures]:
    """The first ``count`` test pictures of each kind, multi-view or one of the single views."""
    multi, *single = experiment.test
    kinds = {"multi_view": multi}
    kinds |= {f"single_view_{view + 1}": pictures for view, pictures in enumerate(single)}
    found = []
    for name, own in kinds.items():
        pictures = own.subset(slice(count))
        parts = pictures.parts_of_class[pictures.labels]
        if bool(pictures.single_view.any()):
            parts = parts.gather(1, pictures.view[:, None])
        without = torch.stack([erase(pictures, part) for part in parts.unbind(1)])
        masks, bare = own_masks(pictures, parts), erase(pictures, pictures.own)
        found.append(Erasures(name, pictures, parts, masks, without, bare))
    return found


@dataclass(frozen=True)
class Effects:
    """What erasing does to the prediction; each (N, P) but the last.

    ``drop``: in the probability of the true class. ``margin_drop``: in the score of the true class
    over the best other one: unlike a probability it does not saturate, so it still tells which part
    counts more where the network is certain. ``flipped`` bool: a right prediction becomes a wrong
    one. ``right`` bool (N,): the prediction for the whole picture.
    """

    drop: Tensor
    margin_drop: Tensor
    flipped: Tensor
    right: Tensor


def effects(whole: Tensor, without: Tensor, labels: Tensor) -> Effects:
    """From the scores of the whole pictures (N, C) and of those without each part (P, N, C)."""
    probability, margin = _certainty(whole, labels)
    probabilities, margins = _certainty(without, labels.expand(len(without), -1))
    right = whole.argmax(1) == labels
    still = without.argmax(2) == labels
    return Effects(
        drop=(probability - probabilities).T,
        margin_drop=(margin - margins).T,
        flipped=(right & ~still).T,
        right=right,
    )


def _certainty(scores: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    """Probability of the true class and its margin, for scores (..., C) and labels (...)."""
    true = scores.gather(-1, labels[..., None])
    others = scores.scatter(-1, labels[..., None], -torch.inf)
    margin = true[..., 0] - others.amax(-1)
    return scores.softmax(-1).gather(-1, labels[..., None])[..., 0], margin


def measured(
    experiment: Replicate,
    classifier: Classifier,
    tests: list[Erasures],
    map_cell: int | None = None,
) -> pd.DataFrame:
    """How a classifier uses the parts of each kind of pictures; ``map_cell`` as in :func:`look`.

    Returns a DataFrame: columns test_set, quantity (see :func:`use_values`, :func:`effect_values`
    and :func:`agreement_values`), value.
    """
    frames = []
    for test in tests:
        seen = look(experiment, classifier, test.pictures.images, map_cell=map_cell)
        erased = (*test.without, test.bare)
        without = torch.stack(
            [experiment.read(classifier, images, classifier.scores) for images in erased]
        )
        use = part_use(seen.heat, test.masks)
        done = effects(seen.scores, without[:-1], test.pictures.labels)
        bare_right = without[-1].argmax(1) == test.pictures.labels
        values = {
            **use_values(use, test.masks),
            **effect_values(done),
            "accuracy_without_parts": float(bare_right.double().mean()),
            **agreement_values(use.density, done.margin_drop, test.pictures.labels),
        }
        frames.append(long(values, test_set=test.name))
    return pd.concat(frames, ignore_index=True)


def use_values(use: PartUse, masks: Tensor) -> dict[str, float]:
    """Means over pictures of what maps point at.

    ``hits``: parts hit a picture; ``all_hit``: share of pictures with all parts hit;
    ``heat_share``: of the heat on the parts; ``density``: that share over the parts' share of the
    pixels; ``pointed``: share of pictures whose hottest pixel lies on a part; ``entropy`` of the
    heat over the parts, 0 where none lies on any (only with two parts or more).
    """
    covered = masks.any(1).double().mean((1, 2))
    share = use.share.double().sum(1)
    values = {
        "hits": use.hits.double().mean(),
        "all_hit": use.hit.all(1).double().mean(),
        "heat_share": share.mean(),
        "density": (share / covered.clamp_min(1 / masks[0, 0].numel())).mean(),
        "pointed": use.pointed.any(1).double().mean(),
    }
    if masks.shape[1] > 1:
        values["entropy"] = use.entropy.nan_to_num(0.0).double().mean()
    return {name: float(value) for name, value in values.items()}


def effect_values(done: Effects) -> dict[str, float]:
    """Means over pictures of what erasing one part does.

    ``accuracy`` on whole pictures; ``drop`` and ``margin_drop``, mean over the parts;
    ``largest_drop``, of the part that counts most. Of right predictions, 0 where there is none:
    ``flipped``, the share that becomes wrong, mean over the parts; ``robust``, whichever is erased.
    """
    count = done.right.sum().clamp_min(1)
    flipped = done.flipped.double()
    return {
        "accuracy": float(done.right.double().mean()),
        "drop": float(done.drop.double().mean()),
        "largest_drop": float(done.drop.double().amax(1).mean()),
        "margin_drop": float(done.margin_drop.double().mean()),
        "flipped": float(flipped.mean(1).sum() / count),
        "robust": float((done.right & ~done.flipped.any(1)).sum() / count),
    }


def agreement_values(hot: Tensor, hurting: Tensor, labels: Tensor) -> dict[str, float]:
    """Whether maps know which part counts; nothing with fewer than two parts.

    ``hot``, ``hurting`` (N, P): heat on each part for its size, and what erasing it does.
    ``labels`` (N,). Returns a dict: ``matched``: share of pictures whose hottest part hurts most, 1
    / P by chance; ``matched_by_class``: what a map would reach that knows of each class how often a
    part is hottest; ``rank_correlation`` over all parts (Spearman; 0 where either is constant).
    """
    parts = hot.shape[1]
    if parts < 2:
        return {}
    hottest, worst = hot.argmax(1), hurting.argmax(1)
    expected = 0.0
    for label in torch.unique(labels):
        own = labels == label
        shares = [_shares(one[own], parts) for one in (hottest, worst)]
        expected += float(own.double().mean() * (shares[0] * shares[1]).sum())
    rank = pd.Series(hot.flatten().double().numpy()).rank()
    correlation = rank.corr(pd.Series(hurting.flatten().double().numpy()).rank())
    return {
        "matched": float((hottest == worst).double().mean()),
        "matched_by_class": expected,
        "rank_correlation": 0.0 if pd.isna(correlation) else float(correlation),
    }


def _shares(chosen: Tensor, parts: int) -> Tensor:
    return torch.bincount(chosen, minlength=parts).double() / len(chosen)
