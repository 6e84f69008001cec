"""The error of sampled masks. Reads frames, imports no torch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from featlearn.core.plots import COLOURS, canvas
from featlearn.core.publish import figure
from featlearn.core.statistical import Look, lines

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LINES = ("red", "orange", "green", "sky", "blue")


@figure()
def sampled_masks(errors: pd.DataFrame) -> Figure:
    """Sampled masks against the exact expectation

    Relative error of the teacher-student gradient when the expectation over masks is replaced by a mean
    over sampled ones, at the initial kernels; means over replicates with 95 % intervals, logarithmic
    scales. *What to see:* the error falls like one over the square root of the number of masks and is
    largest when few patches are kept. All training here uses the closed form, which has no such error.
    That the error falls at the rate of a mean {{ verdict("mrp/t1-sampled-masks-rate") }}; that it is
    largest where few patches are kept {{ verdict("mrp/t1-sampled-masks-small-theta") }}.
    """
    drawn = canvas(8.2, 3.4)
    ax = drawn.subplots()
    thetas, masks = (np.sort(errors[name].unique()) for name in ("theta", "masks"))
    looks = {
        theta: Look(rf"$\theta={theta:g}$", COLOURS[name])
        for theta, name in zip(thetas, LINES, strict=False)
    }
    lines(ax, errors, "masks", "theta", value="error", looks=looks)
    least = errors[errors["theta"] == thetas[-1]].groupby("masks")["error"].mean()[masks[0]]
    guide = least * (masks / masks[0]) ** -0.5 / 3
    ax.plot(masks, guide, color=COLOURS["ink"], linewidth=0.9, linestyle=":")
    ax.annotate("slope −1/2", (masks[1], guide[1]), xytext=(-4, -4), textcoords="offset points",
                ha="right", va="top", fontsize=8)  # fmt: skip
    ax.set(xscale="log", yscale="log", xlabel="masks sampled for each training sample")
    ax.set_xticks(masks, [str(m) for m in masks])
    ax.minorticks_off()
    ax.set_ylabel("relative error of the gradient")
    ax.legend(title="share of patches kept", loc="upper right", ncols=2)
    return drawn
