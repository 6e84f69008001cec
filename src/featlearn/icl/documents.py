"""Ours: small softmax transformers that learn a prior and a use of context from documents.

A document is n examples: a word that has one of two meanings and a filler, in either order, then
the label. Of most documents the label is the meaning; of a share it is inverted throughout. Who
knows only the prior ignores that; who reads the context follows it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import torch
from torch import Generator, Tensor
from torch.nn import functional

from featlearn.core.schedules import Schedule
from featlearn.transformers.attention import attention_weights
from featlearn.transformers.decoder import Decoder, Shape, start
from featlearn.transformers.train import Recipe, train

#: Words of either meaning, and fillers; then come the two labels.
FAMILY = 20
WORDS = 3 * FAMILY + 2


class Documents(NamedTuple):
    """Documents of n examples, the query last."""

    tokens: Tensor  #: (..., 3 n)
    meaning: Tensor  #: (..., n), 0 or 1
    relevant: Tensor  #: (..., n), 0 or 1: place of the word that means something


def draw(count: int, examples: int, stream: Generator, *, inverted: float = 0.0) -> Documents:
    """``count`` documents, each inverted with a probability."""
    size = (count, examples)
    meaning, relevant = (torch.randint(2, size, generator=stream) for _ in range(2))
    word, filler = (torch.randint(FAMILY, size, generator=stream) for _ in range(2))
    turned = (torch.rand(count, 1, generator=stream) < inverted).long()
    word, filler = word + FAMILY * meaning, filler + 2 * FAMILY
    first, second = (torch.where(relevant == k, word, filler) for k in (0, 1))
    label = 3 * FAMILY + (meaning ^ turned)
    return Documents(torch.stack([first, second, label], -1).flatten(1), meaning, relevant)


def flipped(documents: Documents, count: int) -> Tensor:
    """Tokens whose first ``count`` examples have the other label; their order is random."""
    tokens = documents.tokens.clone()
    labels = tokens[..., 2::3]
    labels[..., :count] = 3 * FAMILY + 1 - documents.meaning[..., :count]
    return tokens


def garbled(documents: Documents, count: int, stream: Generator) -> Tensor:
    """Tokens in which the word of the first ``count`` examples is another one, of any meaning."""
    tokens = documents.tokens.clone().unflatten(-1, (-1, 3))
    drawn = torch.randint(2 * FAMILY, documents.meaning.shape, generator=stream)
    for place in (0, 1):
        own = documents.relevant == place
        own[..., count:] = False
        tokens[..., place][own] = drawn[own]
    return tokens.flatten(-2)


def shape_of(size: Mapping[str, int], examples: int) -> Shape:
    """A GPT of so many layers, heads and numbers a token."""
    width, heads = size["width"], size["heads"]
    return Shape(
        words=WORDS, width=width, layers=size["layers"], heads=heads, head_width=width // heads,
        hidden=4 * width, length=3 * examples, activation="gelu",
    )  # fmt: skip


def trained(
    label: str,
    shape: Shape,
    training: Mapping[str, float],
    examples: int,
    inverted: float,
    begun: Sequence[Generator],
    streams: Sequence[Generator],
) -> Decoder:
    """AdamW on the labels of fresh documents, replicates at once."""
    batch, steps = int(training["batch_size"]), int(training["steps"])

    def loss(weights: Mapping[str, Tensor]) -> Tensor:
        tokens = torch.stack(
            [draw(batch, examples, one, inverted=inverted).tokens for one in streams]
        )
        found = labels_of(Decoder(shape, weights), tokens)
        wanted = tokens[..., 2::3] - 3 * FAMILY
        every = functional.cross_entropy(found.flatten(0, 2), wanted.flatten(), reduction="none")
        return every.view(len(streams), -1).mean(1)

    schedule = Schedule("cosine", steps, training["rate"], warmup=min(100, steps // 10))
    recipe = Recipe(schedule, training["weight_decay"], (0.9, 0.98), look_every=steps)
    weights, _ = train(
        label, start(shape, begun), loss, recipe, streams=streams,
        see=lambda own: {"size": own["words"].square().mean((1, 2))},
    )  # fmt: skip
    return Decoder(shape, weights)


def labels_of(decoder: Decoder, tokens: Tensor) -> Tensor:
    """Logits of the two labels where one stands, (R, B, n, 2)."""
    x = decoder.embed(tokens)
    for layer in range(decoder.shape.layers):
        x = decoder.block(layer, x)
    return decoder.logits(x[:, :, 1::3])[..., -2:]


@torch.no_grad()
def accuracy(decoder: Decoder, tokens: Tensor, meaning: Tensor) -> Tensor:
    """Share (R,) of last examples (R, B, 3 n) whose label is told as its meaning."""
    return (labels_of(decoder, tokens)[:, :, -1].argmax(-1) == meaning[..., -1]).double().mean(-1)


@torch.no_grad()
def last_row(decoder: Decoder, tokens: Tensor) -> Tensor:
    """Attention of the last token in the last layer, (R, B, heads, 3 n)."""
    x = decoder.embed(tokens)
    for layer in range(decoder.shape.layers - 1):
        x = decoder.block(layer, x)
    q, k, _ = decoder.project(decoder.shape.layers - 1, x)
    return attention_weights(q[:, :, -1:], k)[:, :, 0].unflatten(0, tokens.shape[:2])
