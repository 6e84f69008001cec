"""Perturbations that make a loss large, and training without labels against them.

The attack is projected gradient ascent in a box (Madry et al. 2018). One training follows RoCL
(Kim, Tack and Hwang 2020), used by Wen and Li 2021 for the third panel of their Figure 1; the other
BYORL (Gowal et al. 2021), used by Wen and Li 2022 for Figure 5.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from featlearn.images.augment import Augment
from featlearn.images.encoders.base import Encoder
from featlearn.images.methods.siamese import Siamese
from featlearn.images.methods.simclr import SimCLR, nt_xent
from featlearn.images.rng import Draws
from featlearn.images.train.features import evaluating


@dataclass(frozen=True)
class Attack:
    """Projected gradient ascent with sign steps in the l-infinity ball.

    ``radius``, ``step``: of the ball, and of a step, in pixel values in [0, 1] (RoCL 8/255 and
    0.007). ``steps``: their number (RoCL 7). ``random_start``: begin anywhere in the ball,
    uniformly.
    """

    radius: float = 8 / 255
    step: float = 0.007
    steps: int = 7
    random_start: bool = True

    def __call__(
        self, loss: Callable[[Tensor], Tensor], images: Tensor, scale: Tensor,
        bounds: tuple[Tensor, Tensor], noise: Tensor | None = None,
    ) -> Tensor:  # fmt: skip
        """Images near ``images`` at which ``loss`` is large.

        ``loss``: of images (B, 3, S, S), a scalar. ``images`` (B, 3, S, S): normalised. ``scale``
        (3, 1, 1): normalised units of one unit of pixel value, by channel: ``1 / std``. ``bounds``:
        normalised values of black and of white, each (3, 1, 1). ``noise`` (B, 3, S, S) or None:
        where a random start is, as shares of the radius in [-1, 1]. Returns without a gradient.
        Gradients of parameters are left as they were: only that by the images is taken.
        """
        images = images.detach()
        reach = self.radius * scale
        low, high = (images - reach).maximum(bounds[0]), (images + reach).minimum(bounds[1])
        moved = images
        if self.random_start and noise is not None:
            moved = (images + noise * reach).clamp(low, high)
        for _ in range(self.steps):
            moved = moved.detach().requires_grad_(True)
            with torch.enable_grad():
                (slope,) = torch.autograd.grad(loss(moved), moved)
            moved = (moved.detach() + self.step * scale * slope.sign()).clamp(low, high)
        return moved.detach()

    def noise(self, draws: Draws, name: str, images: Tensor) -> Tensor | None:
        """Where a random start of ``images`` (B, 3, S, S) is; None without one."""
        if not self.random_start:
            return None
        stream = draws.uniform(name, *images.shape[1:])
        return (2 * stream - 1).to(images.device, non_blocking=True)


class AdversarialSimCLR(SimCLR):
    """RoCL: two views and an attacked one of each image are mutual positives.

    With views ``t(x)`` and ``t'(x)``, the attacked view starts from ``t(x)`` and maximises NT-Xent
    between itself and ``t'(x)``. The loss is NT-Xent of the three views, plus ``regulariser`` times
    that of ``t'(x)`` and the attacked view. The attack sees the network in evaluation mode, so that
    batch norms keep the statistics of the training's views.

    ``encoder``, ``augment``, ``projection``, ``temperature``: see :class:`SimCLR`. ``attack``:
    options of :class:`Attack`. ``regulariser``: ``1 / lamda`` of RoCL's code, where lamda is 256.
    """

    def __init__(
        self, encoder: Encoder, augment: Augment, projection: Mapping[str, Any] | None = None,
        temperature: float = 0.5, attack: Mapping[str, Any] | None = None,
        regulariser: float = 1 / 256,
    ):  # fmt: skip
        super().__init__(encoder, augment, projection, temperature)
        self.attack, self.regulariser = Attack(**(attack or {})), regulariser

    def views(self, images: Tensor, draws: Draws) -> tuple[Tensor, ...]:  # type: ignore[override]
        """Two views and the attacked one."""
        first, second = super().views(images, draws)
        noise = self.attack.noise(draws, "attack", first)
        return first, second, self.attacked(first, second, noise)

    def attacked(self, first: Tensor, second: Tensor, noise: Tensor | None = None) -> Tensor:
        """The view ``first``, moved so that its projection is far from that of ``second``."""
        with evaluating(self):
            with torch.no_grad():
                target = self.project(second)
            return self.attack(
                lambda moved: nt_xent([self.project(moved), target], self.temperature),
                first,
                *box(self.augment, first.device),
                noise,
            )

    def pair(self, *views: Tensor) -> dict[str, Tensor]:
        """``loss``, ``retrieval``, and ``attacked``: NT-Xent of second and attacked view."""
        projected = list(self.project(torch.cat(views)).chunk(3))
        scalars = self.compared(projected)
        attacked = nt_xent(projected[1:], self.temperature)
        scalars["loss"] = scalars["loss"] + self.regulariser * attacked
        return scalars | {"attacked": attacked}


class AdversarialSiamese(Siamese):
    """BYORL: the views of the online branch are attacked, those of the target are not.

    View ``v_1`` is moved so that the online branch's answer is far from the target's to ``v_2``,
    and the other way round; the loss is that of :class:`Siamese`, with the moved views online and
    the plain ones for the target. The attack sees the network in evaluation mode; an output norm by
    batch still takes the statistics of the batch.

    ``encoder``, ``augment``, ``options``: see :class:`Siamese`. ``attack``: options of
    :class:`Attack`.
    """

    def __init__(
        self, encoder: Encoder, augment: Augment, attack: Mapping[str, Any] | None = None,
        **options: Any,
    ):  # fmt: skip
        super().__init__(encoder, augment, **options)
        self.attack = Attack(**(attack or {}))

    def views(self, images: Tensor, draws: Draws) -> tuple[Tensor, ...]:  # type: ignore[override]
        """Two views, and both of them moved."""
        first, second = super().views(images, draws)
        noise = [self.attack.noise(draws, f"attack-{number}", first) for number in (1, 2)]
        return (first, second, self.attacked(first, second, noise[0]),
                self.attacked(second, first, noise[1]))  # fmt: skip

    def attacked(self, view: Tensor, other: Tensor, noise: Tensor | None = None) -> Tensor:
        """``view``, moved so that the online branch disagrees with the target on ``other``."""
        with evaluating(self):
            target = self.still(other)
            return self.attack(lambda moved: self.distance(self.project(moved), target), view,
                               *box(self.augment, view.device), noise)  # fmt: skip

    def pair(self, *views: Tensor) -> dict[str, Tensor]:
        """The scalars of :class:`Siamese` from two views and the two moved ones."""
        first, second, *moved = views
        online = self.project(moved[0]), self.project(moved[1])
        return self.compared(online, (self.still(first), self.still(second)))


def steadiness(
    encoder: Encoder, images: Tensor, plain: Augment, attack: Attack, name: tuple[object, ...]
) -> float:
    """Mean cosine between the features of images and of attacked ones; the attack is on itself.

    ``images``: uint8 (N, 3, S, S). ``plain``: normalises them. ``name``: of the random stream.
    """
    device = next(encoder.parameters()).device
    noise = 2 * Draws(name, 0, len(images)).uniform("start", *images.shape[1:]) - 1
    found = []
    with evaluating(encoder):
        for part, start in zip(images.split(256), noise.split(256), strict=True):  # type: ignore[no-untyped-call]
            inputs = plain.normalise(part.to(device))
            with torch.no_grad():
                clean = encoder(inputs)

            def distance(moved: Tensor, clean: Tensor = clean) -> Tensor:
                return -functional.cosine_similarity(encoder(moved), clean).sum()

            moved = attack(distance, inputs, *box(plain, device), start.to(device))
            with torch.no_grad():
                found.append(functional.cosine_similarity(encoder(moved), clean).cpu())
    return float(torch.cat(found).double().mean())


def box(augment: Augment, device: torch.device) -> tuple[Tensor, tuple[Tensor, Tensor]]:
    """``scale`` and ``bounds`` of an attack on images that ``augment`` normalises."""
    scale = torch.tensor(augment.scale, device=device).view(-1, 1, 1)
    black = augment.offset.to(device).view(-1, 1, 1)
    return scale, (black, black + scale)
