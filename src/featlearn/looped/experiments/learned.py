"""Ours: weights and steps learned through the loops, against the construction and other solvers.

All methods answer the same held-out prompts after the same number of loops. ``errors`` says who may
read what: a method that is ``blind`` has one set of steps for all prompts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import TYPE_CHECKING, Any

import pandas as pd
import torch
from torch import Tensor

from featlearn.core.evidence.frames import rows
from featlearn.core.run.progress import Progress
from featlearn.core.seeds import Streams
from featlearn.looped.closed_forms import (
    best_fixed,
    chebyshev_steps,
    conjugate_gradients,
    least_squares,
    residual,
)
from featlearn.looped.data import Prompts, Spectrum, draw, spectrum
from featlearn.looped.learned import ARMS, Looped, Seen, begin, chosen, errors, fit

if TYPE_CHECKING:
    from featlearn.core.run.job import Job
    from featlearn.core.run.outputs import Results

#: Constant steps among which validation chooses, over 1 / n.
CONSTANT = tuple(step / 100 for step in range(5, 151, 5))
LOSSES = ("parameter", "prediction")
#: What a start is made of.
STARTED = ("starts", "dimension", "loops", "scale")


def measure(job: Job) -> Results:
    """Learn weights and steps through the loops, and let other solvers answer the same prompts."""
    config = job.config
    scores: list[dict[str, Any]] = []
    weights: list[dict[str, Any]] = []
    for examples in config["examples"]:
        name = f"through-loops-{examples}"
        streams = Streams(job.seed, "looped", name, range(config["replicates"]))
        shape, count = (examples, config["dimension"]), config["prompts"]
        sets = {part: draw(*shape, streams(part), count[part])
                for part in ("train", "validation", "test")}  # fmt: skip
        law = spectrum(draw(*shape, streams("law")[:1], count["law"]))
        seen = {part: Seen.of(prompts) for part, prompts in sets.items()}
        found = solvers(sets, law, config["loops"])
        for name, arm in ARMS.items():
            progress = Progress(f"{job.rule}, {examples} examples, {name}", config["iterations"])
            start = begin(arm, streams("start"), *(config[key] for key in STARTED))
            # as many residuals for both losses: d a prompt, or one
            used = count["train"] // (config["dimension"] if arm.loss == "parameter" else 1)
            training = Seen(*(part[:, :used] for part in seen["train"]))
            fitted = fit(arm, start, training, config["iterations"], progress)
            own = chosen(fitted, arm, seen["validation"])
            found[name] = errors(own(seen["test"].gram), seen["test"].theta)
            weights += _weights(name, own, examples)
        for (method, by_loss), loss in product(found.items(), LOSSES):
            value = {"value": by_loss[loss]}
            scores += rows(value, examples=examples, method=method, loss=loss)
    return {"errors": pd.DataFrame(scores), "weights": pd.DataFrame(weights)}


def solvers(sets: Mapping[str, Prompts], law: Spectrum, count: int) -> dict[str, dict[str, Tensor]]:
    """Mean squared errors (R,) of methods without learned weights: polynomials but the last."""
    test, of = sets["test"], spectrum(sets["test"])
    n = test.x.shape[-2]
    own = {
        "nothing": torch.ones_like(of.w),
        "1 / L": residual(of, [1 / of.smoothness] * count),
        "best own step": residual(of, [2 / (of.smoothness + of.convexity)] * count),
        "Chebyshev": residual(of, chebyshev_steps(of.convexity, of.smoothness, count)),
        "conjugate gradients": conjugate_gradients(of, count),
        "one loop": residual(of, [1 / test.y.square().sum(-1)]),
    }
    found = {name: residual_errors(of, p) for name, p in own.items()}
    seen = spectrum(sets["validation"])
    validated, tested = (constant_steps(spectra, n, count) for spectra in (seen, of))
    found["constant step"], found["best shared steps"] = {}, {}
    for loss in LOSSES:
        best = validated[loss].argmin(0, keepdim=True)  # of each replicate
        found["constant step"][loss] = tested[loss].gather(0, best).squeeze(0)
        optimum = best_fixed(law.w.flatten(0, -2), count, loss)
        found["best shared steps"][loss] = residual_errors(of, optimum.residual(of.w))[loss]
    found["least squares"] = errors(least_squares(test.x, test.y), test.theta)
    return found


def constant_steps(of: Spectrum, examples: int, count: int) -> dict[str, Tensor]:
    """Mean squared errors (len(CONSTANT), R) of the steps that all prompts share."""
    steps = (torch.full_like(of.smoothness, step / examples) for step in CONSTANT)
    return residual_errors(of, torch.stack([residual(of, [step] * count) for step in steps]))


def residual_errors(of: Spectrum, p: Tensor) -> dict[str, Tensor]:
    """Mean squared errors over prompts of p(H), (..., R), as of the outputs that leave it."""
    return {"parameter": (of.c * p.square()).sum(-1).mean(-1),
            "prediction": (of.c * p).sum(-1).square().mean(-1)}  # fmt: skip


def _weights(arm: str, model: Looped, examples: int) -> Iterator[dict[str, Any]]:
    """Q, P and steps, each over its largest entry: a factor can go from one to the other."""
    for part in ("q", "p", "steps"):
        values = getattr(model, part)
        flat = values.flatten(1)
        flat = flat / flat.gather(1, flat.abs().argmax(1, keepdim=True))
        for replicate, entries in enumerate(flat.tolist()):
            for place, value in enumerate(entries):
                row, column = divmod(place, values.shape[-1])
                yield {"examples": examples, "arm": arm, "part": part, "row": row,
                       "column": column, "replicate": replicate, "value": value}  # fmt: skip
