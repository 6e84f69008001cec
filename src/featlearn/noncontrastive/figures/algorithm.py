"""Algorithm 1: the curves of Figure 7, SGD beside the flow, and the ablations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import pandas as pd

from featlearn.core.plots import COLOURS, PALETTE, canvas
from featlearn.core.publish import figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: The four products: colour by feature (blue strong, orange weak), line by neuron.
PRODUCTS = {
    "b11": (PALETTE["strong feature"], "-", "neuron 1, strong feature"),
    "b21": (PALETTE["strong feature"], "--", "neuron 2, strong feature"),
    "b12": (PALETTE["weak feature"], "-", "neuron 1, weak feature"),
    "b22": (PALETTE["weak feature"], "--", "neuron 2, weak feature"),
}
HEAD = {
    "e21": (COLOURS["green"], "-", r"head, $E_{2,1}$"),
    "e12": (COLOURS["purple"], "-", r"head, $E_{1,2}$"),
}
TITLES = {
    "head": "With the prediction head",
    "frozen": "Without (head frozen at identity)",
    "live-target": "Head, but no StopGrad",
    "l2": r"Head, $\ell_2$ instead of batch norm.",
    "squared": "Head, no normalisation",
}


#: The same where panels are narrow.
SHORT = {
    "head": "With the head",
    "frozen": "Head frozen\nat identity",
    "live-target": "Head, but\nno StopGrad",
    "l2": "Head, $\\ell_2$ for\nbatch norm.",
    "squared": "Head, no\nnormalisation",
}


def _curves(
    ax: Axes, frame: pd.DataFrame, styles: Mapping[str, tuple[str, str, str]], across: str = "step"
) -> None:
    """Every replicate thin, the first one bold: switches at different times have no mean."""
    for quantity, (colour, line, label) in styles.items():
        for replicate, own in frame[frame["quantity"] == quantity].groupby("replicate"):
            first = replicate == 0
            ax.plot(own[across], own["value"], line, color=colour, label=label if first else None,
                    linewidth=1.6 if first else 0.6, alpha=1 if first else 0.35,
                    zorder=3 if first else 2)  # fmt: skip


@figure()
def fig_7(history: pd.DataFrame) -> Figure:
    """Figure 7: with the head both features are learned, without it one

    Algorithm 1 (SGD on fresh samples) from the same start and on the same samples, with a trained
    prediction head (a) and without one (b). Blue: product of a neuron with the strong feature, orange:
    with the weak feature; solid: neuron 1, dashed: neuron 2; green: the head's entry that lends neuron
    1 to output 2. Thin lines: all replicates, bold: the first one. *What to see:* in (a) neuron 1 learns
    the strong feature, the head rises, neuron 2 then learns the weak feature and the head falls back to
    zero, earlier or later from replicate to replicate (a late one may not be there yet at the end);
    {{ said("noncontrastive/fig-7a-both-features", holds="most replicates end so, a share of", fails="it is not most replicates that end so, but a share of") }}; in (b) both neurons learn the strong feature and the weak one is ignored. The paper states no
    parameters for this figure; those here are ours.
    """
    drawn = canvas(8.2, 3.5)
    axes = drawn.subplots(1, 2, sharey=True)
    for ax, name, panel in zip(axes, ("head", "frozen"), "ab", strict=True):
        own = history[history["variant"] == name]
        _curves(ax, own, PRODUCTS)
        if name == "head":
            _curves(ax, own, {"e21": HEAD["e21"]})
        ax.set_title(f"({panel}) {TITLES[name]}")
        ax.set(xlabel="step of SGD", ylim=(0, None))
    axes[0].set_ylabel(r"$|\langle w_j, v_l \rangle|$")
    drawn.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return drawn


@figure()
def sgd_and_flow(history: pd.DataFrame, flow: pd.DataFrame) -> Figure:
    """SGD against the nine-variable flow

    Coloured: Algorithm 1, all replicates thin, the first one bold. Black: gradient flow of the exact population
    objective, which for this data closes on nine numbers at any dimension. *What to see:* the flow
    follows SGD through all phases; SGD with its finite learning rate and batch switches to the weak
    feature earlier or later, because the growth that decides on the time starts very slowly.
    That most replicates of SGD end where the flow does, as their share,
    {{ verdict("noncontrastive/sgd-follows-flow-head") }}; that all do without the head, by the largest deviation of a
    product, {{ verdict("noncontrastive/sgd-follows-flow-frozen") }}.
    """
    drawn = canvas(8.2, 3.6)
    axes = drawn.subplots(1, 2, sharey=True)
    styles = {**PRODUCTS, "e21": HEAD["e21"]}
    for ax, name in zip(axes, ("head", "frozen"), strict=True):
        own = history[history["variant"] == name]
        shown = styles if name == "head" else PRODUCTS
        _curves(ax, own, shown, "time")
        for number, quantity in enumerate(shown):
            line = flow[(flow["variant"] == name) & (flow["quantity"] == quantity)]
            ax.plot(line["time"], line["value"], color=COLOURS["ink"], linewidth=0.8,
                    linestyle=PRODUCTS.get(quantity, HEAD["e21"])[1],
                    label="population flow" if number == 0 else None)  # fmt: skip
        ax.set_title(TITLES[name])
        ax.set(xlabel=r"time $\eta \times$ step", ylim=(0, None))
    axes[0].set_ylabel(r"$|\langle w_j, v_l \rangle|$, $|E_{2,1}|$")
    drawn.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return drawn


@figure()
def ablations(history: pd.DataFrame) -> Figure:
    """What each ingredient does

    Share of each neuron along each feature during SGD, in five variants of training on the same samples
    and from the same start; colours and lines as in Figure 7, dotted grey: mean norm of the neurons.
    *What to see:*
    {{ said("noncontrastive/fig-7a-both-features", holds="with the head, StopGrad and batch normalisation most replicates end with one feature a neuron, a share of",
            fails="with the head, StopGrad and batch normalisation it is not most replicates that end with one feature a neuron, but a share of") }};
    {{ said("noncontrastive/fig-7b-collapse", holds="without a head both neurons take the strong feature (blue), each a share of its norm of at least",
            fails="without a head not both neurons take the strong feature (blue): the smaller share of a norm is") }};
    {{ said("noncontrastive/no-stop-gradient-collapses-sgd", holds="without StopGrad they do so too, with",
            fails="without StopGrad they do not, with") }};
    {{ said("noncontrastive/no-normalisation-collapses-sgd", holds="without normalisation the plain squared error shrinks all weights (grey), their squares to a share of",
            fails="without normalisation the plain squared error does not shrink all weights (grey), but the larger square to a share of") }}. With
    ℓ₂ normalisation of each sample, which the paper leaves open, the result differs from replicate to replicate,
    and neurons mix the features.
    """
    runs = ["variant", "replicate", "step"]
    wide = history.pivot_table(index=runs, columns="quantity", values="value")
    drawn = canvas(8.6, 3.2)
    axes = drawn.subplots(1, len(SHORT), sharey=True)
    for ax, (name, title) in zip(axes, SHORT.items(), strict=True):
        own = wide.loc[name].reset_index()
        parts = []
        for quantity in PRODUCTS:
            share = own[quantity] / own[f"norm{quantity[1]}"] ** 0.5
            parts.append(own[["replicate", "step"]].assign(quantity=quantity, value=share))
        _curves(ax, pd.concat(parts), PRODUCTS)
        norms = own.assign(quantity="norm", value=own[["norm1", "norm2"]].mean(axis=1) ** 0.5)
        _curves(ax, norms, {"norm": (COLOURS["grey"], ":", r"mean norm $\|w_j\|$")})
        ax.set_title(title, fontsize=8.5)
        ax.set(xlabel="step", ylim=(0, 1.25))
    axes[0].set_ylabel(r"$|\langle w_j, v_l\rangle| \, / \, \|w_j\|$")
    drawn.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return drawn
