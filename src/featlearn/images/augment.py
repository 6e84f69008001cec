"""Augmentation of a batch on its device, each image by random numbers of its own.

Random numbers come from :class:`featlearn.images.rng.Draws`, on the CPU: the same step gives the
same images on any device, in one process or in several.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from featlearn.core.errors import ConfigError
from featlearn.images import pixel_operations as ops
from featlearn.images.config_data import IMAGENET_MEAN, IMAGENET_STD, PRESETS
from featlearn.images.pixel_operations import (
    Interpolation,
    gaussian_blur,
    resized_crop,
    shifted_windows,
)
from featlearn.images.rng import Draws

ATTEMPTS = 10


#: One step of an augmentation: of uint8 images, or float32 ones in [0, 1] that it may change in
#: place, (n, 3, s, s), by random numbers, their purpose, and the side of the result.
Step = Callable[[Tensor, Draws, str, int], Tensor]


class Augment:
    """A list of steps, then normalisation.

    ``settings``: ``preset``, a key of ``PRESETS``, or ``steps``, a list of groups, each with ``op``
    (a key of ``STEPS``) and its parameters, run in order; random erasing comes last, on normalised
    images. ``size``: side of the result in pixels, the input's if absent. ``mean``, ``std``: of
    each channel, for values in [0, 1]; ImageNet's if absent. Raises ConfigError for an unknown
    preset, step or parameter.
    """

    def __init__(self, settings: Mapping[str, Any]):
        self._normalisation = {key: settings.get(key) for key in ("mean", "std", "size")}
        self.size: int | None = settings.get("size")
        mean = torch.tensor(settings.get("mean") or IMAGENET_MEAN, dtype=torch.float64)
        std = torch.tensor(settings.get("std") or IMAGENET_STD, dtype=torch.float64)
        self.mean, self.std = mean.float(), std.float()
        self.offset = (-mean / std).float()
        self.scale: list[float] = (1 / std).tolist()
        self.steps: list[tuple[str, Step]] = []
        self.last: list[tuple[str, RandomErasing]] = []
        for index, step in enumerate(_listed(settings)):
            made = _step(step, f"steps.{index}")
            if isinstance(made, RandomErasing):
                self.last.append((f"{index}-{step['op']}", made))
            else:
                self.steps.append((f"{index}-{step['op']}", made))

    @torch.no_grad()
    def __call__(self, images: Tensor, draws: Draws, view: int = 0) -> Tensor:
        """Augment and normalise.

        ``images`` (B, 3, S, S) uint8. ``draws``: random numbers of this step, for these B images.
        ``view``: number of the view. Returns ``(B, 3, size, size)`` float32, channels last. Raises
        ValueError if images are not uint8, not square, or not as many as ``draws`` is for.
        """
        if images.dtype != torch.uint8 or images.dim() != 4 or images.shape[2] != images.shape[3]:
            raise ValueError(
                f"images: {images.dtype} {tuple(images.shape)}; expected uint8 (B, 3, S, S)"
            )
        if len(images) != len(draws):
            raise ValueError(f"images: {len(images)}; expected {len(draws)}, as many as draws")
        size = self.size or images.shape[-1]
        if not len(images):
            return torch.empty(0, 3, size, size, device=images.device)
        for name, step in self.steps:
            images = step(images, draws, f"augment-{view}-{name}", size)
        images = self.normalise(_middle(images, size))
        for name, erase in self.last:
            images = erase(images, draws, f"augment-{view}-{name}", size)
        return images

    def two_views(self, images: Tensor, draws: Draws) -> tuple[Tensor, Tensor]:
        """Two independent augmentations of the same images."""
        return self(images, draws, 0), self(images, draws, 1)

    def plain(self) -> Augment:
        """The same size and normalisation, and nothing drawn: what evaluations see."""
        return Augment({"preset": "none", **self._normalisation})

    def normalise(self, images: Tensor) -> Tensor:
        """Images (uint8, or floats in [0, 1]) less the mean, over the standard deviation."""
        unit = 255 if images.dtype == torch.uint8 else 1
        n, channels, height, width = images.shape
        out = torch.empty(n, height, width, channels, device=images.device)
        for channel in range(channels):
            torch.add(self.offset[channel], images[:, channel], alpha=self.scale[channel] / unit,
                      out=out[..., channel])  # fmt: skip
        return out.permute(0, 3, 1, 2)


def channel_statistics(images: Tensor) -> dict[str, list[float]]:
    """``mean`` and ``std`` of each channel as :class:`Augment` takes them, for values in [0, 1].

    ``images`` (N, 3, S, S) uint8, of which at most 10,000, evenly spaced, are looked at. A channel
    that does not vary has the std of one level.
    """
    total, squares, pixels = torch.zeros(3, dtype=torch.int64), torch.zeros(3, dtype=torch.int64), 0
    for part in images[:: max(1, -(-len(images) // 10_000))].split(256):  # type: ignore[no-untyped-call]
        values = part.to(torch.int64).transpose(0, 1).flatten(1)
        total += values.sum(1)
        squares += (values * values).sum(1)
        pixels += values.shape[1]
    mean = total.double() / pixels
    std = (squares.double() / pixels - mean**2).clamp(min=0).sqrt()
    return {"mean": (mean / 255).tolist(), "std": (std.clamp(min=1) / 255).tolist()}


@dataclass(frozen=True)
class Flip:
    """Left becomes right, with probability ``p``."""

    p: float = 0.5

    def __call__(self, images: Tensor, draws: Draws, purpose: str, size: int) -> Tensor:
        chosen = draws.uniform(purpose) < self.p
        return _change_some(images, chosen, lambda part, _: part.flip(-1))


@dataclass(frozen=True)
class PadCrop:
    """Pad every side, then cut out a window of the wanted size at a random place.

    ``padding``: pixels a side; None for an eighth of the image.
    """

    padding: int | None = None

    def __call__(self, images: Tensor, draws: Draws, purpose: str, size: int) -> Tensor:
        padding = images.shape[-1] // 8 if self.padding is None else self.padding
        padded = F.pad(images, (padding,) * 4)
        room = padded.shape[-1] - size
        if room < 0:
            raise ConfigError(
                f"augmentation.size: {size}; expected at most {padded.shape[-1]}, the padded image"
            )
        corner = _whole(draws.uniform(purpose, 2), room + 1).to(images.device)
        return shifted_windows(padded, corner[:, 0], corner[:, 1], size)


@dataclass(frozen=True)
class RandomResizedCrop:
    """A window of random area and aspect ratio, resized, as torchvision's with antialiasing.

    ``scale``: area as a share of the image. ``ratio``: aspect ratio (log-uniform). Ten attempts,
    else the middle.
    """

    scale: Sequence[float] = (0.08, 1.0)
    ratio: Sequence[float] = (3 / 4, 4 / 3)
    interpolation: Interpolation = "bilinear"

    def __call__(self, images: Tensor, draws: Draws, purpose: str, size: int) -> Tensor:
        boxes = self.boxes(draws.uniform(purpose, ATTEMPTS, 4), *images.shape[-2:])
        return resized_crop(_unit(images), boxes.to(images.device), size, self.interpolation)

    def boxes(self, uniform: Tensor, height: int, width: int) -> Tensor:
        """Windows ``top, left, height, width``, int64 (n, 4), by numbers (n, attempts, 4)."""
        boxes, fits = _random_boxes(uniform, self.scale, self.ratio, height, width, 0)
        return torch.where(fits, boxes, self._middle(height, width))

    def _middle(self, height: int, width: int) -> Tensor:
        low, high = self.ratio
        h, w = height, width
        if width / height < low:
            h = round(width / low)
        elif width / height > high:
            w = round(height * high)
        return torch.tensor([(height - h) // 2, (width - w) // 2, h, w])


@dataclass(frozen=True)
class ColourJitter:
    """Brightness, contrast, saturation and hue, in random order, with probability ``p``.

    Factors are uniform in ``[max(0, 1 - x), 1 + x]``, the hue shift in ``[-x, x]`` turns.
    """

    brightness: float = 0.4
    contrast: float = 0.4
    saturation: float = 0.4
    hue: float = 0.1
    p: float = 0.8

    def __call__(self, images: Tensor, draws: Draws, purpose: str, size: int) -> Tensor:
        uniform = draws.uniform(purpose, 9)
        chosen, order = uniform[:, 0] < self.p, uniform[:, 1:5].argsort(dim=1, stable=True)
        changes = [(ops.brightness, _between(uniform[:, 5], *_around_one(self.brightness))),
                   (ops.contrast, _between(uniform[:, 6], *_around_one(self.contrast))),
                   (ops.saturation, _between(uniform[:, 7], *_around_one(self.saturation))),
                   (ops.hue, _between(uniform[:, 8], -self.hue, self.hue))]  # fmt: skip
        strengths = (self.brightness, self.contrast, self.saturation, self.hue)
        images = _unit(images)
        for place in range(4):
            for which, (change, values) in enumerate(changes):
                if strengths[which] > 0:
                    now = chosen & (order[:, place] == which)
                    images = _change_some(images, now, _with(change, values))
        return images


@dataclass(frozen=True)
class Grey:
    """No colour, with probability ``p``."""

    p: float = 0.2

    def __call__(self, images: Tensor, draws: Draws, purpose: str, size: int) -> Tensor:
        chosen = draws.uniform(purpose) < self.p
        return _change_some(_unit(images), chosen, lambda part, _: ops.grey(part))


@dataclass(frozen=True)
class Blur:
    """Gaussian blur with probability ``p``.

    ``sigma``: standard deviation in pixels, uniform between the two. ``kernel_share``: side of the
    kernel as a share of the image.
    """

    p: float = 0.5
    sigma: Sequence[float] = (0.1, 2.0)
    kernel_share: float = 0.1

    def __call__(self, images: Tensor, draws: Draws, purpose: str, size: int) -> Tensor:
        uniform = draws.uniform(purpose, 2)
        taps = max(3, int(self.kernel_share * images.shape[-1]) // 2 * 2 + 1)
        change = _with(lambda part, sigma: gaussian_blur(part, sigma, taps),
                       _between(uniform[:, 1], *self.sigma))  # fmt: skip
        return _change_some(_unit(images), uniform[:, 0] < self.p, change)


@dataclass(frozen=True)
class RandomErasing:
    """A rectangle of normal noise, with probability ``p``; in normalised images.

    ``scale``, ``ratio``: area as a share of the image, and aspect ratio (log-uniform).
    """

    p: float = 0.25
    scale: Sequence[float] = (0.02, 1 / 3)
    ratio: Sequence[float] = (0.3, 10 / 3)

    def __call__(self, images: Tensor, draws: Draws, purpose: str, size: int) -> Tensor:
        chosen = draws.uniform(purpose) < self.p
        uniform = draws.uniform(f"{purpose}-box", ATTEMPTS, 4)
        boxes = self.boxes(uniform, *images.shape[-2:])
        seeds = draws.uniform(f"{purpose}-pixels")

        def erase(part: Tensor, rows: Tensor) -> Tensor:
            new = pixel_noise(_whole(seeds[rows], 1 << 24).to(part.device), part.shape[1:])
            return torch.where(_inside(boxes[rows].to(part.device), part), new, part)

        return _change_some(images, chosen & (boxes[:, 2] > 0), erase)

    def boxes(self, uniform: Tensor, height: int, width: int) -> Tensor:
        """Rectangles ``top, left, height, width``, int64 ``(n, 4)``; of no size where none fits."""
        boxes, fits = _random_boxes(uniform, self.scale, self.ratio, height, width, 1)
        return boxes * fits


STEPS: dict[str, Any] = {
    "flip": Flip, "pad_crop": PadCrop, "random_resized_crop": RandomResizedCrop,
    "colour_jitter": ColourJitter, "grey": Grey, "blur": Blur,
    "random_erasing": RandomErasing,
}  # fmt: skip


def _listed(settings: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    if settings.get("steps") is not None:
        return settings["steps"]
    preset = settings.get("preset", "none")
    if preset not in PRESETS:
        raise ConfigError(f"augmentation.preset: {preset!r}; expected one of {', '.join(PRESETS)}")
    return PRESETS[preset]


def _step(settings: Mapping[str, Any], key: str) -> Step:
    op = settings.get("op")
    if op not in STEPS:
        raise ConfigError(f"augmentation.{key}.op: {op!r}; expected one of {', '.join(STEPS)}")
    kind = STEPS[op]
    known = [field.name for field in fields(kind)]
    parameters = {name: value for name, value in settings.items() if name != "op"}
    for name in parameters:
        if name not in known:
            raise ConfigError(
                f"augmentation.{key}.{name}: unknown key; expected one of {', '.join(known)}"
            )
    return kind(**parameters)


def pixel_noise(seeds: Tensor, shape: Sequence[int]) -> Tensor:
    """Standard normal numbers made on the device from one whole number an image.

    A hash (the finaliser of MurmurHash3) of a counter, by Box-Muller. ``seeds`` (n,) int64 in ``[0,
    2**24)``. ``shape``: of each image. Returns ``(n, *shape)`` float32.
    """
    count = math.prod(shape)
    counter = torch.arange(2 * count, device=seeds.device) * 0x9E3779B9
    mixed = _hash32((_hash32(seeds + 1).unsqueeze(1) + counter) & 0xFFFFFFFF)
    unit = ((mixed >> 8).to(torch.float32) + 0.5) / (1 << 24)
    radius = (-2 * unit[:, :count].log()).sqrt()
    return (radius * torch.cos(2 * math.pi * unit[:, count:])).view(-1, *shape)


def _hash32(x: Tensor) -> Tensor:
    low = 0xFFFFFFFF
    x = ((x ^ (x >> 16)) * 0x85EBCA6B) & low
    x = ((x ^ (x >> 13)) * 0xC2B2AE35) & low
    return x ^ (x >> 16)


def _change_some(
    images: Tensor, chosen: Tensor, change: Callable[[Tensor, Tensor], Tensor]
) -> Tensor:
    """``change(part, rows)`` of the images that are ``chosen``, bool (n,) on the CPU."""
    rows = chosen.nonzero().squeeze(1)
    if not len(rows):
        return images
    if images.dtype == torch.uint8:  # may be the caller's
        images = images.clone()
    here = rows.to(images.device, non_blocking=True)
    return images.index_copy_(0, here, change(images.index_select(0, here), rows))


def _with(
    change: Callable[[Tensor, Tensor], Tensor], values: Tensor
) -> Callable[[Tensor, Tensor], Tensor]:
    return lambda part, rows: change(part, values[rows].to(part.device, non_blocking=True))


def _unit(images: Tensor) -> Tensor:
    """Floats in [0, 1], a tensor of their own."""
    return images.float().div_(255) if images.dtype == torch.uint8 else images


def _middle(images: Tensor, size: int) -> Tensor:
    spare = images.shape[-1] - size
    if spare == 0:
        return images
    if spare < 0:
        raise ConfigError(
            f"augmentation.size: {size}; expected at most {images.shape[-1]}, the image's"
        )
    start = spare // 2
    return images[:, :, start : start + size, start : start + size]


def _inside(boxes: Tensor, images: Tensor) -> Tensor:
    """Which pixels lie in the box of their image, bool ``(n, 1, h, w)``."""
    top, left, height, width = boxes.view(-1, 4, 1).unbind(1)
    y = torch.arange(images.shape[2], device=boxes.device)
    x = torch.arange(images.shape[3], device=boxes.device)
    rows = (y >= top) & (y < top + height)
    columns = (x >= left) & (x < left + width)
    return (rows.unsqueeze(2) & columns.unsqueeze(1)).unsqueeze(1)


def _random_boxes(
    uniform: Tensor, scale: Sequence[float], ratio: Sequence[float], height: int, width: int,
    border: int,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """The first window of each image that fits with a ``border``, and whether any does: (n, 4), (n,
    1).
    """
    exact, area = uniform.double(), height * width
    areas = area * _between(exact[..., 0], *scale)
    ratios = _between(exact[..., 1], math.log(ratio[0]), math.log(ratio[1])).exp()
    h, w = (areas / ratios).sqrt().round().long(), (areas * ratios).sqrt().round().long()
    fits = (w > 0) & (w <= width - border) & (h > 0) & (h <= height - border)
    first = fits.to(torch.int8).argmax(1, keepdim=True)
    h, w = h.gather(1, first).squeeze(1), w.gather(1, first).squeeze(1)
    place = uniform.gather(1, first.unsqueeze(2).expand(-1, -1, 4)).squeeze(1)
    top, left = _whole(place[:, 2], height - h + 1), _whole(place[:, 3], width - w + 1)
    return torch.stack([top, left, h, w], 1), fits.any(1, keepdim=True)


def _between(uniform: Tensor, low: float, high: float) -> Tensor:
    return low + (high - low) * uniform


def _around_one(strength: float) -> tuple[float, float]:
    return max(0.0, 1 - strength), 1 + strength


def _whole(uniform: Tensor, count: Tensor | int) -> Tensor:
    """Whole numbers 0 to ``count - 1`` from numbers in [0, 1)."""
    return (uniform.double() * count).floor().long()
