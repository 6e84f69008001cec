"""Prompts of real text (chapter 5, section 5.6): templates, flips, an irrelevant sentence."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from featlearn.core.errors import FeatlearnError

#: As printed; examples are parted by an empty line.
EXAMPLE = "sentence: {text}\nThe answer is"


class Texts(NamedTuple):
    """A data set of two classes."""

    text: list[str]
    label: np.ndarray  #: (n,), 0 or 1


def read(file: Path) -> Texts:
    """JSONL (``.jsonl``, ``.json``) or Parquet with the columns ``text`` and ``label``. Raises
    FeatlearnError if it is missing, is of another kind, or lacks a column or a class."""
    if not file.is_file():
        raise FeatlearnError(f"{file}: no such file; expected JSONL or Parquet with text, label")
    if file.suffix == ".parquet":
        frame = pd.read_parquet(file)
    elif file.suffix in (".jsonl", ".json"):
        frame = pd.read_json(file, lines=True)
    else:
        raise FeatlearnError(f"{file}: expected .jsonl, .json or .parquet")
    if missing := {"text", "label"} - set(frame.columns):
        raise FeatlearnError(f"{file}: no column {sorted(missing)[0]}; expected text and label")
    if set(frame["label"].unique()) != {0, 1}:
        raise FeatlearnError(f"{file}: label: expected 0 and 1, both of them")
    return Texts([str(one) for one in frame["text"]], frame["label"].to_numpy(dtype=np.int64))


class Choice(NamedTuple):
    """Which texts a prompt holds."""

    examples: np.ndarray  #: (M,)
    query: int
    order: np.ndarray  #: (M,) places of examples, whose labels are flipped one after the other


def choose(texts: Texts, examples: int, random: np.random.Generator) -> Choice:
    """A query and ``examples`` other texts, at random. Raises FeatlearnError if there are fewer."""
    if len(texts.text) <= examples:
        raise FeatlearnError(f"{len(texts.text)} texts; expected more than {examples} examples")
    drawn = random.choice(len(texts.text), examples + 1, replace=False)
    return Choice(drawn[:-1], int(drawn[-1]), random.permutation(examples))


def prompt(texts: Texts, chosen: Choice, words: Sequence[str], flipped: int) -> str:
    """The template as printed; ``flipped`` examples, at random places, are wrong."""
    labels = texts.label[chosen.examples].copy()
    turned = chosen.order[:flipped]
    labels[turned] = 1 - labels[turned]
    told = [f"{EXAMPLE.format(text=texts.text[k].strip())} {words[label]}."
            for k, label in zip(chosen.examples, labels, strict=True)]  # fmt: skip
    return "\n\n".join([*told, EXAMPLE.format(text=texts.text[chosen.query].strip())])


def with_irrelevant(text: str, sentence: str, word: str) -> tuple[str, dict[str, tuple[int, int]]]:
    """One example behind an irrelevant sentence, ending in its label; spans of both in letters."""
    head = "sentence: "
    relevant = text.strip()
    start = len(head) + len(sentence) + 1
    whole = f"{head}{sentence} {relevant}\nThe answer is {word}"
    spans = {"irrelevant": (len(head), len(head) + len(sentence)),
             "relevant": (start, start + len(relevant))}  # fmt: skip
    return whole, spans
