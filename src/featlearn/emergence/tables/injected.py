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
    "random": "head on the start's features",
    "majority": "majority",
    "teacher": "the teacher, by own labels",
}
PARTS = {
    "train": "train", "original": "new pictures", "injected": "new injected", "whole": "whole"
}  # fmt: skip


@table()
def student_accuracies(values: pd.DataFrame) -> Table:
    """How well students agree with the teacher

    Accuracy after the last step, by the teacher's labels unless told otherwise, on new pictures, new
    injected inputs, and their mixture. Linear classifiers and heads on the features of the student's
    start are converged, on the mixture, with penalties chosen on its validation part. *What to see:* pictures before
    noise, by at least a fifth: {{ verdict("emergence/noise-is-learned-worse") }}. Heads on what is not trained say how much
    of that is a matter of features at all.
    """
    values = values.rename(columns={"cell": "mixture"})
    last = values.groupby("pictures")["step"].transform("max")
    ends = values[(values["step"] == -1) | (values["step"] == last)]
    means = summary(ends, ["pictures", "mixture", "arm", "part"])
    order = {arm: place for place, arm in enumerate(ARMS)}
    means = means.sort_values(["pictures", "mixture", "arm"], key=lambda c: c.map(order).fillna(0)
                              if c.name == "arm" else c, kind="stable", ignore_index=True)  # fmt: skip
    shown = side_by_side(means, ["pictures", "mixture", "arm"], "part", PARTS)
    shown["arm"] = shown["arm"].map(ARMS)
    return Table(means, shown)


@table()
def teacher_sizes(curves: pd.DataFrame) -> Table:
    """Sizes with the least test loss left of the peak, of teachers and of their students

    Of each replicate the size of the minimum of the classical part of its curve, and over all sizes;
    means over replicates. `interior`: the share of replicates whose curve falls before that minimum
    and rises behind it; without, no U-shape was found. That the classical minimum moves right with the teacher:
    {{ verdict("emergence/minimum-moves-with-the-teacher") }}.
    """
    losses = rows(curves, quantity="test_loss")
    found = []
    keys = ["pictures", "curve", "teacher"]
    for (*named, r), own in losses.groupby([*keys, "replicate"], sort=False):
        by_size = own.sort_values("size")
        place, interior = classical_minimum(by_size["value"].tolist())
        best = int(by_size["value"].to_numpy().argmin())
        sizes = by_size["size"].tolist()
        for quantity, value in (("classical", sizes[place]), ("least", sizes[best]),
                                ("interior", interior)):  # fmt: skip
            found.append((*named, quantity, r, float(value)))
    frame = pd.DataFrame(found, columns=[*keys, "quantity", "replicate", "value"])
    means = summary(frame, [*keys, "quantity"])
    heads = {
        "classical": "size at the classical minimum",
        "least": "size of the least loss",
        "interior": "interior",
    }
    return Table(means, side_by_side(means, keys, "quantity", heads))
