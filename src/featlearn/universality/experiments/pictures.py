"""Ladders of pictures: pre-training by contrast on growing mixtures of sets, a probe on each set.

Mixture T holds the training pictures of the first T sets, the first is the target. Mixture 0 is not
pre-trained: raw pixels, random features and the network at its start.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd
import torch
from torch import Tensor

from featlearn.core.seeds import Streams
from featlearn.universality.config import SHARES
from featlearn.universality.labelled import in_spans, probed
from featlearn.universality.methods import (
    Body,
    Recipe,
    SimCLR,
    Weights,
    encode,
    hidden_layer,
    repeated,
    start,
)
from featlearn.universality.pictures import Pictures, Sight, dealt, drawn, open_set, pairs, seen
from featlearn.universality.training import pretrain
from featlearn.universality.words import RANDOM, RAW, UNTRAINED

if TYPE_CHECKING:
    from collections.abc import Callable

    from featlearn.core.run.job import Job
    from featlearn.core.run.outputs import Results

Rows = list[dict[str, Any]]
#: Views (R, n, d) and classes (R, n) of the parts of a set.
Parts = dict[str, tuple[Tensor, Tensor]]


class Laid(NamedTuple):
    """The sets of a ladder, dealt out and seen."""

    sets: list[Pictures]
    deals: list[dict[str, Tensor]]  #: rows (R, n) of each part
    parts: list[Parts]
    streams: Streams
    sight: Sight


def measure(job: Job) -> Results:
    """Pre-train on growing mixtures of sets of pictures, and probe each set."""
    config, laid = job.config, lay(job, "pictures")
    pixels = laid.parts[0]["train"][0].shape[-1]
    begun = start(pixels, config["hidden"], config["width"], laid.streams("start"))
    return {"pictures": pd.DataFrame(climbed(job, laid, begun, hidden_layer))}


def lay(job: Job, experiment: str) -> Laid:
    """The sets of the config; the same in every experiment that asks for them."""
    config = job.config
    streams = Streams(job.seed, "universality", "pictures", range(config["replicates"]))
    sight = Sight(config["room"], config["noise"])
    count = sum(config["samples"].values())
    sets = []
    for own in config["sets"]:
        name = (job.seed, "universality", "pictures", own["name"])
        key = f"universality.{experiment}.sets: {own['name']}"
        sets.append(
            open_set(own, job.results / job.params["cache"], count, config["side"], name, key)
        )
    # sets of one size are dealt alike: no picture is tested in one and turned in another's training
    deals = [dealt(own, config["samples"], streams(f"dealt-{len(own.classes)}")) for own in sets]
    parts: list[Parts] = []
    for place, (own, deal) in enumerate(zip(sets, deals, strict=True)):
        parts.append({})
        for part, chosen in deal.items():
            laid = drawn((chosen.shape[1],), config["side"], sight, streams(f"{part}-{place}"))
            parts[-1][part] = (seen(own.images[chosen], *laid, sight.room), own.classes[chosen])
    return Laid(sets, deals, parts, streams, sight)


def climbed(job: Job, laid: Laid, begun: Weights, body: Body) -> Rows:
    """Rows of all arms; ``begun``: networks (R, ...) at their start, where all mixtures begin."""
    config, streams, sets = job.config, laid.streams, laid.sets
    first = [0, *torch.tensor([len(own.classes) for own in sets]).cumsum(0).tolist()]
    spans = range(1, len(sets) + 1)
    trains = [deal["train"] + start for deal, start in zip(laid.deals, first, strict=False)]
    pools = [torch.cat(trains[:span], 1) for span in spans]
    images = torch.cat([own.images for own in sets])
    rows = _probes(config, laid.parts, RAW, [0], lambda x: x)
    rows += _probes(config, laid.parts, RANDOM, [0], lambda x: body(begun, x))
    rows += _probes(config, laid.parts, UNTRAINED, [0], lambda x: encode(begun, x, body))
    for method in config["methods"]:
        job.tell(f"{method}: {len(sets)} mixtures of pictures")
        views = pairs(images, pools, config["batch"], laid.sight, streams(f"pairs-{method}"))
        recipe = Recipe(method, config["steps"], config["batch"], config["rate"])
        heads = streams(f"heads-{method}")
        own = pretrain(repeated(begun, len(sets)), views, recipe, heads, body=body)
        rows += _probes(config, laid.parts, method, list(spans), own.encode)
        if method != "moco":  # which claims judge
            continue
        grown = []  # as the thesis: a union of sets in as many epochs, each set is seen as often
        for span, pool in zip(spans, pools, strict=True):
            draws, heads = (streams(f"{part}-{method}-{span}") for part in ("pairs", "heads"))
            views = pairs(images, [pool], config["batch"], laid.sight, draws)
            longer = replace(recipe, steps=span * recipe.steps)
            grown.append(pretrain(repeated(begun, 1), views, longer, heads, body=body))
        rows += _probes(config, laid.parts, f"{method} grown", list(spans), partial(_each, grown))
    return rows


def _each(methods: list[SimCLR], x: Tensor) -> Tensor:
    """What each of them makes of its part of the views."""
    parts = zip(methods, x.chunk(len(methods)), strict=True)
    return torch.cat([method.encode(part) for method, part in parts])


def _probes(
    config: dict[str, Any], sets: list[Parts], arm: str, spans: list[int],
    represent: Callable[[Tensor], Tensor],
) -> Rows:  # fmt: skip
    """Of all networks (spans x R); ``represent`` gets the views of a set for each of them."""
    rows: Rows = []
    told = [{"arm": arm, "mixture": span} for span in spans]
    for task, own in enumerate(sets):
        parts = {part: (represent(x.repeat(len(spans), 1, 1)), y.repeat(len(spans), 1))
                 for part, (x, y) in own.items()}  # fmt: skip
        for percent in SHARES:
            labels = labels_of(own, percent)
            found = probed(parts, labels, classes_of(own), config["penalties"])
            rows += in_spans(found, told, task=task, percent=percent, labels=labels)
    return rows


def classes_of(own: Parts) -> int:
    """Number of classes of a set."""
    return 1 + max(int(y.max()) for _, y in own.values())


def labels_of(own: Parts, percent: int) -> int:
    """Labels of a share of a set's training pictures, one a class at least."""
    return max(classes_of(own), own["train"][1].shape[1] * percent // 100)
