"""Documents whose words are sentences that people wrote: reviews of SST-2, and of essays.

A document of :mod:`.documents` is written out: its word of either meaning becomes a sentence of
SST-2 with that sentiment, its filler a sentence of an essay. A network sees the sum of a sentence's
word vectors over the root of their number: the order of words is lost.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Generator, Tensor
from torch.nn import functional

from featlearn.icl import documents
from featlearn.icl.documents import FAMILY, Documents
from featlearn.transformers import written
from featlearn.transformers.decoder import Decoder, Shape, Weights

#: Words of a sentence that are read, and of an essay's sentence at least.
LONGEST, LEAST = 30, 4
#: First and number of negative, positive and essays' sentences.
Pools = Sequence[tuple[int, int]]


class Corpus(NamedTuple):
    """Sentences as tokens: those of :mod:`.documents` come first, and of them the labels are said.

    ``bags``: (S, 30), known words of a token, 0 for none; the labels are the words 1 and 2.
    ``words``: of the vocabulary, with these. ``learned``, ``asked``: sentences of either part.
    """

    bags: Tensor
    words: int
    learned: Pools
    asked: Pools


def read(sst2: Path, essays: Path, words: int) -> Corpus:
    """Sentences of both folders; ``words``: the most frequent ones of those to learn from."""
    pools: list[list[list[str]]] = []
    for (texts, labels), books in zip(written.sst2(sst2), written.essays(essays), strict=True):
        own = [written.words_of(text) for text in texts]
        pools += [[text for text, label in zip(own, labels, strict=True) if label == k]
                  for k in (0, 1)]  # fmt: skip
        said = (written.words_of(one) for book in books for one in re.split(r"(?<=[.?!])\s+", book))
        pools.append([one for one in said if LEAST <= len(one) <= LONGEST])
    known = written.most_frequent((text for pool in pools[:3] for text in pool), words)
    number = {word: place for place, word in enumerate(known, 3)}
    rows: list[list[int]] = [[]] * (3 * FAMILY) + [[1], [2]]
    places = []
    for pool in pools:
        places.append((len(rows), len(pool)))
        rows += [[number[word] for word in text if word in number][:LONGEST] for text in pool]
    bags = torch.zeros(len(rows), LONGEST, dtype=torch.long)
    for place, row in enumerate(rows):
        bags[place, : len(row)] = torch.tensor(row, dtype=torch.long)
    return Corpus(bags, 3 + len(known), places[:3], places[3:])


def write(drawn: Documents, pools: Pools, stream: Generator) -> Documents:
    """The document with a sentence for each word, drawn at random from the pool of its family."""
    tokens = drawn.tokens
    for family, (first, count) in enumerate(pools):
        said = first + torch.randint(count, tokens.shape, generator=stream)
        tokens = torch.where(drawn.tokens // FAMILY == family, said, tokens)
    return drawn._replace(tokens=tokens)


class Reader(Decoder):
    """A decoder whose tokens are the sentences of a corpus."""

    def __init__(self, shape: Shape, weights: Weights, bags: Tensor):
        super().__init__(shape, weights)
        self.bags = bags

    def embed(self, tokens: Tensor, first: int = 0) -> Tensor:
        bags = self.bags[tokens]
        scale = (bags > 0).sum(-1, keepdim=True).clamp_min(1) ** -0.5
        said = [functional.embedding_bag(own.flatten(0, 1), table, mode="sum", padding_idx=0)
                for own, table in zip(bags, self.weights["words"], strict=True)]  # fmt: skip
        x = torch.stack(said).view(*tokens.shape, -1) * scale
        return x + self.weights["positions"][:, None, first : first + tokens.shape[2]]


def trained(
    label: str, size: Mapping[str, int], corpus: Corpus, training: Mapping[str, float],
    examples: int, inverted: float, begun: Sequence[Generator], streams: Sequence[Generator],
) -> Reader:  # fmt: skip
    """AdamW on the labels of fresh documents of sentences, replicates at once."""
    shape = replace(documents.shape_of(size, examples), words=corpus.words, outputs=2)
    return documents.trained(
        label, shape, training, examples, inverted, begun, streams,
        made=partial(Reader, bags=corpus.bags),
        written=lambda drawn, stream: write(drawn, corpus.learned, stream),
    )  # fmt: skip


def naive_bayes(corpus: Corpus) -> Tensor:
    """Sentiment (S,), 0 or 1, that the words of each token tell, counted in those to learn from."""
    counts = torch.stack([
        1.0 + torch.bincount(corpus.bags[first : first + count].flatten(), minlength=corpus.words)
        for first, count in corpus.learned[:2]
    ])  # fmt: skip
    counts[:, :3] = 1.0
    rates = (counts / counts.sum(1, keepdim=True)).log()
    votes = (rates[1] - rates[0]).index_fill(0, torch.arange(3), 0.0)
    return (votes[corpus.bags].sum(-1) > 0).long()


def by_counting(drawn: Documents, told: Tensor, inverted: float) -> Tensor:
    """Share (...) of queries that the Bayesian of :mod:`.documents` gets right who reads by words.

    ``drawn``: documents of sentences; ``told``: the sentiment of each, as of :func:`naive_bayes`.
    """
    place = drawn.relevant[..., None]
    sentences = drawn.tokens.unflatten(-1, (-1, 3))  # type: ignore[no-untyped-call]
    seen = told[sentences[..., :2].gather(-1, place)[..., 0]]
    words = sentences.clone()
    words[..., :2] = FAMILY * seen[..., None]
    each = [one[..., None, :] for one in (words.flatten(-2), seen, drawn.relevant)]
    kept = documents.bayes(Documents(*each), each[0], inverted) > 0
    right = seen[..., -1] == drawn.meaning[..., -1]
    return (kept == right).double().mean(-1)
