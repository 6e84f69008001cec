"""Sparse parities: constructions, finite prompts and their noise, trained networks, least norms."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import pandas as pd
import torch

from featlearn.core.evidence.frames import rows
from featlearn.core.seeds import Streams
from featlearn.icl import parity as theory

if TYPE_CHECKING:
    from featlearn.core.run.job import Job
    from featlearn.core.run.outputs import Results

Rows = Iterator[dict[str, Any]]
Lost = Callable[[theory.Heads, float], torch.Tensor]


def measure(job: Job) -> Results:
    """Build and train heads for sparse parities: what is printed, what needs less, noise."""
    config = job.config
    constructions: list[dict[str, Any]] = []
    gamma = config["gamma"]
    for low, high in config["sizes"]:
        d, count = 2**high, 2**low
        first = theory.important(theory.pairs(d), count)
        arms = {"g1": theory.printed(low, d, gamma), "g2": theory.printed(high, d, gamma),
                "four heads": theory.four(d, gamma)}  # fmt: skip
        if d == 4:
            arms["less norm"] = theory.lower_norm(gamma)
        for arm, heads in arms.items():
            lost = theory.hinge(heads, gamma)
            constructions.append({
                "low": low, "high": high, "arm": arm, "heads": len(heads.a),
                "margin": float(theory.margins(heads, gamma).min()),
                "important": float(lost[first].mean()), "rare": float(lost[~first].mean()),
                "unsolved": float((lost[~first] > 0.5).double().mean()),
                "norm": float(16 * gamma**2 * heads.norm),
                "rank": int(theory.projected(heads)),
            })  # fmt: skip
    streams = Streams(job.seed, "icl", "parity", range(config["replicates"]))
    sampled: list[dict[str, Any]] = []
    low, high = config["sampled"]
    for examples in config["examples"]:
        for flipped in config["shares"]:
            own = streams(f"sampled-{examples}-{flipped}")
            for replicate, stream in enumerate(own):
                drawn = theory.sample(
                    2**high, (0, 1), gamma, examples, config["prompts"], stream, flipped
                )
                for arm, bits in (("g1", low), ("g2", high)):
                    value = theory.accuracy(theory.printed(bits, 2**high, gamma), drawn)
                    sampled.append({"examples": examples, "share": flipped, "arm": arm,
                                    "replicate": replicate, "value": float(value)})  # fmt: skip
    return {
        "constructions": pd.DataFrame(constructions), "sampled": pd.DataFrame(sampled),
        "noise": pd.DataFrame(noise(job, streams)), "trained": pd.DataFrame(trained(job, streams)),
        "norms": pd.DataFrame(norms(job, streams)),
    }  # fmt: skip


def objective(
    lost: Lost, gamma: float, weights: torch.Tensor, penalty: float, heads: theory.Heads
) -> torch.Tensor:
    """Hinge loss of tasks by their weights, and the penalty of the norm."""
    return lost(heads, gamma) @ weights + penalty * heads.norm


def noise(job: Job, streams: Streams) -> Rows:
    """Terms of Theorem 5.5.2 of the printed networks: root mean squares over prompts."""
    config, gamma = job.config, job.config["gamma"]
    low, high = config["sampled"]
    for examples in config["examples"]:
        for replicate, stream in enumerate(streams(f"noise-{examples}")):
            drawn = theory.sample(2**high, (0, 1), gamma, examples, config["prompts"], stream)
            signs = torch.rand(config["prompts"], examples, 2, generator=stream) < 0.5
            fresh = 2 * signs.to(theory.DTYPE).mean(1) - 1
            for arm, bits in (("g1", low), ("g2", high)):
                heads = theory.printed(bits, 2**high, gamma)
                for term, values in theory.noise_terms(heads, drawn, (0, 1), gamma, fresh).items():
                    mean = values.mean() if term == "energy" else values.square().mean().sqrt()
                    yield {"examples": examples, "arm": arm, "bits": bits, "term": term,
                           "replicate": replicate, "value": float(mean)}  # fmt: skip


def norms(job: Job, streams: Streams) -> Rows:
    """The least norm found, of diagonal heads and of full matrices, with all tasks alike."""
    own, gamma = job.config["norms"], job.config["gamma"]
    d = 2 ** own["bits"]
    count = len(theory.pairs(d))
    alike = torch.full((count,), 1 / count, dtype=theory.DTYPE)
    for arm, size, lost, margins in (
        ("diagonal", d, theory.hinge, theory.margins),
        ("full", d * d, theory.full_hinge, theory.full_margins),
    ):
        heads = theory.trained(
            f"{arm} heads", (own["heads"], size), gamma,
            partial(objective, lost, gamma, alike, own["penalty"]),
            restarts=own["restarts"], steps=own["steps"], rate=own["rate"],
            streams=streams("norms"),
        )  # fmt: skip
        found = theory.least_norm(heads, gamma, margins(heads, gamma))
        yield from rows({"value": found}, arm=arm, heads=own["heads"], high=own["bits"])


def trained(job: Job, streams: Streams) -> Rows:
    """Networks of so many heads, by how rare the other tasks are."""
    own, gamma = job.config["training"], job.config["gamma"]
    low, high = own["size"]
    d = 2**high
    first = theory.important(theory.pairs(d), 2**low)
    for rare in own["rare"]:
        weights = theory.task_weights(d, 2**low, rare)
        for count in own["heads"]:
            heads = theory.trained(
                f"{count} heads, {rare} rare", (count, d), gamma,
                partial(objective, theory.hinge, gamma, weights, own["penalty"]),
                restarts=own["restarts"], steps=own["steps"], rate=own["rate"],
                streams=streams(f"trained-{count}"),
            )  # fmt: skip
            lost = theory.hinge(heads, gamma)
            norm = theory.least_norm(heads, gamma, theory.margins(heads, gamma))
            for replicate, stream in enumerate(streams("trained-test")):
                network = theory.Heads(heads.a[replicate], heads.v[replicate])
                drawn = theory.sample(
                    d, (0, 1), gamma, own["examples"], job.config["prompts"], stream
                )
                yield {"rare": rare, "heads": count, "high": high, "replicate": replicate,
                       "important": float(lost[replicate, first].mean()),
                       "others": float(lost[replicate, ~first].mean()),
                       "norm": float(norm[replicate]),
                       "accuracy": float(theory.accuracy(network, drawn))}  # fmt: skip
