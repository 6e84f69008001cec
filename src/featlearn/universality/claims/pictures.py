"""What pictures must show. Bands are from the sheet's directions; a pilot on other streams (two
replicates, 16 epochs) had the target fall by .1 to .15 at 20 to 100 labels, .06 with all.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from featlearn.core.claims import CONTROL, OBSERVATION, THEOREM, Claim, Measure, needs

_REACH = needs(pictures__replicates=5, pictures__training__epochs=12)
_PAIRED = (-1.0, 1.0)


def _values(frame: pd.DataFrame, **where: Any) -> np.ndarray:
    own = frame[frame["quantity"] == "test"]
    for key, wanted in where.items():
        own = own[own[key] == wanted]
    return own.sort_values("replicate")["value"].to_numpy()


def claims(config: Mapping[str, Any]) -> tuple[Claim, ...]:
    """Differences of test accuracies, replicate by replicate, of this config's sets."""
    own = config.get("pictures", config)
    ladder, first = own["ladder"], next(iter(own["methods"]))
    target, last = ladder[0], f"rung-{len(ladder)}"
    few = sorted(own["labels"])[min(2, len(own["labels"]) - 1)]
    least, middle = min(own["finetuning"]["shares"]), sorted(own["finetuning"]["shares"])[-2]
    measured = f"universality/measurements/pictures/{first}.parquet"
    labelled = "universality/measurements/pictures/with-labels.parquet"

    def average(frames: Mapping[str, pd.DataFrame], model: str) -> np.ndarray:
        frame = frames["values"]
        frame = frame[(frame["method"] == first) & (frame["model"] == model)]
        frame = frame[(frame["quantity"] == "test")]
        frame = frame[frame["labels"] == frame.groupby("set")["labels"].transform("max")]
        return frame.groupby("replicate")["value"].mean().to_numpy()

    def target_at(model: str, labels: int) -> Measure:
        return lambda f: _values(f["values"], method=first, model=model, set=target, labels=labels)

    def minus(one: Measure, other: Measure) -> Measure:
        return lambda frames: one(frames) - other(frames)

    def at(arm: str, model: str, share: float) -> Measure:
        def read(frames: Mapping[str, pd.DataFrame]) -> np.ndarray:
            frame = frames["tuned"]
            frame = frame[(frame["arm"] == arm) & (frame["set"] == target)]
            known = np.sort(tuned_sizes(frames["tuned"]))
            count = known[np.searchsorted(np.sort(own["finetuning"]["shares"]), share)]
            return _values(frame, model=model, labels=count)

        return read

    def tuned_sizes(frame: pd.DataFrame) -> np.ndarray:
        return frame.loc[frame["arm"] == "ours", "labels"].unique()

    return (
        Claim(
            "universality/pictures-target-falls", THEOREM, "Figure 7.1, Table F.5",
            f"The target's accuracy with {few} labels falls as sets are added to the pre-training.",
            "test accuracy after the last rung minus after the first", -1.0, 0.0,
            "The sign that the thesis reports; the size depends on the sets.",
            minus(target_at(last, few), target_at("rung-1", few)),
            artefact=measured, out_of_reach=_REACH, possible=_PAIRED,
        ),
        Claim(
            "universality/pictures-average-rises", THEOREM, "Figure 7.1",
            "The average over the sets rises as sets are added to the pre-training.",
            "unweighted mean of test accuracies, all labels: last rung minus first", 0.0, 1.0,
            "The sign that the thesis reports.",
            lambda f: average(f, last) - average(f, "rung-1"),
            artefact=measured, out_of_reach=_REACH, possible=_PAIRED,
        ),
        Claim(
            "universality/pictures-learned", CONTROL, "section 7.4",
            f"Pre-training on the target beats the random start with {few} labels.",
            "test accuracy of the probe after the first rung minus at the random start", 0.02, 1.0,
            "Else nothing was learned that could be lost; a pilot had .2.",
            minus(target_at("rung-1", few),
                  lambda f: _values(f["values"], arm="random", set=target, labels=few)),
            artefact=measured, out_of_reach=_REACH, possible=_PAIRED,
        ),
        Claim(
            "universality/pictures-ours-above-ft", THEOREM, "Table F.5",
            "With few labels the contrastive loss helps fine-tuning.",
            f"test accuracy of Ours minus FT at a share {middle:g} of the labels, last rung", 0.0, 1.0,  # noqa: E501
            "Ours is above FT in 19 of the 20 cells of Table F.5.",
            minus(at("ours", last, middle), at("finetuned", last, middle)),
            artefact=labelled, out_of_reach=_REACH, possible=_PAIRED,
        ),
        Claim(
            "universality/pictures-probe-first-with-few", THEOREM, "Table F.5",
            "With the fewest labels a probe beats fine-tuning.",
            f"test accuracy of LP minus FT at a share {least:g} of the labels, first rung", 0.0, 1.0,  # noqa: E501
            "80.63 against 68.74 at 1 % in Table F.5.",
            minus(at("probe", "rung-1", least), at("finetuned", "rung-1", least)),
            artefact=labelled, out_of_reach=_REACH, possible=_PAIRED,
        ),
        Claim(
            "universality/pictures-continued", THEOREM, "Table F.9",
            "The contrastive loss on the target alone wins back what universality cost a probe.",
            "test accuracy, all labels, last rung: CR then LP minus LP", 0.0, 1.0,
            "82.43 against 75.64 in Table F.9.",
            minus(at("continued", last, max(own["finetuning"]["shares"])),
                  at("probe", last, max(own["finetuning"]["shares"]))),
            artefact=labelled, out_of_reach=_REACH, possible=_PAIRED,
        ),
        Claim(
            "universality/pictures-classes", OBSERVATION, "Figure F.5",
            f"With {few} labels the target falls as the classes beside it become more.",
            "test accuracy with the most classes minus that with the fewest", -1.0, 0.0,
            "The direction of Figure F.5, whose values are unreadable.",
            minus(target_at(f"classes-{max(own['classes'])}", few),
                  target_at(f"classes-{min(own['classes'])}", few)),
            artefact=measured, out_of_reach=_REACH, possible=_PAIRED,
        ),
    )  # fmt: skip
