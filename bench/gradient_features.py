"""Chapter 3 at the sizes of desk: a step of Algorithm 1 against its own products, and against
replicates one by one by autograd.
"""

from __future__ import annotations

import pandas as pd
import torch

from bench.timing import ratio, side_by_side
from featlearn.core.seeds import Streams
from featlearn.gradient_features.data import Xor
from featlearn.gradient_features.model import LOSSES, Network, symmetric_start
from featlearn.gradient_features.train import gradients, scaled_first_step

LAW, QUARTER, REPLICATES, SAMPLES = Xor(100, 2.0), 100, 5, 1000
THRESHOLD = 1.2  # in standard deviations, as in the config


def step_ratios() -> pd.DataFrame:
    """One row a comparison: gradients of all weights, and the move."""
    streams = Streams(0, "gradient_features", "bench", range(REPLICATES))
    inputs = LAW.sample(SAMPLES, streams("inputs")).to(torch.float32)
    start = symmetric_start(
        streams("start"), QUARTER, LAW.dimension, THRESHOLD * LAW.signal_std
    ).to(torch.float32)
    # after one step: no input is answered yet, so that all ask for a gradient
    network = scaled_first_step(start, inputs, 2 * THRESHOLD)
    loss = LOSSES["hinge"]

    def step() -> None:
        by_w, by_a = gradients(network, inputs, loss)
        Network(network.w - 0.0 * by_w, network.a - 0.0 * by_a, network.b)

    leaves = [
        (w[None].clone().requires_grad_(), a[None].clone().requires_grad_())
        for w, a in zip(network.w, network.a, strict=True)
    ]
    descents = [torch.optim.SGD([w, a], lr=0.0) for w, a in leaves]

    def by_autograd() -> None:
        for r, ((w, a), descent) in enumerate(zip(leaves, descents, strict=True)):
            descent.zero_grad()
            one = type(inputs)(*(part[r : r + 1] for part in inputs))
            torch.autograd.backward(loss.mean(Network(w, a, network.b[r : r + 1]), one).sum())
            descent.step()

    live = torch.zeros(SAMPLES, network.a.shape[1])

    def products() -> None:
        """Forward and back, of all replicates."""
        for r in range(REPLICATES):
            inputs.x[r] @ network.w[r].T
            live.T @ inputs.x[r]

    timed = side_by_side({"step": step, "products": products, "autograd": by_autograd})
    rows = [
        ("gradient_features: step / its products", ratio(timed, "step", "products"), "<= 1.5"),
        ("gradient_features: one by one by autograd / step",
         ratio(timed, "autograd", "step"), ">= 4"),
        # the most that a step that takes its products could gain over autograd
        ("gradient_features: one by one by autograd / the products alone",
         ratio(timed, "autograd", "products"), ""),
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=["what", "ratio", "wanted"])


BENCHMARKS = {"gradient-features-step-ratios": step_ratios}
