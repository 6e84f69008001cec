"""What is learned through the loops."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import seaborn as sns

from featlearn.core.plots import COLOURS, FILLS, canvas
from featlearn.core.publish import figure
from featlearn.core.statistical import interval
from featlearn.looped.words import CLASSES, METHODS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Below it lies only what solves the prompt up to rounding; drawn as zero, off the axis.
EDGE = 1e-9
LOSSES = {"parameter": r"squared error of $\theta$", "prediction": "squared error of the task"}
COLOURED = ("red", "blue", "green", "purple")
ARMS = {"all": r"for $\theta^*$", "all, as printed": "on the task"}


@figure()
def learned_errors(errors: pd.DataFrame) -> Figure:
    """Learned through the loops, and who else answers the same prompts

    Mean squared error on held-out prompts after the same number of loops, with 95 % intervals over
    replicates: of theta, left, and of the task as the thesis defines it, right. Lines part, from the top, who learns
    nothing; who has one set of steps, or of weights, for all prompts; whose steps are read off the prompt;
    who solves it. Triangles on grey are off the axis: exact up to rounding. *What to see:*
    {{ said("looped/learned-steps", holds="learned steps reach the best that prompts can share, with this many times the error of those",
            fails="learned steps are not the best that prompts can share, but have this many times the error of those") }};
    {{ said("looped/learned-steps-against-own", holds="they beat the theorem's step, by these powers of ten at least",
            fails="they do not beat the theorem's step, by these powers of ten") }};
    learning Q and P as well adds nothing to that. And
    {{ said("looped/learned-task", holds="trained on the task, Q and P find what answers it better than any shared steps of gradient descent, by these powers of ten at least",
            fails="trained on the task, Q and P answer it no better than shared steps of gradient descent, by these powers of ten") }};
    {{ said("looped/learned-task-not-theta", holds="they know less of theta than those trained for it, by these powers of ten at least",
            fails="they know as much of theta as those trained for it, or hardly less, by these powers of ten") }}. Who solves the least squares problem is
    far ahead.
    """
    drawn = canvas(8.6, 4.2)
    axes = drawn.subplots(1, 2, sharey=True)
    shown = errors.assign(method=errors["method"].map(METHODS))
    shown["exact"] = shown["value"] < EDGE
    sizes, names = sorted(shown["examples"].unique()), list(METHODS.values())
    for ax, (loss, words) in zip(axes, LOSSES.items(), strict=True):
        own = shown[shown["loss"] == loss]
        sns.pointplot(
            own[~own["exact"]], x="value", y="method", hue="examples",
            order=names, hue_order=sizes, linestyle="none", dodge=0.4,
            palette=[COLOURS[name] for name in COLOURED[: len(sizes)]], errorbar=interval,
            markersize=4, err_kws={"linewidth": 1.2}, legend=False, ax=ax,
        )  # fmt: skip
        for n, colour, aside in zip(
            sizes, COLOURED, np.linspace(-0.2, 0.2, len(sizes)), strict=False
        ):
            solved = own[own["exact"] & (own["examples"] == n)]["method"].unique()
            ax.plot([EDGE] * len(solved), [names.index(name) + aside for name in solved], "<",
                    color=COLOURS[colour], markersize=5)  # fmt: skip
        ax.axvspan(EDGE / 3, 3 * EDGE, color=FILLS["shade"], zorder=0)
        for place in np.cumsum(CLASSES)[:-1]:
            ax.axhline(place - 0.5, color=COLOURS["grey"], linewidth=0.8)
        ax.set(xscale="log", xlabel=words, ylabel=None, xlim=(EDGE / 3, 4))
        ax.set_xticks([EDGE, 1e-6, 1e-4, 1e-2, 1],
                      ["0", *(f"$10^{{{power}}}$" for power in (-6, -4, -2)), "1"])  # fmt: skip
        ax.minorticks_off()
    for n, name in zip(sizes, COLOURED, strict=False):
        axes[0].plot([], [], "o", color=COLOURS[name], label=f"{n} examples")
    drawn.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return drawn


@figure()
def learned_weights(weights: pd.DataFrame) -> Figure:
    """What Q and P become

    Mean over the replicates of the learned matrices, each over its largest entry, at the smallest number of
    examples: trained for theta*, and on the task. Both begin at the construction with noise on all entries.
    Last row and column belong to the label. Below a matrix stands the largest half-width of the 95 % t-intervals of
    its entries. *What to see:* for theta* the noise is gone: Q is the identity,
    and P does not write the label. On the task it is another algorithm: Q looks at the label above all, and
    P writes it too.
    """
    few = weights["examples"].min()
    own = weights[weights["examples"] == few]
    drawn = canvas(7.4, 2.3)
    axes = drawn.subplots(1, 4)
    for place, (arm, words) in enumerate(ARMS.items()):
        for which, part in enumerate(("q", "p")):
            ax = axes[2 * place + which]
            one = own[(own["arm"] == arm) & (own["part"] == part)]
            mean = one.pivot_table(index="row", columns="column", values="value")
            ends = [interval(entry["value"]) for _, entry in one.groupby(["row", "column"])]
            if np.isfinite(most := max(high - low for low, high in ends) / 2):
                ax.set_xlabel(rf"$\pm$ {most:.2f} at most")
            image = ax.imshow(mean, cmap="RdBu_r", vmin=-1, vmax=1)
            ax.set(title=f"{part.upper()} {words}", xticks=[], yticks=[])
            ax.grid(visible=False)
            for edge in np.arange(1, len(mean)) - 0.5:
                ax.axhline(edge, color="white", linewidth=0.5)
                ax.axvline(edge, color="white", linewidth=0.5)
    drawn.colorbar(image, ax=axes, shrink=0.8)
    return drawn
