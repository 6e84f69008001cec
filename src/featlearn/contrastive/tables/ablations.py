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
    "no-growth": "thresholds only follow the norm",
    "faster-growth": "faster growth of thresholds",
    "fast-growth": "still faster growth",
    "printed-schedule": "growth as printed",
    "theory-decay": "weight decay of the theory",
    "strong-decay": "twice that weight decay",
    "early-t1": "stage I ends early",
    "higher-thresholds": "higher thresholds",
    "more-activity": "more active atoms",
    "more-noise": "more noise",
    "more-noise-no-mask": "more noise, no mask",
    "few-neurons": "width of the paper",
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
