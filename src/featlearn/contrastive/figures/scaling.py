"""The figure of the sizes: probe error against the Bayes floor, and the length of stage II."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from featlearn.contrastive.figures.shared import over_sizes
from featlearn.core.plots import COLOURS, PALETTE, canvas
from featlearn.core.publish import figure
from featlearn.core.statistical import share_interval, within

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ERRORS = {
    "linear-exact": ("best linear predictor", PALETTE["raw input"]),
    "unmasked": ("no mask, thresholds raised", PALETTE["contrastive, no augmentation"]),
    "masked": ("RandomMask, thresholds raised", PALETTE["contrastive"]),
    "bayes-exact": ("best possible (Bayes)", PALETTE["bayes"]),
}
#: The same of the accuracy, which is known from trained probes alone.
ACCURACIES = {
    "raw": ERRORS["linear-exact"],
    "unmasked": ERRORS["unmasked"],
    "masked": ERRORS["masked"],
    "bayes": ERRORS["bayes-exact"],
}


def stage_two_unit(atoms: float) -> float:
    """``d log d / log log d``: the order of ``eta (T2 - T1)`` (section 3)."""
    return atoms * math.log(atoms) / math.log(math.log(atoms))


@figure()
def scaling(sizes: pd.DataFrame) -> Figure:
    """More atoms

    The probe's error, its accuracy and the length of stage II over the number of atoms, means with 95 %
    intervals. *What to see:* the error of linear predictors hardly moves, while that of the network with
    RandomMask falls from
    {{ value("scaling", place="least", model="masked", quantity="nmse") | number }} to
    {{ value("scaling", place="most", model="masked", quantity="nmse") | number }}, following the least error that is possible.
    The same training without a mask lies between: it goes from
    {{ value("scaling", place="least", model="unmasked", quantity="nmse") | number }} to
    {{ value("scaling", place="most", model="unmasked", quantity="nmse") | number }}. Stage II takes about as
    long as the theory's order says (dashed, through the first point).
    That the probe's error falls at every step, as the largest ratio of neighbours,
    {{ verdict("contrastive/scaling-error-falls") }}; that RandomMask lowers it at the most atoms by as much as was
    expected, as a difference, {{ verdict("contrastive/scaling-mask-most") }}; that stage II takes a time that grows
    like d, as the exponent of d, {{ verdict("contrastive/t2-order") }}.
    """
    drawn = canvas(8.2, 3.1)
    first, second, third = drawn.subplots(1, 3)
    over_sizes(first, sizes, "atoms", "nmse", ERRORS, within(0))
    over_sizes(second, sizes, "atoms", "accuracy", ACCURACIES, share_interval)
    masked = sizes[sizes["model"] == "masked"]
    came = masked[(masked["quantity"] == "stage_two") & (masked["value"] >= 0)]
    if len(came):
        over_sizes(
            third, came, "atoms", "stage_two", {"masked": ("measured", PALETTE["contrastive"])}
        )
        length = came.groupby("atoms")["value"].mean()
        units = np.array([stage_two_unit(atoms) for atoms in length.index])
        third.plot(length.index, length.iloc[0] / units[0] * units, "--", color=COLOURS["ink"],
                   linewidth=0.9, label=r"$\propto d\,\log d\,/\log\log d$")  # fmt: skip
        third.legend(loc="upper left", fontsize=8)
    first.set(title="Regression", ylabel="NMSE", ylim=(0, None))
    second.set(title="Classification", ylabel="accuracy", ylim=(None, 1.0))
    third.set(title="Length of stage II", ylabel=r"$\eta\,(T_2-T_1)$", yscale="log")
    for ax in (first, second, third):
        ax.set_xlabel("atoms d")
    drawn.legend(*first.get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return drawn
