"""Table 1 of the paper: its own numbers, and beside them what stands in for each here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from featlearn.core.evidence.frames import pick
from featlearn.core.evidence.paper_values import paper_table
from featlearn.core.evidence.stats import SPREAD_KIND, estimate, per_replicate, plus_minus
from featlearn.core.run.exhibits import Table, table
from featlearn.mrp.images.labels import AUGMENTED, PRETRAINED, SUPERVISED

#: Which measurement on part-composed pictures stands in for which of the paper's numbers:
#: words, the frame, and the rows that count.
STAND_INS = {
    "ImageNet classification": (
        ("multi-view pictures", "comparison", {"quantity": "multi_view"}),
        ("single-view pictures", "comparison", {"quantity": "single_view"}),
        ("the worse part alone, few labels", "gain", {"quantity": "worst_view"}),
    ),
    "VOC07+12 detection": (("scenes of objects", "detection", {"quantity": "ap75"}),),
    "VOC07 transfer": (
        ("new classes, multi-view", "transfer", {"quantity": "multi_view"}),
        ("new classes, single-view", "transfer", {"quantity": "single_view"}),
    ),
}
#: The paper's two models, as the frames call them in the column that they have for it; both have
#: had the labels of the old classes.
MODELS: Mapping[str, Mapping[str, Any]] = {
    "supervised": {"start": ["random-cnn", SUPERVISED, "random"], "method": "supervised"},
    "mask reconstruction": {"start": ["simmim", PRETRAINED, "pretrained"],
                            "method": "SimMIM, then labels"},
}  # fmt: skip


def table_1(
    paper_values: pd.DataFrame, frames: Mapping[str, pd.DataFrame],
    stand_ins: Mapping[str, Any] = STAND_INS,
) -> pd.DataFrame:  # fmt: skip
    """The paper's table, a row for each of its numbers and each measurement that stands in for it.

    ``paper_values``: columns task, metric, unit, model, paper_value, source. ``frames``: ``comparison`` (fine-tuned with
    the most labels is used), ``gain`` (augmented, after the longest pre-training), ``transfer`` (the first set of new
    classes) and ``detection``; others that ``stand_ins`` names, as they are. Further columns: measured_on, those of
    :func:`measured`, gain, gain_half_width: over the supervised model, paired; NaN for that itself.
    """
    comparison, transfer = frames["comparison"], frames["transfer"]
    trained = pick(frames["gain"], start=[SUPERVISED, PRETRAINED], augmentation=AUGMENTED)
    chosen = {
        **frames,
        "comparison": pick(comparison, labels=comparison["labels"].max(), evaluation="fine-tuned"),
        # supervised training as long as fine-tuning
        "gain": pick(trained, epochs=[0, trained["epochs"].max()], steps=trained["steps"].min()),
        "transfer": pick(transfer, classes=transfer["classes"].iloc[0]),
    }
    rows = []
    for row in paper_values.to_dict("records"):
        for words, name, where in stand_ins[row["task"]]:
            column = "start" if "start" in chosen[name] else "method"
            own, supervised = (
                100 * per_replicate(chosen[name], **{**where, column: MODELS[one][column]})
                for one in (row["model"], "supervised")
            )
            over = estimate(own - supervised)
            gain = {"gain": over.mean, "gain_half_width": over.half_width}
            rows.append(row | {"measured_on": words} | measured(own) | gain)
    found = pd.DataFrame(rows)
    found.loc[found["model"] == "supervised", ["gain", "gain_half_width"]] = np.nan
    return found


def measured(percent: np.ndarray) -> dict[str, float]:
    """Of replicates (R,), as columns: measured (their mean), low, high, half_width, replicates."""
    seen = estimate(percent)
    return {"measured": seen.mean, "low": seen.low, "high": seen.high,
            "half_width": seen.half_width, "replicates": seen.replicates}  # fmt: skip


def _wide(table: pd.DataFrame) -> pd.DataFrame:
    """The same for reading, in the paper's form: a column a model."""
    rows = []
    for (task, words), own in table.groupby(["task", "measured_on"], sort=False):
        seen = own.set_index("model")
        paper, better = seen["paper_value"], seen.loc["mask reconstruction"]
        row = {"task": task, "metric": better["metric"], "stand-in": words}
        for model in MODELS:
            row[f"{model}: paper_value"] = paper[model]
            row[f"{model}: measured"] = plus_minus(*seen.loc[model, ["measured", "half_width"]])
        row["gain: paper_value"] = round(paper["mask reconstruction"] - paper["supervised"], 1)
        sign = "+" if better["gain"] > 0 else ""
        over = seen.loc["mask reconstruction", ["gain", "gain_half_width"]]
        row["gain: measured"] = sign + plus_minus(*over)
        rows.append(row)
    return pd.DataFrame(rows)


@table("table-1", version="later version")
@table("table-1-first-version", version="first version")
def beside_the_paper(
    paper_values: dict[str, Any], comparison: pd.DataFrame, gain: pd.DataFrame,
    transfer: pd.DataFrame, detection: pd.DataFrame, version: str,
) -> Table:  # fmt: skip
    """Table 1, {{ version }}

    *What to see:* signs only, as sizes cannot be compared; the paper reports one run each.

    `paper_value` is a ResNet-50 on ImageNet. Beside it is a stand-in measured on part-composed pictures, in the same
    unit, with the same labels for both encoders; gains are paired over replicates.
    """
    names = {"later version": "table-1", "first version": "table-1-first-version"}
    frames = {"comparison": comparison, "gain": gain, "transfer": transfer, "detection": detection}
    return beside(paper_values, names[version], frames)


def beside(
    paper_values: Mapping[str, Any], name: str, frames: Mapping[str, pd.DataFrame],
    stand_ins: Mapping[str, Any] = STAND_INS,
) -> Table:  # fmt: skip
    """A table of the paper; ``frames`` and ``stand_ins`` as in :func:`table_1`."""
    rows, about = paper_table(paper_values, name)
    found = table_1(rows, frames, stand_ins)
    notes = (
        f"paper_value: quoted from {about['source']}. measured: by this run, in %, on "
        "pictures (part-composed ones if they are no set's) and with networks that stand in for the "
        "paper's; sizes cannot be compared. "
        f"{int(found['replicates'].max())} replicates; after the sign: {SPREAD_KIND}."
    )
    return Table(found, _wide(found), notes)
