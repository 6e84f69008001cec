"""The margin that training reaches, and the penalty against weight decay."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

from featlearn.core.drawing.intervals import FEW, interval
from featlearn.core.drawing.plots import COLOURS, canvas
from featlearn.core.evidence.claim_methods import Claims, claim
from featlearn.core.evidence.claims import (
    DIFFERENCE_OF_SHARES,
    OBSERVATION,
    POSITIVE,
    SHARE,
    THEOREM,
    needs,
)
from featlearn.core.evidence.frames import pick
from featlearn.core.run.exhibits import Config, figure
from featlearn.fourier.analysis import last, task_of

MARGINS = {"least": ("least margin", COLOURS["blue"]), "mean": ("mean margin", COLOURS["sky"]),
           "spread": ("equally weighted", COLOURS["orange"])}  # fmt: skip


@figure()
def margins(curves: pd.DataFrame, config: Config) -> Figure:
    r"""Training finds the network of maximum margin

    *What to see:* {{ said("fourier/margin-reached", holds="the least margin comes to the maximum", fails="the least
    margin stays below the maximum") }}; {{ said("fourier/margin-never-above", holds="no margin is above", fails="the
    margins do not end just below it") }}; {{ said("fourier/margin-at-any-strength", holds="with three numbers
    every penalty reaches it", fails="with three numbers not every penalty reaches it") }}. Margins over $\gamma^*$ (dashed): along the steps (left), then at the end
    over the penalty $\lambda$. Thin lines or dots: replicates; thick: means, 95 % intervals.

    ---

    All inputs are for training. On the right networks of two numbers, which no claim judges.
    """
    drawn = canvas(8.6, 3.2)
    axes = drawn.subplots(1, 3)
    full = pick(curves, cell="full", arm="penalty")
    for ax, cell in zip(axes, ("full", "full", "strengths"), strict=True):
        ends = pick(curves, cell=cell)
        ends = ends[ends["step"] == ends["step"].max()]
        for quantity, (words, colour) in MARGINS.items():
            if ax is axes[0]:
                _along(ax, pick(full[full["step"] > 0], quantity=quantity), words, colour)
                continue
            own = pick(ends, quantity=quantity)
            sns.lineplot(own, x="penalty", y="value", label=words, ax=ax, color=colour, legend=False,
                         marker="o", err_style="bars", errorbar=interval)  # fmt: skip
            if own["replicate"].nunique() <= FEW:
                ax.plot(own["penalty"], own["value"], "o", color=COLOURS["ink"], markersize=2.4,
                        alpha=0.6, markeredgewidth=0, zorder=3)  # fmt: skip
        ax.axhline(1, color=COLOURS["ink"], linestyle="--", linewidth=0.8)
        ax.set(title=task_of(config, cell), xlabel="step" if ax is axes[0] else r"$\lambda$",
               xscale="log", ylabel=r"margin / $\gamma^*$")  # fmt: skip
        ax.xaxis.set_minor_formatter(NullFormatter())
    axes[0].set_ylim(0, 1.05)
    drawn.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return drawn


def _along(ax: Axes, frame: pd.DataFrame, words: str, colour: str) -> None:
    """The mean along the steps, with thin lines for few replicates, or else its band."""
    shared: dict[str, Any] = {"x": "step", "y": "value", "color": colour, "legend": False}
    few = frame["replicate"].nunique() <= FEW
    sns.lineplot(frame, **shared, label=words, errorbar=None if few else interval, ax=ax)
    if few:
        sns.lineplot(frame, **shared, units="replicate", estimator=None, linewidth=0.6, alpha=0.6,
                     ax=ax)  # fmt: skip


DECAYED = needs("margins__decay", modulus=23, replicates=3, training__steps=2000)
PILOTED = (
    "Strong decay has a share of its own, and bands are below what pilots on other streams gave: "
    ".94 and .59, .69 and .10."
)


class Margins(Claims):
    paper, kind = "fourier", THEOREM
    out_of_reach = needs("margins__full", modulus=11, replicates=5, training__steps=1000)

    def last(self, quantity, cell="full", arm="penalty"):
        return last(self.curves, quantity, cell=cell, arm=arm)

    @claim("Theorem 4.9, Lemma 4.7", r"least margin over $\gamma^*$, 3 inputs, all for training", low=0.95, high=1 + 1e-5,
           paper_says="“we give the closed form of the maximum margin of a network”", possible=(-np.inf, 1 + 1e-5),
           changed="The end is that of margin-never-above, after four times the steps had .99990 and an interval "
           "beyond the largest margin.")  # fmt: skip
    def margin_reached(self):
        """Training with a small penalty on the norm finds the maximum margin.

        The maximum; the rest is the length's. A pilot of one network reached .98.
        """
        return self.last("least")

    @claim("Theorem 4.9", r"largest such margin over $\gamma^*$ of any arm at any step", low=0.9, high=1 + 1e-5,
           possible=POSITIVE, paper_says=r"“we define $\gamma^*$ to be the maximum normalized margin”")  # fmt: skip
    def margin_never_above(self):
        r"""No network has a margin above $\gamma^*$, not even the mean one with equally weighted wrong
        classes, the largest of all.

        The bound, and single precision; near it, or it would not be tight.
        """
        return pick(self.curves, quantity="spread").groupby("replicate")["value"].max()

    @claim("ours, behind Lemma 4.7", r"least margin over $\gamma^*$, 3 inputs, all for training, the smallest of all "
           r"$\lambda$", low=0.95, high=1.0, kind=OBSERVATION, changed="Stands in place of a claim that the margin "
           "rises as lambda falls, which pilots on other streams did not show and Lemma 4.7 does not say.")  # fmt: skip
    def margin_at_any_strength(self):
        r"""With three numbers, training at every $\lambda$ has the maximum margin, not only in the limit.

        Convexity of the cross-entropy; the rest is the length's. With two numbers some networks stop
        short of it, at each $\lambda$: .94 to .95 in the mean.
        """
        own = pick(self.curves, cell="full", quantity="least")
        return pick(own, step=own["step"].max()).groupby("replicate")["value"].min()

    @claim("Theorem 4.9", "share of the active neurons with more than .9 of the power of each vector "
           "at the same frequency, 3 inputs, all for training", low=0.95, high=1.0, possible=SHARE,
           paper_says="“We show that every neuron only focuses on a distinct Fourier frequency.”")  # fmt: skip
    def one_frequency_a_neuron(self):
        """At the maximum margin each neuron has one frequency, in all of its vectors.

        All; few of a random network, of whose vectors each has .4 somewhere.
        """
        return self.last("single")

    @claim("section C.10.1, the comparison is ours", "share of the active neurons of one frequency, penalty minus "
           "weight decay, paired, 3 inputs, half of all for training", low=0.3, high=1.0, kind=OBSERVATION,
           possible=DIFFERENCE_OF_SHARES, out_of_reach=DECAYED, changed=PILOTED, baselines="of_all")  # fmt: skip
    def penalty_not_decay(self):
        r"""The thesis' $\lambda$ makes circuits as a penalty on the norm, and none as weight decay of the
        same number.

        Both readings of $\lambda$ are possible; pilots gave .69 and .10.
        """
        return self.last("single", "decay") - self.last("single", "decay", "weak-decay")

    @claim("ours", "share of the active neurons of one frequency, strong weight decay, 3 inputs, half of all for "
           "training", low=0.9, high=1.0, kind=OBSERVATION, possible=SHARE, out_of_reach=DECAYED, changed=PILOTED,
           baselines="of_all")  # fmt: skip
    def strong_decay_too(self):
        """Strong weight decay makes neurons of one frequency, too.

        Nine tenths, as a vector counts as pure; a pilot had all.
        """
        return self.last("single", "decay", "strong-decay")

    def of_all(self):
        """The dead neurons counted, too."""
        own = pick(self.neurons, cell="decay", moment="end")
        found = own.groupby("arm")[["single", "active"]].mean()
        return {f"{arm}, {words} of all": found[column][arm] for arm in found.index
                for column, words in (("single", "one frequency"), ("active", "active"))}  # fmt: skip
