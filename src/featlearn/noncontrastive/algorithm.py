"""Algorithm 1 by SGD on fresh samples, in several variants, and the flow from the same start."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import torch

from featlearn.core.seeds import Streams
from featlearn.noncontrastive.data import PatchData
from featlearn.noncontrastive.flow import canonical_start, trajectory
from featlearn.noncontrastive.population import Law, State, feature_correlation
from featlearn.noncontrastive.train import Snapshot, Variant, canonical_neurons, train

#: Columns of ``history.parquet``; ``time`` is ``eta * step``.
COLUMNS = ("variant", "replicate", "step", "time", "quantity", "value")
#: The curves of Figure 7 and what explains them.
PRODUCTS = {"b11": (0, 0), "b12": (0, 1), "b21": (1, 0), "b22": (1, 1)}

Row = tuple[str, int, int, float, str, float]


def variants_of(config: Mapping[str, Any]) -> dict[str, Variant]:
    """The variants of the config, by name."""
    return {name: Variant(**options) for name, options in config["variants"].items()}


def _quantities(state: State, spec: PatchData) -> dict[str, torch.Tensor]:
    """(..., R) each."""
    shown = {name: state.b[..., j, i].abs() for name, (j, i) in PRODUCTS.items()}
    return {
        **shown,
        "e12": state.e[..., 0, 1].abs(),
        "e21": state.e[..., 1, 0].abs(),
        "r1": state.residual[..., 0],
        "r2": state.residual[..., 1],
        "norm1": state.square_norm[..., 0],
        "norm2": state.square_norm[..., 1],
        "correlation": feature_correlation(state, spec)[..., 0, 1].abs(),
    }


def snapshot_rows(
    snapshot: Snapshot, variants: Mapping[str, Variant], spec: PatchData
) -> Iterator[Row]:
    """Rows of one recorded step."""
    values = {**_quantities(snapshot.state, spec), "loss": snapshot.loss}
    for place, (name, variant) in enumerate(variants.items()):
        time = variant.learning_rate * snapshot.step
        for quantity, found in values.items():
            for replicate, value in enumerate(found[place].tolist()):
                yield name, replicate, snapshot.step, time, quantity, value


def run(config: Mapping[str, Any], seed: int, device: Any) -> Iterator[tuple[Snapshot, list[Row]]]:
    """Train all variants; yields each snapshot with its rows."""
    spec = PatchData.from_config(config["data"])
    streams = Streams(seed, "noncontrastive", "algorithm", range(config["replicates"]))
    variants = variants_of(config)
    start = canonical_neurons(spec.dimension, streams("neurons"), torch.float32)
    training = config["training"]
    for snapshot in train(spec, variants, start, streams, device=device, **training):
        yield snapshot, list(snapshot_rows(snapshot, variants, spec))


def flow_rows(config: Mapping[str, Any]) -> Iterator[tuple[str, float, str, float]]:
    """The population flow of ``head`` and ``frozen``: variant, time, quantity, value."""
    spec = PatchData.from_config(config["data"])
    law, one = Law.of(spec), canonical_start(spec.dimension)
    start = State(one.b[None], one.g[None], one.e[None])
    training = config["training"]
    for name in ("head", "frozen"):
        variant = variants_of(config)[name]
        count = training["steps"] // training["record_every"]
        times = torch.arange(count + 1, dtype=torch.float64)
        times = times * training["record_every"] * variant.learning_rate
        kappa = torch.tensor([variant.head_rate / variant.learning_rate], dtype=torch.float64)
        done = trajectory(start, law, kappa, times, head=name == "head", rtol=1e-5)
        for quantity, values in _quantities(done.states, spec).items():
            for time, value in zip(times.tolist(), values[0].tolist(), strict=True):
                yield name, time, quantity, value
