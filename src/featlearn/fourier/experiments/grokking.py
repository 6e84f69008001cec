"""When networks fit and when they generalise, by the way the inputs are split (Figure 4.4).

``curves``: accuracies along the steps on training inputs, on all others, and on those that are
permutations of one for training (``known``) or not (``new``). ``passages``: the first step at
which a network fits its training inputs and answers each part of the others, ``censored`` with the
last step if never. ``leaks``: the share of test inputs known up to order. A two-layer transformer
trains until it fits and answers; beside it the polynomial network, to which a permutation is
another input, until all replicates do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any

import pandas as pd
import torch
from torch import Tensor

from featlearn.core.evidence.frames import rows
from featlearn.core.run.progress import Progress
from featlearn.core.seeds import Streams
from featlearn.core.training.schedules import Schedule
from featlearn.fourier import network as polynomial
from featlearn.fourier.adder import adder, held, sum_losses, sums_said
from featlearn.fourier.config import ANSWERED, FITTED
from featlearn.fourier.grokking import PARTS, Lesson
from featlearn.fourier.train import Training
from featlearn.fourier.train import train as train_polynomial
from featlearn.transformers.decoder import start
from featlearn.transformers.train import Look, Recipe, train

if TYPE_CHECKING:
    from featlearn.core.run.job import Job
    from featlearn.core.run.outputs import Results

#: Accuracies that are waited for, by split: a training ends with all of them.
WAITED = {"tuples": ("train", "test"), "mixed": ("train", "known", "new")}


def measure(job: Job) -> Results:
    """Follow fitting and generalising, by the way the inputs are split."""
    name, config = job.wildcards["cell"], job.config
    k, p = config["inputs"], config["modulus"]
    curves: list[dict[str, Any]] = []
    leaks: list[dict[str, Any]] = []
    for split in WAITED:
        streams = Streams(job.seed, "fourier", f"grokking-{name}", range(config["replicates"]))
        lesson = Lesson.draw(split, k, p, config["train_share"], streams(f"split-{split}"))
        for replicate, (_, test, known, _) in zip(streams.replicates, lesson.parts, strict=True):
            leaks.append({"split": split, "replicate": replicate,
                          "value": (known.sum() / test.sum()).item()})  # fmt: skip
        for model, trained in (("transformer", _transformer), ("polynomial", _polynomial)):
            done = partial(passed, WAITED[split])
            looks = trained(job, lesson, config[model], streams, f"{name}, {split}", done)
            for look, part in product(looks, PARTS):
                curves += rows({"value": look.seen[part]}, model=model, split=split,
                               step=look.step, part=part)  # fmt: skip
    # of few inputs none is new
    both = pd.DataFrame(curves).dropna(subset="value", ignore_index=True)
    frames = {"curves": both, "passages": passages(both), "leaks": pd.DataFrame(leaks)}
    return {key: frame.assign(cell=name, k=k, p=p) for key, frame in frames.items()}


def level(part: str) -> float:
    """The accuracy that a network fits, or answers, a part of the inputs with."""
    return FITTED if part == "train" else ANSWERED


def passed(parts: Iterable[str], looks: Sequence[Look]) -> Tensor:
    """Which networks were seen to fit and to answer these parts of the inputs, bool (R,)."""
    # a network that left has no later accuracies
    best = [torch.stack([look.seen[part] for look in looks]).nan_to_num(0).amax(0) >= level(part)
            for part in parts]  # fmt: skip
    return torch.stack(best).all(0)


def _transformer(
    job: Job, lesson: Lesson, config: Mapping[str, Any], streams: Streams, label: str,
    done: Callable[[Sequence[Look]], Tensor],
) -> list[Look]:  # fmt: skip
    sizes = ("layers", "width", "heads", "head_width", "hidden")
    shape = adder(lesson.k, lesson.p, **{name: config[name] for name in sizes})
    # both splits begin with the same weights
    first = {name: w.to(job.device) for name, w in start(shape, streams("transformer")).items()}
    draws = streams(f"batches-{label}")
    batches = lesson.batches(config["batch_size"], draws)
    schedule = Schedule("constant", config["steps"], config["rate"], warmup=config["warmup"])

    def loss(weights: Mapping[str, Tensor], left: Tensor) -> Tensor:
        return sum_losses(shape, weights, next(batches).to(job.device)[left])

    def see(weights: Mapping[str, Tensor], left: Tensor) -> dict[str, Tensor]:
        own = lesson.of(left.cpu())
        return own.accuracies(lambda a: sums_said(shape, weights, a.to(job.device)), held(shape))

    recipe = Recipe(schedule, config["weight_decay"], look_every=config["look_every"])
    return train(f"{job.rule}, {label}", first, loss, recipe, streams=draws, see=see,
                 enough=done)[1]  # fmt: skip


def _polynomial(
    job: Job, lesson: Lesson, config: Mapping[str, Any], streams: Streams, label: str,
    done: Callable[[Sequence[Look]], Tensor],
) -> list[Look]:  # fmt: skip
    training = Training(**config["training"])
    first = polynomial.normal_start(
        lesson.k, lesson.p, config["width"], config["std"], streams("polynomial")
    )
    first = polynomial.Network(*(part.to(job.device) for part in first))
    batches = lesson.batches(
        config["training"]["batch_size"], streams(f"polynomial-batches-{label}")
    )
    strength = torch.full((len(streams.replicates),), config["penalty"], device=job.device)
    progress = Progress(f"{job.rule}, polynomial, {label}", training.steps)

    def see(step: int, network: polynomial.Network) -> Tensor | None:
        progress.report(step, dict)
        if step % config["look_every"] and step != training.steps:
            return None
        seen = lesson.accuracies(lambda a: polynomial.logits(network, a.to(job.device)))
        return torch.stack(list(seen.values()))

    order = (next(batches).to(job.device) for _ in range(training.steps))
    _, found = train_polynomial(
        first, order, training, strength, torch.zeros_like(strength), see, f"polynomial, {label}",
        lambda seen: bool(done(_named(seen)).all()),
    )  # fmt: skip
    return _named(found)


def _named(found: Mapping[int, Tensor]) -> list[Look]:
    return [Look(step, dict(zip(PARTS, values, strict=True))) for step, values in found.items()]


def passages(curves: pd.DataFrame) -> pd.DataFrame:
    """First steps at which networks fit and answer, from :func:`measure`'s ``curves``."""
    keys, found = ["model", "split", "replicate", "part"], []
    for key, own in curves.groupby(keys, sort=False):
        steps = own[own["value"] >= level(str(key[-1]))]["step"]
        found.append((*key, steps.min() if len(steps) else own["step"].max(), not len(steps)))
    return pd.DataFrame(found, columns=[*keys, "step", "censored"])
