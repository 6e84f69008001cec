"""Figures of teacher-student training beyond capture. Reads frames, imports no torch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from featlearn.core.plots import COLOURS, PALETTE, canvas
from featlearn.core.publish import Config, figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: A kernel entry of this size ends a run.
LIMIT = 1000.0
SCHEDULES = {
    "main": (COLOURS["sky"], "-", r"$\delta_t=1/(t+1)$, main text"),
    "appendix": (COLOURS["green"], "-", r"$\delta_t=1/(t^{1/q}+1)$, appendix"),
    "constant": (COLOURS["ink"], ":", r"$\delta_t=0$"),
    "one": (COLOURS["red"], "-", r"$\tau=1$, an ordinary copy"),
}
PLACES = {"first": PALETTE["teacher-student"], "second": COLOURS["green"]}


@figure(replicate=0)
def runaway(pair: pd.DataFrame, config: Config, replicate: int) -> Figure:
    """A mixed teacher-student kernel runs away

    Training is continued after capture. Left: the kernel that ends largest, its correlations with the
    first two features that it captures. Middle: the push (negative gradient) along the second one, taken
    apart: what its own patches cause, and what the patches of all other features in the same sample
    cause, the *cross term*. Right: the correlation with the first feature in all replicates, until an
    entry of a kernel reaches 1000. Logarithmic scales. *What to see:* the student's error is one number
    for the whole sample, so the error on the first feature also acts on the patches of the second: at
    the first capture this cross term exceeds the second feature's own push, in
    {{ value("beyond-capture", "mean", schedule="main", quantity="cross_exceeds_own") | percent }} of the replicates. Once both are in, each feeds the other, and as the teacher is larger than the student
    nothing brakes: growth is exponential, at a rate of
    {{ value("beyond-capture", "mean", schedule="main", quantity="rate_measured") | number }} a unit of learning rate and step,
    where the closed form gives {{ value("beyond-capture", "mean", schedule="main", quantity="rate_formula") | number }}.
    That the cross term exceeds the own push at the first capture
    {{ verdict("mrp/t8-cross-term-exceeds-own") }}; that growth has the rate of the closed form
    {{ verdict("mrp/t9-runaway-rate") }}; that correlations stay of order one, as printed,
    {{ verdict("mrp/t9-bounded-as-printed") }}.
    """
    varrho = config["network"]["varrho"]
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
    # up to the legend
    second.axvline(captured, ymax=0.8, color=COLOURS["ink"], linewidth=0.9, linestyle=":")
    second.annotate("first is\ncaptured", (captured, 0.03), xycoords=("data", "axes fraction"),
                    xytext=(4, 0), textcoords="offset points", fontsize=8)  # fmt: skip
    second.set(yscale="log", title="Push on the second", xlabel="step")
    second.set_ylabel("gradient along the feature")
    second.legend(loc="upper left", fontsize=8)

    for number, each in pair[pair["place"] == "first"].groupby("replicate"):
        largest = each["correlation"]
        third.plot(each["step"], largest, color=PLACES["first"], linewidth=1,
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


@figure()
def teacher_schedules(history: pd.DataFrame, config: Config) -> Figure:
    """Four schedules of the teacher factor

    Teacher-student training from the same kernels with the teacher factor of the main text, that of the
    appendix, its constant part alone, and 1. Thick lines are medians over replicates, thin ones the least and the
    most, while all replicates run; a run ends when a kernel entry reaches 1000. *What to see:* the schedules
    differ in speed only; in all three every feature is captured, a part of the winners is impure, and
    kernels run away. A teacher that is just a copy of the student (red) teaches nothing: the variance of
    the masks makes every kernel shrink.
    That the two printed schedules lead to the same end {{ verdict("mrp/t4-printed-schedules-agree") }};
    that a teacher no larger than its student makes kernels shrink
    {{ verdict("mrp/t4-teacher-like-student-learns-nothing") }}.
    """
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
            ax.plot([], [], style, color=colour, label=label)
            if not (running := _running(shown)).empty:
                steps = running.groupby("step")[quantity]
                ax.plot(steps.median().index, steps.median(), style, color=colour, linewidth=2)
                for end in (steps.min(), steps.max()):  # bands would cover each other
                    ax.plot(end.index, end, style, color=colour, linewidth=0.7, alpha=0.8)
    for ax, (label, title) in zip(axes, panels.values(), strict=True):
        ax.set(xlabel="step of gradient descent", ylabel=label, title=title)
    for ax in axes[:2]:
        ax.set_yscale("log")
        _threshold(ax, config["network"]["varrho"])
    axes[0].set_ylim(top=3)
    axes[2].set_ylim(0, 1)
    drawn.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4,
                 fontsize=8)  # fmt: skip
    return drawn


def _running(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows of the steps at which all replicates run."""
    if frame.empty:
        return frame
    first = frame.groupby("replicate")["step"].min().max()
    last = frame.groupby("replicate")["step"].max().min()
    return frame[frame["step"].between(first, last)]
