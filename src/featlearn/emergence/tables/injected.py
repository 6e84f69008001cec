"""Accuracies of students, and where losses over sizes have their minima."""

from __future__ import annotations

import pandas as pd

from featlearn.core.publish import Table, table
from featlearn.core.stats import side_by_side, summary
from featlearn.emergence.reading import classical_minimum, rows

ARMS = {
    "mixture": "student of the mixture",
    "alone": "student of as many pictures",
    "fewer": "student of the mixture's pictures",
    "direct": "student of own labels, by these",
    "linear": "linear on the mixture",
    "random": "head on random units",
    "majority": "majority",
    "teacher": "the teacher, by own labels",
}
PARTS = {"train": "train", "original": "pictures", "injected": "injected", "whole": "whole"}


@table()
def student_accuracies(values: pd.DataFrame) -> Table:
    """How well students agree with the teacher

    Accuracy after the last step, by the teacher's labels unless told otherwise, on new pictures, new
    injected inputs, and their mixture. Linear classifiers and heads on random units of the student's
    number are converged, on the mixture, with penalties chosen on its validation part.
    """
    values = values.rename(columns={"cell": "mixture"})
    ends = values[values["step"].isin([-1, values["step"].max()])]
    means = summary(ends, ["mixture", "arm", "part"])
    order = {arm: place for place, arm in enumerate(ARMS)}
    means = means.sort_values(["mixture", "arm"], key=lambda c: c.map(order).fillna(0)
                              if c.name == "arm" else c, kind="stable", ignore_index=True)  # fmt: skip
    shown = side_by_side(means, ["mixture", "arm"], "part", PARTS)
    shown["arm"] = shown["arm"].map(ARMS)
    return Table(means, shown)


@table()
def teacher_sizes(curves: pd.DataFrame) -> Table:
    """Sizes with the least test loss left of the peak, of teachers and of their students

    Of each replicate the size of the minimum of the classical part of its curve, and over all sizes;
    means over replicates. `interior`: the share of replicates whose curve falls before that minimum
    and rises behind it; without, no U-shape was found.
    """
    losses = rows(curves, quantity="test_loss")
    found = []
    for (curve, teacher, r), own in losses.groupby(["curve", "teacher", "replicate"], sort=False):
        by_size = own.sort_values("size")
        place, interior = classical_minimum(by_size["value"].tolist())
        best = int(by_size["value"].to_numpy().argmin())
        sizes = by_size["size"].tolist()
        for quantity, value in (("classical", sizes[place]), ("least", sizes[best]),
                                ("interior", interior)):  # fmt: skip
            found.append((curve, teacher, quantity, r, float(value)))
    frame = pd.DataFrame(found, columns=["curve", "teacher", "quantity", "replicate", "value"])
    means = summary(frame, ["curve", "teacher", "quantity"])
    heads = {
        "classical": "size at the classical minimum",
        "least": "size of the least loss",
        "interior": "interior",
    }
    return Table(means, side_by_side(means, ["curve", "teacher"], "quantity", heads))
