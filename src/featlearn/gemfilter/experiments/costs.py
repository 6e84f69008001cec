"""Operations and memory of each method at the sizes of the thesis' three models, by phase.

Counted and not timed: the methods run on weights without numbers (PyTorch's device ``meta``), so
that the operations of the very code that generates are counted, at the models' own sizes and
lengths. Which token is selected does not matter for costs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd
import torch

from featlearn.gemfilter.generation import Meter, answer
from featlearn.gemfilter.networks import Ours
from featlearn.gemfilter.selection import Method
from featlearn.transformers.decoder import Decoder, Shape

if TYPE_CHECKING:
    from featlearn.core.job import Job
    from featlearn.core.outputs import Results


def bodiless(config: dict[str, Any]) -> Ours:
    """A decoder of such sizes in float16 and without numbers."""
    shape = Shape(
        words=config["words"], width=config["width"], layers=config["layers"],
        heads=config["heads"], key_value_heads=config["key_value_heads"],
        head_width=config["head_width"], hidden=config["hidden"], norm="rms", activation="swiglu",
    )  # fmt: skip
    weights = {
        name: torch.empty(1, *size, device="meta", dtype=torch.float16)
        for name, size in shape.weights().items()
    }
    return Ours(Decoder(shape, weights))


def measure(job: Job) -> Results:
    """A row for each model, length, method and phase."""
    config, rows = job.config, []
    for name, sizes in config["models"].items():
        network = bodiless(sizes)
        layer, k = sizes["filter_layer"], config["kept"]
        methods = {"full": Method("full"), "snapkv": Method("snapkv", k, by_group=True),
                   "gemfilter": Method("gemfilter", k, layer)}  # fmt: skip
        for length in config["lengths"]:
            tokens = torch.zeros(1, length, dtype=torch.long, device="meta")
            for arm, method in methods.items():
                meter = Meter()
                answer(network, tokens, method, config["steps"], meter=meter, evict=True)
                for phase, flops in meter.flops.items():
                    rows.append({
                        "model": name, "n": length, "arm": arm, "phase": phase, "flops": flops,
                        "weights": meter.weights[phase], "cache": meter.cache[phase],
                        "place": meter.places[phase], "layers": sizes["layers"],
                        "filter_layer": layer,
                        "whole_weights": network.layers * network.bytes_of(0),
                    })  # fmt: skip
    return {"costs": pd.DataFrame(rows)}
