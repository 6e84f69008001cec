"""Chapter 4 at sizes of desk: a step of the polynomial network against its matrix products;
looked-up sums against one-hot products; replicates in a batch against one by one by autograd. At
the thesis' sizes: the memory of a step.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import torch
import yaml
from torch.nn import functional

from bench.timing import peak_memory, ratio, side_by_side
from featlearn.core.seeds import Streams
from featlearn.fourier.data import labels
from featlearn.fourier.network import Network, norm, normal_start, power, rows_of, sums
from featlearn.fourier.train import Adam, Training, add_penalty, batches, gradient

BATCH = 1024
#: Numbers that a cell adds.
INPUTS = {"two": 2, "three": 3, "four": 4, "five": 5}


def _start(k: int, p: int, width: int, replicates: int) -> tuple[Network, torch.Tensor]:
    """Networks and one batch of inputs, (R, B, k)."""
    streams = Streams(0, "fourier", f"bench-{k}-{p}", range(replicates))
    every = torch.arange(p**k).expand(replicates, -1)
    training = Training(1, 5e-3, BATCH, "constant")
    return normal_start(k, p, width, 0.1, streams("start")), next(
        batches(every, k, p, training, streams("batches"))
    )


def step_ratios() -> pd.DataFrame:
    """One row a comparison; a step differentiates and moves, at desk's size of Figure C.1."""
    network, a = _start(3, 43, 672, 1)
    k, p = network.k, network.p
    penalty, none = torch.tensor([5e-3]), torch.zeros(1)
    # a rate of zero: every turn meets the same network
    adam = Adam(Network(*(part.clone() for part in network)), none, (0.9, 0.98))
    one_hot = functional.one_hot(a[0], p).flatten(1).float()
    table, w = network.u[0].reshape(k * p, -1), network.w[0]
    z, residual = power(one_hot @ table, k), torch.randn(BATCH, p)

    def step() -> None:
        slope = gradient(adam.network, a)
        add_penalty(slope, adam.network, penalty)
        adam.step(slope, 0.0, 1)

    def outputs() -> None:
        """Of the output layer, forward and back: what no looking up can save."""
        z @ w.mT
        residual.mT @ z
        residual @ w

    def dense() -> None:
        """Sums of one-hot inputs as a product, forward and back."""
        one_hot @ table
        one_hot.mT @ z

    rows = rows_of(a, p, 1)

    def looked_up() -> None:
        sums(network.u, rows)
        by_u = torch.zeros_like(table)
        for own in rows.T:
            by_u.index_add_(0, own, z)

    def products() -> None:
        dense()
        outputs()

    timed = side_by_side({
        "step": step, "products": products, "outputs": outputs, "dense": dense,
        "looked up": looked_up,
    })  # fmt: skip
    rows_ = [
        ("fourier: step / its matrix products", ratio(timed, "step", "products"), "<= 1.5"),
        ("fourier: step / products of the output alone", ratio(timed, "step", "outputs"), ""),
        ("fourier: one-hot products / looked-up sums", ratio(timed, "dense", "looked up"), "> 1"),
    ]
    return pd.DataFrame([*rows_, _batched()], columns=["what", "ratio", "wanted"])


def _batched() -> tuple[str, float, str]:
    """Ten small networks at once, and one by one by autograd of one-hot products."""
    replicates = 10
    network, a = _start(2, 23, 88, replicates)
    k, p = network.k, network.p
    a = a[:, :128]
    penalty = torch.full((replicates,), 1e-3)
    adam = Adam(Network(*(part.clone() for part in network)), torch.zeros(replicates), (0.9, 0.98))
    leaves = [[part[r : r + 1].clone().requires_grad_() for part in network]
              for r in range(replicates)]  # fmt: skip
    optimisers = [torch.optim.AdamW(own, lr=0.0, betas=(0.9, 0.98)) for own in leaves]

    def together() -> None:
        slope = gradient(adam.network, a)
        add_penalty(slope, adam.network, penalty)
        adam.step(slope, 0.0, 1)

    def alone() -> None:
        for r, (own, optimiser) in enumerate(zip(leaves, optimisers, strict=True)):
            optimiser.zero_grad()
            inputs = functional.one_hot(a[r], p).flatten(1).float()
            f = (inputs @ own[0].view(k * p, -1)) ** k @ own[1][0].mT
            loss = functional.cross_entropy(f, labels(a[r], p))
            (loss + 1e-3 * norm(Network(*own)).sum()).backward()
            optimiser.step()

    timed = side_by_side({"together": together, "alone": alone})
    return "fourier: one by one by autograd / in a batch", ratio(timed, "alone", "together"), ">= 4"


