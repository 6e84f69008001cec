"""The later steps of Algorithm 1."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from featlearn.core.plots import COLOURS, PAGE, canvas
from featlearn.core.publish import Config, figure
from featlearn.core.statistical import history
from featlearn.gradient_features.config import majority_plateau
from featlearn.gradient_features.words import LAWS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

HEADS = {"linear": ("linear", "--"), "random features": ("random features", ":")}
PARTS = {"all": ("all inputs", "blue"), "structured": ("structured", "green"),
         "uniform": ("uniform", "orange")}  # fmt: skip
ARMS = {"network": ("all neurons", "blue"), "in cones": ("in cones", "green"),
        "by chance": ("as many by chance", "orange")}  # fmt: skip


@figure()
def learning_curves(curves: pd.DataFrame, heads: pd.DataFrame, config: Config) -> Figure:
    """The steps after the first: four laws

    Test accuracy after each step of Algorithm 1, fresh inputs a step, with 95 % intervals over the
    replicates; of the parity also on the structured and on the uniform inputs alone. Dashed and dotted:
    what a linear classifier and a head on random features of the same start reach, both solved to their
    optimum at a penalty chosen on validation inputs. *What to see:* a linear classifier has
    {{ value("learning", law="linear", method="linear") | percent }} of the linear data and
    {{ value("learning", law="mixture", method="linear") | percent }} of the mixture: both panels, where the curves soon lie on
    that line, say nothing about features. On the XOR random features have {{ value("learning", law="xor", method="random features") | percent }} and the network
    {{ value("learning", law="xor", method="network") | percent }}. The grey line is the level of the simplest rule for the parity, the
    sign of <D, x>, by a sum over the block: {{ said("gradient_features/parity-plateau", holds="the network stays there first",
    fails="the network does not stay there first") }}, by the distance from it, and
    {{ said("gradient_features/parity-learned", holds="ends far above it and what is fixed",
    fails="does not end far above it and what is fixed") }}.
    """
    laws = [name for name in LAWS if (curves["law"] == name).any()]
    drawn = canvas(min(PAGE, 2.5 * len(laws)), 3.3)
    # a decade of steps is about as wide in every panel
    last = curves.groupby("law")["step"].max()
    axes = drawn.subplots(1, len(laws), sharey=True, squeeze=False,
                          width_ratios=[0.5 + np.log10(last[name]) for name in laws])[0]  # fmt: skip
    for ax, name in zip(axes, laws, strict=True):
        own = curves[(curves["law"] == name) & (curves["arm"] == "network")]
        _lines(ax, own, "part", PARTS)
        for method, (words, dash) in HEADS.items():
            level = heads[(heads["law"] == name) & (heads["method"] == method)]["value"].mean()
            ax.axhline(level, color=COLOURS["ink"], linestyle=dash, linewidth=1, label=words)
        if name == "parity":
            parity = config["laws"]["parity"]
            level = majority_plateau(parity["block"], parity["structured"])
            ax.axhline(level, color=COLOURS["grey"], linewidth=3, alpha=0.4, zorder=0,
                       label="simplest rule")  # fmt: skip
        ax.set(title=LAWS[name], xscale="log", xlabel="step", ylabel="test accuracy",
               ylim=(0.45, 1.02))  # fmt: skip
    drawn.legend(*axes[-1].get_legend_handles_labels(), loc="outside lower center", ncols=6)
    return drawn


@figure()
def lottery(curves: pd.DataFrame, config: Config) -> Figure:
    """Lottery tickets: the neurons in the cones learn alone

    Algorithm 1 continued with all neurons, with those alone that the first step put into a cone of the
    config's width, and with as many drawn by chance; the same inputs in each step, the same rate in
    units of each network's features. 95 % intervals over the replicates. *What to see:* the neurons in the cones
    {{ said("gradient_features/lottery-suffices", holds="reach what all reach", fails="do not reach what all reach") }},
    {{ said("gradient_features/lottery-beats-chance", holds="and sooner than neurons by chance",
    fails="no sooner than neurons by chance") }}, of which some lie in cones too.
    """
    drawn = canvas(4.6, 3.3)
    ax = drawn.subplots()
    own = curves[(curves["law"] == config["lottery"]["law"]) & (curves["part"] == "all")]
    _lines(ax, own, "arm", ARMS)
    ax.set(xscale="log", xlabel="step", ylabel="test accuracy", ylim=(0.45, 1.02))
    ax.legend(loc="lower right")
    return drawn


def _lines(ax: Axes, frame: pd.DataFrame, hue: str, looks: dict[str, tuple[str, str]]) -> None:
    for name, (words, colour) in looks.items():
        shown = frame[frame[hue] == name]
        if len(shown):
            history(ax, shown, words, COLOURS[colour])
