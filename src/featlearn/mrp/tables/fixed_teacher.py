"""What students of a fixed teacher inherit."""

from __future__ import annotations

import pandas as pd

from featlearn.core.publish import Table, table
from featlearn.core.stats import readable, summary


@table()
def fixed_teacher(evaluation: pd.DataFrame) -> Table:
    """Students of a fixed teacher

    The paper discusses BEiT as teacher-student learning whose teacher is fixed, without an experiment.
    Here the teacher is the MAE encoder of the clean data, which holds every feature, times the teacher
    factor; the student starts from random kernels, and each must match the teacher kernel of the same
    index. *What to see:* nothing runs away, as the target does not grow with the student, but not every
    feature is inherited: a student kernel that starts on the wrong side of its teacher's
    feature gets no gradient. The student captures
    {{ value("fixed-teacher", "mean", model="student", quantity="captured") | percent }} of the features; of those with a
    positive start {{ value("fixed-teacher", "mean", model="student", quantity="inherited_if_positive") | percent }} are inherited.
    """
    means = summary(evaluation, ["model", "quantity"])
    return Table(means, readable(means, "value"))
