"""Teachers, and labels beyond the data (Algorithm 3, eq. A.289 to A.291).

A teacher is trained on labelled pictures, with a regulariser on the injected inputs, and labels
both. Networks are of two families by their size m (A.7.4, A.7.5): ``FC(m)``, one hidden layer of m
units with the activation ``z^2``, and ``ResNet(m)``, ResNet-18 with m filters in its first stage.
Pictures are (R, n, C, S, S), replicates first; scores are (R, n, K).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from featlearn.core.errors import FeatlearnError
from featlearn.core.seeds import Streams
from featlearn.core.training.losses import cross_entropies
from featlearn.core.training.optimisers import build, set_rate
from featlearn.emergence.pictures import Pictures
from featlearn.emergence.train import gathered
from featlearn.images.encoders import ResNet

#: The gradient of a loss by the scores.
Slope = Callable[[Tensor], Tensor]
#: Pictures that a ResNet evaluates at a time.
BLOCK = 512


class FC(NamedTuple):
    """Weights of FC(m), all replicates in one batch; its gradients are written out."""

    w: Tensor  #: (R, d, m)
    b: Tensor  #: (R, 1, m)
    v: Tensor  #: (R, m, K)
    c: Tensor  #: (R, 1, K)

    @classmethod
    def start(
        cls, size: int, shape: Sequence[int], classes: int, streams: Sequence[torch.Generator],
        device: torch.device | str = "cpu",
    ) -> FC:  # fmt: skip
        """Pre-activations of inputs with unit variances, and scores, of order one."""
        inputs = math.prod(shape)
        w, v = (
            torch.stack([torch.randn(shape, generator=s) / root**0.5 for s in streams])
            for shape, root in (((inputs, size), inputs), ((size, classes), 3 * size))
        )
        zeros = torch.zeros(len(w), 1, 1)
        parts = (w, zeros.repeat(1, 1, size), v, zeros.repeat(1, 1, classes))
        return cls(*(part.to(device) for part in parts))

    @property
    def tensors(self) -> list[Tensor]:
        """What is trained."""
        return list(self)

    @property
    def parameters(self) -> int:
        """Numbers that one replicate learns: m (d + 1) + K (m + 1)."""
        return sum(part[0].numel() for part in self)

    def hidden(self, x: Tensor) -> Tensor:
        """(R, n, m) what the linear head sees."""
        return torch.baddbmm(self.b, x.flatten(2), self.w).square()

    def scores(self, x: Tensor) -> Tensor:
        """(R, n, K)."""
        return torch.baddbmm(self.c, self.hidden(x), self.v)

    def gradients(self, x: Tensor, slope: Slope) -> Sequence[Tensor]:
        """By :attr:`tensors`, of a loss whose gradient by the scores is ``slope(scores)``."""
        x = x.flatten(2)
        z = torch.baddbmm(self.b, x, self.w)
        h = z.square()
        by_scores = slope(torch.baddbmm(self.c, h, self.v))
        by_z = 2 * z * (by_scores @ self.v.mT)
        return x.mT @ by_z, by_z.sum(1, True), h.mT @ by_scores, by_scores.sum(1, True)


class OneResNet(nn.Module):
    """ResNet(m) with a linear head, of one replicate; grey pictures become three equal channels."""

    def __init__(self, size: int, classes: int):
        super().__init__()
        self.encoder = ResNet(18, stem="cifar", width_multiplier=size / 64)
        self.head = nn.Linear(self.encoder.width, classes)

    def forward(self, x: Tensor) -> Tensor:
        """(n, C, S, S) to (n, K)."""
        return self.head(self.encoder(x.expand(-1, 3, -1, -1)))

    def features(self, x: Tensor) -> Tensor:
        """(n, width) of the encoder, as it is after training: with the norms' running moments."""
        self.eval()
        with torch.no_grad():
            blocks = torch.split(x.expand(-1, 3, -1, -1), BLOCK)
            return torch.cat([self.encoder(block) for block in blocks])

    @torch.no_grad()
    def scores(self, x: Tensor) -> Tensor:
        """(n, K) by these features."""
        return self.head(self.features(x))

    def convolutions(self) -> list[nn.Parameter]:
        """The weights (n, p, 3, 3) of the last convolution of each stage."""
        return [getattr(self.encoder, name)[-1].conv2.weight for name in self.encoder.stages]

    def filters(self) -> list[Tensor]:
        """(n, 9 p) normalised filters of each stage, float64."""
        return [functional.normalize(w.detach().double().flatten(1), dim=1).cpu()
                for w in self.convolutions()]  # fmt: skip


