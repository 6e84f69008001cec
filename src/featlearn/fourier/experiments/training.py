"""Polynomial networks trained on sums modulo p, cell by cell: margins, spectra, accuracies.

A cell is a task (k and p), a share of inputs for training, and *arms* of other width, penalty or
weight decay, which share start, split and batches. ``curves``: quantities along the steps
(:data:`QUANTITIES`); ``neurons``: each weight vector's strongest frequency at start and end;
``heads``: fixed-feature baselines; ``weights``: all vectors of some neurons.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from featlearn.core.run.progress import Progress
from featlearn.core.seeds import Streams, generator
from featlearn.fourier.baselines import heads
from featlearn.fourier.data import split_tuples
from featlearn.fourier.network import Network, look, normal_start
from featlearn.fourier.spectra import circuits, contributions
from featlearn.fourier.train import Training, batches, train

if TYPE_CHECKING:
    from featlearn.core.run.job import Job
    from featlearn.core.run.outputs import Results

#: Accuracies on inputs for training and others; margins over gamma* (``network.Margins``); of the
#: active neurons the share of one frequency, mean peak of input vectors and median phase residual
#: (radians); the smallest contribution of a frequency to the margin times their number.
QUANTITIES = ("train", "test", "least", "mean", "spread", "single", "peak", "residual", "equal")
#: Steps at which networks are looked at, the start and the end among them.
LOOKS = 12


def measure(job: Job) -> Results:
    """Train networks on sums modulo p: some neurons, and spectra of all."""
    return _cell(job, job.wildcards["cell"], job.config)


def measure_all(job: Job) -> Results:
    """Follow the margin over steps, penalty and width; compare the penalty with weight decay."""
    found = [_cell(job, name, job.config[name]) for name in job.config]
    return {name: pd.concat([one[name] for one in found], ignore_index=True)
            for name in ("curves", "neurons", "heads")}  # fmt: skip


@dataclass(frozen=True)
class Cell:
    """The networks of a cell before training; network number arm * replicates + replicate."""

    name: str
    arms: Mapping[str, Mapping[str, Any]]
    replicates: Sequence[int]
    start: Network
    train: Tensor  #: int64 (replicates, n)
    seen: Tensor  #: int64 (N,) of the inputs that are looked at
    taught: Tensor  #: bool (replicates, N) which of them are for training

    def rows(self, network: int, **more: Any) -> dict[str, Any]:
        """What names a network in a frame, and more."""
        arm, replicate = divmod(network, len(self.replicates))
        name = list(self.arms)[arm]
        return {"cell": self.name, "arm": name, **self.arms[name],
                "replicate": self.replicates[replicate], **more}  # fmt: skip


def _cell(job: Job, name: str, config: Mapping[str, Any]) -> dict[str, pd.DataFrame]:
    streams = Streams(job.seed, "fourier", f"training-{name}", range(config["replicates"]))
    cell = _drawn(name, config, streams, job)
    training = Training(**config["training"])
    order = batches(cell.train, config["inputs"], config["modulus"], training, streams("batches"))
    strengths = {
        key: torch.tensor([float(arm[key]) for arm in cell.arms.values()], device=job.device)
        .repeat_interleave(config["replicates"])
        for key in ("penalty", "decay")
    }  # fmt: skip
    at, progress = _looks(training.steps), Progress(f"{job.rule}, {name}", training.steps)

    def see(step: int, network: Network) -> Tensor | None:
        progress.report(step, dict)
        return _seen(network, cell) if step in at else None

    end, seen = train(cell.start, order, training, strengths["penalty"], strengths["decay"], see,
                      f"training of {name}")  # fmt: skip
    curves = [cell.rows(number, step=step, quantity=quantity, value=value)
              for step, found in seen.items()
              for quantity, values in zip(QUANTITIES, found.tolist(), strict=True)
              for number, value in enumerate(values)]  # fmt: skip
    moments = {"start": cell.start, "end": end}
    frames = {
        # of a full set no input is left to test on
        "curves": pd.DataFrame(curves).dropna(subset="value"),
        "neurons": pd.concat([_neurons(cell, one, moment) for moment, one in moments.items()]),
        "weights": _weights(cell, end, config["shown"], job.seed),
        "heads": pd.DataFrame(_heads(cell)),
    }
    return {name: frame.reset_index(drop=True) for name, frame in frames.items()}


def _drawn(name: str, config: Mapping[str, Any], streams: Streams, job: Job) -> Cell:
    k, p, arms = config["inputs"], config["modulus"], config["arms"]
    parts = [split_tuples(k, p, config["train_share"], one) for one in streams("split")]
    order = torch.randperm(p**k, generator=generator(job.seed, "fourier", name, "looked-at"))
    seen = order[: config["looked_at"]].msort()
    taught = torch.zeros(len(parts), p**k, dtype=torch.bool)
    for own, part in zip(taught, parts, strict=True):
        own[part.train] = True
    widest = max(arm["width"] for arm in arms.values())
    one = normal_start(k, p, widest, config["std"], streams("start"))
    own = [Network(*(part * (torch.arange(widest) < arm["width"]) for part in one))
           for arm in arms.values()]  # fmt: skip
    start = Network(*(torch.cat(part).to(job.device) for part in zip(*own, strict=True)))
    index = torch.stack([part.train for part in parts]).to(job.device)
    return Cell(name, arms, streams.replicates, start, index, seen.to(job.device),
                taught[:, seen].to(job.device))  # fmt: skip


def _looks(steps: int) -> set[int]:
    spaced = np.geomspace(min(20, steps), steps, LOOKS - 1)
    return {0, *(round(step) for step in spaced)}


def _seen(network: Network, cell: Cell) -> Tensor:
    """(quantities, R) in double precision, on the processor."""
    found, own = look(network, cell.seen), circuits(network)
    taught = cell.taught.repeat(len(cell.arms), 1)
    active = own.active
    count = active.sum(1)
    peak = own.peak[:, :-1].mean(1)
    shares = contributions(network)
    return torch.stack([
        (found.right & taught).sum(1) / taught.sum(1),
        (found.right & ~taught).sum(1) / (~taught).sum(1),
        *found.margins,
        (own.single & active).sum(1) / count,
        torch.where(active, peak, 0.0).sum(1) / count,
        torch.where(active, own.residual, torch.nan).nanquantile(0.5, 1),
        shares.amin(1) * shares.shape[1],
    ]).double().cpu()  # fmt: skip


def _neurons(cell: Cell, network: Network, moment: str) -> pd.DataFrame:
    """A row for each vector of each neuron that is there; the output's is number k + 1."""
    seen = circuits(network)
    frames = []
    for number in range(len(network.w)):
        names = cell.rows(number, moment=moment)
        width = names["width"]
        for vector in range(network.k + 1):
            frames.append(pd.DataFrame({
                **names, "neuron": range(width), "vector": vector + 1,
                "frequency": seen.frequency[number, vector, :width].cpu(),
                "peak": seen.peak[number, vector, :width].cpu(),
                "active": seen.active[number, :width].cpu(),
                "single": seen.single[number, :width].cpu(),
                "residual": seen.residual[number, :width].cpu(),
            }))  # fmt: skip
    return pd.concat(frames)


def _weights(cell: Cell, network: Network, shown: int, seed: int) -> pd.DataFrame:
    """All vectors of some active neurons of the first network, drawn at random."""
    active = circuits(network).active[0].nonzero().squeeze(1).cpu()
    drawn = torch.randperm(len(active), generator=generator(seed, "fourier", cell.name, "shown"))
    frames = [
        pd.DataFrame({
            "cell": cell.name, "place": place, "vector": vector + 1,
            "a": range(network.p), "value": network.vectors()[0, vector, :, neuron].cpu(),
        })
        for place, neuron in enumerate(active[drawn[:shown]].tolist())
        for vector in range(network.k + 1)
    ]  # fmt: skip
    return pd.concat(frames)


def _heads(cell: Cell) -> list[dict[str, Any]]:
    """Of the first arm's start; on the inputs that are looked at and not for training, if any."""
    rows = []
    for number, index in enumerate(cell.train):
        start = Network(*(part[number : number + 1] for part in cell.start))
        others = cell.seen[~cell.taught[number]]
        tested = others if len(others) else cell.seen
        rows += [{"cell": cell.name, "replicate": cell.replicates[number], **scores}
                 for scores in heads(start, index, tested)]  # fmt: skip
    return rows
