"""Folders of pictures whose classes are told apart by their colour."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image


def picture(seed: Any, colour: Any = 128, size: tuple[int, int] = (12, 12)) -> Image.Image:
    """Noise around a level of grey or a colour; ``size`` is height and width."""
    noise = np.random.default_rng(seed).integers(-40, 40, (*size, 3))
    return Image.fromarray((np.array(colour) + noise).clip(0, 255).astype(np.uint8))


def grow(
    root: Path, classes: Mapping[str, Any], count: int = 6, size: tuple[int, int] = (12, 12)
) -> Path:
    """A folder a class, with so many pictures each."""
    for place, (name, colour) in enumerate(classes.items()):
        (root / name).mkdir(parents=True, exist_ok=True)
        for number in range(count):
            picture((place, number), colour, size).save(root / name / f"{number}.png")
    return root
