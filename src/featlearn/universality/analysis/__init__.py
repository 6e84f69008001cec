"""Figures, tables and claims of this paper, a module an experiment. Imports no torch.

Here is what ladders of vectors, of pictures and of residual networks share.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from matplotlib.transforms import offset_copy

from featlearn.core.drawing.intervals import FEW as FEW_REPLICATES
from featlearn.core.drawing.intervals import Look
from featlearn.core.drawing.plots import COLOURS, PALETTE
from featlearn.core.evidence.claim_methods import Claims
from featlearn.core.evidence.claims import REFUTES_NOTHING, OutOfReach, first_of
from featlearn.core.evidence.frames import pick
from featlearn.universality.words import RANDOM, RAW, UNTRAINED

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NAMES = {"simclr": "SimCLR", "moco": "MoCo", "nnclr": "NNCLR", "simsiam": "SimSiam"}
#: From few labels to many: not a map of colours, whose light end is no line on white.
SHARES = [COLOURS[name] for name in ("ink", "purple", "blue", "green", "orange", "red")]
LOOKS = {"average": Look("average over the sets", COLOURS["red"]),
         "target": Look("target", COLOURS["blue"], "s"),
         RAW: Look("target, raw pixels", PALETTE["raw input"], "D"),
         RANDOM: Look("target, random features", PALETTE["random features"], "^")}  # fmt: skip
BY = ["world", "arm", "mixture", "replicate"]
#: Shares of the labels, in per cent, of which a merged claim takes the worse.
FEW, ALL = 5, 100
#: Of claims on vectors, after which result they were changed.
TWENTY = (
    "Twenty replicates and fresh streams, after desk with five left 10 of 26 claims undecided; "
    "band kept. Then ten on vectors with 300 spurious features, where four showed falls of .2."
)
#: The same of claims that a stand-in does not refute.
NOTHING = f"{TWENTY} {REFUTES_NOTHING}"
#: The same of claims on pictures.
EPOCHS = " Of as many epochs, too, after published runs of as many steps, which show the target less often."
#: Whose words several claims on Figures 7.1 and 7.3 quote.
AVERAGE_INCREASES = "“the average test accuracy on all pre-training datasets increases”"
TARGET_DECREASES = "“the test accuracy on the specific target task decreases”"


def dots(
    ax: Axes, frame: pd.DataFrame, x: str, hue: str, looks: Mapping[str, Look], apart: float = 1.0
) -> None:
    """A dot a replicate beside the whiskers of ``statistical.lines``, where they are few."""
    if frame["replicate"].nunique() > FEW_REPLICATES:
        return
    beside = offset_copy(ax.transData, ax.get_figure(root=True), x=4, units="points")
    for place, (key, look) in enumerate(looks.items()):
        own = frame[frame[hue] == key]
        ax.plot(own[x] * apart ** (place - (len(looks) - 1) / 2), own["value"], ".", markersize=5,
                color=look.colour, alpha=0.6, markeredgewidth=0, transform=beside)  # fmt: skip


def climbed(pictures: pd.DataFrame, arm: str, rivals: Sequence[str]) -> pd.DataFrame:
    """``average``, ``target`` and, on the target, what learns nothing, by mixture and share."""
    own = pick(pictures, arm=arm)
    by = ["mixture", "percent", "replicate"]
    curves = [own.groupby(by, as_index=False)["value"].mean().assign(curve="average"),
              pick(own, task=0).assign(curve="target")]  # fmt: skip
    beside = pictures[pictures["arm"].isin(rivals) & (pictures["task"] == 0)]
    curves += [beside.assign(curve=beside["arm"], mixture=one) for one in own["mixture"].unique()]
    return pd.concat(curves, ignore_index=True)


def curves(accuracies: pd.DataFrame, config: Mapping[str, Any], percent: float) -> pd.DataFrame:
    """Columns world, arm, mixture, replicate, curve, value, at a share of the labels.

    Curves are ``target``, ``average`` over a task of each rung, and ``weighted``, the average in
    which a set counts by its classes, as in the thesis.
    """
    labels = round(config["samples"]["train"] * percent / 100)
    own = accuracies[accuracies["labels"] == labels]
    average = own.groupby(BY, sort=False, as_index=False)["value"].mean().assign(curve="average")
    classes = config["class_weights"]
    weights = pd.Series(classes, [mixture - 1 for mixture in config["mixtures"]]) / sum(classes)
    weighted = own.assign(value=own["value"] * own["task"].map(weights))
    weighted = weighted.groupby(BY, sort=False, as_index=False)["value"].sum()
    target = own.loc[own["task"] == 0, [*BY, "value"]].assign(curve="target")
    return pd.concat([average, weighted.assign(curve="weighted"), target], ignore_index=True)


def stand_in(sizes: OutOfReach) -> OutOfReach:
    """Out of reach below ``sizes``, and on all data that stand in for pictures of the thesis."""
    return first_of(sizes, lambda _: "a stand-in; the paper prints this of its data.")


class Pictures(Claims):
    """Readings of the frame ``pictures``."""

    def mean(self, arm: str, mixture: int, tasks: int, percent: int) -> np.ndarray:
        """Accuracy on the first ``tasks`` sets, a number a replicate."""
        own = pick(self.pictures, arm=arm, mixture=mixture, percent=percent)
        return np.asarray(own[own["task"] < tasks].groupby("replicate")["value"].mean())

    def change(self, *, every: bool, percent: int = ALL) -> np.ndarray:
        """Accuracy after all sets less that after the target, on average or on the target; of as many
        steps and as many epochs the worse."""
        last = int(self.pictures["mixture"].max())
        tasks = last if every else 1
        changes = (self.mean(arm, last, tasks, percent) - self.mean(arm, 1, tasks, percent)
                   for arm in ("moco", "moco grown"))  # fmt: skip
        return (np.minimum if every else np.maximum)(*changes)

    def lead(self, percent: int) -> np.ndarray:
        """Accuracy on the target, pre-trained on it, less the best of what learns nothing."""
        rivals = [self.mean(arm, 0, 1, percent) for arm in (RAW, RANDOM, UNTRAINED)]
        return self.mean("moco", 1, 1, percent) - np.max(rivals, axis=0)
