"""Do the filters of a trained ResNet gather, and do its gradients keep their direction (A.7.4)?

``ResNet(m)`` is ResNet-18 with m filters in its first stage. A filter is one output channel of the
last convolution of a stage, normalised. The thesis picks two groups by hand; here they are the ends
along the leading direction, as at the start and among Gaussian filters. Directions of gradients are
compared along plain descent, with labels and with shuffled ones, and in the training itself.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd
import torch
from torch import Tensor
from torch.nn import functional

from featlearn.core.run.progress import Progress
from featlearn.core.seeds import generator, seeded
from featlearn.emergence.closed_forms import classical_map
from featlearn.emergence.pictures import PARTS, Pictures, head_accuracies, of_job
from featlearn.emergence.teachers import OneResNet
from featlearn.emergence.train import Descent

if TYPE_CHECKING:
    from featlearn.core.run.job import Job
    from featlearn.core.run.outputs import Results

COLUMNS = ["width", "stage", "epoch", "group", "quantity", "replicate", "value"]
MAP = ["width", "stage", "epoch", "filter", "x", "y", "member"]
#: Steps whose gradients are averaged, and how many such stretches (Table A.7).
STRETCH, STRETCHES = 10, 3


class Groups(NamedTuple):
    """Two groups of filters, and how close they are."""

    green: Tensor  #: rows of the filters at one end
    red: Tensor  #: and at the other

    def cosines(self, filters: Tensor) -> tuple[float, float, float]:
        """Mean cosine with the own centre, green and red; of both centres with one another."""
        ends = [filters[rows] for rows in self]
        centres = [functional.normalize(end.mean(0), dim=0) for end in ends]
        own = [float((end @ centre).mean()) for end, centre in zip(ends, centres, strict=True)]
        return own[0], own[1], float(centres[0] @ centres[1])


def pick(filters: Tensor, share: float) -> Groups:
    """The ends of normalised ``filters`` (n, p) along their leading direction, ``share`` n each. At
    least two filters. The sign is that which makes the end with the largest cosine green."""
    number = min(max(2, round(share * len(filters))), len(filters) // 2)
    _, vectors = torch.linalg.eigh(filters @ filters.T)
    along = vectors[:, -1]
    along = along * along[along.abs().argmax()].sign()
    order = along.argsort(descending=True, stable=True)
    return Groups(order[:number], order[-number:])


def measure(job: Job) -> Results:
    """Train ResNets of one width: their filters, and the direction of their gradients."""
    config, width = job.config, int(job.wildcards["width"])
    pictures = of_job(job, "filters", "emergence.filters.pictures")
    rows: list[tuple[Any, ...]] = []
    maps: list[tuple[Any, ...]] = []
    progress = Progress(job.rule, config["replicates"] * config["epochs"])

    def add(replicate: int, stage: int, epoch: int, group: str, **values: float) -> None:
        rows.extend((width, stage, epoch, group, key, replicate, v) for key, v in values.items())

    for r in range(config["replicates"]):
        name = (job.seed, "emergence", f"filters-{width}", r)
        own = {part: (pictures.x[part][r], pictures.y[part][r]) for part in PARTS}
        with seeded(*name, "start"):
            net = OneResNet(width, len(pictures.classes)).to(job.device)
        _baselines(net, pictures, r, add)
        x, y = own["train"]
        shuffled = y[torch.randperm(len(y), generator=generator(*name, "shuffled")).to(y.device)]
        gradients = {"gradients": _early(net, (x, y), config, name),
                     "shuffled": _early(net, (x, shuffled), config, name)}  # fmt: skip
        seen, gradients["in_training"] = {}, _none_yet(net)
        for epoch in train(net, own["train"], config, name, gradients["in_training"]):
            progress.report(r * config["epochs"] + epoch, lambda: {})
            if epoch in config["shown"]:
                seen[epoch] = net.filters()
        for part, (x, y) in own.items():
            right = (net.scores(x).argmax(1) == y).double().mean()
            add(r, 0, config["epochs"], "network", **{part: float(right)})
        for stage, last in enumerate(seen[config["epochs"]], 1):
            followed = pick(last, config["share"])
            noise = torch.randn(last.shape, generator=generator(*name, f"noise-{stage}"))
            noise = functional.normalize(noise.double(), dim=1)
            _tell(r, stage, config["epochs"], "gaussian", noise, pick(noise, config["share"]), add)
            for epoch, all_filters in seen.items():
                here = all_filters[stage - 1]
                _tell(r, stage, epoch, "followed", here, followed, add)
                _tell(r, stage, epoch, "picked", here, pick(here, config["share"]), add)
                if r == 0:
                    maps += _map(width, stage, epoch, here, followed)
            centre = last[followed.green].mean(0)
            chosen = int((last @ centre).argmax())
            for group, result in gradients.items():
                of_filters = result[stage - 1].flatten(2)
                add(r, stage, -1, group, **kept_direction(of_filters[:, chosen]))
                every = [kept_direction(one) for one in of_filters.unbind(1)]
                means = {key: sum(one[key] for one in every) / len(every) for key in every[0]}
                add(r, stage, -1, f"all_{group}", **means)
    return {"values": pd.DataFrame(rows, columns=COLUMNS), "maps": pd.DataFrame(maps, columns=MAP)}


def train(
    net: OneResNet, data: tuple[Tensor, Tensor], config: Any, name: tuple[object, ...],
    gradients: list[Tensor],
) -> Iterator[int]:  # fmt: skip
    """Descent with momentum; gives the number of finished epochs, from 0 on.

    The mean gradient of each stretch of the first steps is added to ``gradients``, one tensor
    (STRETCHES, n, p, 3, 3) a stage.
    """
    (x, y), step = data, 0
    weights = list(net.parameters())
    rates = [config["rate"]] * len(weights)
    # SGD of torch.optim takes the same steps, and imports the whole compiler for the first
    optimiser = Descent([weight.detach() for weight in weights], rates, config["momentum"])
    yield 0
    for epoch in range(1, config["epochs"] + 1):
        net.train()
        order = torch.randperm(len(x), generator=generator(*name, "order", epoch)).to(x.device)
        for rows in torch.split(order, config["batch_size"]):
            if len(rows) < 2:
                continue  # batch norm needs several
            net.zero_grad()
            torch.autograd.backward(functional.cross_entropy(net(x[rows]), y[rows]))
            if step < STRETCH * STRETCHES:
                for total, weight in zip(gradients, net.convolutions(), strict=True):
                    assert weight.grad is not None
                    total[step // STRETCH] += weight.grad.cpu() / STRETCH
            optimiser.step([weight.grad for weight in weights if weight.grad is not None])
            step += 1
        yield epoch


def _none_yet(net: OneResNet) -> list[Tensor]:
    return [torch.zeros(STRETCHES, *w.shape) for w in net.convolutions()]


def _early(
    net: OneResNet, data: tuple[Tensor, Tensor], config: Any, name: tuple[object, ...]
) -> list[Tensor]:
    """Mean gradients of plain descent from the start, at its rate; ``net`` stays as it is."""
    gradients, steps = _none_yet(net), STRETCH * STRETCHES
    needed = steps * config["early"]["batch_size"]
    few = (data[0][:needed], data[1][:needed])
    batches = -(-len(few[0]) // config["early"]["batch_size"])
    own = {**config["early"], "momentum": 0.0, "epochs": -(-steps // batches)}
    for _ in train(copy.deepcopy(net), few, own, (*name, "early"), gradients):
        pass
    return gradients


def kept_direction(means: Tensor) -> dict[str, float]:
    """The six cosines of Table A.7 between three mean gradients (3, p) and their mean. Orthogonal
    ones of one length would have 0 among them, and 3^-0.5 = 0.577 with their mean."""
    v = functional.normalize(means.double(), dim=1)
    mean = functional.normalize(means.double().mean(0), dim=0)
    result = {f"v{i + 1}_mean": float(v[i] @ mean) for i in range(STRETCHES)}
    pairs = ((0, 1), (0, 2), (1, 2))
    return result | {f"v{i + 1}_v{j + 1}": float(v[i] @ v[j]) for i, j in pairs}


def _tell(
    r: int, stage: int, epoch: int, group: str, filters: Tensor, groups: Groups, add: Any
) -> None:
    green, red, centres = groups.cosines(filters)
    add(r, stage, epoch, group, green=green, red=red, centres=centres)


def _map(
    width: int, stage: int, epoch: int, filters: Tensor, groups: Groups
) -> Iterator[tuple[Any, ...]]:
    member = torch.zeros(len(filters), dtype=torch.long)
    member[groups.green], member[groups.red] = 1, -1
    # the map turns its first point to the right: a green one
    first = int(groups.green[0])
    order = torch.tensor([first, *(one for one in range(len(filters)) if one != first)])
    places = classical_map(filters[order] @ filters[order].T)[order.argsort()].tolist()
    for number, (place, side) in enumerate(zip(places, member.tolist(), strict=True)):
        yield width, stage, epoch, number, *place, side


def _baselines(net: OneResNet, pictures: Pictures, r: int, add: Any) -> None:
    """Converged heads on the pixels and on the features of the start; the majority."""
    y = {part: own[r : r + 1] for part, own in pictures.y.items()}
    pixels = {part: pictures.flat(part)[r : r + 1] for part in PARTS}
    start = {part: net.features(pictures.x[part][r])[None] for part in PARTS}
    add(r, 0, -1, "majority", test=float(pictures.majority()[r]))
    for what, features in (("linear", pixels), ("random", start)):
        result = head_accuracies(features, y, len(pictures.classes))
        add(r, 0, -1, what, **{part: float(value[0]) for part, value in result.items()})
