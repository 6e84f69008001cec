"""Six ways to learn the same labels: the curves and tables of the synthetic experiments.

A *cell* is a law of the data with its sizes. In each, the network, its Taylor model at the start
(NTK) and random features learn from the same samples and the same start, with the structure of the
inputs and without; where classes are unequal also the network from two full steps by the plain
loss, in which the frequent label weighs more. Beside them stand converged heads on frozen features,
a linear classifier, the best threshold and the majority. Without structure no rate of descent fits
the training samples: there a cell may ask for Adam and a length of its own (``flat``).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import pandas as pd
import torch
from torch import Tensor

from featlearn.core.errors import DivergedError
from featlearn.core.evidence.frames import rows
from featlearn.core.run.progress import Progress
from featlearn.core.seeds import Streams
from featlearn.core.training.heads import choose
from featlearn.emergence.closed_forms import classical_map
from featlearn.emergence.data import Law, Samples, World, sample
from featlearn.emergence.model import (
    Network,
    cosines,
    directions,
    full_gradients,
    medians,
    output,
    outside,
    smoothed_and_slope,
    symmetric_start,
    with_one,
)
from featlearn.emergence.train import (
    Schedule,
    Taylor,
    accuracy,
    balanced,
    batch_gradient,
    batches,
    class_weights,
    features,
    live_neurons,
    rescaled,
    start_stds,
    theory_stage,
    train_network,
    train_taylor,
    two_steps,
)

if TYPE_CHECKING:
    from featlearn.core.run.job import Job
    from featlearn.core.run.outputs import Results

MAP = ["cell", "preset", "dimension", "moment", "point", "x", "y", "cosine"]
#: What is drawn of a law: samples to learn from, to choose by, and to test on.
PARTS = ("train", "validation", "test")
#: What is recorded along a training: accuracies on the parts, and the test mean over both labels.
RECORDED = (*PARTS, "balanced")
#: Parts that are looked at along the way; all are at the end. The NTK's step is chosen afterwards.
LOOKED = {"ntk": PARTS}
#: Training samples of which the accuracy is recorded along the way.
SHOWN = 5000
#: What is trained by descent, and where its rates stand in the config.
STAGES = {"network": "training", "rf": "rf", "ntk": "ntk"}
#: Of these what is a model on the neurons of the start.
FIXED = ("rf", "ntk")
#: Penalties of the converged heads: of two classes half of those in
#: :mod:`featlearn.core.training.heads`.
PENALTIES = (1e-2 / 2, 1e-4 / 2, 1e-6 / 2)
#: Fourier features of the RBF kernel (Corollary 2.3): as many as most cells have pairs.
FOURIER = 300
#: Widths of that kernel, in units of the root mean square distance of two inputs.
WIDTHS = (0.5, 2.0, 8.0, 32.0)
#: Penalties of its heads: narrow kernels need larger ones.
KERNEL_PENALTIES = (0.5, 0.05, *PENALTIES)


class Problem:
    """One law with its samples, and the start that all its arms share."""

    def __init__(self, law: Law, cell: Mapping[str, Any], streams: Streams, device: torch.device):
        kind = "structured" if law.structured else "flat"
        self.law, self.cell, self.streams, self.kind = law, cell, streams, kind
        self.world = World.draw(law, streams("world"))
        self.x: dict[str, Tensor] = {}
        self.y: dict[str, Tensor] = {}
        for part in PARTS:
            drawn = sample(self.world, cell["samples"][part], streams(f"{kind}-{part}"))
            self.x[part] = with_one(self.inputs(drawn, part)).to(device)
            self.y[part] = drawn.y.to(device)
        width = self.x["train"].shape[-1] - 1
        start = symmetric_start(cell["pairs"], width, start_stds(law), streams("start"))
        self.start = Network(start.rows.to(device), start.a.to(device))
        #: gradients at the start by the weighted loss
        self._begun: tuple[Tensor, Tensor] | None = None
        self.direction = self.world.direction().to(device)

    def inputs(self, drawn: Samples, part: str) -> Tensor:
        """(R, n, D) what the arms see of these samples: their patterns."""
        return drawn.phi

    def batches(self, arm: str, steps: int) -> Iterator[Tensor]:
        own = self.streams(f"{self.kind}-batches-{arm}")
        return batches(self.cell["samples"]["train"], self.cell["batch_size"], steps, own)

    def two_steps(self, preset: str, *, weighted: bool = True) -> tuple[Network, Network]:
        """After the first and the second full step, by the class-weighted loss or the plain one."""
        x, y = self.x["train"], self.y["train"]
        schedule = Schedule.of(self.law, self.cell["pairs"], preset)
        if not weighted:
            return two_steps(self.start, x, y, torch.ones_like(y), schedule)
        weight = class_weights(self.law, y)
        if self._begun is None:  # all schedules have the same noise
            self._begun = full_gradients(self.start, x, y, weight, schedule.noise)
        return two_steps(self.start, x, y, weight, schedule, self._begun)

    @cached_property
    def practical(self) -> tuple[Network, Network]:
        return self.two_steps("practical")

    @cached_property
    def unweighted(self) -> tuple[Network, Network]:
        return self.two_steps("practical", weighted=False)

    @cached_property
    def live(self) -> list[Tensor]:
        """Of the network after two steps: between half and three quarters of its neurons."""
        return live_neurons(self.practical[1], self.x["train"])

    @cached_property
    def act(self) -> dict[str, Tensor]:
        """Of the neurons of the start, one of each pair."""
        rows = self.start.rows[:, : self.cell["pairs"]]
        return {part: features(x, rows) for part, x in self.x.items()}


class Ledger:
    """Rows of the frame, of one cell."""

    def __init__(self, cell: str):
        self.cell, self.rows = cell, list[dict[str, Any]]()

    def add(
        self, problem: Problem, arm: str, quantity: str, values: Tensor | Sequence[float],
        step: int = -1, at: int = 0, replicates: Iterable[int] | None = None,
    ) -> None:  # fmt: skip
        """One row a replicate; ``step`` -1 is the end, ``at`` the dimension where it matters."""
        self.rows += rows(
            {"value": torch.as_tensor(values, dtype=torch.float64)}, replicates, cell=self.cell,
            structured=problem.law.structured, arm=arm, quantity=quantity, dimension=at, step=step,
        )  # fmt: skip

    def cosines(self, problem: Problem, arm: str, network: Network, rest: Tensor, at: int) -> None:
        """Largest and median cosine with the relevant direction; ``rest`` as of the model's."""
        result = cosines(network, problem.direction, rest)
        self.add(problem, arm, "largest_cosine", result.max(1).values, at=at)
        self.add(problem, arm, "median_cosine", medians(result.abs()), at=at)

    def curves(self, problem: Problem, arm: str, seen: Mapping[int, Tensor]) -> None:
        """What :func:`trained` recorded, but for what was not looked at."""
        for step, values in seen.items():
            for quantity, each in zip(RECORDED, values, strict=True):
                if not each.isnan().any():
                    self.add(problem, arm, quantity, each, step)


