"""Table 1 with accuracies on CIFAR-10 in place of those on part-composed pictures."""

from __future__ import annotations

from typing import Any

import pandas as pd

from featlearn.core.frames import pick
from featlearn.core.publish import Table, table
from featlearn.mrp.analysis.table_1 import STAND_INS, beside

#: From scratch for as many steps as pre-training and fine-tuning have together.
SETS = {"random": "cifar10-longer", "pretrained": "cifar10"}


@table("table-1", which="table-1")
@table("table-1-first-version", which="table-1-first-version")
def with_cifar10(
    paper_values: dict[str, Any],
    comparison: pd.DataFrame,
    gain: pd.DataFrame,
    transfer: pd.DataFrame,
    detection: pd.DataFrame,
    evaluations: pd.DataFrame,
    which: str,
) -> Table:
    """Table 1 on CIFAR-10 ({{ which }})

    *What to see:* signs only. Accuracy of a small residual network on a hold-out of CIFAR-10, by labels: from scratch,
    and after SimMIM, for the same steps in all. `paper_value` is a ResNet-50 on ImageNet and VOC, one run each. Transfer
    and detection remain on part-composed pictures.
    """
    parts = [
        pick(evaluations, data_set=name, start=start, evaluation="fine-tuned")
        for start, name in SETS.items()
    ]
    real = pd.concat(parts)
    labelled = [
        (f"CIFAR-10, {labels:,} labels", "real", {"labels": int(labels)})
        for labels in sorted(real["labels"].unique(), reverse=True)
    ]
    frames = {"comparison": comparison, "gain": gain, "transfer": transfer, "detection": detection,
              "real": real}  # fmt: skip
    return beside(paper_values, which, frames, {**STAND_INS, "ImageNet classification": labelled})
