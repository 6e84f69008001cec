"""Needles in essays that people wrote: prompts of :mod:`.needles` whose fillers are running text.

A needle is a city and words behind it. Its words, from 100th place of the essays' words by number
on, stand in the text around it, too. Readers learn from some essays and are asked in others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Generator, Tensor

from featlearn.gemfilter.needles import Vocabulary
from featlearn.gemfilter.stand_in import Lessons
from featlearn.gemfilter.stands import Asked, Stand, trained
from featlearn.transformers import written

CITIES = (
    "athens", "berlin", "cairo", "delhi", "dublin", "geneva", "havana", "kyoto", "lima", "lisbon",
    "madrid", "nairobi", "oslo", "prague", "vienna", "warsaw",
)  # fmt: skip
#: More frequent words of the essays name no value.
COMMON = 100


class Essays(NamedTuple):
    """Essays as tokens of a vocabulary; other words, and cities, are its last filler."""

    names: list[str]  #: of all tokens
    learned: Tensor  #: (N,) one essay behind the other
    asked: Tensor  #: (N',) other essays


def read(folder: Path, vocabulary: Vocabulary) -> Essays:
    """Essays in a folder, with the most frequent words of those to learn from."""
    parts = [[written.words_of(text) for text in part] for part in written.essays(folder)]
    wanted = vocabulary.values + vocabulary.fillers - 1
    known = written.most_frequent(
        ([word for word in text if word not in CITIES] for text in parts[0]), wanted
    )
    known += [f"({place})" for place in range(len(known), wanted)]  # of few essays
    values = known[COMMON : COMMON + vocabulary.values]
    fillers = known[:COMMON] + known[COMMON + vocabulary.values :]
    names = ["BOS", "Q", *CITIES[: vocabulary.keys], *values, *fillers, "–"]
    number = {word: place for place, word in enumerate(names) if place >= vocabulary.first_value}
    learned, asked = (
        torch.tensor([number.get(word, vocabulary.size - 1) for word in chain(*part)])
        for part in parts
    )
    return Essays(names, learned, asked)


def filled(tokens: Tensor, first_filler: int, text: Tensor, streams: Sequence[Generator]) -> Tensor:
    """Tokens (P, ..., n) whose fillers are words of the text in their order, from anywhere on.

    ``streams``: one for each of P parts.
    """
    parts = []
    for part, stream in zip(tokens, streams, strict=True):
        begin = torch.randint(len(text) - part.shape[-1], (*part.shape[:-1], 1), generator=stream)
        passage = text[begin + torch.arange(part.shape[-1])]
        parts.append(torch.where(part >= first_filler, passage, part))
    return torch.stack(parts)


class EssayLessons(Lessons):
    """Lessons whose fillers are running words of the text (N,)."""

    def __init__(self, text: Tensor, *others: Any):
        super().__init__(*others)
        self.text = text

    def drawn(self, body: int, batch: int, streams: Sequence[Generator]) -> tuple[Tensor, Tensor]:
        tokens, targets = super().drawn(body, batch, streams)
        return filled(tokens, self.vocabulary.first_filler, self.text, streams), targets


def stand(config: Mapping[str, Any], weights: Mapping[str, Tensor], essays: Essays) -> Stand:
    """The trained readers, asked in essays that they did not learn from."""
    own = trained(config, weights)
    first_filler = Vocabulary(**config["vocabulary"]).first_filler

    def ask(length: int, depth: float, streams: Sequence[Generator]) -> Asked:
        asked = own.ask(length, depth, streams)
        tokens = filled(asked.tokens[: len(streams)], first_filler, essays.asked, streams)
        wanted = " ".join(say(tokens[0, slice(asked.span[0] + 1, asked.span[1])].tolist()))
        return asked._replace(tokens=tokens.repeat(own.replicates, 1), wanted=wanted)

    def say(tokens: Sequence[int]) -> list[str]:
        return [essays.names[token] for token in tokens]

    return replace(own, ask=ask, say=say)
