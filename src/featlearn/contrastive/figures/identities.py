"""The figure of the closed forms: what sampling measures beside what the formula gives."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from featlearn.core.plots import COLOURS, PALETTE, canvas
from featlearn.core.publish import figure
from featlearn.core.statistical import whiskers
from featlearn.core.stats import estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@figure()
def closed_forms(sampled: pd.DataFrame) -> Figure:
    """Predicted and measured pulls

    Strokes are closed forms, reckoned for the settings that were sampled and no others; dots are means over
    replicates with 95 % intervals. Left: growth rates at threshold zero, within the span of the atoms and outside
    it; they fall with the norm of a neuron, as the negatives set in. Middle: the pull on a neuron whose atom is
    active, along the atom and along the noise that it holds; of a neuron that is its atom alone (alpha = 1) there
    is no noise to be pulled along. Right: the pull of a sample of noise alone. *What to see:* dots lie on their
    strokes, or a little off where firing is rare and the closed form leaves out what fluctuates. By the mean ratio
    of measured to predicted, that the span of the atoms grows by the closed rate
    {{ verdict("contrastive/next-order") }}, that an active atom pulls as it says {{ verdict("contrastive/lemma-d3") }},
    and that noise does then {{ verdict("contrastive/lemma-d4") }}. That a sample of noise alone pulls nowhere under
    RandomMask, over its pull without masks, {{ verdict("contrastive/masked-noise-pull") }}.
    """
    drawn = canvas(8.2, 3.2)
    axes = drawn.subplots(1, 3)
    rates, atom, noise = axes
    _check(rates, sampled, "rate_signal", COLOURS["blue"], "within span(M)")
    _check(rates, sampled, "rate_dense", COLOURS["orange"], "outside")
    rates.axhline(0, color=COLOURS["ink"], linewidth=0.8, linestyle=":")
    rates.set(title="Stage I, b = 0", xlabel=r"$\|w\|$", ylabel="growth rate of a weight")
    _check(atom, sampled, "atom_pull", COLOURS["blue"], "along its atom")
    _check(atom, sampled, "dense_pull", COLOURS["orange"], "along noise")
    atom.set(title="One active atom, b > 0", xlabel=r"$\alpha=\langle w,M_j\rangle$",
             ylabel="pull of the positive", yscale="log")  # fmt: skip
    _check(noise, sampled, "noise_pull", PALETTE["contrastive, no augmentation"], "no augmentation")
    _check(noise, sampled, "masked_noise_pull", PALETTE["contrastive"], "RandomMask")
    noise.set(title="Noise alone", xlabel=r"$b$ over its value at T1", ylabel="pull along w")
    for ax in axes:
        ax.margins(x=0.12)
        ax.legend(fontsize=8)
    return drawn


def _check(ax: Axes, sampled: pd.DataFrame, check: str, colour: str, label: str) -> None:
    """Means with 95 % intervals as dots, the closed form of each setting as a stroke."""
    own = sampled[sampled["check"] == check]
    predicted = own.groupby("setting")["predicted"].mean()
    ax.plot(
        predicted.index, predicted, "_", color=PALETTE["theory"], markersize=14, markeredgewidth=1.6
    )
    for number, setting in enumerate(predicted.index.to_numpy()):
        seen = estimate(own.loc[own["setting"] == setting, "measured"].to_numpy())
        first = None if number else label
        whiskers(ax, float(setting), seen.mean, seen.half_width, colour, label=first)
