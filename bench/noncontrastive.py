"""A step of Algorithm 1 against its floor, replicates batched against one by one.

Sizes are those of the desk scale; the flow is timed over the number of starts in a batch.
"""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd
import torch

from bench.timing import ratio, side_by_side
from featlearn.core.seeds import Streams
from featlearn.noncontrastive.data import PatchData, sample, views
from featlearn.noncontrastive.experiments.starts import random_starts
from featlearn.noncontrastive.flow import Layout, velocity
from featlearn.noncontrastive.population import Law
from featlearn.noncontrastive.train import Variant, canonical_neurons, gradients

SPEC = PatchData(30, 8, 4, (3.0, 2.0))
SAMPLES, REPLICATES = 256, 10
VARIANTS = [
    Variant(0.05, 0.05),
    Variant(0.05, 0.0),
    Variant(0.05, 0.05, stop_gradient=False),
    Variant(0.05, 0.05, "l2"),
    Variant(1e-5, 1e-5, "none"),
]


def step_ratios() -> pd.DataFrame:
    """One row a comparison; a step draws its samples, encodes, normalises and differentiates."""
    streams = Streams(0, "noncontrastive", "bench", range(REPLICATES))
    neurons = canonical_neurons(SPEC.dimension, streams("neurons"), torch.float32)
    w = neurons.expand(len(VARIANTS), *neurons.shape).clone()
    e = torch.zeros(len(VARIANTS), REPLICATES, 2, 2)
    data, masks = streams("samples"), streams("views")

    def step(replicates: slice, chosen: slice) -> Callable[[], object]:
        def run() -> None:
            x = sample(SPEC, SAMPLES, data[replicates]).x
            first = views(SPEC.patches, SAMPLES, masks[replicates])
            gradients(VARIANTS[chosen], x, first, w[chosen, replicates], e[chosen, replicates])

        return run

    def one_by_one() -> None:
        for replicate in range(REPLICATES):
            for variant in range(len(VARIANTS)):
                step(slice(replicate, replicate + 1), slice(variant, variant + 1))()

    x = sample(SPEC, SAMPLES, data).x.flatten(1, 2)
    joint = w.transpose(0, 1).flatten(1, 2)
    back = x @ joint.transpose(1, 2)

    def floor() -> None:
        # fresh samples are part of the algorithm: so are the Gaussian numbers they are made of
        for stream in data:
            torch.randn(SAMPLES, SPEC.patches, SPEC.dimension, generator=stream)
        products()

    def products() -> None:
        x @ joint.transpose(1, 2)
        x.transpose(1, 2) @ back

    timed = side_by_side(
        {"step": step(slice(None), slice(None)), "floor": floor, "one by one": one_by_one}
    )
    rows = [
        ("noncontrastive: step / its Gaussians and products", ratio(timed, "step", "floor"), ""),
        ("noncontrastive: one by one / step", ratio(timed, "one by one", "step"), ">= 4"),
    ]
    return pd.DataFrame(rows, columns=["what", "ratio", "wanted"])


def flow_ratios() -> pd.DataFrame:
    """Cost of the flow's velocity of a batch of starts, over that of one start alone."""
    law, layout, rows = Law.of(PatchData(100, 16, 4, (2.0, 1.0))), Layout(2), []

    def field(count: int) -> Callable[[], object]:
        streams = Streams(0, "noncontrastive", "bench-flow", range(1))
        y = layout.pack(random_starts(100, 2, count, streams("starts")))
        kappa = torch.full((count,), 0.1, dtype=torch.float64)
        return lambda: layout.pack(velocity(layout.unpack(y), law, kappa))

    for count in (10, 100, 1000):
        timed = side_by_side({"batch": field(count), "one": field(1)})
        rows.append((count, ratio(timed, "batch", "one"), ratio(timed, "batch", "one") / count))
    return pd.DataFrame(rows, columns=["starts", "cost_to_one", "cost_to_one_by_one"])


BENCHMARKS = {
    "noncontrastive-step-ratios": step_ratios,
    "noncontrastive-flow": flow_ratios,
}
