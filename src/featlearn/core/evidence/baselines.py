"""A panel of baselines, once for all papers: methods that learn no features, solved exactly.

Each is kernel ridge regression on the labels, in float64, in blocks of rows, on the inputs that the
learner saw. Penalty, bandwidth and the best of the panel are chosen on validation data.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import torch
from torch import Tensor

from featlearn.core.errors import FeatlearnError

#: Of inputs (n, ...) and (p, ...): (n, p).
Kernel = Callable[[Tensor, Tensor], Tensor]
#: Scores a prediction (n, K) of labels (n, K).
Scorer = Callable[[Tensor, Tensor], float]
#: Every panel has these, or says why not.
MEMBERS = (
    "majority", "linear", "quadratic kernel", "cubic kernel", "quartic kernel", "RBF kernel",
    "random features", "patch maximum", "patch minimum", "patch second moments", "own start",
    "tangent kernel", "shuffled labels",
)  # fmt: skip
#: Penalties over the mean of the kernel's diagonal, largest first.
PENALTIES = tuple(10.0**-power for power in range(7))
#: Squared bandwidths of the RBF kernel over the mean squared distance of two inputs.
BANDWIDTHS = (0.3, 1.0, 3.0)
#: Number of random features.
RANDOM = 1000
#: Bytes that a solution may take: the kernel on the training inputs, its factor and a copy.
MEMORY = 2 * 2**30
#: Rows of a kernel that are made at a time.
BLOCK = 1024


class Data(NamedTuple):
    """Inputs and labels of one replicate."""

    x: Tensor  #: (n, d), or (n, P, d) of P patches
    y: Tensor  #: (n,) signs or numbers, or (n, K) one-hot


class Score(NamedTuple):
    """Accuracies, or another score, on training, validation and test inputs."""

    train: float
    validation: float
    test: float


def of_features(features: Callable[[Tensor], Tensor]) -> Kernel:
    """The products of features (n, N)."""
    return lambda x, other: features(x) @ features(other).mT


def polynomial(degree: int, size: float = 1.0) -> Kernel:
    """All polynomials up to a degree: a power of 1 + <x, x'> / size."""
    return lambda x, other: (1 + x.flatten(1) @ other.flatten(1).mT / size) ** degree


def products(degree: int) -> Kernel:
    """All products of so many distinct coordinates: an elementary symmetric polynomial (Newton)."""

    def kernel(x: Tensor, other: Tensor) -> Tensor:
        powers = [x**k @ (other**k).mT for k in range(1, degree + 1)]
        sums = [torch.ones_like(powers[0])]
        for k in range(1, degree + 1):
            total = sums[k - 1] * powers[0]
            for i in range(1, k):
                total.addcmul_(sums[k - 1 - i], powers[i], value=(-1) ** i)
            sums.append(total / k)
        return sums[degree]

    return kernel


def rbf(square: float) -> Kernel:
    """exp(-|x - x'|^2 / (2 square))."""
    return lambda x, other: torch.exp(
        -torch.cdist(x.flatten(1), other.flatten(1)).square() / (2 * square)
    )


def rbf_kernels(x: Tensor) -> list[Kernel]:
    """Of all bandwidths, in units of the inputs' own distances."""
    square = 2 * x.flatten(1).var(0).sum().item()
    return [rbf(part * square) for part in BANDWIDTHS]


def random_features(x: Tensor, random: torch.Generator, count: int = RANDOM) -> Kernel:
    """ReLU features whose projections of ``x`` and thresholds have variance 1."""
    x = x.flatten(1)
    w = torch.randn(count, x.shape[1], generator=random, dtype=torch.float64)
    b = torch.randn(count, generator=random, dtype=torch.float64)
    return relu_features(w / x.square().sum(1).mean().sqrt(), b)


def relu_features(w: Tensor, b: Tensor) -> Kernel:
    """Of neurons relu(<w, x> - b): weights (M, d), thresholds (M,). A network's start, say."""
    return of_features(lambda x: torch.relu(x.flatten(1) @ w.mT - b))


