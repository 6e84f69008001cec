"""What each training learns on images."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from featlearn.contrastive.images.config import FIGURE_ARMS, HALFWAY, START, encoder_of, ordered
from featlearn.core.publish import Config, Table, table
from featlearn.core.stats import plus_minus, summary

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
COLUMNS = [
    "data_set", "panel", "figure", "encoder", "arm", "quantity", "layer",
    "mean", "low", "high", "half_width", "replicates",
]  # fmt: skip


@table()
def images(evaluations: pd.DataFrame, config: Config) -> Table:
    """What each training learns on images

    A row a network: the accuracy of a linear probe and of nearest neighbours for the class; the share of the
    variance of the image's mean colour that is linear in the features; the share of energy that is colour in
    visualised features (*chroma*) and in the first kernels; *roughness* of the visualised features (0.75 for
    white noise); silhouette and purity of the classes in the t-SNE map; the cosine between features of clean
    and of attacked images; the share of the training after which the first kernels had gone half of their
    way; and the firing rate of each layer.
    """
    found = numbers(evaluations, config)
    return Table(found, for_reading(found))


def numbers(evaluations: pd.DataFrame, images: Mapping[str, Any]) -> pd.DataFrame:
    """What every figure compares, and the random start beside it; columns of :data:`COLUMNS`.

    Parameters
    ----------
    evaluations
        Columns data_set, encoder, arm, quantity, layer, replicate, value.
    images
        The section ``contrastive.images``. ``panel`` counts its data sets from 1, as figures do.
    """
    parts = []
    for panel, name in enumerate(ordered(images), 1):
        own = evaluations[evaluations["data_set"] == name]
        for figure, arms in FIGURE_ARMS.items():
            encoder = encoder_of(images[name], figure)
            seen = own[own["encoder"] == encoder]
            for arm in (*arms, START):
                found = summary(seen[seen["arm"] == arm], ["arm", "quantity", "layer"])
                parts.append(
                    found.assign(data_set=name, panel=panel, figure=figure, encoder=encoder)
                )
    return pd.concat(parts, ignore_index=True)[COLUMNS]


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
            # the convolution and the norm of a layer are two names of its place
            row[f"fires in {rate['layer'].removesuffix('.conv').removesuffix('.norm')}"] = _cell(
                rate
            )
        rows.append(row)
    return pd.DataFrame(rows).fillna("-")


def _cell(row: pd.Series) -> str:
    return plus_minus(row["mean"], row["half_width"])
