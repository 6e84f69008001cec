"""Gaussians at the corners of a cube, labelled by the parity of the signs (appendix A.7.3).

A wide network with plain ReLUs learns the labels by stochastic gradient descent on the logistic
loss, which the thesis calls typical practice. Measured, at the start and along the training: is
every cluster covered by a neuron along its centre, and which sign has its output weight?
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd
import torch
from torch import Tensor
from torch.nn.functional import normalize

from featlearn.core.evidence.frames import rows
from featlearn.core.run.progress import Progress
from featlearn.core.seeds import Streams
from featlearn.core.training.heads import choose
from featlearn.emergence.closed_forms import classical_map
from featlearn.emergence.data import Hypercube, dictionary
from featlearn.emergence.model import Network, medians, with_one
from featlearn.emergence.train import (
    accuracy,
    batches,
    early_gradients,
    logistic_gradient,
    stretch_cosines,
    train_network,
)

if TYPE_CHECKING:
    from featlearn.core.run.job import Job
    from featlearn.core.run.outputs import Results

PARTS = ("train", "validation", "test")
#: Test accuracy; worst centre's cosine with its best neuron; shares: of centres with a neuron above
#: COVERED, of neurons above NEAR with a centre, of these with the sign of the centre's label.
RECORDED = ("accuracy", "worst", "covered", "aligned", "sign")
COVERED, NEAR = 0.9, 0.8
#: Steps over which the directions of gradients are compared.
EARLY = 30
PENALTIES = (1e-1, 1e-2, 1e-3)


class Problem:
    """One mixture with its samples and the start of its network; replicates first."""

    def __init__(self, setting: Mapping[str, Any], neurons: int, streams: Streams, device: Any):
        self.law = Hypercube(setting["dimension"], setting["relevant"], setting["noise"])
        d = self.law.dimension
        columns = torch.stack(
            [dictionary(self.law.relevant, d, stream) for stream in streams("columns")]
        ).float()
        self.x, self.y = dict[str, Tensor](), dict[str, Tensor]()
        for part in PARTS:
            drawn = [self.law.sample(own, setting["samples"][part], stream)
                     for own, stream in zip(columns, streams(part), strict=True)]  # fmt: skip
            x, y, cluster = (torch.stack(each) for each in zip(*drawn, strict=True))
            if part == "train":
                self.clusters = [len(own.unique()) for own in cluster]
                noise = x - self.law.signs()[cluster] @ columns.mT
                self.noise = noise.std((1, 2)) / self.law.noise_std * self.law.noise
            self.x[part], self.y[part] = with_one(x).to(device), y.to(device)
        self.columns = columns.to(device)
        self.labels = self.law.signs().prod(1).to(device)
        #: (R, 2^k, d) directions of the centres
        self.centres = normalize(self.law.signs() @ columns.mT, dim=-1).to(device)
        rows, a = [], []
        for stream in streams("start"):
            weights = torch.randn(neurons, d + 1, generator=stream)
            a.append(weights[:, -1] / neurons**0.5)
            weights *= setting["start"] / d**0.5
            weights[:, -1] = 0  # biases
            rows.append(weights)
        self.start = Network(torch.stack(rows).to(device), torch.stack(a).to(device))

    def recorded(self, network: Network) -> Tensor:
        """(5, R) of :data:`RECORDED`; the sign is not a number where no neuron is near a centre."""
        cosine = normalize(network.q, dim=-1) @ self.centres.mT
        best, which = cosine.max(-1)
        near = best > NEAR
        right = near & (self.labels[which] * network.a > 0)
        of_centres = cosine.amax(1)
        x = self.x["test"]
        outputs = ((x @ network.rows.mT).clamp_min(0) @ network.a[..., None])[..., 0]
        return torch.stack([
            accuracy(outputs, self.y["test"]),
            of_centres.amin(1).double(),
            (of_centres >= COVERED).double().mean(1),
            near.double().mean(1),
            right.sum(1).double() / near.sum(1),
        ])  # fmt: skip

    def map(self, network: Network) -> Tensor:
        """(2^k + N, 2) map of the centres and the weights of the first replicate."""
        points = torch.cat([self.centres[0], normalize(network.q[0], dim=-1)]).double()
        return classical_map((points @ points.T).cpu())


def measure(job: Job) -> Results:
    """Train on Gaussians at the corners of a cube: coverage of clusters, signs of neurons."""
    config, told, maps = job.config, list[dict[str, Any]](), list[tuple[Any, ...]]()
    finished = 0
    progress = Progress(job.rule, sum(own["epochs"] for own in config["settings"].values()))
    for name, setting in config["settings"].items():
        streams = Streams(job.seed, "emergence", f"mixture-{name}", range(config["replicates"]))
        problem = Problem(setting, config["neurons"], streams, job.device)

        def epoch_done(epoch: int, finished: int = finished) -> None:
            progress.report(finished + epoch, dict)

        for epoch, own in _along(problem, config, setting, streams, epoch_done).items():
            size = len(RECORDED) * config["replicates"]
            for quantity, each in zip(RECORDED, own[:size].view(len(RECORDED), -1), strict=True):
                told += rows({"value": each}, setting=name, quantity=quantity, epoch=epoch)
            kinds = problem.labels.int().tolist() + [0] * config["neurons"]
            places = own[size:].reshape((len(own) - size) // 2, 2).tolist()
            maps += [(name, epoch, kind, *at) for kind, at in zip(kinds, places, strict=False)]
        finished += setting["epochs"]
        for quantity, each in _beside(problem, config, streams):
            value = torch.as_tensor(each, dtype=torch.float64)
            told += rows({"value": value}, setting=name, quantity=quantity, epoch=-1)
    return {"values": pd.DataFrame(told).dropna(ignore_index=True),
            "maps": pd.DataFrame(maps, columns=["setting", "epoch", "kind", "x", "y"])}  # fmt: skip


def _along(
    problem: Problem, config: Mapping[str, Any], setting: Mapping[str, Any], streams: Streams,
    epoch_done: Callable[[int], None],
) -> dict[int, Tensor]:  # fmt: skip
    """By epoch: what is recorded, flat, and behind it at a moment the map."""
    an_epoch = setting["samples"]["train"] // config["batch_size"]

    def seen(epoch: int, network: Network) -> Tensor:
        result = problem.recorded(network).flatten().cpu()
        if epoch not in (0, *setting["moments"]):
            return result
        return torch.cat([result, problem.map(network).flatten()])

    def see(step: int, network: Network) -> Tensor | None:
        epoch, rest = divmod(step, an_epoch)
        if rest:
            return None
        epoch_done(epoch)
        due = epoch % config["record_every"] == 0 or epoch in (
            *setting["moments"],
            setting["epochs"],
        )
        return seen(epoch, network) if due else None

    order = batches(setting["samples"]["train"], config["batch_size"],
                    an_epoch * setting["epochs"], streams("batches"))  # fmt: skip
    stage = {"weight_rate": config["rate"], "head_rate": config["rate"]}
    _, result = train_network(
        problem.start, problem.x["train"], problem.y["train"], order,
        {**stage, "momentum": config["momentum"]}, see, logistic_gradient,
    )  # fmt: skip
    start = {0: seen(0, problem.start)}
    return start | {step // an_epoch: values for step, values in result.items()}


def _beside(
    problem: Problem, config: Mapping[str, Any], streams: Streams
) -> Iterator[tuple[str, Any]]:
    """The mixture itself, what solves it without learned features, and early gradients."""
    law = problem.law
    replicates = len(problem.clusters)
    for quantity, value in (("d", law.dimension), ("k", law.relevant)):
        yield quantity, [value] * replicates
    yield "clusters", problem.clusters
    yield "sigma_r", problem.noise
    signs = (problem.x["test"][..., :-1] @ problem.columns).prod(-1)
    yield "bayes", accuracy(signs, problem.y["test"])
    labels = {part: (y > 0).long() for part, y in problem.y.items()}
    for arm in ("linear", "random features"):
        own = {}
        for part, x in problem.x.items():
            # the ReLUs of the start have no biases: a standardised head does not see their size
            own[part] = x[..., :-1] if arm == "linear" else (x @ problem.start.rows.mT).clamp_min(0)
        solved = choose((own["train"], labels["train"]), (own["validation"], labels["validation"]),
                       2, PENALTIES)  # fmt: skip
        yield f"{arm}, train", solved.train_accuracy
        yield arm, solved.heads.accuracy(own["test"], labels["test"])
    order = batches(problem.x["train"].shape[1], config["batch_size"], EARLY, streams("early"))
    result = early_gradients(problem.start, problem.x["train"], problem.y["train"], order,
                            config["rate"], logistic_gradient)  # fmt: skip
    for name, cosine in stretch_cosines(result).items():
        yield name, medians(cosine)
