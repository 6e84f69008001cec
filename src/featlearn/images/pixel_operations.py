"""Operations on the pixels of a batch: resampling and colour."""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor

Interpolation = Literal["bilinear", "bicubic"]


def separable(images: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
    """``rows @ image @ columns.T`` for each channel of each image.

    ``images`` (n, c, h, w). ``rows`` (n, H, h). ``columns`` (n, W, w). Returns ``(n, c, H, W)``.
    """
    n, channels, height, width = images.shape
    lines = images.reshape(n, channels * height, width)
    across = torch.bmm(lines, columns.transpose(1, 2)).view(n, channels, height, -1)
    # channel by channel: one product of all would want, and leave, them between the rows
    return rows[:, None] @ across


def window_weights(
    start: Tensor, length: Tensor, source: int, target: int, interpolation: Interpolation
) -> Tensor:
    """How pixels of a window of a line make up the pixels of the resized window.

    As Pillow and torchvision resize, with antialiasing. ``start``, ``length`` (n,): of the windows.
    ``source``, ``target``: pixels of the line, and of the result. Returns ``(n, target, source)``
    float32; each row sums to 1.
    """
    device = start.device
    start, length = start.view(-1, 1, 1).float(), length.view(-1, 1, 1).float()
    scale = length / target
    pixel = torch.arange(source, device=device).view(1, 1, -1) + 0.5 - start
    width = scale.clamp(min=1)
    centre = (torch.arange(target, device=device).view(1, -1, 1) + 0.5) * (scale / width)
    kernel = _triangle if interpolation == "bilinear" else _cubic
    weights = kernel((pixel / width - centre).abs_())
    weights.mul_(((pixel > 0) & (pixel < length)).float())
    return weights.div_(weights.sum(-1, keepdim=True))


def _triangle(x: Tensor) -> Tensor:
    """``1 - x`` for 0 <= x <= 1, in place."""
    return x.neg_().add_(1).clamp_(min=0)


def _cubic(x: Tensor) -> Tensor:
    """Keys' kernel with a = -0.5, as in Pillow, for x >= 0."""
    near = (1.5 * x).sub_(2.5).mul_(x).mul_(x).add_(1)
    far = (-0.5 * x).add_(2.5).mul_(x).sub_(4).mul_(x).add_(2)
    return torch.where(x < 1, near, far.mul_(x < 2))


def resized_crop(
    images: Tensor, boxes: Tensor, size: int, interpolation: Interpolation = "bilinear"
) -> Tensor:
    """A window of each image, resized: ``(n, 3, size, size)`` in [0, 1].

    ``images`` (n, 3, h, w): in [0, 1]. ``boxes`` (n, 4) int64: ``top, left, height, width`` in
    pixels.
    """
    top, left, height, width = boxes.unbind(1)
    rows = window_weights(top, height, images.shape[2], size, interpolation)
    columns = window_weights(left, width, images.shape[3], size, interpolation)
    resized = separable(images, rows, columns)
    return resized.clamp_(0, 1) if interpolation == "bicubic" else resized


def shifted_windows(images: Tensor, top: Tensor, left: Tensor, size: int) -> Tensor:
    """Windows of ``size`` x ``size`` pixels at ``top, left`` (n,) of images (n, c, h, w)."""
    images = images.contiguous()
    n, channels, height, width = images.shape
    # a row of a window is a run of the memory: all runs are copied at once
    planes = torch.arange(n * channels, device=images.device).view(n, channels, 1)
    line = torch.arange(size, device=images.device)
    starts = planes * (height * width) + (top.view(-1, 1, 1) + line) * width + left.view(-1, 1, 1)
    runs = images.view(-1).as_strided((images.numel() - size + 1, size), (1, 1))
    return runs.index_select(0, starts.flatten()).view(n, channels, size, size)


def gaussian_blur(images: Tensor, sigma: Tensor, taps: int) -> Tensor:
    """Blur images (n, 3, s, s), each with its ``sigma`` (n,) in pixels; the border is reflected.

    ``taps``: odd number of pixels along each side of the kernel, less than twice the image's.
    """
    size = images.shape[-1]
    x = torch.arange(taps, device=images.device) - taps // 2
    kernel = torch.exp(-0.5 * (x / sigma.view(-1, 1)) ** 2)
    kernel = kernel / kernel.sum(1, keepdim=True)
    matrix = (kernel @ _reflected(size, taps, images.device)).view(-1, size, size)
    return separable(images, matrix, matrix)


@lru_cache(maxsize=16)
def _reflected(size: int, taps: int, device: torch.device) -> Tensor:
    """Which pixel each tap of each pixel meets, ``(taps, size * size)`` of zeros and ones."""
    met = torch.arange(size) + (torch.arange(taps) - taps // 2).view(-1, 1)
    met = met.abs()
    met = torch.where(met >= size, 2 * size - 2 - met, met)
    return F.one_hot(met, size).to(torch.float32).flatten(1).to(device)


# Images are float32 ``(n, 3, h, w)`` in [0, 1], parameters ``(n,)`` on the same device; so are the
# results. Definitions are torchvision's (``torchvision.transforms.functional``), for float images.

# ITU-R 601-2 luma, as in Pillow and torchvision
LUMA = (0.2989, 0.587, 0.114)


def each(values: Tensor) -> Tensor:
    """``(n,)`` to ``(n, 1, 1, 1)``, to go with images."""
    return values.view(-1, 1, 1, 1)


def luma(images: Tensor) -> Tensor:
    """Brightness as the eye sees it, ``(n, 1, h, w)``."""
    red, green, blue = images.unbind(1)
    grey = (red * LUMA[0]).add_(green, alpha=LUMA[1]).add_(blue, alpha=LUMA[2])
    return grey.unsqueeze(1)


def grey(images: Tensor) -> Tensor:
    """Without colour, three equal channels."""
    return luma(images).expand_as(images)


def brightness(images: Tensor, factor: Tensor) -> Tensor:
    """Blend with black: 0 is black, 1 changes nothing."""
    return (images * each(factor)).clamp_(0, 1)


def contrast(images: Tensor, factor: Tensor) -> Tensor:
    """Blend with the mean brightness of the image."""
    return _blend(images, luma(images).mean((1, 2, 3), keepdim=True), factor)


def saturation(images: Tensor, factor: Tensor) -> Tensor:
    """Blend with the grey image."""
    return _blend(images, luma(images), factor)


def hue(images: Tensor, shift: Tensor) -> Tensor:
    """Turn the colour circle by ``shift`` of a whole turn, in [-0.5, 0.5]."""
    red, green, blue = images.unbind(1)
    value = torch.maximum(torch.maximum(red, green), blue)
    spread = value - torch.minimum(torch.minimum(red, green), blue)
    # which channel is the largest says in which third of the circle the colour lies; products with
    # masks, as torch.where is slow on a processor
    is_red = value == red
    is_green = (value == green).logical_and_(~is_red)
    is_blue = ~(is_red | is_green)
    ahead = (green - blue) * is_red + (blue - red) * is_green + (red - green) * is_blue
    # grey has no place on the circle: 0 over anything
    sixth = ahead.div_(spread.clamp(min=1e-30)).add_(is_green, alpha=2).add_(is_blue, alpha=4)
    sixth = sixth.add_(6 * shift.view(-1, 1, 1)).unsqueeze(1)
    corners = torch.arange(5.0, 0.0, -2.0, device=images.device).view(3, 1, 1)
    k = sixth + corners
    k = k.sub_((k / 6).floor_(), alpha=6)  # modulo 6; torch.remainder is slow
    lost = torch.minimum(k, 4 - k).clamp_(0, 1).mul_(spread.unsqueeze(1))
    return torch.sub(value.unsqueeze(1), lost, out=lost)


def _blend(images: Tensor, other: Tensor, factor: Tensor) -> Tensor:
    weight = each(factor)
    return (images * weight + other * (1 - weight)).clamp_(0, 1)
