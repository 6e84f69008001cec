"""Changes of colour for a batch, each image with a parameter of its own.

Images are float32 ``(n, 3, h, w)`` in [0, 1], parameters ``(n,)`` on the same device; so are the
results. Definitions are torchvision's (``torchvision.transforms.functional``), for float images.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

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


def sharpness(images: Tensor, factor: Tensor) -> Tensor:
    """Blend with a smoothed image (3 x 3, centre weighs 5 of 13), all but the outermost pixels."""
    smooth = images.clone()
    inner = images[:, :, 1:-1, 1:-1]
    smooth[:, :, 1:-1, 1:-1] = (9 * F.avg_pool2d(images, 3, stride=1) + 4 * inner) / 13
    return _blend(images, smooth, factor)


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


def invert(images: Tensor) -> Tensor:
    """The negative."""
    return 1 - images


def solarise(images: Tensor, threshold: Tensor) -> Tensor:
    """The negative of all values at or above ``threshold``."""
    return torch.where(images >= each(threshold), 1 - images, images)


def solarise_add(images: Tensor, added: Tensor) -> Tensor:
    """Values below a half become brighter by ``added``."""
    return torch.where(images * 255 < 127.5, (images + each(added)).clamp(max=1), images)


def posterise(images: Tensor, bits: Tensor) -> Tensor:
    """Keep the first ``bits`` (0 to 8) of the 8 bits of each value."""
    step = 2 ** (8 - each(bits))
    return torch.floor(_levels(images) / step) * step / 255


def autocontrast(images: Tensor) -> Tensor:
    """Stretch each channel to the whole range; a channel of one value stays."""
    low, high = images.amin((2, 3), keepdim=True), images.amax((2, 3), keepdim=True)
    flat = low == high
    scale = 1 / torch.where(flat, 1.0, high - low)
    return torch.where(flat, images, ((images - low) * scale).clamp(0, 1))


def equalise(images: Tensor) -> Tensor:
    """Level the histogram of each channel, 256 bins."""
    shape = images.shape
    levels = _levels(images).flatten(2).flatten(0, 1)
    # how many pixels are at or below a level: from sorted values, which adds in no random order
    ordered = torch.sort(levels, dim=1)[0]
    marks = torch.arange(256, device=images.device, dtype=levels.dtype).expand(len(levels), -1)
    below = torch.searchsorted(ordered, marks.contiguous(), right=True)
    pixels = levels.shape[1]
    brightest = pixels - torch.searchsorted(ordered, ordered[:, -1:].contiguous())
    step = (pixels - brightest) // 255
    safe = step.clamp(min=1)
    table = (below + safe // 2) // safe
    table = F.pad(table, (1, 0))[:, :-1].clamp(0, 255)
    leveled = table.gather(1, levels.long()).to(images.dtype)
    return torch.where(step == 0, levels, leveled).view(shape) / 255


def _levels(images: Tensor) -> Tensor:
    """Whole numbers 0 to 255, as floats."""
    return (images * 255).round_()


def _blend(images: Tensor, other: Tensor, factor: Tensor) -> Tensor:
    weight = each(factor)
    return (images * weight + other * (1 - weight)).clamp_(0, 1)
