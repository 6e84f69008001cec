"""How the induction hypothesis is drawn. Reads frames, imports no torch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from featlearn.core.plots import COLOURS, canvas
from featlearn.core.publish import Config, figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOMENTS = {
    "start": ("at the start", COLOURS["grey"], "o"),
    "capture": ("when the last feature is captured", COLOURS["red"], "s"),
    "end": ("at the end", COLOURS["blue"], "D"),
}
#: Quantity: words, and whether its scale is sigma_0 (True) or sigma_0 gamma k.
QUANTITIES = {
    "a": ("(a) a member,\nits feature:\nerror of the\nresponse", True),
    "b": ("(b) a member,\nother\nfeatures:\nresponse", True),
    "d": ("(d) in no set,\nfeatures:\nresponse", True),
    "h": ("(h) no\nmember, the\nfeature:\ncorrelation", True),
    "g": ("(g) a member,\nits feature:\nnegative\ncorrelation", True),
    "c": ("(c) a member,\nbackground:\nresponse", False),
    "e": ("(e) in no set,\nbackground:\nresponse", False),
}


@figure()
def induction(purity: pd.DataFrame, config: Config) -> Figure:
    """The induction hypothesis, in numbers

    The proof of Theorem 1 rests on bounds that must hold throughout pre-training: on the responses of
    kernels that may win a feature (members of its lottery set) and of those that may not (in no set: of no
    feature); letters are the paper's, and the error in (a) is the response less correlation times strength.
    Each mark is
    the largest value in one replicate, divided by the scale that the paper gives it; above the dashed
    line are only logarithms and constants. Zeros are left out. Two widths of the lottery sets. *What to
    see:* with wide sets (below) nothing grows in most replicates but the responses of members to the
    background, (c), which ask for more dimensions than a run can have; a single high mark of (b) or (h)
    is a winner from outside even the wide sets. With narrow sets (above) that happens in most
    replicates, and (d) and (h) fail: the hypothesis needs wide sets, in which most kernels belong to
    several.
    That kernels outside a set stay of the order sigma_0, with wide sets,
    {{ verdict("mrp/c3-h-mae") }}; that members stay so on the background {{ verdict("mrp/c3-c-mae") }};
    that narrow sets are not enough {{ verdict("mrp/c3-needs-wide-sets") }}.
    """
    sigma_0, data = config["network"]["sigma_0"], config["data"]
    background = sigma_0 * data["feature_noise"] * data["classes"]
    constants = sorted(purity["constant"].dropna().unique())
    drawn = canvas(8.2, 1.2 + 1.75 * len(constants))
    axes = drawn.subplots(len(constants), 1, sharex=True, squeeze=False)[:, 0]
    for ax, constant in zip(axes, constants, strict=True):
        own = purity[purity["constant"] == constant]
        for number, (moment, (label, colour, marker)) in enumerate(MOMENTS.items()):
            for place, (quantity, (_, plain)) in enumerate(QUANTITIES.items()):
                unit = sigma_0 if plain else background
                chosen = own[(own["moment"] == moment) & (own["quantity"] == quantity)]
                values = chosen["value"].to_numpy() / unit
                values = values[values > 0]
                x = place + (number - 1) * 0.25
                ax.scatter(
                    x + np.linspace(-0.07, 0.07, values.size), values, s=9, color=colour,
                    marker=marker, alpha=0.7, linewidths=0, label=None if place else label,
                )  # fmt: skip
        ax.axhline(1, color=COLOURS["ink"], linewidth=0.9, linestyle="--")
        ax.set(yscale="log", ylabel="largest value\n/ its scale")
        ax.set_title(f"Lottery sets with $C_M$ = {constant:g}", fontsize=9)
        ax.grid(axis="x", visible=False)
        ax.axvline(4.5, color=COLOURS["grey"], linewidth=0.7)
    axes[-1].set_xticks(range(len(QUANTITIES)), [w for w, _ in QUANTITIES.values()], fontsize=8)
    corner: dict[str, Any] = {
        "transform": axes[0].get_xaxis_transform(),
        "va": "bottom",
        "fontsize": 8,
    }
    axes[0].text(4.4, 1.02, r"$\leftarrow$ scale $\sigma_0$", ha="right", **corner)
    axes[0].text(4.6, 1.02, r"scale $\sigma_0\gamma k$ $\rightarrow$", ha="left", **corner)
    handles, labels = axes[0].get_legend_handles_labels()
    drawn.legend(handles, labels, loc="outside lower center", ncols=3, fontsize=8)
    return drawn