def measure(job: Job) -> Results:
    """Train six arms on one law of the data: accuracies, cosines, maps of the weights."""
    cell, name = job.config, job.wildcards["cell"]
    streams = Streams(job.seed, "emergence", f"curves-{name}", range(cell["replicates"]))
    laws = [Law.from_config(cell["data"])]
    if laws[0].kind != "prototypes":  # whose structure is the table: nothing would be left
        laws.append(Law.from_config(cell["data"], structured=False))
    extra = {f"theory-{each:g}": each for each in cell["theory_multiples"]}
    arms = arms_of(cell)
    pilots = sum(len(cell[place]) for place in arms.values())
    total = (len(arms) * len(laws) + len(extra) + pilots) * cell["steps"]
    flat = {**cell["flat"], "adam": True} if "flat" in cell else {}
    total += flat.get("steps", cell["steps"]) - cell["steps"]
    progress, done = Progress(job.rule, total), itertools.count(1)
    tick = lambda: progress.report(next(done), dict)  # noqa: E731
    ledger, maps = Ledger(name), list[tuple[Any, ...]]()
    stages = chosen_stages(cell, arms, lambda: _pilot(job), tick)
    for law in laws:
        problem = Problem(law, cell, streams, job.device)
        _baselines(problem, ledger)
        own = dict(stages)
        if not law.structured:
            own.pop("unweighted", None)
            own["network"] = flat or own["network"]
        else:
            own |= {arm: theory_stage(law, cell["pairs"], cell["steps"], multiple)
                    for arm, multiple in extra.items()}  # fmt: skip
        ends = dict[str, Network]()
        for arm, stage in own.items():
            end, seen = trained(problem, arm, stage, tick)
            if end is not None:
                ends[arm] = end
            ledger.curves(problem, arm, seen)
        first, second = problem.practical
        _alignment(problem, {"start": problem.start, "one_step": first, "two_step": second,
                             "network": ends["network"]}, ledger)  # fmt: skip
        if plain := ends.pop("unweighted", None):
            _alignment(problem, {"unweighted": plain}, ledger)
        for arm, network in (("one_step", first), ("two_step", second)):
            ledger.add(problem, arm, "norm", medians(network.q.norm(dim=-1)))
        if law.structured:
            _first_gradient(problem, ledger)
            networks = {"rf": problem.start, "one_step": first, "two_step": second}
            if extra:
                networks["rescaled"] = rescaled(first, second)
            heads(problem, networks, ledger)
            partial = problem.two_steps("partial_forget")
            for preset, steps in (("practical", problem.practical), ("partial_forget", partial)):
                maps += _maps(name, problem, preset, (problem.start, *steps))
    return {"values": pd.DataFrame(ledger.rows),
            "maps": pd.DataFrame(maps, columns=MAP)}  # fmt: skip


