"""A needle in a haystack of tokens: what was said of a key, somewhere in a long prompt.

    BOS  filler ... filler  key v v v  filler ...  key' v' v' v'  filler ...  Q key*

The answer is what stood behind the queried key. All other needles are distractors. The length of a
prompt, the depth of its needle (the share of the body before it) and all tokens are drawn by name.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Generator, Tensor

from featlearn.gemfilter.config import ANSWER, NEEDLES

BOS, QUESTION, FIRST_KEY = 0, 1, 2
#: Tokens behind a prompt's body: Q and the queried key.
ASKED = 2


@dataclass(frozen=True)
class Vocabulary:
    """Numbers of keys, values and fillers; BOS and Q come before them."""

    keys: int
    values: int
    fillers: int

    @property
    def first_value(self) -> int:
        return FIRST_KEY + self.keys

    @property
    def first_filler(self) -> int:
        return self.first_value + self.values

    @property
    def size(self) -> int:
        return self.first_filler + self.fillers

    def say(self, tokens: Sequence[int]) -> list[str]:
        """As a reader sees them: keys K0 .., values v0 .., fillers a dot."""
        return [self._word(token) for token in tokens]

    def _word(self, token: int) -> str:
        if token < FIRST_KEY:
            return ("BOS", "Q")[token]
        if token < self.first_value:
            return f"K{token - FIRST_KEY}"
        return f"v{token - self.first_value}" if token < self.first_filler else "·"


class Prompts(NamedTuple):
    """B prompts of one length and depth."""

    tokens: Tensor  #: (B, n)
    start: int  #: place of the needle's key
    answer: Tensor  #: (B, L), what stands behind it

    @property
    def span(self) -> tuple[int, int]:
        """First place of the needle, and the first behind it."""
        return self.start, self.start + 1 + self.answer.shape[1]


def draw(
    vocabulary: Vocabulary, length: int, depth: float, streams: Sequence[Generator]
) -> Prompts:
    """A prompt from each stream. Raises ValueError if the needles do not fit.

    ``length``: n, with BOS and the question. ``depth``: share of the body before the needle, 0 to
    1. Distractors are needles of other keys.
    """
    size, body = ANSWER + 1, length - 1 - ASKED
    if body < 2 * NEEDLES * size:
        raise ValueError(
            f"length: {length}; expected at least {2 * NEEDLES * size + 1 + ASKED} for {NEEDLES} "
            f"needles of {size} tokens"
        )
    if vocabulary.keys < NEEDLES or vocabulary.values < NEEDLES * ANSWER:
        raise ValueError(
            f"vocabulary: {vocabulary.keys} keys and {vocabulary.values} values; expected at least "
            f"{NEEDLES} and {NEEDLES * ANSWER}"
        )
    start = 1 + int(depth * (body - size))
    rows, answers = [], []
    for stream in streams:
        row = torch.randint(vocabulary.fillers, (length,), generator=stream)
        row += vocabulary.first_filler
        row[0] = BOS
        keys = FIRST_KEY + torch.randperm(vocabulary.keys, generator=stream)[:NEEDLES]
        # no value twice: what follows it would be ambiguous
        drawn = torch.randperm(vocabulary.values, generator=stream)[: NEEDLES * ANSWER]
        values = drawn.view(NEEDLES, ANSWER) + vocabulary.first_value
        taken = [start]
        while len(taken) < NEEDLES:  # places of distractors, until they overlap no other
            place = 1 + int(torch.randint(body - size + 1, (), generator=stream))
            if all(abs(place - other) >= size for other in taken):
                taken.append(place)
        for place, key, own in zip(taken, keys, values, strict=True):
            row[place], row[place + 1 : place + size] = key, own
        row[-ASKED], row[-1] = QUESTION, keys[0]
        rows.append(row)
        answers.append(values[0])
    return Prompts(torch.stack(rows), start, torch.stack(answers))


def lesson(
    vocabulary: Vocabulary, body: int, batch: int, streams: Sequence[Generator], *, queries: int = 8
) -> tuple[Tensor, Tensor]:
    """Sequences for a training: a body with four needles, then ``queries`` questions and answers.

    Each needle is asked for once, then at random. Returns ``tokens``: (R, B, 1 + body + 5 queries),
    and ``targets``: (24,) places whose next token is a value of an answer.
    """
    size, needles = ANSWER + 1, NEEDLES
    slots = body // size
    drawn = []
    for stream in streams:
        row = torch.randint(vocabulary.fillers, (batch, slots, size), generator=stream)
        row += vocabulary.first_filler
        place = torch.rand(batch, slots, generator=stream).argsort(1)[:, :needles]
        keys = torch.rand(batch, vocabulary.keys, generator=stream).argsort(1)[:, :needles]
        values = torch.randint(vocabulary.values, (batch, needles, size - 1), generator=stream)
        written = torch.cat([keys[..., None] + FIRST_KEY, values + vocabulary.first_value], 2)
        row.scatter_(1, place[..., None].expand(-1, -1, size), written)
        order = torch.rand(batch, needles, generator=stream).argsort(1)
        again = torch.randint(needles, (batch, queries - needles), generator=stream)
        asked = torch.cat([order, again], 1)[..., None].expand(-1, -1, size)
        told = written.gather(1, asked)
        question = torch.full((batch, queries, 1), QUESTION)
        begin = torch.full((batch, 1), BOS)
        drawn.append(
            torch.cat([begin, row.flatten(1), torch.cat([question, told], 2).flatten(1)], 1)
        )
    first = 1 + slots * size
    targets = first + torch.arange(queries)[:, None] * (size + 1) + torch.arange(1, size)
    return torch.stack(drawn), targets.flatten()
