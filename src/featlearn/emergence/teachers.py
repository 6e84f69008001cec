"""Teachers and students with one hidden layer, FC(m), and labels beyond the data (Algorithm 3).

``FC(m)`` has m hidden units with the activation ``z^2`` and softmax scores of K classes. A teacher
of the size at the minimum of the classical U-shaped curve is trained on labelled pictures, with a
regulariser on the injected inputs (A.289 to A.291), and labels both. Tensors carry a leading
replicate axis R.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from featlearn.core.errors import FeatlearnError

See = Callable[[int, "Net"], None]


class Net(NamedTuple):
    """Weights of FC(m)."""

    w: Tensor  #: (R, d, m)
    b: Tensor  #: (R, 1, m)
    v: Tensor  #: (R, m, K)
    c: Tensor  #: (R, 1, K)

    @classmethod
    def start(cls, size: int, inputs: int, classes: int, streams: Sequence[torch.Generator]) -> Net:
        """Pre-activations of inputs with unit variances, and scores, of order one."""
        w, v = (
            torch.stack([torch.randn(shape, generator=s) / root**0.5 for s in streams])
            for shape, root in (((inputs, size), inputs), ((size, classes), 3 * size))
        )
        zeros = torch.zeros(len(w), 1, 1)
        return cls(w, zeros.repeat(1, 1, size), v, zeros.repeat(1, 1, classes))

    def to(self, device: torch.device) -> Net:
        return Net(*(part.to(device) for part in self))

    @property
    def parameters(self) -> int:
        """Of one replicate: m (d + 1) + K (m + 1)."""
        return sum(part[0].numel() for part in self)

    def scores(self, x: Tensor) -> Tensor:
        """(R, n, d) to (R, n, K)."""
        return torch.baddbmm(self.c, torch.baddbmm(self.b, x, self.w).square(), self.v)

    def gradients(self, x: Tensor, slope: Callable[[Tensor], Tensor]) -> tuple[Tensor, ...]:
        """Of a loss whose gradient by the scores (R, n, K) is ``slope(scores)``."""
        z = torch.baddbmm(self.b, x, self.w)
        h = z.square()
        by_scores = slope(torch.baddbmm(self.c, h, self.v))
        by_z = 2 * z * (by_scores @ self.v.mT)
        return x.mT @ by_z, by_z.sum(1, True), h.mT @ by_scores, by_scores.sum(1, True)


def error(y: Tensor) -> Callable[[Tensor], Tensor]:
    """The gradient of the mean cross-entropy with labels (R, n) by the scores."""

    def slope(scores: Tensor) -> Tensor:
        wanted = functional.one_hot(y, scores.shape[-1])
        return (scores.softmax(-1) - wanted) / scores.shape[1]

    return slope


def spreading(weight: float, sharpness: float) -> Callable[[Tensor], Tensor]:
    """The gradient of ``weight (R_1 + sharpness R_2)`` by the scores (A.289 to A.291).

    ``R_1``, the negative entropy of the mean probabilities, makes all classes as frequent;
    ``R_2``, the mean entropy of the probabilities, makes each answer sure.
    """

    def slope(scores: Tensor) -> Tensor:
        logs = scores.log_softmax(-1)
        p = logs.exp()
        mean = p.mean(1, True).clamp_min(torch.finfo(p.dtype).tiny).log()
        by_p = (mean - sharpness * logs) * weight / scores.shape[1]
        return p * (by_p - (p * by_p).sum(-1, True))  # a constant in by_p drops out

    return slope


@dataclass(frozen=True)
class Training:
    """How a network is trained: by Adam, for so many steps.

    ``rate`` is the step length; ``batch_size`` samples are drawn a step, all of them if None.
    """

    steps: int
    rate: float
    batch_size: int | None = None

    def run(
        self,
        net: Net,
        x: Tensor,
        y: Tensor,
        streams: Sequence[torch.Generator] = (),
        also: tuple[Tensor, Callable[[Tensor], Tensor]] | None = None,
        see: See | None = None,
    ) -> Net:
        """Train on ``x`` (R, n, d) with labels (R, n).

        Parameters
        ----------
        streams
            Of the batches, one a replicate.
        also
            Further inputs, all of them at every step, and the gradient of a loss on them.
        see
            Told of the network after each step, from step 0 on.
        """
        moving = Net(*(part.clone() for part in net))
        optimiser = torch.optim.Adam(moving, lr=self.rate)
        rows = torch.arange(len(x), device=x.device)[:, None]
        for step in range(self.steps + 1):
            if see is not None:
                see(step, moving)
            if step == self.steps:
                break
            own, labels = x, y
            if self.batch_size is not None:
                chosen = torch.stack(
                    [torch.randint(x.shape[1], (self.batch_size,), generator=s) for s in streams]
                ).to(x.device)
                own, labels = x[rows, chosen], y[rows, chosen]
            found = moving.gradients(own, error(labels))
            if also is not None:
                more = moving.gradients(*also)
                found = tuple(a + b for a, b in zip(found, more, strict=True))
            for part, gradient in zip(moving, found, strict=True):
                part.grad = gradient
            optimiser.step()
        return Net(*(part.detach() for part in moving))


def loss_and_accuracy(net: Net, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """Mean cross-entropy and accuracy, (R,) each."""
    scores = net.scores(x)
    loss = functional.cross_entropy(scores.mT, y, reduction="none").mean(1)
    return loss, (scores.argmax(-1) == y).double().mean(1)


def labels_of(net: Net, x: Tensor) -> Tensor:
    """(R, n) what the network calls the inputs."""
    return net.scores(x).argmax(-1)


def injected(kind: str, like: Tensor, number: int, streams: Sequence[torch.Generator]) -> Tensor:
    """Inputs without labels (R, number, d).

    Parameters
    ----------
    kind
        ``gaussian``: independent pixels of variance one. ``covariance``: Gaussian with mean and
        covariance of the pictures.
    like : (R, n, d)
        The pictures.
    """
    size = (number, like.shape[-1])
    noise = torch.stack([torch.randn(size, generator=s) for s in streams]).to(like)
    if kind == "gaussian":
        return noise
    if kind != "covariance":
        raise FeatlearnError(f"injected: {kind!r}; expected gaussian or covariance")
    mean = like.mean(1, True)
    centred = (like - mean).double()
    values, vectors = torch.linalg.eigh(centred.mT @ centred / like.shape[1])
    root = (vectors * values.clamp_min(0).sqrt()[:, None]) @ vectors.mT
    return mean + noise @ root.to(like)
