"""Sparse parities: constructions against the theorem, finite prompts, trained networks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from featlearn.core.seeds import Streams
from featlearn.icl import parity as theory

if TYPE_CHECKING:
    from featlearn.core.job import Job
    from featlearn.core.outputs import Results


def measure(job: Job) -> Results:
    """All frames of the experiment."""
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
                state = stream.get_state()
                for arm, bits in (("g1", low), ("g2", high)):
                    stream.set_state(state)  # the same prompts for both
                    value = theory.sampled_accuracy(
                        theory.printed(bits, 2**high, gamma), (0, 1), gamma, examples,
                        config["prompts"], stream, flipped,
                    )  # fmt: skip
                    sampled.append({"examples": examples, "share": flipped, "arm": arm,
                                    "replicate": replicate, "value": float(value)})  # fmt: skip
    return {
        "constructions": pd.DataFrame(constructions),
        "sampled": pd.DataFrame(sampled),
        "trained": pd.DataFrame(trained(job, streams)),
    }


def trained(job: Job, streams: Streams) -> list[dict[str, Any]]:
    """Networks of so many heads, by how rare the other tasks are."""
    own, gamma = job.config["training"], job.config["gamma"]
    low, high = own["size"]
    d = 2**high
    first = theory.important(theory.pairs(d), 2**low)
    rows = []
    for rare in own["rare"]:
        weights = theory.task_weights(d, 2**low, rare)
        for count in own["heads"]:
            heads = theory.trained(
                f"{count} heads, {rare} rare", count, d, gamma, weights, own["penalty"],
                restarts=own["restarts"], steps=own["steps"], rate=own["rate"],
                streams=streams(f"trained-{count}"),
            )  # fmt: skip
            lost, norm = theory.hinge(heads, gamma), theory.least_norm(heads, gamma)
            for replicate, stream in enumerate(streams("trained-test")):
                network = theory.Heads(heads.a[replicate], heads.v[replicate])
                right = theory.sampled_accuracy(
                    network, (0, 1), gamma, own["examples"], job.config["prompts"], stream
                )
                rows.append({"rare": rare, "heads": count, "replicate": replicate,
                             "important": float(lost[replicate, first].mean()),
                             "others": float(lost[replicate, ~first].mean()),
                             "norm": float(norm[replicate]), "accuracy": float(right)})  # fmt: skip
    return rows
