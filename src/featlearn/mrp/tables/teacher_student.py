"""What each model of the teacher-student experiment holds, and its accuracies."""

from __future__ import annotations

import pandas as pd

from featlearn.core.publish import Table, table
from featlearn.core.stats import readable, summary


@table()
def teacher_student(evaluation: pd.DataFrame) -> Table:
    """Teacher-student pre-training, stopped at capture

    Means over replicates. *pretrained*: kernels at the step that captured the last feature. *finetuned*:
    with a new head. *supervised*: from the same initial kernels. `winners` hold a
    feature, `impure` ones more than one (`sibling`: of the same class, `cross`: of different classes);
    `winner_in_set` is the share of features whose winner was in its lottery set at the start
    (`narrow`: C_M = 0.25, `wide`: C_M = 1).
    """
    found = summary(evaluation, ["model", "quantity"])
    return Table(found, readable(found, "value"))
