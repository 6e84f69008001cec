"""Tables of the experiments on images: means over replicates with 95 % intervals. No torch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from featlearn.contrastive.images.config import FIGURE_ARMS, START, encoder_of, ordered
from featlearn.core.stats import estimate

#: How arms are called.
ARM_NAMES = {
    "contrastive-none": "contrastive, no augmentation",
    "contrastive-crop": "contrastive, crop",
    "contrastive-colour": "contrastive, crop + colour",
    "supervised-crop": "supervised, crop",
    "supervised-colour": "supervised, crop + colour",
    "adversarial-colour": "adversarial contrastive, crop + colour",
    START: "random start",
}
HALFWAY = "halfway"
#: Quantities of a whole encoder in the table for reading, with their column heads.
HEADS = {
    "class accuracy": "class",
    "class accuracy of neighbours": "class (neighbours)",
    "colour explained": "colour",
    "chroma of pictures": "chroma",
    "chroma of filters": "chroma of filters",
    "roughness of pictures": "roughness",
    "silhouette of the map": "silhouette",
    "purity of the map": "purity",
    "cosine under attack": "cosine under attack",
    HALFWAY: "halfway",
}
MEASURED = ["data_set", "encoder", "arm", "quantity", "layer", "replicate", "value"]
COLUMNS = [
    "data_set", "panel", "figure", "encoder", "arm", "quantity", "layer",
    "mean", "low", "high", "half_width", "replicates",
]  # fmt: skip


def halfway(progress: np.ndarray, distance: np.ndarray) -> float:
    """Share of the training after which filters are nearer to their end than half the way.

    Linear between moments; ``distance`` is that to the end over that at the start, and ends with 0.
    From the last moment at which it was above one half.
    """
    last = int(np.flatnonzero(distance > 0.5).max())
    share = (distance[last] - 0.5) / (distance[last] - distance[last + 1])
    return float(progress[last] + share * (progress[last + 1] - progress[last]))


def halfway_rows(traces: pd.DataFrame) -> pd.DataFrame:
    """:func:`halfway` of every training, with the columns of :data:`MEASURED`.

    ``traces`` has columns data_set, encoder, arm, replicate, progress, distance.
    """
    keys = ["data_set", "encoder", "arm", "replicate"]
    rows = [
        (*key, halfway(own["progress"].to_numpy(), own["distance"].to_numpy()))
        for key, own in traces.groupby(keys, sort=False)
    ]
    frame = pd.DataFrame(rows, columns=[*keys, "value"])
    return frame.assign(quantity=HALFWAY, layer="")[MEASURED]


def table(evaluations: pd.DataFrame, images: Mapping[str, Any]) -> pd.DataFrame:
    """What every figure compares, and the random start beside it; columns of :data:`COLUMNS`.

    Parameters
    ----------
    evaluations
        Columns of :data:`MEASURED`.
    images
        The section ``contrastive.images``. ``panel`` counts its data sets from 1, as figures do.
    """
    parts = []
    for panel, name in enumerate(ordered(images), 1):
        own = evaluations[evaluations["data_set"] == name]
        for figure, arms in FIGURE_ARMS.items():
            encoder = encoder_of(images[name], figure)
            found = summary(own[own["encoder"] == encoder], (*arms, START))
            parts.append(found.assign(data_set=name, panel=panel, figure=figure, encoder=encoder))
    return pd.concat(parts, ignore_index=True)[COLUMNS]


def summary(own: pd.DataFrame, arms: Sequence[str]) -> pd.DataFrame:
    """Columns arm, quantity, layer and those of an estimate, arm by arm as they are named."""
    rows = []
    for arm in arms:
        for (quantity, layer), values in own[own["arm"] == arm].groupby(
            ["quantity", "layer"], sort=False
        )["value"]:
            seen = estimate(values.to_numpy())
            numbers = (seen.mean, seen.low, seen.high, seen.half_width, seen.replicates)
            rows.append((arm, quantity, layer, *numbers))
    return pd.DataFrame(rows, columns=["arm", "quantity", "layer", *COLUMNS[-5:]])


def for_reading(found: pd.DataFrame) -> pd.DataFrame:
    """A row a data set, encoder and arm; a column a quantity; firing rates by layer at the end."""
    once = found.drop_duplicates(["data_set", "encoder", "arm", "quantity", "layer"])
    rows = []
    for (name, encoder, arm), own in once.groupby(["data_set", "encoder", "arm"], sort=False):
        row = {"images": name, "encoder": encoder, "training": ARM_NAMES[str(arm)]}
        for quantity, head in HEADS.items():
            seen = own[own["quantity"] == quantity]
            row[head] = "-" if seen.empty else _cell(seen.iloc[0])
        for _, rate in own[own["quantity"] == "firing rate"].iterrows():
            row[f"fires in {rate['layer']}"] = _cell(rate)
        rows.append(row)
    return pd.DataFrame(rows).fillna("-")


def _cell(row: pd.Series) -> str:
    spread = "" if np.isnan(row["half_width"]) else f" ± {row['half_width']:.3f}"
    return f"{row['mean']:.3f}{spread}"
