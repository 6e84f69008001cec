"""Chapter 5 at sizes of desk: a training step of all ranks against the matrix products it needs."""

from __future__ import annotations

import pandas as pd
import torch

from bench.timing import ratio, side_by_side
from featlearn.core.seeds import Streams
from featlearn.core.training.optimisers import build
from featlearn.icl import linear
from featlearn.icl.regression import DTYPE, draw, eigenvalues

RANKS, DIMENSION, BATCH, EXAMPLES = [1, 2, 4, 8], 8, 256, 20


def step_ratios() -> pd.DataFrame:
    """A step on given prompts, the drawing of prompts, and the products alone."""
    streams = Streams(0, "icl", "bench", range(5))
    values, basis = eigenvalues(DIMENSION, 4, 2**-0.5), torch.eye(DIMENSION, dtype=DTYPE)
    begun = linear.start(RANKS, DIMENSION, streams("start"), blocks=False)
    weights = {name: part.clone().requires_grad_() for name, part in begun.items()}
    optimiser = build("adamw", [{"params": list(weights.values()), "weight_decay": 0.0}])

    def drawing():
        return draw(values, basis, BATCH, EXAMPLES, streams("data"), dtype=torch.float32)

    prompts = drawing()
    shape = (-1, len(RANKS))

    def step() -> None:
        optimiser.zero_grad()
        a = weights["value"][..., None] * (weights["key"].mT @ weights["query"])
        found = linear.reduced(
            type(prompts)(*(part[:, None] for part in prompts)), a.unflatten(0, shape)
        )
        (found - prompts.target[:, None]).square().mean().backward()
        optimiser.step()

    mean, key, query = prompts.mean[:, None], begun["key"], begun["query"]
    rows = prompts.query[:, None]

    def products() -> None:
        """Of factors and of prompts, forward and back."""
        a = (key.mT @ query).unflatten(0, shape)
        read = mean @ a
        slope = (mean.mT @ rows).expand_as(a).flatten(0, 1)
        read.sum()
        query @ slope.mT
        key @ slope
        prompts.y[..., None, :] @ prompts.x

    timed = side_by_side({"step": step, "products": products, "drawing": drawing}, turns=30)
    told = [
        ("icl: step of all ranks / its matrix products", ratio(timed, "step", "products"), ""),
        ("icl: drawing the prompts / the step", ratio(timed, "drawing", "step"), ""),
    ]
    return pd.DataFrame(told, columns=["what", "ratio", "wanted"])


BENCHMARKS = {"icl-step-ratios": step_ratios}
