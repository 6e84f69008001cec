"""The initial draw: correlations, sizes of the lottery sets, and how many share a kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd
import seaborn as sns
from matplotlib.lines import Line2D

from featlearn.core.plots import COLOURS, canvas
from featlearn.core.publish import figure
from featlearn.core.statistical import interval, share_interval

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CLASS_COLOURS = [COLOURS["blue"], COLOURS["orange"], COLOURS["green"], COLOURS["purple"]]
NARROW, WIDE = 0.25, 1.0
#: Marker and dashes of each constant of the sets.
CONSTANTS, DASHES = {NARROW: "o", WIDE: "s"}, {NARROW: "", WIDE: (3, 1.5)}
RING: dict[str, Any] = {
    "marker": "o", "linestyle": "", "markersize": 10, "markerfacecolor": "none",
    "markeredgecolor": COLOURS["ink"],
}  # fmt: skip


@figure()
def lottery_sets(lottery: pd.DataFrame) -> Figure:
    """The initial draw and its lottery sets

    Left: the largest initial correlation with a feature, in units of sigma_0 sqrt(2 ln km) (line:
    mean over the features; dotted: the smallest and the largest feature). Bands are 95 %
    t-intervals over replicates. Middle: how many kernels start close enough to the best one to have
    a chance (the lottery set). Right: the share of sets that share a kernel with another set. Rings
    mark the number of kernels that the paper admits, m = sqrt(k). *What to see:* correlations
    start where the lemma puts them, and the sets stay small. But they are not disjoint, which the
    theorems presuppose: with as many kernels as the paper admits a good part of the narrow sets
    (C_M = 0.25) shares a kernel with another one. With more kernels the narrow sets become
    disjoint; the wide ones (C_M = 1, the least that the proof admits) do not.
    That correlations start where the lemma puts them {{ verdict("mrp/t5-initial-correlation") }}; that
    a kernel belongs to one set at most {{ verdict("mrp/t5-disjoint-sets-as-assumed") }}.
    """
    sizes = dict(zip(sorted(lottery["classes"].unique()), CLASS_COLOURS, strict=False))
    rows = lottery[lottery["constant"].isin(CONSTANTS) | lottery["constant"].isna()]
    rows = rows.assign(kernels=rows["classes"] * rows["kernels_per_class"])
    disjoint = rows["quantity"] == "disjoint_sets"
    rows = rows.assign(value=rows["value"].mask(disjoint, 1 - rows["value"]))
    shown = {"x": "kernels", "y": "value", "hue": "classes", "palette": sizes, "legend": False}
    panels = {"ratio_mean": interval, "set_size": interval, "disjoint_sets": share_interval}
    drawn = canvas(8.4, 3.7)
    axes = drawn.subplots(1, 3)
    for ax, quantity in zip(axes, panels, strict=True):
        own = rows[rows["quantity"] == quantity].fillna({"constant": NARROW})
        sns.lineplot(own, **shown, style="constant", markers=CONSTANTS, dashes=DASHES, markersize=5,
                     markeredgewidth=0, errorbar=panels[quantity], ax=ax)  # fmt: skip
        means = own[own["constant"] == NARROW].groupby(["classes", "kernels"])["value"].mean()
        ring = means.reset_index().groupby("classes").first()
        ax.plot(ring["kernels"], ring["value"], **RING)
        ax.set(xscale="log", xlabel="kernels in all, km")
    for end in ("least", "largest"):
        sns.lineplot(rows[rows["quantity"] == f"ratio_{end}"], **shown, errorbar=interval,
                     linewidth=0.7, linestyle=":", ax=axes[0])  # fmt: skip
    axes[0].axhline(1, color=COLOURS["ink"], linewidth=0.9)
    axes[0].set(title="Initial correlation", ylim=(0, 1.5))
    axes[0].set_ylabel(r"$\Lambda_{i,l}\,/\,(\sigma_0\sqrt{2\ln km})$")
    axes[1].set(title="Kernels of a lottery set", yscale="log")
    axes[1].set_ylabel(r"mean size of $\mathcal{M}_{i,l}$")
    axes[1].set_yticks([1, 3, 10, 30, 100], ["1", "3", "10", "30", "100"])
    axes[1].minorticks_off()
    axes[2].set(title="Sets that share a kernel", ylim=(-0.03, 1.05))
    axes[2].set_ylabel("share of the 2k sets")
    grey = COLOURS["grey"]
    handles = [
        *(Line2D([], [], color=colour, label=f"k = {size}") for size, colour in sizes.items()),
        Line2D([], [], marker="o", color=grey, label=r"$C_M=0.25$"),
        Line2D([], [], marker="s", linestyle="--", color=grey, label=r"$C_M=1$"),
        Line2D([], [], label=r"$m=\lceil\sqrt{k}\,\rceil$", **RING),
    ]
    drawn.legend(handles=handles, loc="outside lower center", ncols=6)
    return drawn
