"""Figures of teacher-student training beyond capture. Reads frames, imports no torch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from featlearn.core.plots import COLOURS, canvas

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: A kernel entry of this size ends a run.
LIMIT = 1000.0
SCHEDULES = {
    "main": (COLOURS["blue"], "-", r"$\delta_t=1/(t+1)$, main text"),
    "appendix": (COLOURS["green"], "-", r"$\delta_t=1/(t^{1/q}+1)$, appendix"),
    "constant": (COLOURS["ink"], ":", r"$\delta_t=0$"),
    "one": (COLOURS["red"], "-", r"$\tau=1$, an ordinary copy"),
}
PLACES = {"first": COLOURS["blue"], "second": COLOURS["orange"]}


def runaway(pair: pd.DataFrame, varrho: float, replicate: int = 0) -> Figure:
    """A kernel that captures two features: their growth, what pushes the second, all replicates."""
    drawn = canvas(8.2, 3.3)
    first, second, third = drawn.subplots(1, 3)
    own = pair[pair["replicate"] == replicate]
    lines = {str(place): line for place, line in own.groupby("place")}
    for place, line in lines.items():
        name = f"class {line['class'].iloc[0] + 1}, feature {line['view'].iloc[0] + 1}"
        first.plot(line["step"], line["correlation"], color=PLACES[place], label=name)
    _threshold(first, varrho)
    first.set(yscale="log", title="The two features it holds", xlabel="step")
    first.set_ylabel("correlation of one kernel")
    first.legend(loc="upper left", fontsize=8, title="captured first, second:")

    line = lines["second"]
    for part, colour, label in (
        ("cross", COLOURS["red"], "from patches of others"),
        ("own", COLOURS["grey"], "from its own patches"),
    ):
        shown = line[line[part] > 0]
        second.plot(shown["step"], shown[part], color=colour, label=label)
    captured = lines["first"].loc[lines["first"]["correlation"] >= varrho, "step"].min()
    second.axvline(captured, color=COLOURS["ink"], linewidth=0.9, linestyle=":")
    second.annotate("first is\ncaptured", (captured, 0.03), xycoords=("data", "axes fraction"),
                    xytext=(4, 0), textcoords="offset points", fontsize=8)  # fmt: skip
    second.set(yscale="log", title="Push on the second", xlabel="step")
    second.set_ylabel("gradient along the feature")
    second.legend(loc="upper left", fontsize=8)

    for number, each in pair[pair["place"] == "first"].groupby("replicate"):
        largest = each["correlation"]
        third.plot(each["step"], largest, color=COLOURS["blue"], linewidth=1,
                   alpha=1 if number == replicate else 0.45)  # fmt: skip
    third.axhline(LIMIT, color=COLOURS["ink"], linewidth=0.9, linestyle="--")
    third.annotate("run ends", (0.02, LIMIT), xycoords=("axes fraction", "data"),
                   ha="left", va="bottom", fontsize=8)  # fmt: skip
    _threshold(third, varrho)
    third.set(yscale="log", title="All replicates", xlabel="step")
    third.set_ylabel("correlation with the first")
    return drawn


def _threshold(ax: Axes, varrho: float) -> None:
    ax.axhline(varrho, color=COLOURS["ink"], linewidth=0.9, linestyle="--")
    ax.annotate(r"captured: $\geq\varrho$", (0.98, varrho), xycoords=("axes fraction", "data"),
                ha="right", va="bottom", fontsize=8)  # fmt: skip


def schedules(history: pd.DataFrame, varrho: float) -> Figure:
    """The four schedules of the teacher factor side by side, from the same kernels."""
    drawn = canvas(8.2, 3.4)
    axes = drawn.subplots(1, 3)
    history = history.assign(
        share=history["impure"] / history["winners"].clip(lower=1),
        share_known=history["winners"] > 0,
    )
    panels = {
        "weakest": (r"weakest feature, $\min\Lambda_{i,l}$", "Weakest feature"),
        "largest": ("largest correlation", "Largest correlation"),
        "share": ("share of winners with several features", "Impure winners"),
    }
    for schedule, (colour, style, label) in SCHEDULES.items():
        own = history[history["schedule"] == schedule]
        for ax, quantity in zip(axes, panels, strict=True):
            shown = own[own["share_known"]] if quantity == "share" else own
            for _, line in shown.groupby("replicate"):
                ax.plot(line["step"], line[quantity], color=colour, linewidth=0.7, alpha=0.25)
            ax.plot([], [], style, color=colour, label=label)
            middle = _median(shown, quantity)
            ax.plot(middle.index, middle.to_numpy(), style, color=colour, linewidth=2)
    for ax, (label, title) in zip(axes, panels.values(), strict=True):
        ax.set(xlabel="step of gradient descent", ylabel=label, title=title)
    for ax in axes[:2]:
        ax.set_yscale("log")
        _threshold(ax, varrho)
    axes[0].set_ylim(top=3)
    axes[2].set_ylim(0, 1)
    drawn.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4,
                 fontsize=8)  # fmt: skip
    return drawn


def _median(frame: pd.DataFrame, quantity: str) -> pd.Series[float]:
    """Median over replicates at each step at which all of them still run."""
    if frame.empty:
        return pd.Series(dtype=float)
    first = frame.groupby("replicate")["step"].min().max()
    last = frame.groupby("replicate")["step"].max().min()
    return frame[frame["step"].between(first, last)].groupby("step")[quantity].median()