def arms_of(cell: Mapping[str, Any]) -> dict[str, str]:
    """:data:`STAGES`, and where the classes are unequal the network that does not weigh them."""
    equal = abs(Law.from_config(cell["data"]).positive_share - 0.5) < 1e-9
    return STAGES if equal else {**STAGES, "unweighted": "training"}


def _pilot(job: Job) -> Problem:
    """One replicate of streams of its own, with structure, that is counted nowhere."""
    cell = {**job.config, "replicates": 1}
    streams = Streams(job.seed, "emergence", f"curves-{job.wildcards['cell']}-pilot", range(1))
    return Problem(Law.from_config(cell["data"]), cell, streams, job.device)


def chosen_stages(
    cell: Mapping[str, Any], arms: Mapping[str, str], pilot: Callable[[], Problem],
    tick: Callable[[], None],
) -> dict[str, dict[str, float]]:  # fmt: skip
    """Of every arm the rates with the best accuracy on the validation samples of a pilot.

    The pilot runs all the steps: a rate that is ahead half-way can be too large to arrive. ``arms``
    are the places of their candidates in the config; where all have one there is no pilot.
    """
    shared = {"weight_rate": 0.0, "momentum": cell["momentum"]}
    tried = {arm: [{**shared, **candidate} for candidate in cell[place]]
             for arm, place in arms.items()}  # fmt: skip
    problem = pilot() if any(len(own) > 1 for own in tried.values()) else None
    stages = {}
    for arm, own in tried.items():
        result = []
        if problem is not None and len(own) > 1:
            for stage in own:
                try:
                    _, seen = trained(problem, arm, stage, tick, ("validation",))
                except DivergedError:
                    result.append(0.0)
                    continue
                curve = [float(each[RECORDED.index("validation")]) for each in seen.values()]
                result.append(max(curve) if arm in FIXED else curve[-1])
        stages[arm] = own[result.index(max(result)) if result else 0]
    return stages


