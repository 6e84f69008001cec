"""What an encoder brings to new classes and to detection, drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from featlearn.core.plots import PALETTE, canvas
from featlearn.core.publish import figure
from featlearn.core.statistical import Look, bars, share_interval
from featlearn.mrp.tables.images_comparison import HEADS
from featlearn.mrp.tables.images_transfer import task_name

if TYPE_CHECKING:
    from matplotlib.figure import Figure

METHOD_COLOURS = {
    "from scratch": PALETTE["untrained"],
    "supervised": PALETTE["supervised"],
    "SimMIM": PALETTE["mask reconstruction, frozen"],
    "SimMIM, then labels": PALETTE["mask reconstruction"],
}

PRECISIONS = {"ap50": "AP50", "ap75": "AP75"}


@figure()
def images_transfer(transfer: pd.DataFrame, detection: pd.DataFrame) -> Figure:
    """What an encoder brings to new classes and to detection

    Left: fine-tuned with few labels to classes that are made of parts of the old ones. Right, on an axis of
    its own: average precision of Faster R-CNN on the same encoder, at overlaps of 0.5 and 0.75. Means with
    95 % intervals, dots are replicates. The encoder had a random start, was trained on the old classes with
    all labels, by SimMIM without any, or by SimMIM and then with all labels. These are the tasks of the
    second and third column of the paper's Table 1, which says that the dark blue group, which had the same
    labels, lies above the orange one. *What to see:* the differences of these two, in brackets:
    {{ said("mrp/images-transfer", holds="dark blue lies above orange where all parts of a new class are shown",
            fails="dark blue does not lie above orange where all parts of a new class are shown") }};
    {{ said("mrp/images-transfer-single-view", holds="it does where one part is shown",
            fails="it does not where one part is shown") }};
    {{ said("mrp/images-detection-ap75", holds="it does in detection (AP75)",
            fails="it does not in detection (AP75)") }}. Where a random start is nearly as high as the
    others, the detector is still at its floor and compares no encoders.
    """
    sets = list(dict.fromkeys(transfer["classes"]))
    transfer = transfer.assign(task=transfer["classes"] + "/" + transfer["quantity"])
    groups = {
        f"{one}/{quantity}": f"{task_name(one)}\n{HEADS[quantity]}".replace(", ", ",\n")
        for one in sets
        for quantity in ("multi_view", "single_view")
    }
    looks = {method: Look(method, colour) for method, colour in METHOD_COLOURS.items()}
    drawn = canvas(8.2, 3.3)
    left, right = drawn.subplots(1, 2, width_ratios=[len(sets) * 2, 2])
    bars(left, transfer, "task", "method", groups=groups, looks=looks,
         errorbar=share_interval)  # fmt: skip
    left.set(title="Fine-tuned to other classes", ylabel="accuracy", ylim=(0, 1.05))
    bars(right, detection, "quantity", "method", groups=PRECISIONS, looks=looks,
         errorbar=share_interval)  # fmt: skip
    right.set(title="Detection in scenes", ylabel="average precision")
    right.set_ylim(0, None)
    handles, labels = left.get_legend_handles_labels()
    drawn.legend(handles, labels, loc="outside lower center", ncols=4, title="encoder before")
    return drawn
