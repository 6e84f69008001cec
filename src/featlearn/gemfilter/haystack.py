"""A needle in a haystack of essays (Kamradt 2024), as the released code has it. No torch."""

from __future__ import annotations

import string
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from featlearn.core.errors import FeatlearnError

NEEDLE = (
    "\nThe best thing to do in San Francisco is eat a sandwich and sit in Dolores Park on a sunny "
    "day.\n"
)
#: Of the needle, what is to be said.
EXPECTED = "eat a sandwich and sit in Dolores Park on a sunny day."
QUESTION = "What is the best thing to do in San Francisco?"
TEMPLATE = (
    "<|im_start|> This is a very long story book: <book> {context} </book>.\n Based on the content "
    "of the book, Question: {question}\nAnswer:"
)
#: Tokens of a length that are left to the template.
BUFFER = 200


class TextPrompt(NamedTuple):
    tokens: list[int]
    text: str
    span: tuple[int, int]  #: first token of the needle, and the first behind it


def read(folder: Path) -> str:
    """All ``*.txt`` of a folder, by name."""
    return "".join(file.read_text(encoding="utf-8") for file in sorted(folder.glob("*.txt")))


def essays(tokenizer: Any, text: str, length: int, *, leak_bos: bool = False) -> list[int]:
    """The first ``length`` tokens of the text, which is repeated until it has as many."""
    tokens = _cut(tokenizer, text, leak_bos)
    if not tokens:
        raise FeatlearnError("haystack: the tokenizer makes no tokens of it; expected text")
    while len(tokens) < length:
        text += text
        tokens = _cut(tokenizer, text, leak_bos)
    return tokens[:length]


def write(
    tokenizer: Any, essays: Sequence[int], length: int, depth: float, *, leak_bos: bool = False
) -> TextPrompt:
    """The prompt for a length and a depth.

    ``essays``: at least ``length`` tokens, of which the first are the haystack. ``length``: tokens;
    essays and needle take ``BUFFER`` less. ``depth``: share of the essays before the needle, which
    goes to the end of the sentence before. ``leak_bos``: cut essays and needle with the tokens that
    the tokenizer puts before a text, as the released code does: a BOS then stands right before the
    needle. Raises FeatlearnError if the tokenizer does not give the needle back.
    """
    context, needle = list(essays[:length]), _cut(tokenizer, NEEDLE, leak_bos)
    context = context[: max(length - BUFFER - len(needle), 0)]
    # a full stop behind a word need not be the token that it is alone
    stops = {*_cut(tokenizer, ".", leak_bos), _cut(tokenizer, "end.", False)[-1]}
    place = int(len(context) * depth)
    while depth < 1 and place > 0 and context[place - 1] not in stops:
        place -= 1
    # text again, as the tokens of pieces are not those of the whole
    book = tokenizer.decode([*context[:place], *needle, *context[place:]])
    text = TEMPLATE.format(context=book, question=QUESTION)
    cut = tokenizer(text, return_offsets_mapping=True)
    said = tokenizer.decode(_cut(tokenizer, NEEDLE, False)).strip()
    if said not in text:
        raise FeatlearnError(f"tokenizer: does not give back {said!r}; expected one that does")

    start = text.index(said)
    inside = [k for k, (low, high) in enumerate(cut["offset_mapping"])
              if low < start + len(said) and high > start]  # fmt: skip
    return TextPrompt(list(cut["input_ids"]), text, (inside[0], inside[-1] + 1))


def _cut(tokenizer: Any, text: str, special: bool) -> list[int]:
    return list(tokenizer(text, add_special_tokens=special)["input_ids"])


def set_score(said: str, *, bare: bool = False) -> float:
    """Distinct words of ``EXPECTED`` that are said, over its words: at most 11/12 as printed.

    Words are what blanks divide, in lower case, with their punctuation. ``bare``, ours: without it,
    and over the distinct words.
    """
    wanted, found = EXPECTED.lower().split(), said.lower().split()
    if bare:
        wanted, found = ([one.strip(string.punctuation) for one in own] for own in (wanted, found))
        wanted = [*dict.fromkeys(wanted)]
    return len({*found} & {*wanted}) / len(wanted)