def _baselines(problem: Problem, ledger: Ledger) -> None:
    law, replicates = problem.law, len(problem.world.relevant)
    ledger.add(problem, "majority", "test", [law.majority_accuracy()] * replicates)
    ledger.add(problem, "majority", "balanced", [0.5] * replicates)
    if law.kind != "prototypes":
        ledger.add(problem, "threshold", "test", [law.best_threshold_accuracy()] * replicates)


def trained(
    problem: Problem, arm: str, stage: Mapping[str, Any], tick: Callable[[], None],
    looked: Sequence[str] = (),
) -> tuple[Network | None, dict[int, Tensor]]:  # fmt: skip
    """One arm by descent: the network at its end, and what is :data:`RECORDED` (4, R) by step.

    ``ntk`` and ``rf`` are models on the neurons of the start, and have no network; any other arm is
    the network after the two full steps, whose steps count. ``unweighted`` has the batches of
    ``network``. A pilot is ``looked`` at on some parts alone; what is not looked at is no number.
    """
    cell, plain = problem.cell, arm == "unweighted"
    along = looked or LOOKED.get(arm, ("test",))
    fixed = arm in FIXED
    before = 0 if fixed else 2
    steps = stage.get("steps", cell["steps"])
    order = problem.batches("network" if plain else arm, steps - before)

    def see(after: int, outputs: Callable[[Tensor, str], Tensor]) -> Tensor | None:
        step = after + before
        tick()
        if step % cell["record_every"] and step != steps:
            return None
        return _recorded(problem, outputs, along if step < steps else looked or PARTS)

    if fixed:
        model, act = Taylor.start(problem.start, kernel=arm == "ntk"), problem.act
        of_model = lambda x, part: model.output(x, act[part][:, : x.shape[1]])  # noqa: E731
        data = (problem.x["train"], act["train"], problem.y["train"])
        return None, train_taylor(model, data, order, stage, lambda step: see(step, of_model))
    first, second = problem.unweighted if plain else problem.practical
    live = live_neurons(second, problem.x["train"]) if plain else problem.live
    end, seen = train_network(
        second, problem.x["train"], problem.y["train"], order, stage,
        lambda step, own: see(step, lambda x, _: output(own, x)),
        partial(batch_gradient, live=live),
    )  # fmt: skip
    full = {step: _recorded(problem, lambda x, _: output(own, x), along)  # noqa: B023  called at once
            for step, own in ((1, first), (2, second))}  # fmt: skip
    return end, full | {step + before: result for step, result in seen.items()}


def _recorded(
    problem: Problem, outputs: Callable[[Tensor, str], Tensor], parts: Sequence[str]
) -> Tensor:
    """(4, R) of :data:`RECORDED`, not a number where it is none of the ``parts``."""
    result = torch.full((len(RECORDED), len(problem.y["test"])), torch.nan, dtype=torch.float64)
    for part in parts:
        x, y = problem.x[part], problem.y[part]
        if part == "train":
            x, y = x[:, :SHOWN], y[:, :SHOWN]
        own = outputs(x, part)
        result[RECORDED.index(part)] = accuracy(own, y)
        if part == "test":
            result[-1] = balanced(own, y)
    return result


def _alignment(problem: Problem, networks: Mapping[str, Network], ledger: Ledger) -> None:
    """Largest and median cosine of the neurons with the relevant direction, at each dimension d."""
    cell, law = problem.cell, problem.law
    for dimension in cell["dimensions"]:
        streams = problem.streams(f"outside-{dimension}")
        rest = outside(cell["pairs"], dimension - law.patterns, start_stds(law)[0], streams).norm(
            dim=-1
        )
        for arm, network in networks.items():
            ledger.cosines(problem, arm, network, rest.to(problem.direction.device), dimension)


