"""The construction of Lemma 8.13: loops against gradient descent, errors, condition numbers.

``curves`` along the loops of Figure 8.1; ``prompts``, a row for each of many more; ``ablations`` of
mask and weights; ``kappas`` and ``dimensions``; ``blind``, steps that read no prompt; ``shortcut``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from featlearn.core.evidence.frames import rows
from featlearn.core.seeds import Streams, derive_seed
from featlearn.looped.closed_forms import edge_limit, expected_kappa, log_error
from featlearn.looped.data import DTYPE, Prompts, condition_numbers, draw, spectrum
from featlearn.looped.model import ablations, construction, descent, loops, output

if TYPE_CHECKING:
    from featlearn.core.run.job import Job
    from featlearn.core.run.outputs import Results

#: Trials whose mean is one number of the chapter.
TRIALS = 10
#: Squared errors below it are rounding and say nothing of a bound.
ROUNDING = 1e-25
#: Half a unit in the last place of a coordinate, squared: a float error of 0 is shown as that.
LEAST = 2.0**-108
#: Largest random step of the equivalence, over 1 / L: the theorem holds for diverging ones too.
LARGEST_STEP = 2.5


def measure(job: Job) -> Results:
    """Run the lemma's weights in loops against gradient descent: errors, condition numbers."""
    config = job.config
    along: dict[str, list[dict[str, Any]]] = {name: [] for name in ("curves", "prompts", "blind")}
    for examples in config["examples"]:
        streams = _streams(job.seed, f"prompts-{examples}", config["prompts"])
        drawn = draw(examples, config["dimension"], streams("prompt"))
        along["curves"] += curves(drawn, config)
        along["prompts"] += verified(drawn, config, streams("start"))
        along["blind"] += blind(drawn, config["blind_loops"])
    judged = _streams(job.seed, "ablations", config["prompts"])
    drawn = draw(config["ablations"]["examples"], config["dimension"], judged("prompt"))
    frames = {
        **along,
        "ablations": ablated(drawn, config["ablations"]["loops"]),
        "kappas": kappas(config, job.seed),
        "dimensions": dimensions(config["proportional"], job.seed),
        "shortcut": shortcut(config, job.seed),
    }
    return {name: pd.DataFrame(found) for name, found in frames.items()}


def _streams(seed: int, name: str, replicates: int) -> Streams:
    return Streams(seed, "looped", name, range(replicates))


def _squared(theta: Tensor, prompts: Prompts) -> Tensor:
    return (theta - prompts.theta).square().sum(-1)


def _steps(step: Tensor, count: int) -> Tensor:
    return step.expand(count, *step.shape)


