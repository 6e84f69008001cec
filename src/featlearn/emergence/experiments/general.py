"""The general setting (appendix A.8): patterns that are not orthogonal, inputs with noise.

``x = M phi + zeta / scale``: the columns of M have length one and are only nearly orthogonal, zeta
is Gaussian. All is trained in the d coordinates of the input. The thesis has no experiment.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import pandas as pd
import torch
from torch import Tensor

from featlearn.core.run.progress import Progress
from featlearn.core.seeds import Streams
from featlearn.emergence.data import Law, Samples, incoherent, inputs
from featlearn.emergence.experiments.curves import Ledger, Problem, chosen_stages, heads, trained
from featlearn.emergence.train import accuracy

if TYPE_CHECKING:
    from featlearn.core.run.job import Job
    from featlearn.core.run.outputs import Results

#: What is trained by descent. Random features have a converged head alone.
ARMS = {"network": "training", "ntk": "ntk"}


class General(Problem):
    """A problem of parity labels whose inputs are not in the coordinates of the patterns."""

    def __init__(self, noise: float, cell: Any, streams: Streams, device: torch.device):
        self.noise = noise
        drawn = [incoherent(cell["data"]["patterns"], cell["dimension"], cell["spread"], stream)
                 for stream in streams("columns")]  # fmt: skip
        #: (R, d, D) dictionaries M, and how incoherent they are
        self.columns = torch.stack([columns for columns, _ in drawn])
        self.mu = [mu for _, mu in drawn]
        #: share of samples whose label follows from the patterns that are read off the input
        self.read: list[float] = []
        law = Law(**cell["data"], noise=cell["dimension"] * noise**2)
        super().__init__(law, cell, streams, device)
        along = (self.columns @ self.world.direction()[..., None])[..., 0]
        self.direction = (along / along.norm(dim=1, keepdim=True)).to(device)

    def inputs(self, drawn: Samples, part: str) -> Tensor:
        """(R, n, d) of eq. A.292."""
        result = []
        for r, stream in enumerate(self.streams(f"noise-{part}")):
            own = Samples(**{name: values[r : r + 1] for name, values in vars(drawn).items()})
            world = type(self.world)(self.law, self.world.relevant[r : r + 1])
            x = inputs(own, world, self.columns[r], self.noise, stream)
            result.append(x.float())
            if part == "test":
                self.read.append(self._read(x[0], own.y[0], world, r))
        return torch.cat(result)

    def _read(self, x: Tensor, y: Tensor, world: Any, r: int) -> float:
        """Accuracy of rounding the least-squares patterns to bits and counting relevant ones."""
        phi = x @ torch.linalg.pinv(self.columns[r]).T * self.law.scale
        bits = (phi + world.mean()[0])[:, world.relevant[0]] > 0.5
        return float(accuracy(self.law.label(bits.sum(1))[None], y[None]))


def measure(job: Job) -> Results:
    """Compare feature learning with fixed features on patterns that are not orthogonal."""
    cell, noise = job.config, float(job.wildcards["noise"])
    name = f"general-{job.wildcards['noise']}"
    tried = sum(len(cell[place]) for place in ARMS.values())
    progress, done = Progress(job.rule, (len(ARMS) + tried) * cell["steps"]), itertools.count(1)
    tick = lambda: progress.report(next(done), dict)  # noqa: E731

    def problem(suffix: str, replicates: int) -> General:
        # fresh ones: those of `general-...` were looked at when its steps were chosen
        streams = Streams(job.seed, "emergence", f"{name}-fresh{suffix}", range(replicates))
        return General(noise, cell, streams, job.device)

    stages = chosen_stages(cell, ARMS, lambda: problem("-pilot", 1), tick)
    own, ledger = problem("", cell["replicates"]), Ledger(name)
    networks = {"start": own.start, "one_step": own.practical[0], "two_step": own.practical[1]}
    for arm, stage in stages.items():
        end, seen = trained(own, arm, stage, tick)
        if end is not None:
            networks[arm] = end
        ledger.curves(own, arm, seen)
    heads(own, {"rf": own.start, "two_step": own.practical[1]}, ledger)
    for arm, network in networks.items():
        ledger.cosines(own, arm, network, torch.zeros_like(network.a), 0)
    threshold = own.law.best_threshold_accuracy()
    ledger.add(own, "threshold", "test", [threshold] * cell["replicates"])
    ledger.add(own, "known patterns", "test", own.read)
    ledger.add(own, "dictionary", "mu", own.mu)
    return {"values": pd.DataFrame(ledger.rows).assign(noise=noise)}
