"""Ours: small softmax transformers that learn a prior and a use of context from documents.

A document is n examples: a word that has one of two meanings and a filler, in either order, then
the label. Of most documents the label is the meaning; of a share it is inverted throughout. Who
knows only the prior ignores that; who reads the context follows it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeVar

import torch
from torch import Generator, Tensor
from torch.nn import functional

from featlearn.core.training.schedules import Schedule
from featlearn.transformers.attention import attention_weights
from featlearn.transformers.decoder import Decoder, Shape, Weights, start
from featlearn.transformers.train import Recipe, train

#: Words of either meaning, and fillers; then come the two labels.
FAMILY = 20
WORDS = 3 * FAMILY + 2
Reader = TypeVar("Reader", bound=Decoder)


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


def chosen(documents: Documents, count: int, stream: Generator) -> Tensor:
    """Of ``count`` examples of each context (B, n) at random places, never of the query."""
    size = documents.meaning.shape
    found = torch.zeros(size, dtype=torch.bool)
    order = torch.rand(size[0], size[1] - 1, generator=stream).argsort(-1)
    return found.scatter(-1, order[:, :count], True)


def flipped(documents: Documents, count: int, stream: Generator) -> Tensor:
    """Tokens (B, 3 n) in which ``count`` examples of the context have the other label."""
    tokens = documents.tokens.clone()
    tokens[:, 2::3] = 3 * FAMILY + (documents.meaning ^ chosen(documents, count, stream).long())
    return tokens


def garbled(documents: Documents, count: int, stream: Generator) -> Tensor:
    """Tokens (B, 3 n) in which the word of ``count`` examples is another one, of any meaning."""
    tokens = documents.tokens.clone()
    drawn = torch.randint(2 * FAMILY, documents.meaning.shape, generator=stream)
    at = chosen(documents, count, stream)
    for place in (0, 1):
        words = tokens[:, place::3]
        tokens[:, place::3] = torch.where(at & (documents.relevant == place), drawn, words)
    return tokens


def bayes(documents: Documents, tokens: Tensor, inverted: float) -> Tensor:
    """Share (...) of last examples whose label a Bayesian tells as its meaning.

    Documents that mix both kinds of label never occur in training. This learner knows the share of
    inverted documents and lets each label err with a probability that tends to 0: it follows the
    majority of the context's labels and, at a tie, the prior.
    """
    examples = tokens.view(*tokens.shape[:-1], -1, 3)
    words = examples[..., :2].gather(-1, documents.relevant[..., None]).squeeze(-1)
    against = ((words >= FAMILY).long() != examples[..., 2] - 3 * FAMILY)[..., :-1]
    votes = (~against).sum(-1) - against.sum(-1)
    if 0 < inverted < 1:
        votes = 2 * votes + (1 if inverted < 0.5 else -1)
    else:
        votes = torch.full_like(votes, 1 if inverted == 0 else -1)
    return (votes > 0).double().mean(-1)


def shape_of(size: Mapping[str, int], examples: int) -> Shape:
    """A GPT of so many layers, heads and numbers a token."""
    width, heads = size["width"], size["heads"]
    return Shape(
        words=WORDS, width=width, layers=size["layers"], heads=heads, head_width=width // heads,
        hidden=4 * width, length=3 * examples, activation="gelu",
    )  # fmt: skip


def trained(
    label: str, shape: Shape, training: Mapping[str, float], examples: int, inverted: float,
    begun: Sequence[Generator], streams: Sequence[Generator], *,
    made: Callable[[Shape, Weights], Reader],
    written: Callable[[Documents, Generator], Documents] = lambda drawn, _: drawn,
) -> Reader:  # fmt: skip
    """AdamW on the labels of fresh documents, replicates at once.

    ``made``: the kind of decoder. ``written``: of a document what the decoder reads.
    """
    batch, steps = int(training["batch_size"]), int(training["steps"])

    def loss(weights: Mapping[str, Tensor]) -> Tensor:
        drawn = (written(draw(batch, examples, one, inverted=inverted), one) for one in streams)
        tokens = torch.stack([one.tokens for one in drawn])
        found = labels_of(made(shape, weights), tokens)
        wanted = tokens[..., 2::3] - 3 * FAMILY
        every = functional.cross_entropy(found.flatten(0, 2), wanted.flatten(), reduction="none")
        return every.view(len(streams), -1).mean(1)

    schedule = Schedule("cosine", steps, training["rate"], warmup=min(100, steps // 10))
    recipe = Recipe(schedule, training["weight_decay"], (0.9, 0.98), look_every=steps)
    weights, _ = train(
        label, start(shape, begun), loss, recipe, streams=streams,
        see=lambda own: {"size": own["positions"].square().mean((1, 2))},
    )  # fmt: skip
    return made(shape, weights)


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
    found = attention_weights(q[:, :, -1:], k)[:, :, 0]
    return found.reshape(*tokens.shape[:2], *found.shape[1:])
