"""Fourteen small tasks with LongBench's metrics, by the hand-wired network under all methods.

``tasks``: a row for each sample, method and task; ``arm`` with a number of kept tokens, or the
filter layer, or the framed prompt.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pandas as pd
import torch

from featlearn.core.seeds import Streams
from featlearn.gemfilter.generation import answer, read
from featlearn.gemfilter.longbench import CLASSES, TASKS, WORDS, score, spoken, write
from featlearn.gemfilter.selection import Method
from featlearn.gemfilter.wired import Wired

if TYPE_CHECKING:
    from featlearn.core.job import Job
    from featlearn.core.outputs import Results


def measure(job: Job) -> Results:
    """All tasks, without and with a frame."""
    config = job.config
    network = Wired(len(WORDS), (job.seed, "gemfilter", "longbench", "wired"), config["width"])
    rows: list[dict[str, Any]] = []
    for task, kind in TASKS.items():
        for framed in (False, True):
            if framed and kind.group not in ("single", "multi"):
                continue
            purpose = f"{task}-framed" if framed else task
            streams = Streams(job.seed, "gemfilter", "longbench", range(config["samples"]))
            texts = [write(task, config["length"], stream, template=framed)
                     for stream in streams(purpose)]  # fmt: skip
            tokens = torch.tensor([text.tokens for text in texts])
            reading = read(network, tokens, window=config["window"], mass=True)
            for same, method in _methods(config, network.layers, framed):
                found = answer(network, tokens, method, kind.answer, reading=reading).tokens
                for sample, (said, text) in enumerate(zip(found.tolist(), texts, strict=True)):
                    value = score(task, spoken(said), text.answers, CLASSES)
                    rows.append({**same, "task": task, "group": kind.group, "framed": framed,
                                 "replicate": sample, "value": value})  # fmt: skip
    return {"tasks": pd.DataFrame(rows)}


def _methods(
    config: dict[str, Any], layers: int, framed: bool
) -> Iterator[tuple[dict[str, Any], Method]]:
    window, layer = config["window"], config["filter_layer"]
    yield {"arm": "full", "kept": 0, "layer": -1}, Method("full")
    for kept in config["kept"]:
        gems = Method("gemfilter", kept, layer)
        yield {"arm": "snapkv", "kept": kept, "layer": -1}, Method("snapkv", kept, window=window)
        yield {"arm": "gemfilter", "kept": kept, "layer": layer}, gems
        yield ({"arm": "safe", "kept": kept, "layer": layer},
               replace(gems, score="soft", first=1, last=2))  # fmt: skip
        yield {"arm": "sinks", "kept": kept, "layer": -1}, Method("sinks", kept)
        if kept == max(config["kept"]):
            yield {"arm": "h2o", "kept": kept, "layer": -1}, Method("h2o", kept, window=window)
    for other in range(0 if framed else layers):
        if other != layer:
            yield ({"arm": "gemfilter", "kept": config["kept"][0], "layer": other},
                   Method("gemfilter", config["kept"][0], other))  # fmt: skip
