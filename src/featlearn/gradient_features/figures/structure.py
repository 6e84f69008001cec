"""The parity with and without its structure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from featlearn.core.plots import COLOURS, canvas
from featlearn.core.publish import Config, figure
from featlearn.core.statistical import history

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ARMS = {"structured": ("blue", "with structure"), "none": ("orange", r"$p_A = 0$")}


@figure()
def structure(neurons: pd.DataFrame, curves: pd.DataFrame, heads: pd.DataFrame,
              config: Config) -> Figure:  # fmt: skip
    """What structure is worth: the same parity with p_A = 0

    Left: how well neurons are aligned with the block after one step on as many inputs, all neurons of all
    replicates; the dashed line is the edge of the cone. Right: accuracy on uniform inputs after each step
    of Algorithm 1, trained on inputs of which a part is structured, and on uniform ones alone (p_A = 0,
    p_o as before); the start is the same. 95 % intervals; dashed and dotted a linear classifier and
    random features, trained with structure. *What to see:*
    {{ said("gradient_features/structure-first-step", holds="the structure is what the first step finds",
    fails="the first step does not need the structure so much") }}, by the difference of the shares in the cone. The network
    {{ said("gradient_features/structure-worth", holds="carries over to uniform inputs what it has learned of the block, and
    without structure stays at chance, as what is fixed does",
    fails="does not learn so much more of uniform inputs with the structure") }}, in so many steps. Below
    chance is the simplest rule, sign of <D, x>: of three signs the majority is the parity once in four.
    At p_A = 0 the closed form of the gradient is
    {{ value("structure", "size", arm="none") | number(4) }} long and the noise of the mean over the inputs of the
    first step {{ value("structure", "noise", arm="none") | number(4) }}; with structure they are
    {{ value("structure", "size", arm="structured") | number(4) }} and
    {{ value("structure", "noise", arm="structured") | number(4) }}.
    """
    drawn = canvas(7.4, 3.4)
    left, right = drawn.subplots(1, 2)
    bins = np.linspace(0, 1, 41)
    for arm, (colour, words) in ARMS.items():
        own = neurons[neurons["arm"] == arm]["sampled"]
        left.hist(own, bins, weights=np.full(len(own), 1 / len(own)), color=COLOURS[colour],
                  alpha=0.7)  # fmt: skip
        seen = curves[(curves["arm"] == arm) & (curves["part"] == "all")]
        history(right, seen, words, COLOURS[colour])
    left.axvline(1 - config["gamma"], color=COLOURS["red"], linestyle="--", linewidth=0.8)
    left.set(xlabel="alignment with the block", ylabel="share of the neurons",
             title="After one step")  # fmt: skip
    fixed = heads[heads["arm"] == "structured"].groupby("method")["value"].mean()
    for method, dash in {"linear": "--", "random features": ":"}.items():
        right.axhline(fixed[method], color=COLOURS["ink"], linestyle=dash, linewidth=1,
                      label=method)  # fmt: skip
    right.set(xscale="log", xlabel="step", ylabel="accuracy on uniform inputs", ylim=(0, 1.02),
              title="Later steps")  # fmt: skip
    drawn.legend(*right.get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return drawn
