"""Fourteen tasks with LongBench's metrics, under all methods.

By language models, or by the hand-wired network on small texts of ours. ``tasks``: a row for each
sample, method (with kept tokens, filter layer or framed prompt) and task.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd
import torch
from torch import Tensor

from featlearn.core.errors import FeatlearnError
from featlearn.core.seeds import Streams
from featlearn.gemfilter import benchmark
from featlearn.gemfilter.generation import answer, read
from featlearn.gemfilter.longbench import CLASSES, TASKS, WORDS, score, spoken, write
from featlearn.gemfilter.networks import Network
from featlearn.gemfilter.selection import Method, arms
from featlearn.gemfilter.stands import model_of
from featlearn.gemfilter.wired import Wired

if TYPE_CHECKING:
    from featlearn.core.run.job import Job
    from featlearn.core.run.outputs import Results


class Batch(NamedTuple):
    """S prompts of one length, and of each its right answers and its classes."""

    tokens: Tensor  #: (S, n)
    answers: Sequence[Sequence[str]]
    classes: Sequence[Sequence[str]]


class Reader(NamedTuple):
    network: Network
    batches: Callable[[str, bool], Iterator[Batch]]  #: of a task, framed or not
    budget: Callable[[str], int]  #: tokens of an answer to a task
    say: Callable[[list[int]], str]
    stop: tuple[int, ...] = ()


def measure(job: Job) -> Results:
    """Answer fourteen tasks with the metrics of LongBench, by every method."""
    name, config = job.wildcards["network"], job.config
    reader = _language(config, job.device) if "folder" in config else _wired(config, job.seed)
    rows: list[dict[str, Any]] = []
    for task, kind in TASKS.items():
        for framed in (False, True):
            if framed and not (kind.group in ("single", "multi") and config.get("chat", True)):
                continue
            same = {"network": name, "task": task, "group": kind.group, "framed": framed}
            first = 0
            for batch in reader.batches(task, framed):
                rows += [{**same, **row, "replicate": first + row["replicate"]}
                         for row in _scored(reader, batch, config, task, framed)]  # fmt: skip
                first += len(batch.answers)
    return {"tasks": pd.DataFrame(rows)}


def _scored(
    reader: Reader, batch: Batch, config: dict[str, Any], task: str, framed: bool
) -> Iterator[dict[str, Any]]:
    network, tokens = reader.network, batch.tokens
    most = config.get("longest_of_h2o", tokens.shape[1])
    whole = tokens.shape[1] <= most
    reading = read(network, tokens, window=config["window"], mass=whole)
    for same, method in _methods(config, network.layers, framed):
        given: dict[str, Any] = {"tokens": tokens, "reading": reading}
        if method.kind == "h2o" and not whole:  # as the released code, which needs all attention
            half = most // 2
            given = {"tokens": torch.cat([tokens[:, :half], tokens[:, -half:]], 1)}
        found = answer(network, method=method, steps=reader.budget(task), stop=reader.stop, **given)
        for place, said in enumerate(found.tokens.tolist()):
            value = score(task, reader.say(said), batch.answers[place], batch.classes[place])
            yield {**same, "replicate": place, "value": value}


def _wired(config: dict[str, Any], seed: int) -> Reader:
    """All prompts of a task at once."""

    def batches(task: str, framed: bool) -> Iterator[Batch]:
        streams = Streams(seed, "gemfilter", "longbench", range(config["samples"]))
        texts = [write(task, config["length"], stream, template=framed)
                 for stream in streams(f"{task}-framed" if framed else task)]  # fmt: skip
        yield Batch(torch.tensor([text.tokens for text in texts]), [text.answers for text in texts],
                    [CLASSES] * len(texts))  # fmt: skip

    network = Wired(len(WORDS), (seed, "gemfilter", "longbench", "wired"), config["width"])
    return Reader(network, batches, lambda task: TASKS[task].answer, spoken)


def _language(config: dict[str, Any], device: torch.device | str) -> Reader:
    """One prompt after the other."""
    network, tokenizer, stop = model_of(config, device)
    if config["chat"] and not tokenizer.chat_template:
        raise FeatlearnError(
            f"{config['folder']}: its tokenizer has no chat_template; expected one, or "
            "gemfilter.language.chat: false"
        )

    def batches(task: str, framed: bool) -> Iterator[Batch]:
        for one in benchmark.samples(Path(config["longbench"]), task, config["samples"]):
            found = benchmark.tokens_of(tokenizer, one.text, config["longest"], chat=framed)
            yield Batch(torch.tensor([found], device=device), [one.answers], [one.classes])

    say = partial(tokenizer.decode, skip_special_tokens=True)
    return Reader(network, batches, lambda task: TASKS[task].budget, say, stop)


def _methods(
    config: dict[str, Any], layers: int, framed: bool
) -> Iterator[tuple[dict[str, Any], Method]]:
    """Methods at the filter layer, then GemFilter at others (``swept``) with the first k."""
    layer, (first, *_) = config["filter_layer"], config["kept"]
    of = {kept: arms(kept, config["window"], layer, layers) for kept in config["kept"]}

    def named(arm: str, method: Method, swept: bool = False) -> tuple[dict[str, Any], Method]:
        own = {"arm": arm, "kept": method.kept, "layer": method.layer}
        return {**own, "chosen": not swept or method.layer == layer, "swept": swept}, method

    yield named("full", of[first]["full"])
    for kept, methods in of.items():
        for arm in ("snapkv", "gemfilter", "safe", "sinks"):
            yield named(arm, methods[arm], arm == "gemfilter" and kept == first)
    yield named("h2o", of[max(of)]["h2o"])
    for other in () if framed else config.get("layers", range(layers)):
        if other != layer and other < layers:
            yield named("gemfilter", replace(of[first]["gemfilter"], layer=other), swept=True)
