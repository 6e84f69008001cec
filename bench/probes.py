"""The linear probe against scikit-learn and against the usual 100 epochs of SGD."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import pandas as pd
import torch
from sklearn.linear_model import LogisticRegression
from torch import Tensor
from torch.nn import functional

from bench.timing import peak_memory
from featlearn.core.seeds import generator
from featlearn.images.probes import fit_path

CLASSES = 10
#: Images and features: few labels, those of the desk run, and those of a ResNet-18.
SIZES = {"few labels": (256, 512), "desk": (3000, 64), "wide": (5000, 512)}
PENALTY = 1e-4
TOLERANCES = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8)
RATES = (0.003, 0.03, 0.3)

Fitted = tuple[Tensor, Tensor]  # weight (K, width), bias (K,)


@dataclass(frozen=True)
class Problem:
    """Standardised features and labels, for training and for testing."""

    x: Tensor
    y: Tensor
    x_new: Tensor
    y_new: Tensor

    @classmethod
    def made(cls, images: int, width: int) -> Problem:
        """Correlated, rectified features of classes that overlap."""
        stream = generator(0, "bench", "probes", images, width)
        centres = 2.4 * torch.randn(CLASSES, width, generator=stream) / width**0.5
        mixing = torch.randn(width, width, generator=stream) / width**0.5
        labels = torch.randint(CLASSES, (2 * images,), generator=stream)
        x = centres[labels] + torch.randn(2 * images, width, generator=stream)
        x = (x @ mixing).relu()
        x = (x - x[:images].mean(0)) / x[:images].std(0, correction=0)
        return cls(x[:images], labels[:images], x[images:], labels[images:])

    def objective(self, fitted: Fitted) -> float:
        """What all rivals minimise."""
        weight, bias = (part.double() for part in fitted)
        loss = functional.cross_entropy(self.x.double() @ weight.T + bias, self.y)
        return float(loss + PENALTY / 2 * weight.square().sum())

    def accuracy(self, fitted: Fitted) -> float:
        """On the images for testing."""
        weight, bias = (part.float() for part in fitted)
        return float(((self.x_new @ weight.T + bias).argmax(1) == self.y_new).float().mean())


def ours(problem: Problem, tolerance: float = 1e-5) -> Fitted:
    """Our solver, on features that are standardised already."""
    x, y = problem.x, problem.y
    probe = fit_path(x, y, CLASSES, [PENALTY], standardise=False, tolerance=tolerance)[0]
    return probe.weight, probe.bias


def scikit_learn(problem: Problem, tolerance: float) -> Fitted:
    """``LogisticRegression`` at the same penalty."""
    x, y = problem.x.double().numpy(), problem.y.numpy()
    model = LogisticRegression(C=1 / (PENALTY * len(x)), tol=tolerance, max_iter=10_000).fit(x, y)
    return torch.from_numpy(model.coef_), torch.from_numpy(model.intercept_)


def sgd(problem: Problem, rate: float, epochs: int = 100, batch: int = 256) -> Fitted:
    """The usual probe: momentum, a cosine, the penalty as weight decay."""
    stream = generator(0, "bench", "probes", "order")
    weight = torch.zeros(CLASSES, problem.x.shape[1], requires_grad=True)
    bias = torch.zeros(CLASSES, requires_grad=True)
    groups = [{"params": [weight], "weight_decay": PENALTY}, {"params": [bias]}]
    optimiser = torch.optim.SGD(groups, lr=rate, momentum=0.9, fused=True)
    steps = epochs * -(-len(problem.x) // batch)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, steps)
    for _ in range(epochs):
        for rows in torch.randperm(len(problem.x), generator=stream).split(batch):
            optimiser.zero_grad()
            scores = problem.x[rows] @ weight.T + bias
            functional.cross_entropy(scores, problem.y[rows]).backward()
            optimiser.step()
            schedule.step()
    return weight.detach(), bias.detach()


def as_near_as_ours(problem: Problem) -> Callable[[], Fitted]:
    """scikit-learn at the largest of its tolerances that comes as near the optimum as ours."""
    reached = problem.objective(ours(problem))
    for tolerance in TOLERANCES:
        if problem.objective(scikit_learn(problem, tolerance)) <= reached:
            break
    return lambda: scikit_learn(problem, tolerance)


def best_rate(problem: Problem) -> Callable[[], Fitted]:
    """SGD at the learning rate that ends nearest to the optimum."""
    rate = min(RATES, key=lambda rate: problem.objective(sgd(problem, rate)))
    return lambda: sgd(problem, rate)


#: Each solver at some setting of its own; memory does not depend on which.
ONCE = {
    "featlearn": "ours(problem)",
    "scikit-learn": "scikit_learn(problem, 1e-4)",
    "SGD, 100 epochs": "sgd(problem, 0.03)",
}


def probe_rivals(turns: int = 3) -> pd.DataFrame:
    """Seconds of each solver at one penalty, where it ends, and its accuracy.

    What scikit-learn's tolerance and SGD's learning rate cost to find is not counted.

    Returns
    -------
    DataFrame
        Columns size, solver, seconds (fewest of ``turns``), to_ours, above_optimum (relative),
        accuracy, peak_mb (of the whole process, features included).
    """
    rows = []
    for size, (images, width) in SIZES.items():
        problem = Problem.made(images, width)
        optimum = problem.objective(ours(problem, 1e-12))
        rivals = {
            "featlearn": lambda problem=problem: ours(problem),
            "scikit-learn": as_near_as_ours(problem),
            "SGD, 100 epochs": best_rate(problem),
        }
        base = None
        for name, run in rivals.items():
            seconds, fitted = _fewest_seconds(run, turns)
            base = base or seconds
            above = problem.objective(fitted) / optimum - 1
            made = f"from bench.probes import *\nproblem = Problem.made({images}, {width})\n"
            peak = peak_memory(made + ONCE[name])
            rows.append(
                (size, name, seconds, seconds / base, above, problem.accuracy(fitted), peak)
            )
    columns = ["size", "solver", "seconds", "to_ours", "above_optimum", "accuracy", "peak_mb"]
    return pd.DataFrame(rows, columns=columns)


def _fewest_seconds(run: Callable[[], Fitted], turns: int) -> tuple[float, Fitted]:
    seconds = []
    for _ in range(turns):
        started = time.perf_counter()
        fitted = run()
        seconds.append(time.perf_counter() - started)
    return min(seconds), fitted


def compared(frame: pd.DataFrame) -> pd.DataFrame:
    """The rivals as lines of the summary."""
    rivals = frame[frame["solver"] != "featlearn"]
    what = "probe of " + rivals["size"] + ", time: " + rivals["solver"] + " / featlearn"
    return pd.DataFrame({"what": what, "ratio": rivals["to_ours"], "wanted": "> 1"})


BENCHMARKS = {"probe-rivals": probe_rivals}
COMPARED = {"probe-rivals": compared}
