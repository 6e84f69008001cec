"""Linear self-attention (chapter 5, equations 5.1 and 5.2), and its training by rank."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Generator, Tensor

from featlearn.core.training.schedules import Schedule
from featlearn.icl.regression import Prompts, draw
from featlearn.transformers.train import Recipe, train

Weights = Mapping[str, Tensor]


def attention(tokens: Tensor, value: Tensor, key_query: Tensor) -> Tensor:
    """f(E) = E + W_PV E (E^T W_KQ E) / n of E (..., d + 1, n + 1), literally (5.1)."""
    examples = tokens.shape[-1] - 1
    return tokens + value @ tokens @ (tokens.mT @ key_query @ tokens) / examples


def reduced(prompts: Prompts, a: Tensor) -> Tensor:
    """h^T A x_q (..., B) of A = u U (..., d, d): what is left if w21 of both matrices is 0."""
    return ((prompts.mean @ a) * prompts.query).sum(-1)


def start(ranks: Sequence[int], dimension: int, streams: Sequence[Generator]) -> dict[str, Tensor]:
    """Networks (R, ranks) flattened: factors .1 N(0, 1), u = .5; rows above a rank are 0."""
    found: dict[str, list[Tensor]] = {"key": [], "query": [], "value": []}
    for stream in streams:
        key, query = (0.1 * torch.randn(dimension, dimension, generator=stream) for _ in range(2))
        for rank in ranks:
            kept = (torch.arange(dimension) < rank)[:, None]
            found["key"].append(key * kept)
            found["query"].append(query * kept)
            found["value"].append(torch.full((1,), 0.5))
    return {name: torch.stack(every) for name, every in found.items()}


def trained(
    label: str, begun: Weights, values: Tensor, basis: Tensor, examples: int, batch: int,
    recipe: Recipe, streams: Sequence[Generator],
) -> dict[str, Tensor]:  # fmt: skip
    """Adam on fresh prompts, that the ranks of a replicate share. A row that starts at 0 in both
    factors has no gradient, so that a rank stays what it is."""
    ranks = len(begun["key"]) // len(streams)

    def loss(weights: Weights) -> Tensor:
        drawn = draw(values, basis, batch, examples, streams, dtype=torch.float32)
        key_query = weights["key"].mT @ weights["query"]
        key_query = key_query.view(-1, ranks, *key_query.shape[1:])
        value = weights["value"].view(len(key_query), ranks, -1)
        found = torch.einsum(
            "rbi,rkij,rbj->rkb", drawn.mean, value[..., None] * key_query, drawn.query
        )
        return (found - drawn.target[:, None]).square().mean(-1).flatten() / 2

    weights, _ = train(
        label, begun, loss, recipe, streams=streams, see=lambda own: {"u": own["value"][:, -1]}
    )
    return weights


def recipe(config: Mapping[str, int | float]) -> Recipe:
    """A cosine from ``rate`` to 0 over ``steps``, the plain betas of Adam."""
    steps = int(config["steps"])
    schedule = Schedule("cosine", steps, float(config["rate"]))
    return Recipe(schedule, betas=(0.9, 0.999), look_every=steps)


def product(weights: Weights) -> Tensor:
    """A = u U (networks, d, d) in float64."""
    own = {name: part.double() for name, part in weights.items()}
    return own["value"][:, :, None] * (own["key"].mT @ own["query"])
