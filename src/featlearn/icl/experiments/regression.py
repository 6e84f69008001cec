"""In-context regression: closed forms, literal forward passes, trained networks, flipped signs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import TYPE_CHECKING, Any

import pandas as pd
import torch
from torch import Tensor

from featlearn.core.evidence.frames import rows
from featlearn.core.seeds import Streams
from featlearn.icl import linear
from featlearn.icl import regression as theory

if TYPE_CHECKING:
    from featlearn.core.run.job import Job
    from featlearn.core.run.outputs import Results

Rows = Iterator[dict[str, Any]]


def measure(job: Job) -> Results:
    """Measure linear self-attention of limited rank: closed forms, forward passes, trainings."""
    config = job.config
    values = theory.eigenvalues(config["dimension"], config["largest"], config["ratio"])
    if config["spectrum"]:
        values = torch.tensor(config["spectrum"], dtype=theory.DTYPE)
    streams = Streams(job.seed, "icl", "regression", range(config["replicates"]))
    basis = theory.rotation(config["dimension"], streams("basis")[0])
    found = {
        "curves": curves(config, values),
        "sampled": sampled(config, values, basis, streams),
        "trained": trained(config, values, basis, streams),
        "flips": flips(config, values, basis, streams),
    }
    return {name: pd.DataFrame(own) for name, own in found.items()}


def task(directions: int, dimension: int) -> Tensor:
    """Q^T w with ones in the first directions."""
    return (torch.arange(dimension) < directions).to(theory.DTYPE)


def curves(config: Mapping[str, Any], values: Tensor) -> Rows:
    """The evaluation loss in closed form over rank and noise, with its pieces."""
    d = len(values)
    for directions in (1, 2, d):
        for sigma in config["sigmas"]:
            for rank in range(d + 1):
                given = (config["pretrained"], config["examples"], sigma)
                w = task(directions, d)
                of = theory.evaluation(values, w, rank, *given)
                yield {
                    "directions": directions, "sigma": sigma, "rank": rank,
                    "value": float(of.total), "bias": float(of.bias),
                    "inputs": float(of.inputs), "labels": float(of.labels),
                }  # fmt: skip


def sampled(config: Mapping[str, Any], values: Tensor, basis: Tensor, streams: Streams) -> Rows:
    """The same by the literal forward pass of (5.1), at ranks and noise of the config."""
    d, m = len(values), config["examples"]
    w = task(2, d)
    for sigma in (config["sigmas"][0], config["sigmas"][1]):
        drawn = theory.draw(values, basis, config["prompts"], m, streams(f"sampled-{sigma}"),
                            w=basis @ w, sigma=sigma)  # fmt: skip
        for rank in config["ranks"]:
            value, key_query = torch.zeros(2, d + 1, d + 1, dtype=theory.DTYPE)
            value[d, d] = 1
            key_query[:d, :d] = theory.optimum(values, basis, rank, config["pretrained"])
            answers = linear.attention(drawn.tokens, value, key_query)[..., -1, -1]
            losses = (answers - drawn.target).square().mean(-1)
            of = theory.evaluation(values, w, rank, config["pretrained"], m, sigma).total
            both = {"value": losses, "predicted": of.expand_as(losses)}
            yield from rows(both, sigma=sigma, rank=rank)


def trained(config: Mapping[str, Any], values: Tensor, basis: Tensor, streams: Streams) -> Rows:
    """Rank-limited networks after training, by the closed forms of their loss."""
    own, ranks, d = config["training"], config["ranks"], len(values)
    begun = linear.start(ranks, d, streams("start"))
    weights = linear.trained(
        "regression, by rank", begun, values, basis, own["examples"], own["batch_size"],
        linear.recipe(own), streams("prompts"),
    )  # fmt: skip
    covariance = basis * values @ basis.T
    for place, a in enumerate(linear.product(weights)):
        replicate, rank = place // len(ranks), ranks[place % len(ranks)]
        best = theory.optimum(values, basis, rank, own["examples"])
        least = float(theory.least_loss(values, rank, own["examples"]))
        row = {"rank": rank, "replicate": replicate, "optimum": least,
               "value": float(theory.loss(a, covariance, own["examples"])),
               "distance": float((a - best).norm() / best.norm())}  # fmt: skip
        for directions, sigma in product((1, d), config["sigmas"]):
            w = task(directions, d)
            evaluated = theory.evaluation_of(a, covariance, basis @ w, config["examples"], sigma)
            exact = theory.evaluation(values, w, rank, own["examples"], config["examples"], sigma)
            yield row | {"directions": directions, "sigma": sigma, "evaluation": float(evaluated),
                         "predicted": float(exact.total)}  # fmt: skip


def flips(config: Mapping[str, Any], values: Tensor, basis: Tensor, streams: Streams) -> Rows:
    """Ours: labels are signs, a share of them flipped; accuracy of the answer's sign."""
    d, m, count = len(values), config["examples"], config["flipped_prompts"]
    clean = theory.draw(values, basis, count, m, streams("flips"), w=basis @ task(2, d))
    chance = torch.stack([
        torch.rand(count, m, generator=one, dtype=theory.DTYPE) for one in streams("flips-which")
    ])  # fmt: skip
    for share in config["shares"]:
        y = clean.y.sign() * torch.where(chance < share, -1.0, 1.0)
        for rank in config["ranks"]:
            a = theory.optimum(values, basis, rank, config["pretrained"])
            right = linear.reduced(clean._replace(y=y), a).sign() == clean.target.sign()
            yield from rows({"value": right.double().mean(-1)}, share=share, rank=rank)
