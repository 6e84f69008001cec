"""What an encoder brings to new classes and to detection."""

from __future__ import annotations

import pandas as pd

from featlearn.core.publish import Table, table
from featlearn.core.stats import side_by_side
from featlearn.mrp.tables.images_comparison import HEADS, means

#: Sets of new classes, by the dial that makes them.
TASKS = {
    "mixed": "new classes, old parts",
    "half_new": "new classes, one old part",
    "new": "new classes, new parts",
}
#: Quantities that are shown, with their column heads.
SHOWN = {name: HEADS[name] for name in ("multi_view", "single_view")}
SHOWN |= {"ap50": "AP50", "ap75": "AP75"}


def task_name(classes: str) -> str:
    """A set of new classes in words."""
    return TASKS.get(classes, classes)


def transfer_table(transfer: pd.DataFrame, detection: pd.DataFrame) -> pd.DataFrame:
    """New classes and detection; columns task, method, quantity and those of :func:`means`."""
    parts = [
        transfer.assign(task=transfer["classes"].map(task_name)),
        detection.assign(task="detection"),
    ]
    return means(pd.concat(parts, ignore_index=True), ["task", "method", "quantity"])


@table()
def images_transfer(transfer: pd.DataFrame, detection: pd.DataFrame) -> Table:
    """What an encoder brings to new classes and to detection"""
    found = transfer_table(transfer, detection)
    trained = "encoder was trained"
    shown = found.rename(columns={"method": trained})
    return Table(found, side_by_side(shown, ["task", trained], "quantity", SHOWN))
