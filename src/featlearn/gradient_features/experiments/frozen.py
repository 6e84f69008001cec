"""One step on all weights, then the output layer alone: Algorithms 4, 6 and 7.

``smooth``: Theorem 3.4 on the XOR, steps of 1 / L and of 1 / t. ``curves``: uniform parity
(Algorithm 6) and a polynomial of two projections (Algorithm 7) along the steps; ``heads``: what
fixed features reach on the same inputs. ``scan``: how many inputs the first step needs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd
import torch

from featlearn.core.evidence.baselines import accuracy, error_share
from featlearn.core.evidence.frames import rows
from featlearn.core.seeds import Streams
from featlearn.core.training.heads import regress
from featlearn.gradient_features.cones import alignment, start_of
from featlearn.gradient_features.data import MultiIndex, UniformParity, Xor, majority_coefficient
from featlearn.gradient_features.experiments import looks, scored, sets
from featlearn.gradient_features.law import Sample
from featlearn.gradient_features.model import (
    LOSSES,
    Network,
    error,
    multi_index_start,
    uniform_parity_start,
)
from featlearn.gradient_features.train import (
    fit_output,
    fit_square,
    multi_index_network,
    nearest_optimum,
    scaled_first_step,
    strip,
    uniform_parity_network,
)

if TYPE_CHECKING:
    from featlearn.core.run.job import Job
    from featlearn.core.run.outputs import Results

#: How Algorithm 6 is read: factor of the printed rate, and thresholds of the grid for a k. The sum
#: of a good neuron over the block moves by twice its entries, which the grid's step should be.
READINGS: Mapping[str, tuple[int, Callable[[int], int]]] = {
    "printed rate, step 2/k": (1, lambda k: k),
    "twice the rate, step 2/k": (2, lambda k: k),
    "printed rate, step 1/k": (1, lambda k: 2 * k - 1),
}
#: Steps at which the output layer is looked at: so many in each power of ten.
LOOKS = 4


def measure(job: Job) -> Results:
    """Take one step, then train the output layer alone: Theorem 3.4, Algorithms 4, 6 and 7."""
    config = job.config
    streams = Streams(job.seed, "gradient_features", "frozen", range(config["replicates"]))
    curves: list[dict[str, Any]] = []
    heads: list[dict[str, Any]] = []
    for name, settings in config["uniform_parity"].items():
        curves += uniform_parity(name, settings, streams)
        heads += uniform_parity_heads(name, settings, streams)
    curves += multi_index(config["multi_index"], streams)
    heads += multi_index_heads(config["multi_index"], streams)
    return {
        "smooth": pd.DataFrame(smooth(config["smooth"], streams)), "curves": pd.DataFrame(curves),
        "heads": pd.DataFrame(heads), "scan": pd.DataFrame(scan(config["scan"], job.seed)),
    }  # fmt: skip


def smooth(settings: Mapping[str, Any], streams: Streams) -> Iterator[dict[str, Any]]:
    """Logistic loss over the steps, the bound of (B.12) with the measured L, and its comparator."""
    law, loss = Xor(settings["dimension"], settings["noise"]), LOSSES["logistic"]
    test = law.sample(settings["test"], streams("smooth-test"))
    start, _ = start_of(law, streams("smooth-start"), settings["neurons"], settings["threshold"])
    largest = law.sample(max(settings["samples"]), streams("smooth-inputs"))
    at = looks(settings["steps"], LOOKS)
    for samples in settings["samples"]:
        x, y, component, _ = (part[:, :samples] for part in largest)
        inputs = Sample(x, y, component, torch.full_like(y, 1 / samples))
        network = scaled_first_step(start, inputs, 2 * settings["threshold"])
        ones = torch.ones(len(x), dtype=x.dtype)
        rules = {"1 / L": fit_output(network, inputs, at, loss),
                 "1 / t": fit_output(network, inputs, at, loss, rate=ones, decay=True)}  # fmt: skip
        bent = rules["1 / L"].smoothness
        spread = network.w.square().sum((1, 2)) * inputs.x.square().sum(-1).amax(1)
        complexity = ((spread + network.b.square().sum(1)) / samples).sqrt()
        for steps in at:
            pull = bent / (2 * steps)
            best = network._replace(a=nearest_optimum(network, inputs, loss, pull))
            apart = (best.a - network.a).square().sum(-1)
            promised = {"bound": loss.mean(best, inputs) + pull * apart,
                        "rademacher": best.a.norm(dim=-1) * complexity}  # fmt: skip
            for rule, fitted in rules.items():
                now = network._replace(a=fitted.after(steps))
                losses = {"train": loss.mean(now, inputs), "test": loss.mean(now, test)}
                yield from rows(losses | promised, rule=rule, samples=samples, step=steps)


def uniform_parity(
    name: str, settings: Mapping[str, Any], streams: Streams
) -> Iterator[dict[str, Any]]:
    """Algorithm 6 in its readings; ``population``: the first step by its closed form."""
    law = UniformParity(settings["dimension"], settings["block"])
    own, k = sets(law, settings["samples"], streams, f"{name}-"), law.block
    inputs, test = (own[part].to(torch.float32) for part in ("train", "test"))
    printed = 1 / (k * abs(majority_coefficient(law.dimension, k - 1)))
    at = looks(settings["steps"], LOOKS)
    for reading, (factor, grid) in READINGS.items():
        start = uniform_parity_start(
            streams(f"{name}-start"), settings["neurons"], law.dimension, k, thresholds=grid(k)
        )
        if settings["population"]:
            w = factor * printed * start.a[..., None] * law.gradient(start.w, start.b)
            network = Network(w, torch.zeros_like(start.a), start.b)
        else:
            network = uniform_parity_network(start, own["train"], factor * printed)
        network = network.to(torch.float32)
        rate = settings["rate"] / network.features(inputs.x).square().sum(-1).mean(-1)
        fitted = fit_output(network, inputs, at, LOSSES["hinge"], rate=rate)
        for steps in at:
            now = network._replace(a=fitted.after(steps))
            columns = {"value": error(now, test), "train": error(now, inputs),
                       "loss": LOSSES["hinge"].mean(now, test)}  # fmt: skip
            yield from rows(columns, law=name, reading=reading, step=steps)


def uniform_parity_heads(
    name: str, settings: Mapping[str, Any], streams: Streams
) -> Iterator[dict[str, Any]]:
    """Errors of the panel, with all products of as many coordinates as the block has."""
    law = UniformParity(settings["dimension"], settings["block"])
    data = sets(law, settings["samples"], streams, f"{name}-")
    start = uniform_parity_start(
        streams(f"{name}-start"), settings["neurons"], law.dimension, law.block
    )
    half = settings["neurons"]  # the other half are copies
    own = Network(*(part[:, :half] for part in start))
    return scored(name, own, data, streams, degrees=(law.block,), best=min, law=name,
                  score=lambda result, y: 1 - accuracy(result, y))  # fmt: skip


def multi_index(settings: Mapping[str, Any], streams: Streams) -> Iterator[dict[str, Any]]:
    """Algorithm 7 with steps of 1 / L."""
    law, data, start = _polynomial(settings, streams)
    stripped = strip(data["train"])
    network = multi_index_network(
        start, stripped, law.dimension**0.5, streams("polynomial-thresholds")
    )
    fitted = fit_square(network, stripped.inputs, looks(settings["steps"], LOOKS))
    for steps in fitted.looks:
        now = network._replace(a=fitted.after(steps))
        columns = {}
        for column, part in (("train", "train"), ("value", "test")):
            x, y = data[part].x, data[part].y
            lost = (stripped.predict(now, x) - y).square().mean(-1)
            columns[column] = lost / y.square().mean(-1)
        yield from rows(columns, law="multi_index", reading="as printed", step=steps)


def multi_index_heads(settings: Mapping[str, Any], streams: Streams) -> Iterator[dict[str, Any]]:
    """The panel on the inputs of Algorithm 7: energy that is missed."""
    _, data, start = _polynomial(settings, streams)
    return scored("multi_index", start, data, streams, score=error_share, best=min,
                  law="multi_index")  # fmt: skip


def _polynomial(
    settings: Mapping[str, Any], streams: Streams
) -> tuple[MultiIndex, dict[str, Sample], Network]:
    shape = (tuple(settings[name]) for name in ("curvatures", "quartics"))
    law = MultiIndex(settings["dimension"], *shape)
    start = multi_index_start(streams("polynomial-start"), settings["neurons"], law.dimension)
    return law, sets(law, settings["samples"], streams, "polynomial-"), start


def scan(settings: Mapping[str, Any], seed: int) -> Iterator[dict[str, Any]]:
    """First step of Algorithm 7 on n inputs, n over d^2 as the config says: where its energy lies,
    and the error of a head on its features that always has the same number of inputs."""
    streams = Streams(seed, "gradient_features", "scan", range(settings["replicates"]))
    for dimension in settings["dimensions"]:
        law = MultiIndex(dimension)
        name = f"scan-{dimension}"
        start = multi_index_start(streams(f"{name}-start"), settings["neurons"], dimension)
        half = start.w.shape[1] // 2  # the other half are copies
        counts = [round(ratio * dimension**2) for ratio in sorted(settings["ratios"])]
        b = torch.stack([
            torch.randn(half, generator=stream, dtype=torch.float64)
            for stream in streams(f"{name}-thresholds")
        ])  # fmt: skip
        heads = sets(law, settings["head"], streams, f"{name}-").values()
        drawn = streams(f"{name}-inputs")
        total = torch.zeros_like(start.w[:, :half])
        seen = 0
        for count in counts:
            while seen < count:  # in pieces: all inputs at once would not fit
                inputs = law.sample(min(count - seen, 10_000), drawn)
                for r, (x, y) in enumerate(zip(inputs.x, inputs.y, strict=True)):
                    active = (x @ start.w[r, :half].mT > 0).to(x.dtype)
                    total[r] += (active * y[:, None]).mT @ x
                seen += inputs.x.shape[1]
            result = total / seen
            energy = result.square().sum(-1)
            inside = energy * alignment(law, result).square()
            share = inside.sum(1) / energy.sum(1)
            w = 2 * dimension**0.5 * start.a[:, :half, None] * result
            network = Network(w, start.a[:, :half], b)
            train, validation, test = ((network.features(part.x), part.y) for part in heads)
            loss = regress(train, validation).nmse(*test)
            columns = {"share": share, "error": loss}
            yield from rows(columns, dimension=dimension, samples=seen)
