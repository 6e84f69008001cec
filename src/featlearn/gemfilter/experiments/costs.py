"""Operations and memory of each method at the sizes of the thesis' three models, by phase.

Counted on weights without numbers (PyTorch's device ``meta``), at the models' sizes and lengths.
Layers are alike: two small depths are counted, and the line through them is exact.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pandas as pd
import torch

from featlearn.gemfilter.generation import Meter, answer
from featlearn.gemfilter.networks import Ours
from featlearn.gemfilter.selection import Method
from featlearn.transformers.decoder import Decoder, Shape

if TYPE_CHECKING:
    from featlearn.core.run.job import Job
    from featlearn.core.run.outputs import Results


#: Of each phase, by name.
Counts = dict[str, dict[str, int]]


def bodiless(config: dict[str, Any]) -> Ours:
    """A decoder of such sizes in float16 and without numbers."""
    shape = Shape(
        words=config["words"], width=config["width"], layers=config["layers"],
        heads=config["heads"], key_value_heads=config["key_value_heads"],
        head_width=config["head_width"], hidden=config["hidden"], norm="rms", activation="swiglu",
    )  # fmt: skip
    weights = {name: torch.empty(1, *size, device="meta", dtype=torch.float16)
               for name, size in shape.weights().items()}  # fmt: skip
    return Ours(Decoder(shape, weights))


#: Two depths (m, r) that are counted. Layers are alike, so that costs are linear in their number.
COUNTED = ((2, 0), (3, 1))


def counted(config: dict[str, Any], method: Method, length: int, steps: int) -> Counts:
    """What generation with all of the layers costs, by phase."""
    meter = Meter()
    tokens = torch.zeros(1, length, dtype=torch.long, device="meta")
    answer(bodiless(config), tokens, method, steps, meter=meter, evict=True)
    return {
        phase: {"flops": meter.flops[phase], "weights": meter.weights[phase],
                "cache": meter.cache[phase]}
        for phase in meter.flops
    }  # fmt: skip


def scaled(config: dict[str, Any], method: Method, length: int, steps: int) -> Counts:
    """The same as `counted`, on the exact line through two small depths (r or m)."""
    less, more = (
        counted(config | {"layers": m}, replace(method, layer=r), length, steps) for m, r in COUNTED
    )
    found: Counts = {}
    for phase, values in less.items():
        first = method.kind == "gemfilter" and phase == "prompt"
        beyond = method.layer - COUNTED[0][1] if first else config["layers"] - COUNTED[0][0]
        found[phase] = {
            name: value + beyond * (more[phase][name] - value) for name, value in values.items()
        }
    return found


def measure(job: Job) -> Results:
    """Count operations and memory: a row for each model, length, method and phase."""
    config, rows = job.config, []
    for name, sizes in config["models"].items():
        layer, k = sizes["filter_layer"], config["kept"]
        methods = {"full": Method("full"), "snapkv": Method("snapkv", k, by_group=True),
                   "gemfilter": Method("gemfilter", k, layer)}  # fmt: skip
        for length in config["lengths"]:
            for arm, method in methods.items():
                for phase, found in scaled(sizes, method, length, config["steps"]).items():
                    rows.append({
                        "model": name, "n": length, "arm": arm, "phase": phase, **found,
                        "layers": sizes["layers"], "filter_layer": layer,
                    })  # fmt: skip
    return {"costs": pd.DataFrame(rows)}
