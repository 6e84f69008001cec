"""Needles in essays that people wrote, for networks that are trained here."""

from __future__ import annotations

from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
from torch import Tensor

from featlearn.core.schedules import Part, Schedule
from featlearn.core.seeds import Streams, generator
from featlearn.gemfilter import essays
from featlearn.gemfilter.experiments import needle
from featlearn.gemfilter.generation import answer, read
from featlearn.gemfilter.needles import Vocabulary
from featlearn.gemfilter.selection import arms
from featlearn.gemfilter.stand_in import shape_of
from featlearn.transformers.decoder import start
from featlearn.transformers.train import Recipe, train

if TYPE_CHECKING:
    from featlearn.core.job import Job
    from featlearn.core.outputs import Results


def measure(job: Job) -> Results:
    """Train readers on essays and let them find needles in others, by every method."""
    config = job.config
    text = essays.read(Path(config["folder"]), Vocabulary(**config["vocabulary"]))
    stand = essays.stand(config, learn(config, text, job.seed), text)
    network, window = stand.network, config["window"]
    methods = arms(config["kept"], window, config["filter_layer"], network.layers)
    frames: dict[str, list[pd.DataFrame]] = {}
    for length in config["lengths"]:
        for place in range(config["depths"]):
            depth, middle = place / (config["depths"] - 1), place == config["depths"] // 2
            streams = Streams(
                job.seed, "gemfilter", f"essays-{length}-{place}", range(config["prompts"])
            )
            asked = stand.ask(length, depth, streams("prompt"))
            reading = read(network, asked.tokens, window=window, rows=needle.ROWS,
                           layer=config["filter_layer"], mass=True)  # fmt: skip
            answers = cache(partial(answer, network, asked.tokens, steps=stand.steps,
                                    stop=stand.stop, reading=reading))  # fmt: skip
            parts: dict[str, Any] = {
                "scores": needle._scores(answers, asked, stand, methods),
                "layers": needle._layers(answers, asked, stand, methods),
            }
            if middle:
                parts |= {"maps": needle._maps(reading, stand, methods),
                          "rows": needle._rows(reading, stand),
                          "texts": needle._texts(answers, asked, stand, methods)}  # fmt: skip
            start_at, end = asked.span
            for key, rows in parts.items():
                frames.setdefault(key, []).append(pd.DataFrame(rows).assign(
                    network="trained on essays", n=length, depth=depth, start=start_at, end=end,
                    tokens=length,
                ))  # fmt: skip
    return {key: pd.concat(found, ignore_index=True) for key, found in frames.items()}


def learn(config: dict[str, Any], text: essays.Essays, seed: int) -> dict[str, Tensor]:
    """Weights of the readers, short bodies first."""
    streams = Streams(seed, "gemfilter", "essays", range(config["replicates"]))
    draws, step = streams("batches"), 0
    total, rate = sum(stage["steps"] for stage in config["stages"]), config["rate"]
    whole = Schedule("cosine", total, rate, warmup=min(100, total // 2), end=0.05 * rate)
    weights = start(shape_of(config), streams("start"))
    weights["words"] *= config["width"] ** 0.5
    for place, stage in enumerate(config["stages"]):
        lengths = generator(seed, "gemfilter", "essays", "lengths", place)
        lessons = essays.EssayLessons(config | {"longest": stage["longest"]}, draws, lengths)
        lessons.text = text.learned
        part = Part(whole, step, stage["steps"])
        recipe = Recipe(part, config["weight_decay"], look_every=total, clip=config["clip"])
        weights, _ = train(
            f"stage {place + 1}", weights, lessons.loss, recipe, streams=[*draws, lengths],
            see=lambda now: {"size": now["words"].square().mean((1, 2))},
        )  # fmt: skip
        step += stage["steps"]
    return weights
