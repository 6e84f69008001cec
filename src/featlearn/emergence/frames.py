"""How figures, tables and claims read the frames. No torch in here."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from featlearn.core.evidence.frames import pick
from featlearn.core.evidence.stats import plus_minus

#: Arms of the thesis' tables: which rows of the frame are the accuracies of each.
#: ``end``: at the last step; ``chosen``: at the step that is best on validation samples; ``head``:
#: of a converged head on frozen features; ``exact``: of the law itself.
ARMS = {
    "network": ("network", "end"), "ntk": ("ntk", "chosen"), "rf": ("rf", "head"),
    "rbf": ("rbf", "head"), "unweighted": ("unweighted", "end"), "one_step": ("one_step", "head"),
    "two_step": ("two_step", "head"), "rescaled": ("rescaled", "head"), "flat": ("network", "end"),
    "linear": ("linear", "head"), "threshold": ("threshold", "exact"),
    "majority": ("majority", "exact"), "flat_majority": ("majority", "exact"),
}  # fmt: skip
#: Those of inputs without structure.
FLAT = ("flat", "flat_majority")
#: Arms with neurons: whose cosines they are.
NEURONS = {
    "network": "network", "unweighted": "unweighted", "rf": "start", "one_step": "one_step",
    "two_step": "two_step", "flat": "network",
}  # fmt: skip


def accuracies(frame: pd.DataFrame, cell: str, arm: str, part: str) -> pd.Series:
    """Accuracy on ``part``, a replicate each; ``arm`` is one of :data:`ARMS`. ``balanced`` is the
    mean of both labels' accuracies on the test samples."""
    name, how = ARMS[arm]
    own = pick(frame, cell=cell, structured=arm not in FLAT, arm=name)
    if how in ("head", "exact"):
        return by_replicate(own, f"head_{part}" if how == "head" else part)
    return at_the_end(own, part) if how == "end" else chosen(own, part)


def is_measured(frame: pd.DataFrame, cell: str, arm: str) -> bool:
    """Whether a cell has an arm of :data:`ARMS`: prototypes are never without structure."""
    name = frame["arm"] == ARMS[arm][0]
    structured = frame["structured"] == (arm not in FLAT)
    return bool((name & structured & (frame["cell"] == cell)).any())


def by_replicate(frame: pd.DataFrame, quantity: str) -> pd.Series:
    """One number a replicate."""
    return pick(frame, quantity=quantity).set_index("replicate")["value"].sort_index()


def at_the_end(frame: pd.DataFrame, part: str) -> pd.Series:
    """Of a curve its last point, a replicate each."""
    return by_replicate(frame[frame["step"] == frame["step"].max()], part)


def chosen(frame: pd.DataFrame, part: str) -> pd.Series:
    """Of a curve the point whose validation accuracy is the highest, a replicate each."""
    judged = pick(frame, quantity="validation")
    best = judged.loc[judged.groupby("replicate")["value"].idxmax(), ["replicate", "step"]]
    return by_replicate(frame.merge(best, on=["replicate", "step"]), part)


def cosine(frame: pd.DataFrame, cell: str, arm: str, dimension: int) -> pd.Series:
    """Largest cosine of a neuron with the relevant direction, a replicate each."""
    own = pick(frame, cell=cell, structured=arm not in FLAT, arm=NEURONS[arm], dimension=dimension)
    return by_replicate(own, "largest_cosine")


def measured(frame: pd.DataFrame, cells: Sequence[str]) -> list[str]:
    """Those of ``cells`` that this scale has."""
    return [cell for cell in cells if (frame["cell"] == cell).any()]


def dimension(frame: pd.DataFrame, cell: str, wanted: int) -> int:
    """The dimension of the input that stands for one of the thesis': 500, 100 or 2000. A small
    scale has other dimensions, in the same order."""
    own = pick(frame, cell=cell)
    known = list(own.loc[own["dimension"] > 0, "dimension"].unique())
    return wanted if wanted in known else known[min((500, 100, 2000).index(wanted), len(known) - 1)]


def bracketed(means: pd.DataFrame) -> list[str]:
    """``mean`` and ``half_width`` of each row; behind them the ``paper_value``, if there is one."""
    return [
        plus_minus(mean, half) + ("" if pd.isna(paper) else f" ({paper:g})")
        for mean, half, paper in means[["mean", "half_width", "paper_value"]].to_numpy()
    ]


def classical_minimum(losses: Sequence[float]) -> tuple[int, bool]:
    """Place of the minimum left of the peak of a curve of losses over growing sizes.

    The peak is the largest loss after the curve first rises; where it only falls there is none, and
    the end counts. Returns the place, and whether the curve falls before it and rises behind it:
    else there is no U, and it is the least loss on that side all the same.
    """
    rising = [i for i in range(len(losses) - 1) if losses[i] < losses[i + 1]]
    if not rising:
        return len(losses) - 1, False
    peak = max(range(rising[0] + 1, len(losses)), key=losses.__getitem__)
    place = min(range(peak), key=losses.__getitem__)
    return place, place > 0
