"""The cells of Figure 2, head x output norm x target, and their names. Imports no torch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

#: Of a moving average with momentum, and of the trained network itself; names stand in files.
AVERAGE, ITSELF = "ema", "self"
#: The data set that every scale has, which captions quote.
MAIN = "digits"
#: The encoder at its random start.
UNTRAINED = "untrained"
#: The long training of Figures 3 and 4, and its cell.
LONG, LONG_CELL = "long", "identity-batch-self"
#: The arms of Figure 5, with and without a prediction head.
WITH, WITHOUT = "with-head", "without-head"
ROBUST_TRAINED = (WITH, WITHOUT)
#: And the network that both start from.
ROBUST_ARMS = (*ROBUST_TRAINED, UNTRAINED)
#: Data sets that the paper's own figures and tables are made of; of others they are stand-ins.
_ALL = frozenset({"cifar10", "cifar100", "stl10"})
PAPER_SETS = {
    "fig-1": frozenset({"cifar10"}),
    **dict.fromkeys(("fig-2", "fig-3", "fig-4", "image-ranks", "image-heads"), _ALL),
}


@dataclass(frozen=True)
class Cell:
    """One bar of Figure 2."""

    head: str  #: ``none``, ``identity``, ``linear`` or ``mlp``
    norm: str  #: ``batch`` or ``l2``
    target: str  #: ``self`` or ``ema``

    @property
    def name(self) -> str:
        """E.g. ``identity-batch-self``."""
        return f"{self.head}-{self.norm}-{self.target}"


def cells(settings: Mapping[str, Any]) -> list[Cell]:
    """All cells of a data set, in the order of the figure."""
    return [
        Cell(head, norm, target)
        for norm in settings["norms"]
        for target in settings["targets"]
        for head in settings["heads"]
    ]


def runs(settings: Mapping[str, Any]) -> list[str]:
    """Names of all trainings of a data set; the long one last."""
    names = [cell.name for cell in cells(settings)]
    return names if settings["long"] is None else [*names, LONG]


def groups(settings: Mapping[str, Any]) -> dict[str, list[str]]:
    """Names of the trainings of a data set by the job that runs them: all heads side by side, on
    the same views, for each norm and target; the long one alone.
    """
    result: dict[str, list[str]] = {}
    for cell in cells(settings):
        result.setdefault(f"{cell.norm}-{cell.target}", []).append(cell.name)
    return result if settings["long"] is None else result | {LONG: [LONG]}


def without(settings: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    """What a training depends on: not on what tells which there are, nor on ``keys``."""
    left_out = {"replicates", "heads", "norms", "targets", *keys}
    return {key: value for key, value in settings.items() if key not in left_out}


def cell_of(run: str) -> Cell:
    """The cell that a training belongs to."""
    return Cell(*(LONG_CELL if run == LONG else run).split("-"))


def training_of(run: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The ``training`` group of a training: the long one differs by the keys of ``long``."""
    common = dict(settings["training"])
    if run != LONG:
        return common
    if "epochs" in settings["long"]:
        common.pop("steps", None)
    if "steps" in settings["long"]:
        common.pop("epochs", None)
    return common | settings["long"]


def trajectory(settings: Mapping[str, Any]) -> str:
    """The training that Figures 3 and 4 show."""
    return LONG_CELL if settings["long"] is None else LONG


def robust_cell(arm: str, robust: Mapping[str, Any]) -> Cell:
    """Head, norm and target of an arm of Figure 5, from the group ``robust`` of a data set."""
    head = robust["head"] if arm == WITH else "none"
    return Cell(head, robust["norm"], robust["target"])
