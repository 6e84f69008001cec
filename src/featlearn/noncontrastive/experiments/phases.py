"""The four phases along the flow: when each begins, and what stands at its beginning.

Every dimension is started from the canonical start (``B = [[2, 1], [1, 1]] / sqrt(d)``) with signs,
sizes and the angle between the neurons drawn at random, the same draws at every dimension: what
changes with ``d`` is then due to ``d``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import pandas as pd
import torch
from torch import Tensor

from featlearn.core.evidence.frames import tidy
from featlearn.core.seeds import Streams, draws
from featlearn.noncontrastive import closed_forms as forms
from featlearn.noncontrastive.data import PatchData
from featlearn.noncontrastive.flow import Trajectory, canonical_start, trajectory
from featlearn.noncontrastive.population import (
    Law,
    State,
    descent,
    feature_correlation,
    loss,
    optimum,
)

if TYPE_CHECKING:
    from featlearn.core.run.job import Job
    from featlearn.core.run.outputs import Results

#: What is timed, see :meth:`Phases.levels`.
EVENTS = ("t1", "t2", "t3_variance", "t3", "t4")
#: A neuron has its feature at this share of its initial norm (end of phase III).
CARRIES = 0.9
#: The head is back at the identity below this.
IDENTITY = 1e-3

#: The case of the config itself; the group ``others`` has the names of the others.
BASE = "base"


def measure(job: Job) -> Results:
    """Follow the population flow through its four phases, at every dimension, in every case."""
    streams = Streams(job.seed, "noncontrastive", "phases", range(job.config["replicates"]))
    times, curves = list[pd.DataFrame](), list[pd.DataFrame]()
    for case, config in case_configs(job.config).items():
        phases = Phases(config, streams, job.device)
        done = phases.run()
        frame = phases.frame(done)
        frame.insert(0, "case", case)
        times.append(frame)
        if case == BASE:
            curves += phases.curves(done)
    frames = {"times": times, "curves": curves}
    return {name: pd.concat(parts, ignore_index=True) for name, parts in frames.items()}


def case_configs(config: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The config of every case: other strengths, another speed of the head, from equal starts."""
    own = {key: value for key, value in config.items() if key != "others"}
    result = {BASE: own}
    for name, other in config["others"].items():
        data = {**own["data"], "strengths": other["strengths"]}
        changed = {key: other[key] for key in ("kappa", "dimensions", "horizon")}
        result[name] = {**own, **changed, "data": data}
    return result


def perturbed_starts(dimension: float, spread: float, streams: Sequence[torch.Generator]) -> State:
    """Canonical starts, each ``B_jl`` scaled by up to ``1 +- spread`` and of random sign: (R, ...).

    The cosine of the noise parts is Gaussian with variance ``1 / d``, as of random neurons.
    """
    base = canonical_start(dimension)
    sizes = draws(torch.rand, streams, 2, 2, dtype=torch.float64)
    signs = draws(partial(torch.randint, 2), streams, 2, 2).double() * 2 - 1
    angles = draws(torch.randn, streams, dtype=torch.float64)
    b = base.b * (1 + spread * (2 * sizes - 1)) * signs
    own = 1 - b.square().sum(-1)
    g = torch.diag_embed(own)
    g[:, 0, 1] = g[:, 1, 0] = angles / dimension**0.5 * own.prod(-1).sqrt()
    return State(b, g, torch.zeros_like(b))


