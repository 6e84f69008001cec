"""Encoders and data sets by the names that tables of the thesis print. No torch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

#: Its features, and what always says the class that is most frequent among the labelled samples.
ENCODER, CHANCE = "encoder", "chance"


class Printed(NamedTuple):
    """A table of the thesis of probes on encoders, by the names that a config gives them."""

    #: Name of its printed rows in ``config/paper_values/universality.yaml``.
    key: str
    #: Column of each encoder.
    columns: Mapping[str, str]
    #: Row of each data set and number of labels; :data:`ALL` for all.
    rows: Mapping[tuple[str, int], str]


ALL = 0
_UNICL = {f"UniCL on {one}": one for one in ("ImageNet", "ImageNet+GCC-15M")}
_FEW = {("ImageNet", 2000): "ImageNet (2k labels)",
        ("ImageNet22k", 44000): "ImageNet22k (44k labels)"}  # fmt: skip
_EVERY = {(one, ALL): f"{one} (all) [F.4 only]" for one in ("ImageNet", "ImageNet22k")}


def _subset(one: str) -> tuple[Printed, Printed]:
    """Tables F.2 and F.10, or F.3 and F.11: a part of ImageNet as the target."""
    target, vit = f"ImageNet-{one}", "MoCo v3 ViT-S on"
    counts = {1000: "1k", 2000: "2k", 4000: "4k", 8000: "8k"}
    counts[500] = "500 labels" if one == "Bird" else "500"
    return (
        Printed("table-f-2" if one == "Bird" else "table-f-3",
                {f"{vit} {own}": own for own in (target, "ImageNet", "10 % ImageNet")},
                {(target, number): f"{one}, {word}" for number, word in counts.items()}
                | {("ImageNet", ALL): "ImageNet, all"}),
        Printed(
            "table-f-10-f-11",
            {f"{vit} {target}": "specific", f"{vit} ImageNet": "ImageNet",
             f"{vit} ImageNet, then on {target}": "ImageNet then CR on the target set"},
            {(target, 1000): target},
        ),
    )  # fmt: skip


#: Tables of the thesis that are probes on encoders at fixed numbers of labels.
PROBED = {"table-f-1": Printed("table-f-1-f-4", _UNICL, _FEW),
          "table-f-4": Printed("table-f-1-f-4", _UNICL, _FEW | _EVERY),
          **dict(zip(("table-f-2", "table-f-10"), _subset("Bird"), strict=True)),
          **dict(zip(("table-f-3", "table-f-11"), _subset("Vehicle"), strict=True))}  # fmt: skip
#: Tables of adapters: the encoder and the data sets of each. SimCSE is tuned as a whole there.
ADAPTED = {
    "table-f-6": ("CLIP", ("ImageNet", "SVHN", "GTSRB")),
    "table-f-7": ("MoCo v3", ("CIFAR-10", "SVHN", "GTSRB")),
    "table-f-8": ("SimCSE", ("IMDB", "AGNews")),
}
#: Augmented copies of Tables F.6 and F.7.
COPIES = (1, 10, 100)


def named(model: str, target: str) -> bool:
    """Whether Tables F.6 to F.8 print this encoder on this data set."""
    return any(model == own and target in targets for own, targets in ADAPTED.values())
