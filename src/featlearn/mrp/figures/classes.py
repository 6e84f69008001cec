"""How the lottery is drawn against the number of classes and the length of training."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from featlearn.core.plots import COLOURS, canvas
from featlearn.core.publish import Config, figure
from featlearn.core.statistical import Look, lines, share_interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: What became of the view that a single-view image shows, in the words of the legend.
CAUSES = {
    "kept": Look("own view captured", COLOURS["blue"]),
    "lost_alone": Look("own view lost, no captured distractor", COLOURS["green"]),
    "lost_distractor": Look("own view lost, captured distractor present", COLOURS["red"]),
}
SHARES = {
    "captured": Look("features captured", COLOURS["ink"]),
    "accuracy_single_view": Look("single-view accuracy", COLOURS["orange"], "s"),
    "accuracy_multi_view": Look("multi-view accuracy", COLOURS["sky"], "^"),
}


@figure()
def lottery_and_classes(classes: pd.DataFrame, length: pd.DataFrame, config: Config) -> Figure:
    """The supervised lottery: many classes, long training

    Supervised training until every training label is right, with the initial kernels shrinking with the
    number of classes as the theory asks. Points are means over replicates, lines 95 % t-intervals.
    Above left: the share of features captured, and accuracy. Above right: what became of the view that
    a single-view image shows: captured; lost, and no captured feature of another class is present; or
    lost, with such a distractor. Below left: accuracy within each of these groups. Below right: the
    network of the clean data, trained much longer (dashed: where its
    training ends in all other figures). *What
    to see:* the captured share falls towards the theory's one half as classes are added, and
    single-view accuracy is that share: an image whose view was lost is right only by elimination, which
    is rare. The lottery is no lack of training: with time the classes that had captured nothing get
    their first feature and multi-view accuracy becomes complete; from then on the captured share creeps
    at most like the logarithm of time.
    That fewer classes keep both features as classes are added
    {{ verdict("mrp/t16-classes-fewer-captured") }}; that single-view accuracy is the captured share
    {{ verdict("mrp/t16-classes-single-follows-captured") }}; that longer training does not bring lost
    features back {{ verdict("mrp/t16-training-length-saturates") }}.
    """
    # when the clean data's run ends its supervised training, in the units of the figure
    supervised = config["supervised"]
    marked = supervised["steps"] * supervised["learning_rate"] / config["data"]["classes"]
    drawn = canvas(8.2, 6.4)
    axes = drawn.subplots(2, 2)
    counts = np.sort(classes["classes"].unique())

    ax = axes[0, 0]
    lines(ax, classes, "classes", "quantity", looks=SHARES, errorbar=share_interval)
    _half(ax)
    ax.annotate("theory, many classes: 1/2", (0.02, 0.49), xycoords=("axes fraction", "data"),
                va="top", fontsize=8)  # fmt: skip
    _log_classes(ax, counts)
    ax.set(ylim=(0.4, 1.03), ylabel="share", title="The lottery as classes are added")

    ax = axes[0, 1]
    bottom = np.zeros(len(counts))
    for cause, look in CAUSES.items():
        chosen = classes[classes["quantity"] == f"share_{cause}"]
        means = chosen.groupby("classes")["value"].mean().reindex(counts).to_numpy()
        ax.bar(range(len(counts)), means, 0.6, bottom, color=look.colour)
        bottom += means
    _half(ax)
    ax.set_xticks(range(len(counts)), [str(count) for count in counts])
    ax.set(xlabel="number of classes, $k$", ylabel="share of single-view test images", ylim=(0, 1))
    ax.set_title("What became of the view they show")
    ax.grid(axis="x", visible=False)

    ax = axes[1, 0]
    groups = {f"accuracy_{cause}": look for cause, look in CAUSES.items()}
    lines(ax, classes, "classes", "quantity", looks=groups, errorbar=share_interval)
    _log_classes(ax, counts)
    ax.set(ylim=(-0.03, 1.03), ylabel="accuracy within the group")
    ax.set_title("Which of them are right")

    ax = axes[1, 1]
    lines(ax, length, "time", "quantity", looks=SHARES, errorbar=share_interval)
    _half(ax)
    ax.axvline(marked, color=COLOURS["grey"], linewidth=0.9, linestyle="--")
    ax.annotate("usual training\nends here", (marked, 0.36), xytext=(4, 0), textcoords="offset points",
                fontsize=8, color=COLOURS["grey"])  # fmt: skip
    ax.set(xscale="log", ylim=(0.3, 1.03), ylabel="share")
    times = np.sort(length["time"].unique())
    doubled = [time for time in times if float(np.log2(time / times[0])).is_integer()]
    ax.set_xticks(doubled, [f"{time:g}" for time in doubled])
    ax.minorticks_off()
    ax.set_xlabel(r"training time: steps $\times$ learning rate / $k$")
    ax.set_title("On the clean data, trained longer")
    shares, causes = (one.get_legend_handles_labels() for one in (axes[0, 0], axes[1, 0]))
    # filled column by column: what is drawn in the left and right panels above, and in the groups
    pairs = zip(*(list(zip(*one, strict=True)) for one in (shares, causes)), strict=True)
    handles, labels = zip(*(entry for pair in pairs for entry in pair), strict=True)
    drawn.legend(handles, labels, loc="outside lower center", ncols=3)
    return drawn


def _half(ax: Axes) -> None:
    ax.axhline(0.5, color=COLOURS["ink"], linewidth=0.9, linestyle=":")


def _log_classes(ax: Axes, counts: np.ndarray) -> None:
    ax.set_xscale("log")
    ax.set_xticks(counts, [str(count) for count in counts], minor=False)
    ax.minorticks_off()
    ax.set_xlabel("number of classes, $k$")