class Phases:
    """The flow at every dimension of the config, all starts in one batch.

    ``config``: the section ``phases``. ``streams``: generators, one a replicate, fresh at each
    call.
    """

    def __init__(self, config: Mapping[str, Any], streams: Any, device: Any = "cpu"):
        self.config = config
        self.dimensions: list[float] = [float(d) for d in config["dimensions"]]
        self.replicates: int = config["replicates"]
        self.spec = PatchData.from_config({**config["data"], "dimension": 1000})
        starts = (perturbed_starts(d, config["spread"], streams("starts")) for d in self.dimensions)
        self.start = State.cat(starts, device)
        count = len(self.dimensions) * self.replicates
        self.law = Law.of(self.spec, device).expand(count)
        self.kappa = torch.full((count,), config["kappa"], dtype=torch.float64, device=device)
        self.bound = forms.largest_head(self.start, self.kappa)
        self.first_phase = forms.first_phase_time(self.start, self.law)
        self.dimension = torch.tensor(self.dimensions, dtype=torch.float64, device=device)
        self.dimension = self.dimension.repeat_interleave(self.replicates)
        # phase III is d**(13/8) long and phase I d**2: at small d the former dominates
        late = 30 * (self.dimension / 100) ** -0.375
        self.end = config["horizon"] * self.first_phase * (1 + late)

    def run(self) -> Trajectory:
        """Integrate; the grid of times is logarithmic, from 10**-3 of the predicted ``T_1`` on."""
        share = torch.linspace(0, 1, self.config["points"], dtype=torch.float64).to(self.end.device)
        begin = 1e-3 * self.first_phase.unsqueeze(1)
        self.times = times = begin * (self.end.unsqueeze(1) / begin) ** share
        return trajectory(
            self.start, self.law, self.kappa, times, rtol=self.config["rtol"], watch=self.levels
        )

    def levels(self, state: State, which: Tensor) -> Tensor:
        """Rise to zero at the times of :data:`EVENTS`, (S, K).

        ``t1``: neuron 1 has the strong feature to half of its norm. ``t2``: ``|E_21|`` is at half
        of its bound. ``t3_variance``: the weak feature outweighs the noise in neuron 2 (T_{3,1}).
        ``t3``: neuron 2 has the weak feature. ``t4``: the head is back.

        The paper's own thresholds separate at astronomical dimensions only (0.01 for T_1 needs ``d
        >> 10**4``, ``R_2 < |E_21| / log d`` for T_2 is often never met, T_{3,2} comes before
        T_{3,1}).
        """
        law, bound = self.law[which], self.bound[which]
        norms = self.start.square_norm[which].sqrt()
        strong, weak = state.b[:, 0, 0].abs(), state.b[:, 1, 1].abs()
        head = state.e[:, 1, 0].abs()
        variance = law.square[:, 1] * weak**6 - 15 * law.noise * state.residual[:, 1] ** 3
        carries = weak - CARRIES * norms[:, 1]
        result = {
            "t1": strong - norms[:, 0] / 2,
            "t2": head - bound / 2,
            "t3_variance": torch.minimum(variance, head - bound / 4),
            "t3": carries,
            "t4": torch.minimum(IDENTITY - head, carries),
        }
        return torch.stack([result[name] for name in EVENTS], 1)

    def frame(self, done: Trajectory) -> pd.DataFrame:
        """Columns dimension, replicate, quantity, value: times, states at them, and ends."""
        largest = {"largest_e12": done.states.e[..., 0, 1].abs().amax(1)}
        parts = {**self._times(done), **self._at_hits(done), **largest, **self._end(done)}
        values = torch.stack([*parts.values()]).view(len(parts), -1, self.replicates)
        axes: dict[str, Any] = {"quantity": [*parts], "dimension": self.dimensions}
        frame = tidy(axes | {"replicate": range(self.replicates)}, value=values)
        return frame[["dimension", "replicate", "quantity", "value"]]

    def _times(self, done: Trajectory) -> dict[str, Tensor]:
        hit = dict(zip(EVENTS, done.hits.unbind(1), strict=True))
        return {
            **hit,
            "t1_predicted": self.first_phase,
            "phase_1": hit["t1"],
            "phase_2": hit["t2"] - hit["t1"],
            "phase_3": hit["t3"] - hit["t2"],
            "phase_end": hit["t4"] - hit["t3"],
        }

    def _at_hits(self, done: Trajectory) -> dict[str, Tensor]:
        """What the lemmas say of the state at the end of their phase."""
        at = {name: done.at_hits[:, place] for place, name in enumerate(EVENTS)}
        t2 = at["t2"]
        of_strong = t2.e[:, 1, 0] * (t2.b[:, 0, 0] / t2.b[:, 1, 0]) ** 3
        return {
            "substitution_t2": of_strong.abs(),
            "push_ratio_t3_variance": self.race(at["t3_variance"], self.law)["push_ratio"],
            "r2_t3": at["t3"].residual[:, 1],
        }

    def race(self, state: State, law: Law) -> dict[str, Tensor]:
        """What decides which feature neuron 2 learns, (...): the weak one's part over the strong's.

        ``h_ratio`` is ``H_21 / H_22``, how much more normalisation takes from what would be gained
        along the strong feature; ``gain_ratio`` is ``Lambda_22 / Lambda_21`` and ``push_ratio`` the
        ratio of the whole pushes, which that is to explain.
        """
        named = forms.terms(state, law, self.spec.noise_patches / 2)
        push = descent(state, law).b[..., 1, :]
        gain, h = named.gain[..., 1, :], named.h[..., 1, :]
        return {
            "h_ratio": h[..., 0] / h[..., 1],
            "gain_ratio": (gain[..., 1] / gain[..., 0]).abs(),
            "push_ratio": (push[..., 1] / push[..., 0]).abs(),
        }

    def _end(self, done: Trajectory) -> dict[str, Tensor]:
        end = done.states[:, -1]
        rest = (end.square_norm - end.b.diagonal(dim1=-2, dim2=-1).square()).clamp_min(0).sqrt()
        correlation = feature_correlation(end, self.spec)[:, 0, 1].abs()
        return {
            "end_b11": end.b[:, 0, 0].abs(),
            "end_b22": end.b[:, 1, 1].abs(),
            "end_rest": rest.amax(1),
            "end_head": end.e.square().sum((1, 2)).sqrt(),
            "end_gap": loss(end, self.law) - optimum(self.law, 2),
            "end_correlation_of_bound": correlation * self.dimension.sqrt(),
        }

    def curves(self, done: Trajectory, replicate: int = 0) -> Iterator[pd.DataFrame]:
        """One replicate's trajectory at every dimension: dimension, time, quantity, value."""
        s = done.states
        gap = loss(s, self.law[:, None])
        shown = {
            "b11": s.b[..., 0, 0].abs(), "b12": s.b[..., 0, 1].abs(),
            "b21": s.b[..., 1, 0].abs(), "b22": s.b[..., 1, 1].abs(),
            "e12": s.e[..., 0, 1].abs(), "e21": s.e[..., 1, 0].abs(),
            "r1": s.residual[..., 0], "r2": s.residual[..., 1],
            "gap": gap - optimum(self.law, 2).unsqueeze(1),
            **self.race(s, self.law[:, None]),
        }  # fmt: skip
        for number, dimension in enumerate(self.dimensions):
            place = number * self.replicates + replicate
            values = torch.stack([each[place] for each in shown.values()])
            frame = tidy({"dimension": [dimension], "quantity": [*shown],
                          "point": range(values.shape[1])},
                         time=self.times[place], value=values)  # fmt: skip
            yield frame[["dimension", "time", "quantity", "value"]]
