"""The four phases: curves with predicted times, exponents over the dimension, what is conserved."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from featlearn.core.plots import COLOURS, canvas
from featlearn.core.publish import Config, figure
from featlearn.noncontrastive.figures.algorithm import HEAD, PRODUCTS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Phases: name, colour, exponent of the theory.
PHASES = {
    "phase_1": ("I: strong feature", COLOURS["blue"], 2.0),
    "phase_2": ("II: substitution", COLOURS["green"], 1.5),
    "phase_3": ("III: acceleration", COLOURS["orange"], 1.625),
    "phase_end": ("head back to identity", COLOURS["purple"], 0.0),
}
TIMES = {"t1": "I", "t2": "II", "t3": "III", "t4": "end"}


def _base(times: pd.DataFrame) -> pd.Series:
    """Which rows are of the case of the config itself."""
    return times["case"] == "base"


def _run(
    times: pd.DataFrame, curves: pd.DataFrame, dimension: float
) -> tuple[pd.Series, pd.DataFrame]:
    """Times of the first replicate at a dimension, and its curves."""
    own = times[_base(times) & (times["dimension"] == dimension) & (times["replicate"] == 0)]
    return own.set_index("quantity")["value"], curves[curves["dimension"] == dimension]


@figure()
def four_phases(times: pd.DataFrame, curves: pd.DataFrame, config: Config) -> Figure:
    """The four phases

    One run of the population flow: products of the neurons with the features (top), off-diagonal entries
    of the head (middle), what is left of the noise in each neuron and the loss above its optimum
    (bottom), over logarithmic time. Shading: the phases as detected. Dash-dotted: closed forms, for the
    end of phase I and for the largest head. *What to see:* neuron 1 learns the strong feature (I), the
    head rises to its bound (II), neuron 2 learns the weak feature (III), the head vanishes at once.
    Of the products with the features at the end, that neuron 1 has the strong one {{ verdict("noncontrastive/theorem-4-1-strong") }}; that
    neuron 2 has the weak one {{ verdict("noncontrastive/theorem-4-1-weak") }}; that the head
    vanishes, by the norm of what is off its diagonal, {{ verdict("noncontrastive/end-head") }}.
    """
    dimension = config["dimensions"][len(config["dimensions"]) // 2]
    at, curves = _run(times, curves, dimension)
    drawn = canvas(8.2, 5.0)
    axes = drawn.subplots(3, 1, sharex=True, height_ratios=(1.3, 1, 1))
    panels = (
        PRODUCTS,
        HEAD,
        {
            "r1": (COLOURS["blue"], ":", r"noise $R_1$"),
            "r2": (COLOURS["orange"], ":", r"noise $R_2$"),
            "gap": (COLOURS["ink"], "-", "loss above its optimum"),
        },
    )
    begin, end = 0.02 * at["t1"], 3 * at["t4"]
    edges = [begin, *at[list(TIMES)]]
    for ax, styles in zip(axes, panels, strict=True):
        for quantity, (colour, line, label) in styles.items():
            shown = curves[curves["quantity"] == quantity]
            ax.plot(shown["time"], shown["value"], line, color=colour, label=label)
        for number, (left, right) in enumerate(pairwise(edges)):
            ax.axvspan(left, right, color=COLOURS["grey"], alpha=0.13 * (number % 2), lw=0)
        ax.axvline(at["t1_predicted"], color=COLOURS["blue"], linewidth=0.9, linestyle="-.")
        ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    bound = (config["kappa"] / 3) ** 0.5
    axes[1].axhline(bound, color=COLOURS["green"], linewidth=0.9, linestyle="-.")
    axes[1].annotate(
        r"bound $\sqrt{\kappa/3}\,\|w_2(0)\|$", (begin * 1.15, bound), fontsize=8, va="bottom"
    )
    axes[1].set_ylim(0, 1.35 * bound)
    for (left, right), (name, label) in zip(pairwise(edges), TIMES.items(), strict=True):
        middle = (left * right) ** 0.5 if name != "t4" else right * 1.5
        axes[0].annotate(
            label, (middle, 1.02), xycoords=("data", "axes fraction"), ha="center", fontsize=9
        )
    axes[0].annotate(
        "predicted end of I", (at["t1_predicted"], 0.9), (-8, 0),
        xycoords=("data", "axes fraction"), textcoords="offset points",
        ha="right", va="center", fontsize=8, color=COLOURS["blue"],
    )  # fmt: skip
    axes[0].set(xscale="log", xlim=(begin, end), ylim=(0, 1.55))
    axes[0].set_ylabel(r"$|\langle w_j, v_l\rangle|$")
    axes[1].set_ylabel(r"$|E_{j,k}|$")
    axes[2].set(
        yscale="log", ylim=(1e-7, 5), xlabel=rf"time $\eta \times$ step ($d$ = {dimension:,})"
    )
    axes[2].set_ylabel("noise, loss")
    return drawn


@figure()
def exponents(times: pd.DataFrame) -> Figure:
    """How long the phases are

    Left: lengths over the dimension, median and range over replicates, with the powers that the theory
    says (dashed). Right: the exponent between neighbouring dimensions. *What to see:* d^2 for phase I,
    d^(3/2) for the substitution, d^(13/8) for the acceleration, which is reached slowly from above, and
    no dependence on d for the return of the head. That phase II is short beside phase I is true for
    large dimensions only.
    That phase I has the theory's exponent {{ verdict("noncontrastive/phase-1-exponent") }}; that the
    substitution has it {{ verdict("noncontrastive/phase-2-exponent") }}; that the acceleration is near it, within a
    band that allows for a finite d, {{ verdict("noncontrastive/phase-3-exponent") }}; that phase II is short beside
    phase I, as the ratio of their lengths at the largest d, {{ verdict("noncontrastive/phase-2-short") }}.
    """
    drawn = canvas(8.4, 3.8)
    left, right = drawn.subplots(1, 2, width_ratios=(1.25, 1))
    for quantity, (label, colour, slope) in PHASES.items():
        own = times[_base(times) & (times["quantity"] == quantity)].groupby("dimension")["value"]
        middle = own.median()
        d = middle.index.to_numpy(dtype=float)
        power = rf"{label}, $d^{{{Fraction(slope)}}}$"
        left.loglog(d, middle, "o", color=colour, markersize=4.5, label=power)
        left.vlines(d, own.min(), own.max(), color=colour, linewidth=1.0)
        reference = middle.iloc[-1] * (d / d[-1]) ** slope
        left.loglog(d, reference, "--", color=colour, linewidth=0.9)
        if len(d) > 1:
            local = np.diff(np.log(middle)) / np.diff(np.log(d))
            right.semilogx((d[1:] * d[:-1]) ** 0.5, local, "o-", color=colour, markersize=4.5)
            right.axhline(slope, color=colour, linestyle="--", linewidth=0.9)
    left.set(xlabel="dimension $d$", ylabel=r"length in $\eta \times$ steps")
    left.set_ylim(top=1e13)  # room for the legend
    left.set_title("Length of the phases")
    left.legend(loc="upper left")
    right.set(xlabel="dimension $d$", ylabel="local exponent")
    right.set_title("Exponents, and their limits (dashed)")
    return drawn


#: What decides on the feature of neuron 2: colour, line, label.
RACE = {
    "h_ratio": (COLOURS["green"], "-", r"$H_{2,1} / H_{2,2}$"),
    "gain_ratio": (COLOURS["orange"], "-", r"$\Lambda_{2,2} / \Lambda_{2,1}$"),
    "push_ratio": (COLOURS["ink"], "--", "push along weak / strong"),
}


@figure()
def acceleration(times: pd.DataFrame, curves: pd.DataFrame, config: Config) -> Figure:
    """How the head lets the weak feature win

    Neuron 2 along the population flow. Left, at one dimension: how much more normalisation holds back
    its growth along the strong feature than along the weak one (H_21 / H_22, green), the gain along the
    weak feature over that along the strong one that follows (orange), and the ratio of the whole pushes
    (dashed). Shading: the phases as detected. Right: the ratio of the gains at every dimension, over
    time in units of the end of phase I. *What to see:* at the start the strong feature is ahead; once
    the head has substituted, all ratios rise by orders of magnitude and cross one: this is the
    acceleration of section 5, and it grows with the dimension. The whole pushes follow the gains
    until neuron 2 has the weak feature.
    That normalisation comes to hold back the strong feature more, by the power of d with which H_21 / H_22 grows,
    {{ verdict("noncontrastive/acceleration") }}; that the weak feature then grows faster, by the push along it over
    that along the strong one in powers of ten, {{ verdict("noncontrastive/acceleration-wins") }}.
    """
    dimensions = config["dimensions"]
    middle = dimensions[len(dimensions) // 2]
    at, own = _run(times, curves, middle)
    drawn = canvas(8.4, 3.6)
    left, right = drawn.subplots(1, 2)
    for quantity, (colour, line, label) in RACE.items():
        shown = own[own["quantity"] == quantity]
        left.plot(shown["time"], shown["value"], line, color=colour, label=label)
    begin = 0.02 * at["t1"]
    for number, (start, end) in enumerate(pairwise([begin, *at[list(TIMES)]])):
        left.axvspan(start, end, color=COLOURS["grey"], alpha=0.13 * (number % 2), lw=0)
    left.set(xscale="log", yscale="log", xlim=(begin, 3 * at["t4"]), ylim=(1e-4, 1e8))
    left.set(xlabel=rf"time $\eta \times$ step ($d$ = {middle:,})", ylabel="ratio")
    left.legend(loc="upper left")
    left.set_title("Neuron 2, at one dimension")
    for number, dimension in enumerate(dimensions):
        at, own = _run(times, curves, dimension)
        shown = own[(own["quantity"] == "gain_ratio") & (own["time"] <= at["t3"])]
        strength = (number + 1) / len(dimensions)
        right.plot(shown["time"] / at["t1"], shown["value"], color=COLOURS["orange"],
                   alpha=strength, label=f"$d$ = {dimension:,}")  # fmt: skip
    right.set(xscale="log", yscale="log", xlabel="time over the end of phase I", xlim=(0.02, None))
    right.set_title(r"$\Lambda_{2,2} / \Lambda_{2,1}$ until phase III ends")
    right.legend(loc="upper left")
    for ax in (left, right):
        ax.axhline(1, color=COLOURS["grey"], linestyle=":", linewidth=1)
    return drawn


@figure()
def invariants(times: pd.DataFrame, curves: pd.DataFrame, config: Config) -> Figure:
    """What neuron and head exchange

    Along the flow each neuron's squared norm (blue) plus a multiple of what the head lends and borrows
    (green) stays constant (black). *What to see:* the head feeds neuron 1 with the norm of neuron 2 and
    gives it back: this bounds the head by sqrt(kappa/3), and it is why both neurons end with the norm
    they began with.
    That what is drawn black is constant, by its largest drift, {{ verdict("noncontrastive/conserved") }}.
    """
    at, curves = _run(times, curves, min(config["dimensions"]))
    drawn = canvas(8.2, 3.2)
    axes = drawn.subplots(1, 2, sharey=True)
    wide = curves.pivot_table(index="time", columns="quantity", values="value")
    for ax, j, sign in zip(axes, (1, 2), (-1, 1), strict=True):
        exchange = sign * 3 / config["kappa"] * (wide["e21"] ** 2 - wide["e12"] ** 2)
        ax.plot(wide.index, wide[f"norm{j}"], color=COLOURS["blue"], label=r"$\|w_j\|^2$")
        ax.plot(wide.index, exchange, color=COLOURS["green"],
                label=r"$(3/\kappa)\,(E_{j,k}^2 - E_{k,j}^2)$")  # fmt: skip
        ax.plot(wide.index, wide[f"invariant{j}"], color=COLOURS["ink"], label="their sum")
        ax.set(
            xscale="log", xlabel=r"time $\eta \times$ step", xlim=(0.05 * at["t1"], 3 * at["t4"])
        )
        ax.set_title(f"Neuron {j}")
    drawn.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return drawn
