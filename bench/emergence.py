"""Chapter 2 at the sizes of desk: a step against its own products, and against replicates one by
one by autograd; a step of the Taylor model (NTK) against its own.
"""

from __future__ import annotations

import pandas as pd
import torch

from bench.timing import ratio, side_by_side
from featlearn.core.seeds import Streams
from featlearn.emergence.data import Law, World, sample
from featlearn.emergence.model import Network, output, symmetric_start, with_one
from featlearn.emergence.train import (
    Descent,
    Schedule,
    Taylor,
    batch_gradient,
    class_weights,
    features,
    gathered,
    start_stds,
    two_steps,
)

LAW, PAIRS, REPLICATES, SAMPLES, BATCH = Law("parity", 100, 5), 300, 5, 5000, 1000


def step_ratios() -> pd.DataFrame:
    """One row a comparison; a step gathers its batch, differentiates and moves."""
    streams = Streams(0, "emergence", "bench", range(REPLICATES))
    drawn = sample(World.draw(LAW, streams("world")), SAMPLES, streams("data"))
    x, y = with_one(drawn.phi), drawn.y
    index = torch.stack([torch.randint(SAMPLES, (BATCH,), generator=s) for s in streams("batch")])
    start = symmetric_start(PAIRS, LAW.patterns, start_stds(LAW), streams("start"))
    schedule = Schedule.of(LAW, PAIRS, "practical")
    _, network = two_steps(start, x, y, class_weights(LAW, y), schedule)
    act = features(x, start.rows[:, :PAIRS])
    taylor = Taylor.start(start, kernel=True)
    # rates of zero: every turn meets the same samples that the loss still asks for
    optimiser = Descent([network.rows, network.a], [0.0, 0.0], 0.9)
    fixed = Descent(taylor.tensors(), [0.0, 0.0], 0.9)

    def step() -> None:
        optimiser.step(batch_gradient(network, gathered(x, index), gathered(y, index)))

    leaves = [
        tuple(each[r : r + 1].clone().requires_grad_() for each in (network.rows, network.a))
        for r in range(REPLICATES)
    ]
    descents = [torch.optim.SGD([{"params": [rows], "lr": 0.0}, {"params": [a], "lr": 0.0}],
                                momentum=0.9) for rows, a in leaves]  # fmt: skip

    def by_autograd() -> None:
        for r, (own, descent) in enumerate(zip(leaves, descents, strict=True)):
            descent.zero_grad()
            one = slice(r, r + 1)
            outputs = output(Network(*own), gathered(x[one], index[one]))
            (1 - gathered(y[one], index[one]) * outputs).clamp_min(0).mean().backward()
            descent.step()

    def tangent() -> None:
        fixed.step(taylor.gradient(*(gathered(each, index) for each in (x, act, y))))

    batch, live = gathered(x, index), torch.zeros(BATCH, 2 * PAIRS)

    def products(neurons: int) -> None:
        """Forward and back, of all replicates."""
        for r in range(REPLICATES):
            batch[r] @ network.rows[r, :neurons].T
            live[:, :neurons].T @ batch[r]

    timed = side_by_side({
        "step": step, "products": lambda: products(2 * PAIRS), "autograd": by_autograd,
        "tangent": tangent, "its products": lambda: products(PAIRS),
    })  # fmt: skip
    rows = [
        ("emergence: step / its products", ratio(timed, "step", "products"), "<= 1.5"),
        ("emergence: one by one by autograd / step", ratio(timed, "autograd", "step"), ">= 4"),
        # the most that a step that takes its products could gain over autograd
        ("emergence: one by one by autograd / the products alone",
         ratio(timed, "autograd", "products"), ""),
        ("emergence: NTK step / its products", ratio(timed, "tangent", "its products"), ""),
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=["what", "ratio", "wanted"])


BENCHMARKS = {"emergence-step-ratios": step_ratios}
