"""More atoms."""

from __future__ import annotations

import pandas as pd

from featlearn.contrastive.tables.shared import PROBE_HEADS, TRAIN_HEADS, labelled, with_baselines
from featlearn.core.publish import Table, table
from featlearn.core.stats import side_by_side, summary

HEADS = {
    **PROBE_HEADS,
    **TRAIN_HEADS,
    "covered": "atoms covered",
    "stage_two": "η (T2 - T1)",
    "firing": "firing rate",
}
#: What is trained at each size, in words.
MODELS = {"masked": "RandomMask", "unmasked": "no mask"}


@table()
def scaling(sizes: pd.DataFrame) -> Table:
    """More atoms"""
    found = summary(sizes, ["atoms", "model", "quantity"])
    ends = {int(found["atoms"].min()): "least", int(found["atoms"].max()): "most"}
    found = found.assign(place=[ends.get(int(atoms), "between") for atoms in found["atoms"]])
    own = labelled(found, "model", MODELS)
    wide = side_by_side(own, ["atoms", "label"], "quantity", HEADS)
    exact = found.assign(model=found["atoms"].astype(str) + "/" + found["model"])
    return Table(found, with_baselines(wide, exact, [f"{atoms}/" for atoms in wide["atoms"]]))
