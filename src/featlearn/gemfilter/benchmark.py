"""LongBench (Bai et al. 2023) as it is published, JSONL and templates, in a folder of the user."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from featlearn.core.errors import FeatlearnError
from featlearn.gemfilter.config import TEMPLATES


class Sample(NamedTuple):
    text: str  #: context and input in the task's template
    answers: tuple[str, ...]
    classes: tuple[str, ...]


def samples(folder: Path, task: str, most: int) -> Iterator[Sample]:
    """The first ``most`` of a task; FeatlearnError naming file and line of what is missing."""
    try:
        template = json.loads((folder / TEMPLATES).read_text(encoding="utf-8"))[task]
    except (KeyError, TypeError, ValueError) as error:
        raise FeatlearnError(f"{folder / TEMPLATES}: no template of {task}; {error!r}") from error
    file = folder / f"{task}.jsonl"
    with file.open(encoding="utf-8") as lines:
        for number, line in zip(range(1, most + 1), lines, strict=False):
            try:
                row = json.loads(line)
                text = template.format(context=row["context"], input=row["input"])
                answers, classes = tuple(row["answers"]), tuple(row["all_classes"] or ())
            except (KeyError, TypeError, ValueError) as error:
                raise FeatlearnError(
                    f"{file}, line {number}: {error!r}; expected an object with context, input, "
                    "answers and all_classes"
                ) from error
            if not answers:
                raise FeatlearnError(f"{file}, line {number}: no answers; expected one at least")
            yield Sample(text, answers, classes)


def tokens_of(tokenizer: Any, text: str, longest: int, *, chat: bool = False) -> list[int]:
    """A prompt of at most about ``longest`` tokens: of a longer text the middle is cut out.

    ``chat``: as the one message of a user after an empty one of the system, in the tokenizer's
    template.
    """
    found = list(tokenizer(text)["input_ids"])
    if len(found) > longest:
        half = longest // 2
        text = "".join(tokenizer.decode(part, skip_special_tokens=True)
                       for part in (found[:half], found[-half:]))  # fmt: skip
        found = list(tokenizer(text)["input_ids"])
    if not chat:
        return found
    said = [{"role": "system", "content": ""}, {"role": "user", "content": text}]
    framed = tokenizer.apply_chat_template(said, tokenize=False, add_generation_prompt=True)
    # the template writes the tokens before a text itself
    return list(tokenizer(framed, add_special_tokens=False)["input_ids"])
