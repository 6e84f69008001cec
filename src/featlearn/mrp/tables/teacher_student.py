"""What each model of the teacher-student experiment holds, and its accuracies."""

from __future__ import annotations

import pandas as pd

from featlearn.core.publish import Table, table
from featlearn.core.stats import readable, summary


@table()
def teacher_student(evaluation: pd.DataFrame) -> Table:
    """Teacher-student pre-training, stopped at capture

    Means over replicates. *pretrained*: kernels at the step that captured the last feature. *finetuned*:
    then fine-tuned. *supervised*: from the same initial kernels, as trained (fixed blocks); *supervised_head*:
    with a new head. *random*: those initial kernels, *raw_linear*: a linear classifier on the summed patches.
    All new heads are trained to their optimum. So near the threshold, and without noise to speak of, what
    learns nothing is about as good: this start shows the kernels, not their use. `winners` hold a
    feature, `impure` ones more than one (`sibling`: of the same class, `cross`: of different classes);
    `winner_in_set` is the share of features whose winner was in its lottery set at the start
    (`narrow`: C_M = 0.25, `wide`: C_M = 1).
    """
    found = summary(evaluation, ["model", "quantity"])
    return Table(found, readable(found, "value"))