#: What a step of a kind of network takes, from the cell of the config ``c`` and its number ``k``.
_POLYNOMIAL = """
from featlearn.fourier.network import normal_start
from featlearn.fourier.train import Adam, add_penalty, gradient
p, width = c["modulus"], c["arms"]["penalty"]["width"]
adam = Adam(normal_start(k, p, width, 0.1, streams), torch.zeros(3), (0.9, 0.98))
taught = torch.randperm(p**k)[: p**k // 2].expand(3, -1)
slope = gradient(adam.network, torch.randint(p, (3, c["training"].get("batch_size", 1024), k)))
add_penalty(slope, adam.network, torch.full((3,), 0.005))
adam.step(slope, 0.005, 1)
"""
_ATTENTION = """
from featlearn.core.training.optimisers import build
from featlearn.fourier.attention import losses, start
begun = start(c["modulus"], c["width"], c["heads"], c["head_width"], streams)
def loss(weights):
    a = torch.randint(c["modulus"], (3, c["batch_size"], k))
    return losses(weights, a, c["head_width"])
"""
_GROKKING = """
from featlearn.core.training.optimisers import build
from featlearn.fourier.adder import adder, sum_losses
from featlearn.transformers.decoder import start
sizes = {name: c["transformer"].get(name, 2) for name in
         ("layers", "width", "heads", "head_width", "hidden")}
shape = adder(k, c["modulus"], **sizes)
begun = start(shape, streams)
def loss(weights):
    a = torch.randint(c["modulus"], (3, c["transformer"]["batch_size"], k))
    return sum_losses(shape, weights, a)
"""
#: Two pieces of a look at all inputs.
_LOOK = """
from featlearn.fourier.adder import held, sums_said
from featlearn.fourier.grokking import AT_ONCE, Lesson
p = c["modulus"]
some = torch.randperm(p**k)[: 2 * AT_ONCE // (3 * held(shape))]
lesson = Lesson.draw("tuples", k, p, 0.5, streams, some)
with torch.no_grad():
    lesson.accuracies(lambda a: sums_said(shape, begun, a), held(shape))
"""
_STEP = """
weights = {name: part.requires_grad_() for name, part in begun.items()}
optimiser = build("adamw", [{"params": list(weights.values()), "weight_decay": 0.001}])
loss(weights).sum().backward()
optimiser.step()
"""


def thesis_sizes() -> pd.DataFrame:
    """Memory (MB) of a process that takes one step of three replicates at the thesis' sizes.

    Of the two-layer transformers also of one that looks at all inputs.
    """
    scale = yaml.safe_load(Path("config/scale/paper.yaml").read_text(encoding="utf-8"))["fourier"]
    kinds = {
        "circuits": _POLYNOMIAL,
        "attention": _ATTENTION + _STEP,
        "grokking": _GROKKING + _STEP,
    }
    rows = []

    def measure(kind: str, name: str, what: str, code: str) -> None:
        begin = (
            f"c, k = {scale[kind][name]!r}, {INPUTS[name]}\n"
            "streams = [torch.Generator().manual_seed(r) for r in range(3)]\n"
        )
        rows.append((f"fourier: {what}, {name}", peak_memory(begin + code)))

    for kind, code in kinds.items():
        for name in ("three", "four", "five"):
            measure(kind, name, kind, code)
    for name in INPUTS:
        measure("grokking", name, "grokking, a look", _GROKKING + _LOOK)
    return pd.DataFrame(rows, columns=["what", "memory_mb"])


BENCHMARKS = {"fourier-step-ratios": step_ratios, "fourier-thesis-sizes": thesis_sizes}