class ResNets:
    """A ResNet(m) for each replicate, as :class:`FC`. Norms use the batch's moments in training."""

    def __init__(self, nets: Sequence[OneResNet]):
        self.nets = nets

    @classmethod
    def start(
        cls, size: int, shape: Sequence[int], classes: int, streams: Sequence[torch.Generator],
        device: torch.device | str = "cpu",
    ) -> ResNets:  # fmt: skip
        """As ``torch.nn`` starts its layers."""
        nets = []
        for stream in streams:
            with torch.random.fork_rng(devices=[]):  # its modules take no generator
                torch.default_generator.manual_seed(stream.initial_seed())
                nets.append(OneResNet(size, classes).to(device))
        return cls(nets)

    @property
    def tensors(self) -> list[Tensor]:
        return [part for net in self.nets for part in net.parameters()]

    @property
    def parameters(self) -> int:
        return sum(part.numel() for part in self.nets[0].parameters())

    def hidden(self, x: Tensor) -> Tensor:
        return torch.stack([net.features(own) for net, own in zip(self.nets, x, strict=True)])

    def scores(self, x: Tensor) -> Tensor:
        return torch.stack([net.scores(own) for net, own in zip(self.nets, x, strict=True)])

    def gradients(self, x: Tensor, slope: Slope) -> Sequence[Tensor]:
        scores = torch.stack([net.train()(own) for net, own in zip(self.nets, x, strict=True)])
        return torch.autograd.grad(scores, self.tensors, slope(scores.detach()))


#: R networks of one size.
Network = FC | ResNets
FAMILIES: dict[str, type[FC] | type[ResNets]] = {"fc": FC, "resnet": ResNets}


def error(y: Tensor) -> Slope:
    """The gradient of the mean cross-entropy with labels (R, n) by the scores."""

    def slope(scores: Tensor) -> Tensor:
        # over the classes as a middle axis: a last axis so short takes six times as long
        p = scores.mT.softmax(1).mT
        own = torch.full_like(p[..., :1], -1.0)
        return p.scatter_add_(-1, y[..., None], own).div_(scores.shape[1])

    return slope


def spreading(weight: float, sharpness: float) -> Slope:
    """The gradient of ``weight (R_1 + sharpness R_2)`` by the scores (A.289 to A.291).

    ``R_1``, the negative entropy of the mean probabilities, makes all classes as frequent;
    ``R_2``, the mean entropy of the probabilities, makes each answer sure.
    """

    def slope(scores: Tensor) -> Tensor:
        logs = scores.mT.log_softmax(1).mT  # as in error
        p = logs.exp()
        mean = p.mean(1, True).clamp_min(torch.finfo(p.dtype).tiny).log()
        by_p = (mean - sharpness * logs) * weight / scores.shape[1]
        return p * (by_p - (p * by_p).sum(-1, True))  # a constant in by_p drops out

    return slope


