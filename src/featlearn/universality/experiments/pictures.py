"""Ladders of pictures: pre-training by contrast on growing mixtures of sets, a probe on each set.

Mixture T holds the training pictures of the first T sets, and the first set is the target. All
networks of a method train at once. Mixture 0 is not pre-trained: the raw pixels, random features
and the network at its start.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import pandas as pd
import torch
from torch import Tensor

from featlearn.core.seeds import Streams
from featlearn.universality.config import SHARES
from featlearn.universality.labelled import probed
from featlearn.universality.methods import Recipe, Weights, encode, hidden_layer, start
from featlearn.universality.pictures import Sight, dealt, drawn, open_set, pairs, seen
from featlearn.universality.training import pretrain
from featlearn.universality.words import RANDOM, RAW, UNTRAINED

if TYPE_CHECKING:
    from collections.abc import Callable

    from featlearn.core.job import Job
    from featlearn.core.outputs import Results

#: Views (R, n, d) and classes (R, n) of the parts of a set.
Parts = dict[str, tuple[Tensor, Tensor]]


def measure(job: Job) -> Results:
    """Accuracy of probes: a row an arm, mixture, set, share of the labels and replicate."""
    config = job.config
    streams = Streams(job.seed, "universality", "pictures", range(config["replicates"]))
    sight = Sight(config["room"], config["noise"])
    count = sum(config["samples"].values())
    sets = []
    for own in config["sets"]:
        name = (job.seed, "universality", "pictures", own["name"])
        key = f"universality.pictures.sets: {own['name']}"
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
    first = [0, *torch.tensor([len(own.classes) for own in sets]).cumsum(0).tolist()]
    spans = range(1, len(sets) + 1)
    pools = [torch.cat([deals[k]["train"] + first[k] for k in range(span)], 1) for span in spans]
    images = torch.cat([own.images for own in sets])

    width, hidden = parts[0]["train"][0].shape[-1], config["hidden"]
    begun = start(width, hidden, config["width"], streams("start"))
    rows = _probes(config, parts, RAW, [0], lambda x: x)
    rows += _probes(config, parts, RANDOM, [0], lambda x: hidden_layer(begun, x))
    rows += _probes(config, parts, UNTRAINED, [0], lambda x: encode(begun, x))
    for method in config["methods"]:
        job.tell(f"{method}: {len(sets)} mixtures of pictures")
        same = [own for _ in sets for own in streams("start")]  # all mixtures begin alike
        weights = start(width, hidden, config["width"], same)
        views = pairs(images, pools, config["batch"], sight, streams(f"pairs-{method}"))
        recipe = Recipe(method, config["steps"], config["batch"], config["rate"])
        trained = pretrain(weights, views, recipe, streams(f"heads-{method}")).weights
        represent = partial(_encoded, trained, len(sets))
        rows += _probes(config, parts, method, list(spans), represent)
    return {"pictures": pd.DataFrame(rows)}


def _encoded(weights: Weights, spans: int, x: Tensor) -> Tensor:
    return encode(weights, x.repeat(spans, 1, 1))


def _probes(
    config: dict[str, Any],
    sets: list[Parts],
    arm: str,
    spans: list[int],
    represent: Callable[[Tensor], Tensor],
) -> list[dict[str, Any]]:
    rows = []
    for task, own in enumerate(sets):
        parts = {part: (represent(x), y.repeat(len(spans), 1)) for part, (x, y) in own.items()}
        classes = 1 + max(int(y.max()) for _, y in own.values())
        count = own["train"][1].shape[1]
        for percent in SHARES:
            labels = max(classes, count * percent // 100)
            tested, fitted = probed(parts, labels, classes, config["penalties"])
            for place, (value, training) in enumerate(zip(tested, fitted, strict=True)):
                span, replicate = divmod(place, config["replicates"])
                rows.append({
                    "arm": arm, "mixture": spans[span], "task": task, "percent": percent,
                    "labels": labels, "replicate": replicate, "value": value,
                    "training": training,
                })  # fmt: skip
    return rows
