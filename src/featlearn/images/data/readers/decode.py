"""From the bytes of an image file to RGB pixels of one size."""

from __future__ import annotations

import errno
import io
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageOps, UnidentifiedImageError

from featlearn.core.errors import FeatlearnError
from featlearn.images.data.readers.common import shown

# A list, because some formats that Pillow knows start other programs (EPS runs Ghostscript).
FORMATS = ("JPEG", "PNG", "GIF", "BMP", "WEBP", "TIFF", "PPM")
#: Most pixels of a picture, where a config does not say otherwise.
MAX_PIXELS = 89_000_000
ORIENTATION = 0x0112
BACKGROUND = (255, 255, 255)
Resize = Literal["crop", "pad", "squash"]


class BrokenImage(FeatlearnError):
    """An image that cannot be used; the message is the reason."""


@dataclass(frozen=True)
class Geometry:
    """Where a point of the file lies in the decoded image: ``x * scale + shift``, for x and y."""

    scale: tuple[float, float]
    shift: tuple[float, float]

    def box(self, box: tuple[float, float, float, float], size: int) -> NDArray[np.float32] | None:
        """An xyxy box moved along and cut at the border; None if less than a pixel is left."""
        scale = np.array(self.scale * 2)
        moved = (np.array(box) * scale + np.array(self.shift * 2)).clip(0, size)
        if moved[2] - moved[0] < 1 or moved[3] - moved[1] < 1:
            return None
        return moved.astype(np.float32)


def decode(
    data: bytes | Path | NDArray[np.uint8], size: int, resize: Resize, max_pixels: int = MAX_PIXELS
) -> tuple[NDArray[np.uint8], Geometry]:
    """Decode and bring to ``size`` x ``size``.

    Transparent pixels lie on white; of an animation the first frame counts; 16-bit grey is scaled
    to 8 bits; EXIF orientation is followed.

    ``data``: bytes or path of an image file, or uint8 pixels ``(h, w)`` or ``(h, w, 3)``.
    ``resize``: ``crop``: the largest square in the middle; ``pad``: the whole image on black;
    ``squash``: sides scaled apart; bicubic with antialiasing. ``max_pixels``: larger images are
    refused before they are decoded. Returns uint8 ``(3, size, size)``, and where the points of the
    file went. Raises BrokenImage with the reason; MemoryError and OSError of the machine.
    """
    try:
        image = _opened(data, max_pixels)
        with image:
            return _resized(image, size, resize)
    except BrokenImage:
        raise
    except UnidentifiedImageError:
        raise BrokenImage(f"not an image of a known format ({', '.join(FORMATS)})") from None
    except Image.DecompressionBombError:
        raise BrokenImage(f"more pixels than max_pixels ({max_pixels})") from None
    except FileNotFoundError:
        raise BrokenImage("the file is gone") from None
    # says nothing of the file: dropped for it, a picture would be lost for good
    except MemoryError:
        raise
    except Exception as error:  # Pillow's plugins raise errors of many kinds on damaged files
        if isinstance(error, OSError) and error.errno == errno.ELOOP:
            raise BrokenImage("a loop of links") from error
        if isinstance(error, OSError) and error.errno is not None:
            raise  # of the system (a disk, a network, a right that is missing), not of Pillow
        raise BrokenImage(f"cannot be decoded: {shown(str(error))}") from error


def _opened(data: bytes | Path | NDArray[np.uint8], max_pixels: int) -> Image.Image:
    if isinstance(data, np.ndarray):
        return Image.fromarray(data)
    content = data.read_bytes() if isinstance(data, Path) else data
    if not content:
        raise BrokenImage("the file is empty")
    image = Image.open(io.BytesIO(content), formats=FORMATS)
    if image.width * image.height > max_pixels:
        image.close()
        raise BrokenImage(
            f"{image.width} x {image.height} pixels; expected at most {max_pixels} (max_pixels)"
        )
    return image


def _resized(image: Image.Image, size: int, resize: Resize) -> tuple[NDArray[np.uint8], Geometry]:
    orientation = _orientation(image)
    file_size = (image.height, image.width) if orientation >= 5 else (image.width, image.height)
    # a JPEG far larger than needed is decoded at a half, a quarter or an eighth of its size
    image.draft(None, (2 * size, 2 * size))
    image = _rgb(_turned(image, orientation))
    width, height = image.size
    grown = (width / file_size[0], height / file_size[1])
    if resize == "crop":
        side = min(width, height)
        left, top = (width - side) / 2, (height - side) / 2
        picture = _scaled(image, (size, size), (left, top, left + side, top + side))
        scale, shift = (size / side, size / side), (-left * size / side, -top * size / side)
    elif resize == "squash":
        picture = _scaled(image, (size, size), (0, 0, width, height))
        scale, shift = (size / width, size / height), (0.0, 0.0)
    else:
        ratio = size / max(width, height)
        inner = (max(1, round(width * ratio)), max(1, round(height * ratio)))
        corner = ((size - inner[0]) // 2, (size - inner[1]) // 2)
        picture = Image.new("RGB", (size, size))
        picture.paste(_scaled(image, inner, (0, 0, width, height)), corner)
        scale, shift = (inner[0] / width, inner[1] / height), (float(corner[0]), float(corner[1]))
    pixels = np.ascontiguousarray(np.asarray(picture).transpose(2, 0, 1))
    return pixels, Geometry((scale[0] * grown[0], scale[1] * grown[1]), shift)


def _scaled(
    image: Image.Image, size: tuple[int, int], box: tuple[float, float, float, float]
) -> Image.Image:
    return image.resize(size, Image.Resampling.BICUBIC, box=box)  # a copy where nothing changes


def _orientation(image: Image.Image) -> int:
    try:
        found = image.getexif().get(ORIENTATION, 1)
    except Exception:  # damaged EXIF data; the pixels may be fine
        return 1
    return found if found in range(1, 9) else 1


def _turned(image: Image.Image, orientation: int) -> Image.Image:
    if orientation == 1:
        image.load()
        return image
    return ImageOps.exif_transpose(image)


def _rgb(image: Image.Image) -> Image.Image:
    if image.mode == "RGB" and "transparency" not in image.info:
        return image
    if image.mode.startswith("I"):
        return Image.fromarray(_eight_bits(np.asarray(image))).convert("RGB")
    if image.mode == "F":
        raise BrokenImage("pixels are floating-point numbers; expected 8 or 16 bits")
    if image.mode in ("RGBA", "RGBa", "LA", "La", "PA") or "transparency" in image.info:
        clear = image.convert("RGBA")
        ground = Image.new("RGBA", clear.size, (*BACKGROUND, 255))
        return Image.alpha_composite(ground, clear).convert("RGB")
    return image.convert("RGB")


def _eight_bits(grey: NDArray[np.integer]) -> NDArray[np.uint8]:
    """16-bit grey to 8 bits: 65535 becomes 255."""
    if grey.size and (grey.min() < 0 or grey.max() > 65535):
        raise BrokenImage(f"grey levels {grey.min()}..{grey.max()}; expected 0..65535 (16 bits)")
    return ((grey.astype(np.uint32) + 128) // 257).astype(np.uint8)
