"""The margins of trained networks, by penalty, width and decay."""

from __future__ import annotations

import pandas as pd

from featlearn.core.publish import Config, Table, table
from featlearn.core.stats import side_by_side
from featlearn.fourier.tables.circuits import ends, notes
from featlearn.fourier.words import QUANTITIES, task_of


@table()
def margins(curves: pd.DataFrame, config: Config) -> Table:
    """Margins and circuits after training, by penalty, width and weight decay"""
    names = ["cell", "width", "penalty", "decay"]
    means = ends(curves, [*names, "arm"]).sort_values(names, kind="stable", ignore_index=True)
    named = means.assign(task=[task_of(config, cell) for cell in means["cell"]]).rename(
        columns={"width": "neurons"}
    )
    index = ["task", "neurons", "penalty", "decay"]
    return Table(means, side_by_side(named, index, "quantity", QUANTITIES), notes(means))
