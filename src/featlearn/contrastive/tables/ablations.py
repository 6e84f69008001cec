"""One change at a time."""

from __future__ import annotations

import pandas as pd

from featlearn.contrastive.tables.shared import PROBE_HEADS, TRAIN_HEADS, labelled, with_baselines
from featlearn.core.publish import Table, table
from featlearn.core.stats import side_by_side, summary

#: Arms, in words.
ARMS = {
    "reference": "reference",
    "no-mask": "no mask",
    "independent-masks": "independent masks",
    "zero-thresholds": "thresholds at zero",
    "masked-negatives": "negatives masked too",
    "no-growth": "kb = 0",
    "faster-growth": "kb = 0.15",
    "fast-growth": "kb = 0.3",
    "printed-schedule": "kb = 1, as printed",
    "theory-decay": "λ = d^-1.499",
    "strong-decay": "λ = 2 d^-1.499",
    "early-t1": "T1 at ‖w‖² doubled",
    "higher-thresholds": "b0 = 1.3",
    "more-activity": "C_z = 2",
    "more-noise": "c_ξ = 3",
    "more-noise-no-mask": "c_ξ = 3, no mask",
    "few-neurons": "m = d^1.01",
    "qr": "dictionary: random frame",
    "spiky": "dictionary: spikes",
    "printed-gradient": "printed gradient",
}
HEADS = {
    **PROBE_HEADS,
    **TRAIN_HEADS,
    "covered": "atoms covered",
    "singletons": "singletons",
    "alive": "neurons alive",
    "signal_share": "share in span(M)",
}


@table()
def ablations(evaluation: pd.DataFrame) -> Table:
    """One change at a time"""
    found = summary(evaluation, ["model", "quantity"])
    own = labelled(found, "model", ARMS)
    wide = side_by_side(own, ["label"], "quantity", HEADS)
    return Table(found, with_baselines(wide, found, [f"{arm}/" for arm in own["model"].unique()]))
