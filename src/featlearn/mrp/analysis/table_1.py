"""Table 1 of the paper: its own numbers, and beside them what stands in for each here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from featlearn.core.frames import pick
from featlearn.core.paper_values import paper_table
from featlearn.core.publish import Table, table
from featlearn.core.stats import SPREAD_KIND, estimate, plus_minus
from featlearn.mrp.images.labels import AUGMENTED, PRETRAINED, SUPERVISED

#: Which measurement on part-composed pictures stands in for which of the paper's numbers:
#: words, the frame, and what its rows are called there.
STAND_INS: dict[str, tuple[tuple[str, str, dict[str, str]], ...]] = {
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
#: The paper's two models, as the frames call them; both have had the labels of the old classes.
MODELS = {
    "supervised": {
        "comparison": "random-cnn",
        "gain": SUPERVISED,
        "transfer": "supervised",
        "detection": "supervised",
        "real": "random",
    },
    "mask reconstruction": {
        "comparison": "simmim",
        "gain": PRETRAINED,
        "transfer": "SimMIM, then labels",
        "detection": "SimMIM, then labels",
        "real": "pretrained",
    },
}


def table_1(
    paper_values: pd.DataFrame,
    frames: Mapping[str, pd.DataFrame],
    stand_ins: Mapping[str, Any] = STAND_INS,
) -> pd.DataFrame:
    """The paper's table with what this run measured in place of each number.

    ``paper_values``: columns task, metric, unit, model, paper_value, source. ``frames``: ``comparison``
    (fine-tuned with the most labels is used), ``gain`` (augmented, after the longest pre-training),
    ``transfer`` (the first set of new classes) and ``detection``; what else ``stand_ins`` names, as
    it is. Returns a DataFrame: one row a number of the paper and measurement that stands in
    for it: the columns of ``paper_values``, and measured_on, measured, low, high, half_width (in the
    paper's unit, %), replicates, gain, gain_half_width: over the supervised model, paired; NaN for
    that itself.
    """
    comparison, transfer, gain = frames["comparison"], frames["transfer"], frames["gain"]
    trained = pick(gain, start=[SUPERVISED, PRETRAINED], augmentation=AUGMENTED)
    chosen = {
        "comparison": pick(comparison, labels=comparison["labels"].max(), evaluation="fine-tuned"),
        # supervised training as long as fine-tuning
        "gain": pick(trained, epochs=[0, trained["epochs"].max()], steps=trained["steps"].min()),
        "transfer": pick(transfer, classes=transfer["classes"].iloc[0]),
        "detection": frames["detection"],
    }
    chosen = {**frames, **chosen}
    rows = []
    for row in paper_values.to_dict("records"):
        for words, name, where in stand_ins[row["task"]]:
            own = _values(chosen[name], name, row["model"], where)
            seen = estimate(100 * own.to_numpy())
            over = (np.nan, np.nan)
            if row["model"] != "supervised":
                paired = estimate(
                    100 * (own - _values(chosen[name], name, "supervised", where)).to_numpy()
                )
                over = (paired.mean, paired.half_width)
            rows.append(
                {
                    **row,
                    "measured_on": words,
                    "measured": seen.mean,
                    "low": seen.low,
                    "high": seen.high,
                    "half_width": seen.half_width,
                    "replicates": seen.replicates,
                    "gain": over[0],
                    "gain_half_width": over[1],
                }
            )
    return pd.DataFrame(rows)


def _values(
    frame: pd.DataFrame, name: str, model: str, where: Mapping[str, str]
) -> pd.Series[float]:
    """One number a replicate."""
    model_of = "start" if name in ("comparison", "gain", "real") else "method"
    own = pick(frame, **where, **{model_of: MODELS[model][name]})
    if own["replicate"].duplicated().any():
        raise KeyError(f"{name}: {model}, {dict(where)}: expected one row a replicate")
    return own.set_index("replicate")["value"].sort_index()


def _signed(value: float, half_width: float) -> str:
    return ("+" if value > 0 else "") + plus_minus(value, half_width)


def wide_table_1(table: pd.DataFrame) -> pd.DataFrame:
    """The same for reading, in the paper's form: a column a model."""
    rows = []
    for (task, words), own in table.groupby(["task", "measured_on"], sort=False):
        seen = own.set_index("model")
        row = {"task": task, "metric": seen["metric"].iloc[0], "stand-in": words}
        for model in MODELS:
            one = seen.loc[model].to_dict()
            row[f"{model}: paper_value"] = one["paper_value"]
            row[f"{model}: measured"] = plus_minus(one["measured"], one["half_width"])
        paper = seen["paper_value"].to_dict()
        gain = seen.loc["mask reconstruction"].to_dict()
        row["gain: paper_value"] = round(paper["mask reconstruction"] - paper["supervised"], 1)
        row["gain: measured"] = _signed(gain["gain"], gain["gain_half_width"])
        rows.append(row)
    return pd.DataFrame(rows)


def beside(
    paper_values: Mapping[str, Any], name: str, stand_ins: Mapping[str, Any] = STAND_INS,
    **frames: pd.DataFrame,
) -> Table:  # fmt: skip
    """A table of the paper; ``frames`` and ``stand_ins`` as in :func:`table_1`."""
    rows, about = paper_table(paper_values, name)
    found = table_1(rows, frames, stand_ins)
    return Table(
        found,
        wide_table_1(found),
        f"paper_value: quoted from {about['source']}. measured: by this run, in %, on "
        "pictures (part-composed ones if they are no set's) and with networks that stand in for the "
        "paper's; sizes cannot be compared. "
        f"{int(found['replicates'].max())} replicates; after the sign: {SPREAD_KIND}.",
    )


@table("table-1")
def later_version(
    paper_values: dict[str, Any],
    comparison: pd.DataFrame,
    gain: pd.DataFrame,
    transfer: pd.DataFrame,
    detection: pd.DataFrame,
) -> Table:
    """Table 1, later version

    *What to see:* signs only; sizes cannot be compared, and the paper reports one run each, without an interval.

    `paper_value` is a ResNet-50 on ImageNet and VOC. Beside it is a stand-in measured on part-composed pictures, in
    the same unit; gains are paired over replicates.

    ---

    Stand-ins: accuracy with the most labels, and with few labels on the part that each network recognises worse; AP75
    of Faster R-CNN on scenes of several objects; accuracy on new classes made of old parts. There both encoders had all
    labels of the old classes, one of them after SimMIM.
    """
    return beside(paper_values, "table-1", comparison=comparison, gain=gain, transfer=transfer,
                  detection=detection)  # fmt: skip


@table("table-1-first-version")
def first_version(
    paper_values: dict[str, Any],
    comparison: pd.DataFrame,
    gain: pd.DataFrame,
    transfer: pd.DataFrame,
    detection: pd.DataFrame,
) -> Table:
    """Table 1, first version

    The first version of the paper reports ImageNet only. `paper_value` is quoted; beside it is a stand-in that this
    run measured on part-composed pictures.
    """
    return beside(paper_values, "table-1-first-version", comparison=comparison, gain=gain,
                  transfer=transfer, detection=detection)  # fmt: skip
