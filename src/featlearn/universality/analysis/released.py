"""Released networks for CIFAR-10 beside one that was trained here."""

from __future__ import annotations

import pandas as pd

from featlearn.core.evidence.stats import fixed
from featlearn.core.run.exhibits import Table, table


@table("released")
def released(scores: pd.DataFrame, alike: pd.DataFrame) -> Table:
    """Released ResNets for CIFAR-10 read into this library

    *What to see:* as released they are right on nearly all of the hold-out, as they were trained on it: files,
    shortcuts, normalisation and pixels are read rightly. On CIFAR-10 none of their numbers is generalisation.

    ---

    Accuracy on test images as released, of a linear probe, and after training of the whole network here; then linear CKA
    of features on the hold-out. *From scratch* is a ResNet-8 with ten times the steps, which never saw the hold-out.
    """
    told = scores.assign(column=scores["target"] + ": " + scores["quantity"])
    both = pd.concat([told, alike.assign(column="CKA with " + alike["other"])], ignore_index=True)
    wide = both.pivot_table(index="network", columns="column", values="value", sort=False)
    shown = wide.map(lambda value: "-" if pd.isna(value) else fixed(value, 3))
    return Table(both, shown.rename_axis(columns=None).reset_index(), "One run each.")