def tangent(w: Tensor, a: Tensor, b: Tensor) -> Kernel:
    """Neural tangent kernel of sum_i a_i relu(<w_i, x> - b_i), thresholds fixed:

    sum_i [ relu_i(x) relu_i(x') + a_i^2 1_i(x) 1_i(x') <x, x'> ]
    """
    features = relu_features(w, b)

    def kernel(x: Tensor, other: Tensor) -> Tensor:
        active = [(part @ w.mT > b).to(part.dtype) for part in (x, other)]
        return features(x, other) + (active[0] * a.square()) @ active[1].mT * (x @ other.mT)

    return kernel


def patch_moments(x: Tensor) -> Tensor:
    """Second moments over the patches of inputs (n, P, d): (n, d^2)."""
    return (x.mT @ x / x.shape[1]).flatten(1)


def kernels(x: Tensor, random: torch.Generator) -> dict[str, list[Kernel]]:
    """The members that need no network, with kernels to choose from; ``x`` (n, d) or (n, P, d)."""
    # in the unit of the root mean square of <x, x'> a power of 1 + <x, x'> loses no degree
    size = (x[:BLOCK].flatten(1) @ x.flatten(1).mT).square().mean().sqrt().item()
    shared: dict[str, list[Kernel]] = {
        "linear": [polynomial(1, size)],
        "quadratic kernel": [polynomial(2, size)],
        "cubic kernel": [polynomial(3, size)],
        "quartic kernel": [polynomial(4, size)],
        "RBF kernel": rbf_kernels(x),
        "random features": [random_features(x, random)],
    }
    if x.dim() == 3:
        shared |= {
            "patch maximum": [of_features(lambda x: _with_one(x.amax(1)))],
            "patch minimum": [of_features(lambda x: _with_one(x.amin(1)))],
            "patch second moments": [of_features(lambda x: _with_one(patch_moments(x)))],
        }
    return shared


def _with_one(features: Tensor) -> Tensor:
    """Features (n, N) and a constant."""
    return torch.cat([features, torch.ones_like(features[:, :1])], 1)


def accuracy(result: Tensor, y: Tensor) -> float:
    """Share of the inputs whose sign is right, or whose largest of several outputs is."""
    if y.shape[1] == 1:
        return ((result >= 0) == (y > 0)).double().mean().item()
    return (result.argmax(1) == y.argmax(1)).double().mean().item()


def error_share(result: Tensor, y: Tensor) -> float:
    """Mean squared error over the mean square of the labels."""
    return ((result - y).square().mean() / y.square().mean()).item()


