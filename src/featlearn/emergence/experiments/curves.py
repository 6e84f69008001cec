"""Six ways to learn the same labels: the curves and tables of the synthetic experiments.

A *cell* is a law of the data with its sizes. In each, the network, its Taylor model at the start
(NTK) and random features learn from the same samples and the same start, with the structure of the
inputs and without. Beside them stand what needs no training of features: converged heads on the
features of the start and after one and two steps, a linear classifier on the raw input, the best
threshold on the number of relevant patterns, and the majority.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd
import torch
from torch import Tensor

from featlearn.core.heads import choose
from featlearn.core.progress import Progress
from featlearn.core.seeds import Streams
from featlearn.emergence.closed_forms import classical_map, second_step_cosine
from featlearn.emergence.data import Law, World, sample
from featlearn.emergence.model import (
    Network,
    cosines,
    directions,
    output,
    outside,
    symmetric_start,
    with_one,
)
from featlearn.emergence.train import (
    Schedule,
    Taylor,
    accuracy,
    batches,
    class_weights,
    features,
    start_stds,
    train_network,
    train_taylor,
    two_steps,
)

if TYPE_CHECKING:
    from featlearn.core.job import Job
    from featlearn.core.outputs import Results

COLUMNS = ["cell", "structured", "arm", "quantity", "dimension", "step", "replicate", "value"]
MAP = ["cell", "preset", "dimension", "moment", "point", "x", "y", "cosine"]
#: What is drawn of a law: samples to learn from, to choose by, and to test on.
PARTS = ("train", "validation", "test")
#: Training samples of which the accuracy is recorded along the way.
SHOWN = 5000
#: Penalties of the converged heads; see :mod:`featlearn.core.heads`.
PENALTIES = (1e-2, 1e-4, 1e-6)


class Problem:
    """One law with its samples, and the start that all its arms share."""

    def __init__(self, law: Law, cell: Mapping[str, Any], streams: Streams, device: torch.device):
        kind = "structured" if law.structured else "flat"
        self.law, self.cell = law, cell
        self.world = World.draw(law, streams("world"))
        self.x: dict[str, Tensor] = {}
        self.y: dict[str, Tensor] = {}
        for part in PARTS:
            drawn = sample(self.world, cell["samples"][part], streams(f"{kind}-{part}"))
            self.x[part] = with_one(drawn.phi).to(device)
            self.y[part] = drawn.y.to(device)
        start = symmetric_start(cell["pairs"], law.patterns, start_stds(law), streams("start"))
        self.start = Network(start.rows.to(device), start.a.to(device))
        self.streams, self.kind = streams, kind
        self.direction = self.world.direction().to(device)

    def batches(self, arm: str, steps: int) -> Iterator[Tensor]:
        own = self.streams(f"{self.kind}-batches-{arm}")
        return batches(self.cell["samples"]["train"], self.cell["batch_size"], steps, own)

    def two_steps(self, preset: str) -> tuple[Network, Network]:
        """After the first and the second full step, by the class-weighted loss."""
        x, y = self.x["train"], self.y["train"]
        schedule = Schedule.of(self.law, self.cell["pairs"], preset)
        return two_steps(self.start, x, y, class_weights(self.law, y), schedule)


class Ledger:
    """Rows of the frame, of one cell."""

    def __init__(self, cell: str):
        self.cell, self.rows = cell, list[tuple[Any, ...]]()

    def add(
        self,
        problem: Problem,
        arm: str,
        quantity: str,
        values: Iterable[Any],
        step: int = -1,
        at: int = 0,
        replicates: Iterable[int] | None = None,
    ) -> None:
        """One row a replicate; ``step`` -1 is the end, ``at`` the dimension where it matters."""
        for replicate, value in zip(replicates or itertools.count(), values, strict=False):
            own = (self.cell, problem.law.structured, arm, quantity, at, step, replicate)
            self.rows.append((*own, float(value)))


def measure(job: Job) -> Results:
    """All arms of one cell, and the maps of its weights."""
    cell, name = job.config, job.wildcards["cell"]
    streams = Streams(job.seed, "emergence", f"curves-{name}", range(cell["replicates"]))
    ledger, progress = Ledger(name), Progress(job.rule, 6 * cell["steps"])
    maps: list[tuple[Any, ...]] = []
    for structured in (True, False):
        law = Law.from_config(cell["data"], structured=structured)
        problem = Problem(law, cell, streams, job.device)
        _baselines(problem, ledger)
        first, second = problem.two_steps("practical")
        done = 3 * cell["steps"] * (not structured)

        def told(step: int, done: int = done) -> None:
            progress.report(done + step, lambda: {})

        end = _network(problem, first, second, ledger, told)
        _fixed(problem, ledger, told)
        _alignment(problem, {"start": problem.start, "one_step": first, "two_step": second,
                             "network": end}, ledger)  # fmt: skip
        _sizes(problem, first, second, ledger)
        if structured:
            _heads(problem, {"rf": problem.start, "one_step": first, "two_step": second}, ledger)
            for preset in ("practical", "partial_forget"):
                steps = problem.two_steps(preset)
                maps += _maps(name, problem, preset, (problem.start, *steps))
            _alignment(problem, {"partial_one_step": steps[0]}, ledger)
    return {
        "values": pd.DataFrame(ledger.rows, columns=COLUMNS),
        "maps": pd.DataFrame(maps, columns=MAP),
    }


def _baselines(problem: Problem, ledger: Ledger) -> None:
    law, replicates = problem.law, len(problem.world.relevant)
    ledger.add(problem, "majority", "test", [law.majority_accuracy()] * replicates)
    ledger.add(problem, "threshold", "test", [law.best_threshold_accuracy()] * replicates)


def _records(cell: Mapping[str, Any]) -> Callable[[int], bool]:
    return lambda step: step % cell["record_every"] == 0 or step == cell["steps"]


def _network(
    problem: Problem,
    first: Network,
    second: Network,
    ledger: Ledger,
    told: Callable[[int], None],
) -> Network:
    """The whole network: two full steps, then batches."""
    cell, records = problem.cell, _records(problem.cell)

    def see(after: int, own: Network) -> None:
        step = after + 2
        told(step)
        if records(step):
            _accuracies(problem, "network", lambda x, part: output(own, x), ledger, step)

    _accuracies(problem, "network", lambda x, part: output(first, x), ledger, 1)
    _accuracies(problem, "network", lambda x, part: output(second, x), ledger, 2)
    order = problem.batches("network", cell["steps"] - 2)
    x, y = problem.x["train"], problem.y["train"]
    return train_network(second, x, y, order, cell["training"], see)


def _fixed(problem: Problem, ledger: Ledger, told: Callable[[int], None]) -> None:
    """Random features and the Taylor model, on the neurons of the start."""
    cell, records = problem.cell, _records(problem.cell)
    rows = problem.start.rows[:, : cell["pairs"]]
    act = {part: features(problem.x[part], rows) for part in PARTS}
    data = (problem.x["train"], act["train"], problem.y["train"])
    for place, arm in enumerate(("rf", "ntk"), 1):
        model = Taylor.start(problem.start, kernel=arm == "ntk")

        def see(step: int, own: Taylor, arm: str = arm, place: int = place) -> None:
            told(place * cell["steps"] + step)
            if records(step):

                def outputs(x: Tensor, part: str) -> Tensor:
                    return own.output(x, act[part][:, : x.shape[1]])

                _accuracies(problem, arm, outputs, ledger, step)

        train_taylor(model, data, problem.batches(arm, cell["steps"]), cell[arm], see)


def _accuracies(
    problem: Problem, arm: str, outputs: Callable[[Tensor, str], Tensor], ledger: Ledger, step: int
) -> None:
    for part in PARTS:
        x, y = problem.x[part], problem.y[part]
        if part == "train":
            x, y = x[:, :SHOWN], y[:, :SHOWN]
        ledger.add(problem, arm, part, accuracy(outputs(x, part), y), step)


def _alignment(problem: Problem, networks: Mapping[str, Network], ledger: Ledger) -> None:
    """Largest and median cosine of the neurons with the relevant direction, at each dimension d."""
    cell, law = problem.cell, problem.law
    for dimension in cell["dimensions"]:
        streams = problem.streams(f"outside-{dimension}")
        rest = outside(cell["pairs"], dimension - law.patterns, start_stds(law)[0], streams).norm(
            dim=-1
        )
        for arm, network in networks.items():
            found = cosines(network, problem.direction, rest.to(problem.direction.device))
            ledger.add(problem, arm, "largest_cosine", found.max(1).values, at=dimension)
            ledger.add(problem, arm, "median_cosine", found.abs().median(1).values, at=dimension)


def _sizes(problem: Problem, first: Network, second: Network, ledger: Ledger) -> None:
    """Lengths of the weights, the share of samples that count after step 1, the noise of step 2."""
    for arm, network in (("one_step", first), ("two_step", second)):
        ledger.add(problem, arm, "norm", network.q.norm(dim=-1).median(1).values)
    margin = problem.y["train"] * output(first, problem.x["train"])
    ledger.add(problem, "one_step", "asking", (margin < 1).double().mean(1))
    if problem.law.structured:
        noise = second_step_cosine(problem.law, problem.cell["samples"]["train"])
        ledger.add(problem, "two_step", "noise_cosine", [noise] * len(margin))


def _heads(problem: Problem, networks: Mapping[str, Network], ledger: Ledger) -> None:
    """Converged heads on frozen features, and on the raw input.

    In float64 and on standardised features: after one step the features of a neuron differ by a
    millionth of a millionth from sample to sample.
    """
    labels = {part: (y > 0).long() for part, y in problem.y.items()}

    pairs = problem.cell["pairs"]
    for arm in ("linear", *networks):
        for r in range(len(labels["train"])):

            def of(x: Tensor, arm: str = arm, r: int = r) -> Tensor:
                own = x[r : r + 1].double()
                if arm == "linear":
                    return own[..., :-1]
                rows = networks[arm].rows[r : r + 1].double()
                # partners have the same features at the start
                return features(own, rows[:, :pairs] if arm == "rf" else rows)

            own = {part: (of(x), labels[part][r : r + 1]) for part, x in problem.x.items()}
            found = choose(own["train"], own["validation"], 2, PENALTIES)
            rows = {"train": found.train_accuracy, "test": found.heads.accuracy(*own["test"])}
            for part, value in rows.items():
                ledger.add(problem, arm, f"head_{part}", value, replicates=[r])


def _maps(
    name: str, problem: Problem, preset: str, networks: tuple[Network, ...]
) -> Iterator[tuple[Any, ...]]:
    """Maps of the first replicate's neurons; points -1 and -2 are the star and its negative."""
    cell = problem.cell
    for dimension in cell["dimensions"]:
        missing = dimension - problem.law.patterns
        rest = outside(
            cell["pairs"], missing, start_stds(problem.law)[0],
            problem.streams(f"outside-{dimension}")[:1],
        )  # fmt: skip
        star = torch.zeros(1, dimension, dtype=torch.float64)
        star[:, : problem.law.patterns] = problem.direction[:1].cpu()
        for moment, network in enumerate(networks):
            own = Network(network.rows[:1].cpu(), network.a[:1].cpu(), network.kept)
            whole = torch.cat([star, -star, directions(own, rest)[0]])
            cosine = whole @ whole.T
            for point, ((x, y), along) in enumerate(
                zip(classical_map(cosine).tolist(), cosine[0].tolist(), strict=True), -2
            ):
                yield name, preset, dimension, moment, point, x, y, along