def _first_gradient(problem: Problem, ledger: Ledger) -> None:
    """The first step, ``eta a_i T``, against Lemma 2.6: ``T_j = beta gamma / scale`` for j in A."""
    law, first, pairs = problem.law, problem.practical[0], problem.cell["pairs"]
    schedule = Schedule.of(law, pairs, "practical")
    t = (first.q / (schedule.first_rate * problem.start.a[..., None]))[:, :pairs].double()
    z = problem.x["train"][:, :SHOWN] @ problem.start.rows[:, :pairs].mT
    beta = smoothed_and_slope(z, schedule.noise)[1].double().mean(1)
    relevant = problem.world.relevant.to(t.device)[:, None].expand(-1, pairs, -1)
    size = law.weighted_gamma / law.scale
    error = (t.gather(2, relevant) / (beta[..., None] * size) - 1).abs().amax(-1)
    ledger.add(problem, "one_step", "lemma_error", medians(error))


def heads(problem: Problem, networks: Mapping[str, Network], ledger: Ledger) -> None:
    """Converged heads on frozen features, on those of an RBF kernel, and on the raw input.

    In float64, on standardised features: after one step those of a neuron differ by 1e-12.
    """
    labels = {part: (y > 0).long()[..., None] for part, y in problem.y.items()}
    pairs, drawn = problem.cell["pairs"], problem.streams("rbf")
    for r in range(len(labels["train"])):
        x = {part: own[r : r + 1].double() for part, own in problem.x.items()}
        y = {part: own[r : r + 1] for part, own in labels.items()}
        for arm in ("linear", *networks):
            if arm == "linear":
                own = {part: each[..., :-1] for part, each in x.items()}
            else:
                rows = networks[arm].rows[r : r + 1].double()
                # partners have the same features at the start
                rows = rows[:, :pairs] if arm == "rf" else rows
                own = {part: features(each, rows) for part, each in x.items()}
            # what is constant has no weight at any penalty: half of the neurons after one step
            varied = (own["train"].amax(1) > own["train"].amin(1))[0]
            varied[0] = True
            _head(
                arm, {part: (own[part][..., varied], y[part]) for part in PARTS}, r, ledger, problem
            )
        own = _fourier(x, y, drawn[r])
        _head("rbf", {part: (own[part], y[part]) for part in PARTS}, r, ledger, problem)


def _head(
    arm: str, own: Mapping[str, tuple[Tensor, Tensor]], replicate: int, ledger: Ledger,
    problem: Problem,
) -> None:  # fmt: skip
    """Solve the head of one replicate on features and labels of each part."""
    penalties = KERNEL_PENALTIES if arm == "rbf" else PENALTIES
    result = choose(own["train"], own["validation"], 1, penalties)
    x, y = own["test"]
    shares = [result.heads.accuracy(x[:, at], y[:, at]) for at in (y[0, :, 0] == c for c in (0, 1))]
    seen = {"train": result.train_accuracy, "test": result.heads.accuracy(x, y),
            "balanced": (shares[0] + shares[1]) / 2}  # fmt: skip
    for part, value in seen.items():
        ledger.add(problem, arm, f"head_{part}", value, replicates=[replicate])


def _fourier(
    x: Mapping[str, Tensor], y: Mapping[str, Tensor], stream: torch.Generator
) -> dict[str, Tensor]:
    """(1, n, F) random Fourier features of an RBF kernel, whose width does best on validation."""
    last = x["train"].shape[-1] - 1
    directions = torch.randn(last, FOURIER, generator=stream).to(x["train"])
    turns = 2 * torch.pi * torch.rand(FOURIER, generator=stream).to(x["train"])

    def of(part: str, width: float, number: int | None = None) -> Tensor:
        # inputs have a mean square of one, and two of them a mean square distance of two
        return (x[part][:, :number, :-1] @ directions / (width * 2**0.5) + turns).cos_()

    def shown(width: float) -> float:
        few = (of("train", width, SHOWN), y["train"][:, :SHOWN])
        validation = (of("validation", width), y["validation"])
        return float(choose(few, validation, 1, KERNEL_PENALTIES).validation_accuracy)

    best = max(WIDTHS, key=shown)
    return {part: of(part, best) for part in PARTS}


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
