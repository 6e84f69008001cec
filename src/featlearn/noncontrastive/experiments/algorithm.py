"""Algorithm 1 by SGD on fresh samples, in several variants, and the flow from the same start."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import torch

from featlearn.core.evidence.frames import tidy
from featlearn.core.run.progress import Progress
from featlearn.core.seeds import Streams
from featlearn.noncontrastive.data import PatchData
from featlearn.noncontrastive.flow import canonical_start, trajectory
from featlearn.noncontrastive.population import Law, State, feature_correlation
from featlearn.noncontrastive.train import Snapshot, Variant, canonical_neurons, train

if TYPE_CHECKING:
    from featlearn.core.run.job import Job
    from featlearn.core.run.outputs import Results


def measure(job: Job) -> Results:
    """Train by Algorithm 1 in all variants; follow the population flow from the same start."""
    config, spec = job.config, PatchData.from_config(job.config["data"])
    variants = {name: Variant(**options) for name, options in config["variants"].items()}
    streams = Streams(job.seed, "noncontrastive", "algorithm", range(config["replicates"]))
    start = canonical_neurons(spec.dimension, streams("neurons"), torch.float32)
    progress = Progress(job.rule, config["training"]["steps"])
    frames = []
    for seen in train(spec, variants, start, streams, device=job.device, **config["training"]):
        frames.append(_history(seen, variants, spec))
        progress.report(seen.step, partial(dict, loss=f"{seen.loss[0].mean():.3f}"))
    flow = pd.concat(_flow(spec, variants, config["training"]), ignore_index=True)
    return {"history": pd.concat(frames, ignore_index=True), "flow": flow}


def _history(snapshot: Snapshot, variants: Mapping[str, Variant], spec: PatchData) -> pd.DataFrame:
    """Columns variant, replicate, step, time (``eta * step``), quantity, value."""
    values = {**_quantities(snapshot.state, spec), "loss": snapshot.loss}
    stacked = torch.stack([value.double() for value in values.values()], 1)
    axes = {"variant": [*variants], "quantity": [*values], "replicate": range(stacked.shape[2])}
    times = [variant.learning_rate * snapshot.step for variant in variants.values()]
    frame = tidy(axes, step=snapshot.step, time=np.reshape(times, (-1, 1, 1)), value=stacked)
    return frame[["variant", "replicate", "step", "time", "quantity", "value"]]


def _flow(
    spec: PatchData, variants: Mapping[str, Variant], training: Mapping[str, Any]
) -> Iterator[pd.DataFrame]:
    """The population flow of ``head`` and ``frozen``, at the times that SGD is recorded at."""
    start, law = canonical_start(spec.dimension)[None], Law.of(spec)
    records = torch.arange(training["steps"] // training["record_every"] + 1, dtype=torch.float64)
    for name in ("head", "frozen"):
        eta, eta_head = variants[name].learning_rate, variants[name].head_rate
        times = records * training["record_every"] * eta
        kappa = torch.tensor([eta_head / eta], dtype=torch.float64)
        done = trajectory(start, law, kappa, times, head=name == "head", rtol=1e-5)
        values = _quantities(done.states, spec)
        axes = {"variant": [name], "quantity": [*values], "time": times.tolist()}
        frame = tidy(axes, value=torch.stack([*values.values()], 1))
        yield frame[["variant", "time", "quantity", "value"]]


def _quantities(state: State, spec: PatchData) -> dict[str, torch.Tensor]:
    """The curves of Figure 7 and what explains them, (..., R) each."""
    b, e = state.b.abs(), state.e.abs()
    return {
        **{f"b{j + 1}{i + 1}": b[..., j, i] for j in range(2) for i in range(2)},
        "e12": e[..., 0, 1],
        "e21": e[..., 1, 0],
        "r1": state.residual[..., 0],
        "r2": state.residual[..., 1],
        "norm1": state.square_norm[..., 0],
        "norm2": state.square_norm[..., 1],
        "correlation": feature_correlation(state, spec)[..., 0, 1].abs(),
    }
