"""Moving pixels of a batch, each image with a window, a matrix or a blur of its own.

Resizing and blurring act on rows and columns apart, so both are two small matrix products an
image: exact, the same at every run, and fast on any device.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor

Interpolation = Literal["bilinear", "bicubic"]


def separable(images: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
    """``rows @ image @ columns.T`` for each channel of each image.

    Parameters
    ----------
    images : (n, c, h, w)
        Floating point.
    rows : (n, H, h)
    columns : (n, W, w)

    Returns
    -------
    Tensor
        ``(n, c, H, W)``.
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

    As Pillow and torchvision resize (with antialiasing) what was cut out before: nothing outside
    the window counts.

    Parameters
    ----------
    start, length : (n,)
        First pixel and number of pixels of the windows.
    source, target
        Pixels of the line, and of the result.

    Returns
    -------
    Tensor
        ``(n, target, source)`` float32; each row sums to 1.
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
    """A window of each image, resized.

    Parameters
    ----------
    images : (n, 3, h, w)
        Floating point in [0, 1].
    boxes : (n, 4) int64
        ``top, left, height, width`` in pixels.
    size
        Side of the result.

    Returns
    -------
    Tensor
        ``(n, 3, size, size)`` in [0, 1].
    """
    top, left, height, width = boxes.unbind(1)
    rows = window_weights(top, height, images.shape[2], size, interpolation)
    columns = window_weights(left, width, images.shape[3], size, interpolation)
    resized = separable(images, rows, columns)
    return resized.clamp_(0, 1) if interpolation == "bicubic" else resized


def shifted_windows(images: Tensor, top: Tensor, left: Tensor, size: int) -> Tensor:
    """The window of ``size`` x ``size`` pixels at ``top, left`` of each image, copied.

    Parameters
    ----------
    images : (n, c, h, w)
        Any type.
    top, left : (n,) int64
        On the device of the images.
    """
    images = images.contiguous()
    n, channels, height, width = images.shape
    # a row of a window is a run of the memory: all runs are copied at once
    planes = torch.arange(n * channels, device=images.device).view(n, channels, 1)
    line = torch.arange(size, device=images.device)
    starts = planes * (height * width) + (top.view(-1, 1, 1) + line) * width + left.view(-1, 1, 1)
    runs = images.view(-1).as_strided((images.numel() - size + 1, size), (1, 1))
    return runs.index_select(0, starts.flatten()).view(n, channels, size, size)


def affine(images: Tensor, matrix: Tensor, fill: float = 0.0) -> Tensor:
    """Bilinear: the value at an output point is the input's at ``matrix @ (x, y, 1)``.

    Parameters
    ----------
    images : (n, c, s, s)
        Floating point, square.
    matrix : (n, 2, 3)
        Points are in pixels from the top left corner; the centre of the first pixel is (0.5, 0.5).
    fill
        Value outside of the image.
    """
    size = images.shape[-1]
    linear, shift = matrix[:, :, :2], matrix[:, :, 2]
    # from pixels to the coordinates of grid_sample, where the image spans [-1, 1]
    shift = linear.sum(2) + 2 * shift / size - 1
    theta = torch.cat([linear, shift.unsqueeze(2)], 2)
    grid = F.affine_grid(theta, list(images.shape), align_corners=False)
    return F.grid_sample(images - fill, grid, align_corners=False).add_(fill)


def gaussian_blur(images: Tensor, sigma: Tensor, taps: int) -> Tensor:
    """Blur, each image with its own width; the border is reflected.

    Parameters
    ----------
    images : (n, 3, s, s)
        Floating point, square.
    sigma : (n,)
        Standard deviation in pixels.
    taps
        Odd number of pixels along each side of the kernel, less than twice the image's.
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
