"""The margin of trained networks, over steps, penalty and width; the penalty against weight decay."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd
import seaborn as sns
from matplotlib.ticker import NullFormatter

from featlearn.core.plots import COLOURS, canvas
from featlearn.core.publish import Config, figure
from featlearn.core.statistical import FEW, interval, share_interval
from featlearn.fourier.closed_forms import width
from featlearn.fourier.words import ARMS, task_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MARGINS = {"least": ("least margin", "blue"), "mean": ("mean margin", "sky"),
           "spread": ("equally weighted", "orange")}  # fmt: skip
#: Quantities that lie between 0 and 1, as their intervals.
SHARES = ("train", "single")


@figure()
def margins(curves: pd.DataFrame, config: Config) -> Figure:
    """Training finds the network of maximum margin

    Margins over the maximum gamma* of Theorem 4.9 (dashed), all inputs for training: a thin line or small dot
    a replicate, and their mean, with its 95 % interval beside dots. Left: along the steps; then in the end, over the strength lambda of
    the penalty, of the same task and of two inputs, where the axis begins at the smallest margin. *What to
    see:* {{ said("fourier/margin-reached", holds="the worst of all inputs comes to the maximum, of which it has this share",
                  fails="the worst of all inputs stays below the maximum, of which it has this share") }};
    the mean with equally weighted wrong classes gets there first, then wrong logits become equal;
    {{ said("fourier/margin-never-above", holds="no margin is ever above, as is proved: the largest has this share",
            fails="some margins are above, which no network can have, or all far below: the largest has this share") }}
    (an interval of a mean may reach above).
    Margins do not wait for a small lambda as in Lemma 4.7: by convexity the minimiser has the maximum margin
    at every one, and {{ said("fourier/margin-at-any-strength", holds="at the worst strength it is reached as well, this share of it",
                              fails="at the worst strength it is not reached in these steps, but this share of it") }}.
    """
    drawn = canvas(8.6, 3.2)
    axes = drawn.subplots(1, 3)
    full = curves[(curves["cell"] == "full") & (curves["arm"] == "penalty")]
    _lines(axes[0], full[full["step"] > 0], "step", MARGINS)
    axes[0].set(title=task_of(config, "full"), xlabel="step")
    _decades(axes[0])
    for ax, cell in zip(axes[1:], ("full", "strengths"), strict=True):
        own = curves[curves["cell"] == cell]
        _lines(ax, own[own["step"] == own["step"].max()], "penalty", MARGINS, marker="o")
        ax.set(title=task_of(config, cell), xlabel=r"$\lambda$")
        _decades(ax)
    for ax in axes:
        ax.axhline(1, color=COLOURS["ink"], linestyle="--", linewidth=0.8)
        ax.set_ylabel(r"margin / $\gamma^*$")
    axes[0].set_ylim(0, 1.05)
    drawn.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return drawn


@figure()
def widths(curves: pd.DataFrame, config: Config) -> Figure:
    """How many neurons training needs

    Networks of different width after training on all inputs, a small dot a replicate, and their mean with its 95 %
    interval; the dashed line is the width of Theorem 4.9. *What to see:* networks of a fraction of that
    width add without an error, and without the margin, which grows with the width up to the theorem's: the
    narrowest have {{ value("margins", cell="widths", arm="width-6", quantity="least") | percent }} of the
    maximum, the widest {{ value("margins", cell="widths", arm="width-96", quantity="least") | percent }}.
    """
    own = curves[curves["cell"] == "widths"]
    last = own[own["step"] == own["step"].max()]
    drawn = canvas(5.4, 3.4)
    ax = drawn.subplots()
    shown = {"train": ("accuracy", "green"), "least": (r"least margin / $\gamma^*$", "blue"),
             "single": ("neurons of one frequency", "orange")}  # fmt: skip
    _lines(ax, last, "width", shown, marker="o")
    theorem = width(config["widths"]["inputs"], config["widths"]["modulus"])
    ax.axvline(theorem, color=COLOURS["ink"], linestyle="--", linewidth=0.8)
    ax.set(title=task_of(config, "widths"), xscale="log", xlabel="neurons", ylabel="share",
           ylim=(-0.25, 1.05))  # fmt: skip
    ax.set_xticks(sorted(last["width"].unique()), sorted(last["width"].unique()))
    ax.minorticks_off()
    drawn.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return drawn


@figure()
def penalty(
    neurons: pd.DataFrame, curves: pd.DataFrame, heads: pd.DataFrame, config: Config
) -> Figure:
    """The penalty makes cosines; weight decay does if it is strong

    The same starts, half of the inputs and batches, with the penalty on the norm ||theta||_{2,k+1} and
    with weight decay instead. Left: accuracy on the other half, a thin line a replicate and their mean, and that of a linear classifier and of a
    head on random features; right: the share of power at the strongest frequency of each input vector of
    the active neurons, in the end. *What to see:* with a decay of the thesis' number
    {{ value("margins", cell="decay", arm="weak-decay", quantity="single") | percent }} of the neurons are
    of one frequency, with the penalty
    {{ value("margins", cell="decay", arm="penalty", quantity="single") | percent }}:
    {{ said("fourier/penalty-not-decay", holds='the "lambda" of the thesis must be the penalty, by this difference of the shares',
            fails='its figures do not tell how the "lambda" of the thesis is to be read, by this difference of the shares') }}. But
    {{ said("fourier/strong-decay-too", holds="the penalty is not what it takes: a far stronger decay makes as pure ones, this share of the neurons",
            fails="a far stronger decay makes none as pure, but this share of the neurons") }}.
    """
    cell = config["decay"]
    drawn = canvas(7.6, 3.2)
    along, peaks = drawn.subplots(1, 2)
    own = curves[(curves["cell"] == "decay") & (curves["quantity"] == "test")]
    ends = neurons[(neurons["cell"] == "decay") & (neurons["moment"] == "end")
                   & neurons["active"] & (neurons["vector"] <= cell["inputs"])]  # fmt: skip
    for arm, (words, colour) in ARMS.items():
        _along(along, own[(own["arm"] == arm) & (own["step"] > 0)], words, colour)
        sns.ecdfplot(ends[ends["arm"] == arm], x="peak", color=COLOURS[colour], ax=peaks)
    for method, dash in {"linear": "--", "random features": ":"}.items():
        level = heads[(heads["cell"] == "decay") & (heads["method"] == method)]["value"].mean()
        along.axhline(level, color=COLOURS["ink"], linestyle=dash, linewidth=1, label=method)
    along.axhline(1 / cell["modulus"], color=COLOURS["grey"], linewidth=3, alpha=0.4, zorder=0,
                  label="chance")  # fmt: skip
    along.set(title=task_of(config, "decay"), xlabel="step", ylabel="test accuracy", ylim=(0, 1.02))
    _decades(along)
    peaks.set(xlabel="largest share of power", ylabel="share of the vectors below", xlim=(0, 1.02))
    drawn.legend(*along.get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return drawn


def _decades(ax: Axes) -> None:
    """A logarithmic axis of x that names its decades alone."""
    ax.set_xscale("log")
    ax.xaxis.set_minor_formatter(NullFormatter())


def _lines(
    ax: Axes, frame: pd.DataFrame, x: str, looks: dict[str, tuple[str, str]], marker: str = ""
) -> None:
    for quantity, (words, colour) in looks.items():
        own = frame[frame["quantity"] == quantity]
        if not marker:
            _along(ax, own, words, colour)
            continue
        sns.lineplot(own, x=x, y="value", label=words, ax=ax, color=COLOURS[colour], legend=False,
                     marker=marker, err_style="bars",
                     errorbar=share_interval if quantity in SHARES else interval)  # fmt: skip
        if own["replicate"].nunique() <= FEW:
            ax.plot(own[x], own["value"], "o", color=COLOURS["ink"], markersize=2.4, alpha=0.6,
                    markeredgewidth=0, zorder=3)  # fmt: skip


def _along(ax: Axes, frame: pd.DataFrame, words: str, colour: str) -> None:
    """Along the steps: the mean, and a thin line a replicate where they are few, or else its band."""
    shared: dict[str, Any] = {"x": "step", "y": "value", "color": COLOURS[colour], "legend": False}
    few = frame["replicate"].nunique() <= FEW
    sns.lineplot(frame, **shared, label=words, errorbar=None if few else interval, ax=ax)
    if few:
        sns.lineplot(frame, **shared, units="replicate", estimator=None, linewidth=0.6, alpha=0.6,
                     ax=ax)  # fmt: skip
