"""The theory in numbers: networks of maximum margin, and one neuron that climbs from random starts.

``constructions``: a row for each construction and (k, p), by enumeration of all p^k inputs.
``ascent``: the objective of a neuron along its steps, a replicate a start; ``neurons``: its ends.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import log10
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import torch

from featlearn.core.seeds import generator
from featlearn.fourier.closed_forms import maximum_margin
from featlearn.fourier.constructions import PHASES, construct
from featlearn.fourier.data import labels, tuples
from featlearn.fourier.network import Network, logits, look
from featlearn.fourier.neuron import ascend, objective
from featlearn.fourier.spectra import circuits

if TYPE_CHECKING:
    from featlearn.core.run.job import Job
    from featlearn.core.run.outputs import Results


def measure(job: Job) -> Results:
    """Construct networks of maximum margin, and let one neuron climb from random starts."""
    config = job.config
    built = [_built(name, *size) for name in PHASES for size in config["sizes"]]
    climbed = [_climbed(job.seed, config["ascent"], *size) for size in config["ascent"]["sizes"]]
    ascent, neurons = (
        pd.concat(frames, ignore_index=True) for frames in zip(*climbed, strict=True)
    )
    return {"constructions": pd.DataFrame(built), "ascent": ascent, "neurons": neurons}


def _built(name: str, k: int, p: int) -> dict[str, Any]:
    network = construct(name, k, p)
    margins = look(network).margins
    return {
        "k": k, "p": p, "construction": name, "neurons": network.w.shape[-1],
        "maximum": maximum_margin(k, p), "value": margins.least.item(),
        "mean": margins.mean.item(), "wrong": wrong_spread(network),
    }  # fmt: skip


def wrong_spread(network: Network) -> float:
    """Largest minus smallest wrong logit of an input over the mean margin, on the worst input."""
    k, p = network.k, network.p
    a = tuples(torch.arange(p**k), k, p)
    f, own = logits(network, a)[0], labels(a, p)[:, None]
    most = f.scatter(1, own, -torch.inf).amax(1)
    least = f.scatter(1, own, torch.inf).amin(1)
    margin = (f.gather(1, own)[:, 0] - (f.sum(1) - f.gather(1, own)[:, 0]) / (p - 1)).mean()
    return ((most - least).max() / margin).item()


def _climbed(
    seed: int, config: Mapping[str, Any], k: int, p: int
) -> tuple[pd.DataFrame, pd.DataFrame]:
    starts = torch.stack([
        torch.randn(k + 1, p, dtype=torch.float64,
                    generator=generator(seed, "fourier", f"ascent-{k}-{p}", replicate, "start"))
        for replicate in range(config["starts"])
    ])  # fmt: skip
    best, rows, ends = maximum_margin(k, p), [], []
    keys = {"k": k, "p": p, "replicate": range(config["starts"])}
    at = _looks(config["steps"])
    for step, now in enumerate(ascend(starts, config["steps"])):
        if step in at:
            rows.append(pd.DataFrame(keys | {"step": step, "value": objective(now) / best}))
        if step in (0, config["steps"]):
            moment = "end" if step else "start"
            ends.append(pd.DataFrame(keys | {"moment": moment, **_state(now)}))
    return pd.concat(rows), pd.concat(ends)


def _looks(steps: int) -> set[int]:
    """The start, the end, and steps between, eight in each power of ten."""
    spaced = np.geomspace(1, steps, int(8 * log10(steps)) + 2)
    return {0, *(round(step) for step in spaced)}


def _state(vectors: torch.Tensor) -> dict[str, Any]:
    seen = circuits(Network(vectors[:, :-1, :, None], vectors[:, -1, :, None]))
    return {
        "peak": seen.peak.amin(1).squeeze(1).numpy(), "single": seen.single.squeeze(1).numpy(),
        "residual": seen.residual.squeeze(1).numpy(), "frequency": seen.frequency[:, -1, 0].numpy(),
    }  # fmt: skip