def ridge(candidates: Sequence[Kernel], sets: Sequence[Data], score: Scorer = accuracy) -> Score:
    """Kernel ridge regression of the labels; kernel and penalty by validation.

    The error that chooses is the mean square, which the regression minimises: accuracies tie.
    From the largest penalty down, until it has risen twice in a row. ``sets``: training, validation
    and test data. Raises FeatlearnError if the kernel on the training inputs takes more than
    :data:`MEMORY`.
    """
    x, n = sets[0].x.double(), len(sets[0].x)
    if 3 * 8 * n**2 > MEMORY:
        most = math.isqrt(MEMORY // 24)
        raise FeatlearnError(f"baselines: inputs must be at most {most} to fit in memory, got {n}")
    y = [part.y.double().view(len(part.y), -1) for part in sets]
    best, chosen = math.inf, (candidates[0], y[0])
    for kernel in candidates:
        gram, across = (_rows(kernel, part.x.double(), x) for part in sets[:2])
        scale, worse = gram.diagonal().mean(), 0
        for penalty in PENALTIES:
            factor = gram.clone()
            factor.diagonal().add_(penalty * scale)
            dual = torch.cholesky_solve(y[0], torch.linalg.cholesky(factor, out=factor))
            error = (across @ dual - y[1]).square().mean().item()
            worse = 0 if error < best else worse + 1
            if error < best:
                best, chosen = error, (kernel, dual)
            if worse == 2:
                break
    kernel, dual = chosen
    results = (
        torch.cat([block @ dual for block in _blocks(kernel, part.x.double(), x)]) for part in sets
    )
    return Score(*(score(result, label) for result, label in zip(results, y, strict=True)))


def _blocks(kernel: Kernel, x: Tensor, other: Tensor) -> Iterator[Tensor]:
    """Rows of a kernel, some at a time."""
    yield from (kernel(x[at : at + BLOCK], other) for at in range(0, len(x), BLOCK))


def _rows(kernel: Kernel, x: Tensor, other: Tensor) -> Tensor:
    """All rows of a kernel, in one tensor."""
    rows = x.new_empty(len(x), len(other))
    for place, block in enumerate(_blocks(kernel, x, other)):
        rows[place * BLOCK : place * BLOCK + len(block)] = block
    return rows


def majority(sets: Sequence[Data], score: Scorer = accuracy) -> Score:
    """The same answer to all inputs: the mean of the training labels."""
    y = [part.y.double().view(len(part.y), -1) for part in sets]
    return Score(*(score(y[0].mean(0).expand_as(part), part) for part in y))


def panel(
    methods: Mapping[str, Sequence[Kernel] | Score],
    left_out: Mapping[str, str],
    sets: Sequence[Data],
    score: Scorer = accuracy,
    *,
    best: Callable[..., Any] = max,
) -> tuple[dict[str, Score], str]:
    """Every member's scores, and the name of the one that is the best on validation data.

    ``methods``: by name, kernels to solve, or scores of what was trained elsewhere. ``left_out``:
    members that this data model goes without, each with the reason; they are passed over. ``best``:
    ``min`` for a score that is an error. Raises FeatlearnError naming a member that is neither
    given nor left out with a reason.
    """
    scores = {} if "majority" in left_out else {"majority": majority(sets, score)}
    for name, method in methods.items():
        if name not in left_out:
            scores[name] = method if isinstance(method, Score) else ridge(method, sets, score)
    missing = [name for name in MEMBERS if name not in scores and not left_out.get(name)]
    if missing:
        raise FeatlearnError(
            f"baselines: every member must be in the panel or left out with a reason, "
            f"got neither for {', '.join(missing)}"
        )
    return scores, best(scores, key=lambda name: scores[name].validation)


Inputs = TypeVar("Inputs", bound=Any)
Result = TypeVar("Result")


def with_shuffled_labels(
    train: Callable[[Mapping[str, Inputs]], Result],
    sets: Mapping[str, Inputs],
    streams: Sequence[torch.Generator],
) -> Result:
    """The same training on labels (R, n) in an order of chance, a stream each; test ones stay."""

    def shuffled(y: Tensor) -> Tensor:
        order = [torch.randperm(y.shape[1], generator=stream) for stream in streams]
        return y.gather(1, torch.stack(order))

    return train({
        name: part if name == "test" else part._replace(y=shuffled(part.y))
        for name, part in sets.items()
    })  # fmt: skip


class Least(NamedTuple):
    """A head and what it is worth."""

    w: Tensor  #: (N,)
    loss: float  #: of this head
    certified: float  #: of no head of this norm is the loss below this


def least_hinge(features: Tensor, y: Tensor, norm: float, steps: int) -> Least:
    """Least mean of max(0, 1 - y_i <w, psi(x_i)>) over the heads w in the ball of this ``norm``.

    Of features (n, N) and labels (n,), as a saddle point by primal-dual steps (Chambolle and Pock
    2011): no head does better than the value of the dual. The better of the last iterate and the
    mean of the later half is kept.
    """
    signed = y[:, None] * features
    count, width = signed.shape
    size = torch.linalg.matrix_norm(signed, 2).item() / count
    ratio = norm / math.sqrt(count)  # of the two unknowns' scales
    rate, dual_rate = ratio / size, 1 / (ratio * size)
    w, ahead, dual = (signed.new_zeros(length) for length in (width, width, count))
    mean_w, mean_dual = torch.zeros_like(w), torch.zeros_like(dual)
    for step in range(steps):
        dual = (dual + dual_rate * (1 - signed @ ahead) / count).clamp(0, 1)
        new = w + rate * (signed.mT @ dual) / count
        new = new * min(1.0, norm / max(new.norm().item(), 1e-300))
        ahead, w = 2 * new - w, new
        if step >= steps // 2:
            share = 1 / (step - steps // 2 + 1)
            mean_w, mean_dual = mean_w.lerp(w, share), mean_dual.lerp(dual, share)
    heads = [((1 - signed @ each).clamp_min(0).mean().item(), each) for each in (w, mean_w)]
    certified = max(
        (each.mean() - norm * (signed.mT @ each / count).norm()).item()
        for each in (dual, mean_dual)
    )
    loss, best = min(heads, key=lambda head: head[0])
    return Least(best, loss, certified)
