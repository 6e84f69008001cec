"""Which features the neurons take from many random starts, with the head, without, and ablated.

Every start is ``w_j ~ N(0, I_d / d)`` as in Algorithm 1; the flow of the population objective takes
it to its end. The same starts serve every case of equal dimension and number of neurons.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from featlearn.core.evidence.frames import tidy
from featlearn.core.seeds import Streams, draws
from featlearn.noncontrastive.data import FEATURES, PatchData
from featlearn.noncontrastive.flow import trajectory
from featlearn.noncontrastive.population import Law, State, feature_correlation

if TYPE_CHECKING:
    from featlearn.core.run.job import Job
    from featlearn.core.run.outputs import Results

#: Ways of training: with the head, with the head frozen at the identity, without StopGrad.
MODES = ("head", "frozen", "live-target")
#: The latest end of a trajectory. Along directions that the objective leaves free (the size of a
#: neuron that has its feature) velocities are rounding, 1e-16 a unit of time, and no implicit step
#: damps it: none longer than about 1e11 keeps its error within the tolerance. At d = 1e6 the last
#: noise of one start in twenty fades for 1e16.
LATEST = 1e14
#: A neuron has taken a feature that holds this share of its norm.
DECIDED = 0.9


def measure(job: Job) -> Results:
    """Follow many random starts to their end, in all cases and modes, and over the diagram."""
    config, diagram = job.config, job.config["diagram"]
    streams = Streams(job.seed, "noncontrastive", "starts", range(config["replicates"]))
    cases = {name: Case.from_config(case, config["data"]) for name, case in config["cases"].items()}
    cells = diagram_cases(diagram, config["data"])
    fewer = {**config, "starts": diagram["starts"]}
    frames = {
        "outcomes": all_frames(cases, MODES, config, streams, job.device),
        "diagram": all_frames(cells, ["head"], fewer, streams, job.device),
    }
    return {name: pd.concat(parts, ignore_index=True) for name, parts in frames.items()}


class Case(NamedTuple):
    """One setting of data and training."""

    spec: PatchData  #: The law of its data
    kappa: float  #: ``eta_E / eta``
    neurons: int = 2  #: ``m``

    @classmethod
    def from_config(cls, case: Mapping[str, Any], data: Mapping[str, Any]) -> Case:
        """From a case of the config and the data that all cases share."""
        own = {key: case[key] for key in case if key not in ("kappa", "neurons")}
        return cls(PatchData.from_config({**data, **own}), case["kappa"], case.get("neurons", 2))


def diagram_cases(diagram: Mapping[str, Any], data: Mapping[str, Any]) -> dict[str, Case]:
    """A case a cell of the phase diagram, called ``ratio/kappa``."""
    strong, shared = diagram["strong"], {**data, "dimension": diagram["dimension"]}
    return {
        f"{ratio}/{kappa}": Case(
            PatchData.from_config({**shared, "strengths": (strong, ratio * strong)}), kappa
        )
        for ratio in diagram["ratios"]
        for kappa in diagram["kappas"]
    }


def random_starts(
    dimension: int, neurons: int, count: int, streams: Sequence[torch.Generator]
) -> State:
    """``count`` starts a replicate, (R * count, ...); neuron 1 has the largest ``|B_j1|``."""
    drawn = draws(torch.randn, streams, count, neurons, dimension, dtype=torch.float64)
    w = drawn.flatten(0, 1) / dimension**0.5
    order = w[..., 0].abs().argsort(1, descending=True)
    w = w.gather(1, order.unsqueeze(2).expand_as(w))
    rest = w[..., FEATURES:]
    e = torch.zeros(*w.shape[:2], neurons, dtype=w.dtype)
    return State(w[..., :FEATURES], rest @ rest.transpose(-1, -2), e)


def all_frames(
    cases: Mapping[str, Case],
    modes: Sequence[str],
    config: Mapping[str, Any],
    streams: Any,
    device: Any = "cpu",
) -> Iterator[pd.DataFrame]:
    """Every case in every mode; ``config`` holds replicates, starts, end and rtol."""
    groups: dict[int, dict[str, Case]] = {}
    starts: dict[str, State] = {}
    for name, case in cases.items():
        groups.setdefault(case.neurons, {})[name] = case
        dimension = case.spec.dimension
        drawn = random_starts(dimension, case.neurons, config["starts"],
                              streams(f"starts-{dimension}-{case.neurons}"))  # fmt: skip
        starts[name] = State.cat([drawn], device)
    for group in groups.values():
        for mode in modes:
            ends = follow(group, starts, mode, end=config["end"], rtol=config["rtol"])
            for name, ended in ends.items():
                yield _frame(name, group[name], mode, ended, config["replicates"])


def follow(
    cases: Mapping[str, Case], starts: Mapping[str, State], mode: str, *, end: float, rtol: float
) -> dict[str, State]:
    """The states in which the starts of each case end.

    All cases run in one batch, so they have the same number of neurons and of starts; ``end`` is in
    units of ``d**2``, and no more than :data:`LATEST`.
    """
    many = State.cat(starts[name] for name in cases)
    count, device = len(many.b) // len(cases), many.b.device

    def each(values: Sequence[float]) -> Tensor:
        return torch.tensor(values, dtype=torch.float64).repeat_interleave(count).to(device)

    law = Law.stack([Law.of(case.spec, device) for case in cases.values() for _ in range(count)])
    kappa = each([case.kappa for case in cases.values()])
    ends = [min(end * case.spec.dimension**2, LATEST) for case in cases.values()]
    last = each(ends).unsqueeze(1)
    done = trajectory(
        many, law, kappa, last, head=mode != "frozen", stop_gradient=mode != "live-target",
        until=settled, rtol=rtol, atol=1e-9,
    )  # fmt: skip
    own = {name: slice(place * count, (place + 1) * count) for place, name in enumerate(cases)}
    return {name: done.states[part, 0] for name, part in own.items()}


def shares(state: State) -> Tensor:
    """``|B_jl| / |w_j|``: (..., m, 2)."""
    return state.b.abs() / state.square_norm.sqrt().unsqueeze(-1)


def settled(state: State, _: Tensor) -> Tensor:
    """Whether nothing more can happen, (S,): every neuron has its feature, or no noise is left."""
    clear = (shares(state).amax(-1) > 0.99).all(-1)
    quiet = state.e.abs().amax((1, 2)) < 1e-3
    clean = state.residual.amax(-1)
    return (clear & (quiet | (clean < 1e-3))) | (quiet & (clean < 3e-4))


def _frame(name: str, case: Case, mode: str, state: State, replicates: int) -> pd.DataFrame:
    """One row a start, of its end."""
    taken = shares(state) > DECIDED
    strong, weak = taken.sum(-2).unbind(-1)
    counts = {"strong": strong, "weak": weak, "undecided": case.neurons - strong - weak}
    words = [outcome(*each) for each in torch.stack([*counts.values()], 1).tolist()]
    off = ~torch.eye(case.neurons, dtype=torch.bool, device=state.b.device)
    correlation = feature_correlation(state, case.spec).abs()[:, off].mean(1)
    columns: dict[str, Any] = {
        "outcome": np.array(words), **counts, "correlation": correlation,
        "head": state.e.abs().amax((1, 2)),
    }  # fmt: skip
    axes: dict[str, Any] = {"case": [name], "mode": [mode], "replicate": range(replicates)}
    axes["start"] = range(len(words) // replicates)
    return tidy(axes, **{key: each.reshape(replicates, -1) for key, each in columns.items()})


def outcome(strong: int, weak: int, undecided: int) -> str:
    """In a word: ``diverse``, ``strong`` (all on it), ``weak``, or ``undecided`` (one or more)."""
    if undecided:
        return "undecided"
    if strong and weak:
        return "diverse"
    return "strong" if strong else "weak"
