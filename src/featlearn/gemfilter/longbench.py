"""LongBench's fourteen English tasks: their metrics, and generators of small texts like them.

Metrics are the benchmark's rules (Bai et al. 2023); Rouge-L is that of `rouge-score`. In our texts
what is asked for follows a cue that the prompt ends with: they tell nothing of a language model.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import torch
from rouge_score.rouge_scorer import RougeScorer  # type: ignore[import-untyped]
from torch import Generator

ROUGE = RougeScorer(["rougeL"])
CLASSES = tuple(f"class{i}" for i in range(6))


class Task(NamedTuple):
    metric: str  #: f1, rouge, class, count or passage
    budget: int  #: tokens that the benchmark lets a model generate
    answer: int  #: words of an answer of ours, and tokens that are generated
    style: str  #: of the generator
    group: str


TASKS = {
    "narrativeqa": Task("f1", 128, 2, "fact", "single"),
    "qasper": Task("f1", 128, 3, "fact", "single"),
    "multifieldqa_en": Task("f1", 64, 4, "fact", "single"),
    "hotpotqa": Task("f1", 32, 2, "two hops", "multi"),
    "2wikimqa": Task("f1", 32, 3, "two hops", "multi"),
    "musique": Task("f1", 32, 4, "two hops", "multi"),
    "gov_report": Task("rouge", 512, 12, "fact", "summary"),
    "qmsum": Task("rouge", 512, 8, "fact", "summary"),
    "multi_news": Task("rouge", 512, 12, "fact", "summary"),
    "trec": Task("class", 64, 1, "class", "few-shot"),
    "triviaqa": Task("f1", 32, 2, "fact", "few-shot"),
    "samsum": Task("rouge", 128, 6, "fact", "few-shot"),
    "passage_count": Task("count", 32, 1, "count", "synthetic"),
    "passage_retrieval_en": Task("passage", 32, 2, "passage", "synthetic"),
}
#: Those whose prediction ends with its first line.
ONE_LINE = ("trec", "triviaqa", "samsum")


def normalised(text: str) -> list[str]:
    """Words in lower case, without punctuation and articles."""
    text = "".join(c for c in text.lower() if c not in string.punctuation)
    return re.sub(r"\b(a|an|the)\b", " ", text).split()


def f1(prediction: str, answer: str) -> float:
    """Of the words, counted as often as they stand."""
    said, wanted = normalised(prediction), normalised(answer)
    common = sum((Counter(said) & Counter(wanted)).values())
    return 2 * common / (len(said) + len(wanted)) if common else 0.0


def rouge(prediction: str, answer: str) -> float:
    """F of the longest common subsequence."""
    return float(ROUGE.score(answer, prediction)["rougeL"].fmeasure)


def classification(prediction: str, answer: str, classes: Sequence[str]) -> float:
    """One over the number of named classes if the right one, or a part of it, is among them."""
    named = [one for one in classes if one in prediction]
    named = [one for one in named if one == answer or one not in answer]
    return 1 / len(named) if answer in named else 0.0


def numbers(prediction: str, answer: str) -> float:
    """Share of the numbers of the prediction that are the one of the answer."""
    said = re.findall(r"\d+", prediction)
    wanted = re.findall(r"\d+", answer)[0]
    return sum(one == wanted for one in said) / len(said) if said else 0.0


def score(task: str, prediction: str, answers: Sequence[str], classes: Sequence[str] = ()) -> float:
    """100 times the best over the answers."""
    if task in ONE_LINE:
        prediction = prediction.lstrip("\n").split("\n")[0]
    metric = TASKS[task].metric
    if metric == "class":
        found = [classification(prediction, one, classes) for one in answers]
    else:
        rule = {"f1": f1, "rouge": rouge, "count": numbers, "passage": numbers}[metric]
        found = [rule(prediction, one) for one in answers]
    return 100 * max(found)


#: Words of the texts; a token is a place in this list.
WORDS = ("BOS", "?", "Paragraph", "Answer", *CLASSES, *map(str, range(1, 31)),
         *(f"name{i}" for i in range(64)), *(f"value{i}" for i in range(128)),
         *(f"word{i}" for i in range(280)))  # fmt: skip
PLACE = {word: place for place, word in enumerate(WORDS)}


class Text(NamedTuple):
    tokens: list[int]  #: BOS, context, "?", cue
    answers: tuple[str, ...]


def write(task: str, length: int, stream: Generator, *, template: bool = False) -> Text:
    """One prompt of ``length`` tokens and its answers; ``template`` frames it as a chat does."""
    kind = TASKS[task]
    size = kind.answer
    names = [f"name{i}" for i in torch.randperm(64, generator=stream).tolist()]
    values = [f"value{i}" for i in torch.randperm(128, generator=stream).tolist()]
    pieces: list[list[str]]
    if kind.style == "fact":
        pieces = [[names[i], *values[i * size : (i + 1) * size]] for i in range(4)]
        cue, answer = names[0], " ".join(pieces[0][1:])
    elif kind.style == "two hops":  # who is asked for is named by another sentence
        pieces = [[names[2 * i], names[2 * i + 1]] for i in range(2)]
        pieces += [[names[2 * i + 1], *values[i * size : (i + 1) * size]] for i in range(2)]
        cue, answer = names[0], " ".join(pieces[2][1:])
    elif kind.style == "class":
        right = torch.randint(len(CLASSES), (8,), generator=stream).tolist()
        pieces = [[names[i], CLASSES[one]] for i, one in enumerate(right)]
        cue, answer = names[0], CLASSES[right[0]]
    elif kind.style == "passage":
        order = (1 + torch.randperm(30, generator=stream)).tolist()
        pieces = [[names[i], "Paragraph", str(order[i])] for i in range(8)]
        cue, answer = names[0], f"Paragraph {order[0]}"
    else:  # how many passages of different names there are
        count = int(torch.randint(3, 9, (), generator=stream))
        pieces = [["Paragraph", names[i]] for i in range(count)]
        cue, answer = "Answer", str(count)
    frame = ["word0"] * 4 if template else []
    body = length - len(frame) - 3
    free = body - sum(map(len, pieces))
    if free < len(pieces):
        raise ValueError(f"length: {length}; expected at least {length - free + len(pieces)}")
    text = [f"word{i}" for i in torch.randint(1, 280, (free,), generator=stream).tolist()]
    gaps = torch.randperm(free, generator=stream)[: len(pieces)].sort(descending=True).values
    order = torch.randperm(len(pieces), generator=stream).tolist()
    for gap, which in zip(gaps.tolist(), order, strict=True):
        text[gap:gap] = pieces[which]
    words = ["BOS", *frame, *text, "?", cue]
    return Text([PLACE[word] for word in words], (answer,))


def spoken(tokens: Sequence[int]) -> str:
    """Tokens as text."""
    return " ".join(WORDS[token] for token in tokens)