@dataclass(frozen=True)
class Training:
    """How a network is trained: by Adam, for so many steps. ``rate`` is the step length;
    ``batch_size`` samples are drawn a step, all of them if None."""

    steps: int
    rate: float
    batch_size: int | None = None

    def run(
        self, net: Network, x: Tensor, y: Tensor, streams: Sequence[torch.Generator] = (),
        also: tuple[Tensor, Slope] | None = None, see: Callable[[int], None] | None = None,
    ) -> None:  # fmt: skip
        """Train ``net`` on ``x`` (R, n, ...) with labels (R, n).

        ``streams``: of the batches, one a replicate. ``also``: further inputs of the same batch,
        and the gradient of their loss by scores. ``see``: told of each step, from 0 on.
        """
        tensors = net.tensors
        optimiser = build("adam", [{"params": tensors}])
        set_rate(optimiser, self.rate)
        batches = self._batches(x, y, streams, None if also is None else also[0])
        for step, (own, labels) in zip(range(self.steps), batches, strict=False):
            if see is not None:
                see(step)
            slope = error(labels)
            if also is not None:
                slope = _both(slope, also[1], labels.shape[1])
            for part, gradient in zip(tensors, net.gradients(own, slope), strict=True):
                part.grad = gradient
            optimiser.step()
        if see is not None:
            see(self.steps)

    def _batches(
        self, x: Tensor, y: Tensor, streams: Sequence[torch.Generator], also: Tensor | None
    ) -> Iterator[tuple[Tensor, Tensor]]:
        """Inputs, the further ones behind the labelled, and the labels; without end."""
        if self.batch_size is None:
            whole = x if also is None else torch.cat([x, also], 1)
            while True:
                yield whole, y
        while True:
            taken = []
            for of in (x, also):
                if of is not None:
                    drawn = [torch.randint(of.shape[1], (self.batch_size,), generator=s)
                             for s in streams]  # fmt: skip
                    taken.append((of, torch.stack(drawn).to(x.device)))
            own = [gathered(of, at) for of, at in taken]
            yield torch.cat(own, 1) if also is not None else own[0], gathered(y, taken[0][1])


def _both(first: Slope, second: Slope, number: int) -> Slope:
    """Of two losses, one on the first ``number`` inputs, the other on those behind them."""
    return lambda scores: torch.cat([first(scores[:, :number]), second(scores[:, number:])], 1)


def loss_and_accuracy(net: Network, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """Mean cross-entropy and accuracy, (R,) each."""
    scores = net.scores(x)
    return cross_entropies(scores, y).mean(1), (scores.argmax(-1) == y).double().mean(1)


def labels_of(net: Network, x: Tensor) -> Tensor:
    """(R, n) what the network calls the inputs."""
    return net.scores(x).argmax(-1)


def started(
    config: Mapping[str, Any], size: int, pictures: Pictures, streams: Sequence[torch.Generator]
) -> Network:
    """A network of the family that ``config`` names, for these pictures."""
    x = pictures.x["train"]
    start = FAMILIES[config["network"]].start
    return start(size, x.shape[2:], len(pictures.classes), streams, x.device)


def trained_teacher(
    config: Mapping[str, Any], size: int, pictures: Pictures, unlabelled: Tensor, streams: Streams
) -> Network:
    """A teacher on the training pictures, regularised on the injected inputs (R, m, C, S, S)."""
    own = config["training"]
    net = started(config, size, pictures, streams(f"teacher-{size}"))
    term = spreading(own["spread"], own["sharpness"])
    training = Training(own["steps"], own["rate"], own.get("batch_size"))
    training.run(net, pictures.x["train"], pictures.y["train"],
                 streams(f"teacher-batches-{size}"), also=(unlabelled, term))  # fmt: skip
    return net


def injected(kind: str, like: Tensor, number: int, streams: Sequence[torch.Generator]) -> Tensor:
    """Inputs without labels (R, number, C, S, S).

    ``kind``: ``gaussian``: independent pixels of variance one. ``covariance``: Gaussian with mean
    and covariance of the pictures. ``like`` (R, n, C, S, S): the pictures.
    """
    size = (number, *like.shape[2:])
    noise = torch.stack([torch.randn(size, generator=s) for s in streams]).to(like)
    if kind == "gaussian":
        return noise
    if kind != "covariance":
        raise FeatlearnError(f"injected: {kind!r}; expected gaussian or covariance")
    flat = like.flatten(2)
    mean = flat.mean(1, True)
    centred = (flat - mean).double()
    values, vectors = torch.linalg.eigh(centred.mT @ centred / flat.shape[1])
    root = (vectors * values.clamp_min(0).sqrt()[:, None]) @ vectors.mT
    return (mean + noise.flatten(2) @ root.to(like)).reshape(noise.shape)
