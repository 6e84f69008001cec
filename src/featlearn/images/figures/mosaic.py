"""Small pictures side by side in one panel. Imports no torch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def mosaic(pictures: pd.DataFrame, kind: str, columns: int = 4) -> np.ndarray:
    """Pictures side by side with a white border: (height, width, 3) uint8."""
    own = pictures[pictures["kind"] == kind]
    counts = [int(own[name].max()) + 1 for name in ("channel", "row", "column")]
    values = own[["red", "green", "blue"]].to_numpy(np.uint8).reshape(*counts, 3)
    values = values[: columns * max(1, len(values) // columns)]
    columns = min(columns, len(values))
    border = max(1, counts[1] // 16)
    framed = np.pad(
        values, ((0, 0), (0, border), (0, border), (0, 0)), constant_values=255
    )  # white on the right and below
    rows = len(framed) // columns
    grid = framed.reshape(rows, columns, *framed.shape[1:]).transpose(0, 2, 1, 3, 4)
    return grid.reshape(rows * framed.shape[1], columns * framed.shape[2], 3)


def bare(ax: Axes) -> None:
    """No ticks, no frame, no grid."""
    ax.set_xticks([])
    ax.set_yticks([])
    ax.grid(visible=False)
    for spine in ax.spines.values():
        spine.set_visible(False)