def curves(prompts: Prompts, config: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Figure 8.1: ln of the squared error over the first, exact, run in float64, and bound."""
    first = Prompts(*(part[: config["trials"]] for part in prompts))
    of, examples = spectrum(first), first.x.shape[-2]
    step, times = 1 / of.smoothness, torch.arange(config["loops"] + 1, dtype=DTYPE)
    exact = log_error(of, step, times)
    weights = construction(examples, config["dimension"])
    seen = [torch.zeros_like(step)]
    for z in loops(first.tokens, weights, _steps(step, config["loops"])):
        theta = output(z) / first.alpha[:, None]
        seen.append(_squared(theta, first).clamp(min=LEAST).log())
    for loop, run in enumerate(seen):
        columns = {"exact": exact[:, loop], "run": run, "bound": -loop / of.kappa}
        yield from rows(columns, examples=examples, loop=loop)


def verified(
    prompts: Prompts, config: Mapping[str, Any], starts: list[torch.Generator]
) -> Iterator[dict[str, Any]]:
    """Of each prompt: loops against descent, the bounds along the loops, slopes and gaps."""
    of = spectrum(prompts)
    examples, count = prompts.x.shape[-2], config["loops"]
    step = 1 / of.smoothness
    exact = log_error(of, step, torch.arange(count + 1, dtype=DTYPE))
    half = count // 2
    *_, last = descent(prompts, _steps(step, count))
    run = _squared(last, prompts).clamp(min=LEAST).log()
    parameter, prediction = within_bounds(prompts, of.kappa, step, config["verified_loops"])
    columns = {
        "kappa": of.kappa,
        "deviation": deviation_from_descent(prompts, of.smoothness, config, starts),
        "parameter_holds": parameter.double(),
        "prediction_holds": prediction.double(),
        "slope": (exact[:, -1] - exact[:, half]) / (count - half),
        # at kappa = 1 one step would do; Gaussian prompts have none
        "sharp": 2 * torch.log1p(-1 / of.kappa),
        "printed": -1 / of.kappa,
        "gap": -1 / of.kappa - exact[:, -1] / count,
        # as the caption of Figure 8.1 has it: float64, and the bound of Theorem 8.16
        "run_gap": -1 / (2 * of.kappa) - run / count,
    }
    yield from rows(columns, examples=examples)


def deviation_from_descent(
    prompts: Prompts, smoothness: Tensor, config: Mapping[str, Any], starts: list[torch.Generator]
) -> Tensor:
    """Largest (R,) |-q / alpha - theta| over max(1, |theta|), from random starts and steps."""
    dimension, count = config["dimension"], config["verified_loops"]
    drawn = [
        (
            torch.randn(dimension, generator=own, dtype=DTYPE),
            torch.rand(count, generator=own, dtype=DTYPE),
        )
        for own in starts
    ]
    begun = prompts._replace(q=torch.stack([q for q, _ in drawn]))
    steps = LARGEST_STEP * torch.stack([step for _, step in drawn], -1) / smoothness
    weights = construction(prompts.x.shape[-2], dimension)
    worst = torch.zeros_like(smoothness)
    pairs = zip(loops(begun.tokens, weights, steps), descent(begun, steps), strict=True)
    for z, theta in pairs:
        found = output(z) / prompts.alpha[:, None]
        off = (found - theta).abs().amax(-1) / theta.norm(dim=-1).clamp(min=1)
        worst = torch.maximum(worst, off)
    return worst


def within_bounds(
    prompts: Prompts, kappa: Tensor, step: Tensor, count: int
) -> tuple[Tensor, Tensor]:
    """Whether Theorems 8.25 and 8.16 hold at every loop (R,) above rounding, of what was run."""
    parameter, prediction = (torch.ones_like(kappa, dtype=torch.bool) for _ in range(2))
    weights = construction(*prompts.x.shape[-2:])
    for loop, z in enumerate(loops(prompts.tokens, weights, _steps(step, count)), 1):
        tf = output(z)
        error = _squared(tf / prompts.alpha[:, None], prompts)
        missed = ((tf * prompts.theta).sum(-1) - prompts.alpha).abs()
        rounding = error < ROUNDING
        parameter &= rounding | (error <= torch.exp(-loop / kappa))
        bound = prompts.alpha.abs() * torch.exp(-loop / (2 * kappa))
        prediction &= rounding | (missed <= bound)
    return parameter, prediction


def ablated(prompts: Prompts, count: int) -> Iterator[dict[str, Any]]:
    """Largest difference to gradient descent along the loops, and the distance to theta* after."""
    steps = _steps(1 / spectrum(prompts).smoothness, count)
    for arm, weights in ablations(*prompts.x.shape[-2:]).items():
        worst = torch.zeros_like(prompts.alpha)
        for z, theta in zip(
            loops(prompts.tokens, weights, steps), descent(prompts, steps), strict=True
        ):
            found = output(z) / prompts.alpha[:, None]
            worst = torch.maximum(worst, (found - theta).abs().amax(-1))
        columns = {"deviation": worst, "distance": _squared(found, prompts).sqrt()}
        yield from rows(columns, arm=arm)


def kappas(config: Mapping[str, Any], seed: int) -> Iterator[dict[str, Any]]:
    """Condition numbers of Gaussian prompts: of a replicate mean, and scatter of a mean of ten."""
    own = config["kappas"]
    for examples in config["examples"]:
        streams = _streams(seed, f"kappas-{examples}", own["replicates"])
        drawn = draw(examples, config["dimension"], streams("prompts"), own["draws"])
        found = spectrum(drawn).kappa
        means = found.unfold(1, TRIALS, TRIALS).mean(-1)
        columns = {
            "mean": found.mean(1), "deviation": found.std(1) / TRIALS**0.5,
            "low": means.quantile(0.01, dim=1), "high": means.quantile(0.99, dim=1),
        }  # fmt: skip
        yield from rows(columns, examples=examples)


def dimensions(config: Mapping[str, Any], seed: int) -> Iterator[dict[str, Any]]:
    """Condition numbers at n = ratio d: does a constant ratio give a constant?"""
    for dimension in config["dimensions"]:
        for ratio in config["ratios"]:
            examples = ratio * dimension
            for replicate in range(config["replicates"]):
                random = np.random.default_rng(
                    derive_seed(seed, "looped", f"dimensions-{dimension}-{ratio}", replicate)
                )
                found = condition_numbers(examples, dimension, config["draws"], random)
                yield {
                    "dimension": dimension, "ratio": ratio, "replicate": replicate,
                    "value": float(found.mean()), "predicted": expected_kappa(examples, dimension),
                    "limit": edge_limit(ratio),
                }  # fmt: skip


def blind(prompts: Prompts, count: int) -> Iterator[dict[str, Any]]:
    """ln of theta's error with the theorem's step, ``1 / n`` and ``edge`` (Marchenko-Pastur)."""
    of = spectrum(prompts)
    examples, dimension = prompts.x.shape[-2:]
    times = torch.arange(count + 1, dtype=DTYPE)
    edge = 1 / (examples**0.5 + dimension**0.5) ** 2
    steps = {"1 / L": 1 / of.smoothness, "1 / n": torch.full_like(of.smoothness, 1 / examples),
             "edge": torch.full_like(of.smoothness, edge)}  # fmt: skip
    for arm, step in steps.items():
        found = log_error(of, step, times) / 2
        for loop in range(count + 1):
            yield from rows({"value": found[:, loop]}, examples=examples, arm=arm, loop=loop)


def shortcut(config: Mapping[str, Any], seed: int) -> Iterator[dict[str, Any]]:
    """Definition 8.4 after a loop of step 1 / |y|^2, exact as <X^T y, theta*> = |y|^2."""
    for examples in config["shortcut_examples"]:
        streams = _streams(seed, f"shortcut-{examples}", config["prompts"])
        prompts = draw(examples, config["dimension"], streams("prompt"))
        for arm, step in {
            "1 / |y|^2": 1 / prompts.y.square().sum(-1),
            "1 / L": 1 / spectrum(prompts).smoothness,
        }.items():
            weights = construction(examples, config["dimension"])
            (z,) = loops(prompts.tokens, weights, _steps(step, 1))
            found = output(z) / prompts.alpha[:, None]
            columns = {"prediction": ((found * prompts.theta).sum(-1) - 1).abs(),
                       "parameter": _squared(found, prompts).sqrt()}  # fmt: skip
            yield from rows(columns, examples=examples, arm=arm)
