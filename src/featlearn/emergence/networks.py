"""The two families of networks that learn pictures, by their size m (A.7.4, A.7.5).

``FC(m)``: one hidden layer of m units with the activation ``z^2``. ``ResNet(m)``: ResNet-18 with m
filters in its first stage, and with them in all others. Pictures are (R, n, C, S, S), replicates
first; scores are (R, n, K).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

import torch
from torch import Tensor, nn
from torch.nn import functional

from featlearn.images.encoders import ResNet

#: The gradient of a loss by the scores.
Slope = Callable[[Tensor], Tensor]
#: Pictures that a ResNet evaluates at a time.
BLOCK = 512


class Network(Protocol):
    """What :class:`featlearn.emergence.teachers.Training` trains: R networks of one size."""

    @property
    def tensors(self) -> list[Tensor]:
        """What is trained."""

    @property
    def parameters(self) -> int:
        """Numbers that one replicate learns."""

    def hidden(self, x: Tensor) -> Tensor:
        """(R, n, width) what the linear head sees."""

    def scores(self, x: Tensor) -> Tensor:
        """(R, n, K)."""

    def gradients(self, x: Tensor, slope: Slope) -> Sequence[Tensor]:
        """By :attr:`tensors`, of a loss whose gradient by the scores is ``slope(scores)``."""


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
        return list(self)

    @property
    def parameters(self) -> int:
        """m (d + 1) + K (m + 1)."""
        return sum(part[0].numel() for part in self)

    def hidden(self, x: Tensor) -> Tensor:
        return torch.baddbmm(self.b, x.flatten(2), self.w).square()

    def scores(self, x: Tensor) -> Tensor:
        return torch.baddbmm(self.c, self.hidden(x), self.v)

    def gradients(self, x: Tensor, slope: Slope) -> Sequence[Tensor]:
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

    def convolutions(self) -> list[nn.Parameter]:
        """The weights (n, p, 3, 3) of the last convolution of each stage."""
        return [getattr(self.encoder, name)[-1].conv2.weight for name in self.encoder.stages]

    def filters(self) -> list[Tensor]:
        """(n, 9 p) normalised filters of each stage, float64."""
        return [
            functional.normalize(w.detach().double().flatten(1), dim=1).cpu()
            for w in self.convolutions()
        ]


class ResNets:
    """A ResNet(m) for each replicate. Their norms use the moments of the batch while they learn."""

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
        with torch.no_grad():
            return torch.stack(
                [net.head(net.features(own)) for net, own in zip(self.nets, x, strict=True)]
            )

    def gradients(self, x: Tensor, slope: Slope) -> Sequence[Tensor]:
        scores = torch.stack([net.train()(own) for net, own in zip(self.nets, x, strict=True)])
        return torch.autograd.grad(scores, self.tensors, slope(scores.detach()))


#: By the name that a config gives.
FAMILIES: dict[str, type[FC] | type[ResNets]] = {"fc": FC, "resnet": ResNets}
