"""Trained networks as the thesis shows them: some neurons, and histograms over all."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from featlearn.core.plots import COLOURS, canvas
from featlearn.core.publish import Config, figure
from featlearn.fourier.closed_forms import expected_peak, frequencies
from featlearn.fourier.config import PURE
from featlearn.fourier.words import task_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@figure("fig-4-1", cell="four", label="Figure 4.1", printed="4 numbers mod 47")
@figure("fig-c-1", cell="three", label="Figure C.1", printed="3 numbers mod 97")
@figure("fig-c-3", cell="five", label="Figure C.3", printed="5 numbers mod 23")
def neurons(weights: pd.DataFrame, config: Config, cell: str, label: str, printed: str) -> Figure:
    """{{ label }}: neurons of a trained network, and whether they are cosines

    Rows are neurons of the first network of the task in the heading, drawn at random from those that are
    not dead. Left: their weights on the first input (red) and the curve of their Fourier series, which goes
    through any weights and proves nothing; right, where it is decided:
    the share of power at each frequency, bars of the same weights, dots of the neuron's other vectors,
    black of the output. Above a row stands what the neuron is: of one frequency, if all of its vectors have more than
    nine tenths of their power at the same one, or of several. The thesis has {{ printed }}; the sizes here
    are those of the config. *What to see:* the
    frequency differs from neuron to neuron. {{ value("circuits", cell="{{ cell }}", quantity="single") | percent }} of all active
    neurons are of one frequency; the sum of the inputs' phases is off the output's by
    {{ value("circuits", cell="{{ cell }}", quantity="residual") | number }} radians in the median. The verdict
    is on three numbers: {{ said("fourier/phases-add-up", holds="phases add up as in Lemma 4.10, up to so many radians in the median",
                                 fails="phases do not add up as in Lemma 4.10, but are off by so many radians in the median") }}.
    """
    own = weights[weights["cell"] == cell]
    places = sorted(own["place"].unique())
    drawn = canvas(6.4, 1.4 * len(places) + 0.7)
    axes = drawn.subplots(len(places), 2, squeeze=False, sharex="col", width_ratios=[1.5, 1])
    k, p = config[cell]["inputs"], config[cell]["modulus"]
    for (left, right), place in zip(axes, places, strict=True):
        vectors = (own[own["place"] == place].sort_values(["vector", "a"])["value"]
                   .to_numpy().reshape(k + 1, p))  # fmt: skip
        _curve(left, vectors[0])
        _power(right, vectors)
    for ax, words in zip(axes[-1], ("a", "frequency"), strict=True):
        ax.set(xlabel=words)
        ax.locator_params(axis="x", integer=True)
    drawn.suptitle(task_of(config, cell), fontsize=10, fontweight="bold", x=0.01, ha="left")
    return drawn


def _curve(ax: Axes, weights: np.ndarray) -> None:
    """Weights on Z_p and their trigonometric interpolation between 0 and p - 1."""
    p = len(weights)
    spectrum = np.fft.rfft(weights)
    at = np.linspace(0, p - 1, 20 * p)
    turns = np.exp(2j * np.pi * np.outer(at, np.arange(len(spectrum))) / p)
    factor = np.where(np.arange(len(spectrum)) == 0, 1, 2)
    ax.plot(at, (turns * factor * spectrum).real.sum(1) / p, color=COLOURS["sky"], linewidth=1)
    ax.plot(np.arange(p), weights, "o", color=COLOURS["red"], markersize=2.5)
    ax.set(ylabel="weight")


def _power(ax: Axes, vectors: np.ndarray) -> None:
    power = np.abs(np.fft.rfft(vectors)) ** 2
    power[:, 1:] *= 2
    shares = power / power.sum(1, keepdims=True)
    at = np.arange(shares.shape[1])
    ax.bar(at, shares[0], color=COLOURS["blue"])
    pure = (shares[:, 1:].max(1) > PURE).all() and len(set(shares[:, 1:].argmax(1))) == 1
    ax.set_title("one frequency" if pure else "several frequencies", fontsize=9)
    for other in shares[1:-1]:
        ax.plot(at, other, ".", color=COLOURS["orange"], markersize=5)
    ax.plot(at, shares[-1], ".", color=COLOURS["ink"], markersize=3)
    ax.set(ylim=(0, 1.05), ylabel="power")


@figure("fig-4-2", cell="four", label="Figure 4.2", printed="4 numbers mod 47")
@figure("fig-c-2", cell="three", label="Figure C.2", printed="3 numbers mod 97")
@figure("fig-c-4", cell="five", label="Figure C.4", printed="5 numbers mod 23")
def spectra(neurons: pd.DataFrame, config: Config, cell: str, label: str, printed: str) -> Figure:
    """{{ label }}: the frequencies of all neurons, and how pure they are

    All weight vectors of the inputs, of all active neurons of all replicates of the task in the heading:
    (a) the frequency of their largest power after training, (b) its share of the power at the random
    start, (c) after training. Dashed: even counts in (a); in (b) and (c) the mean that white noise has
    on so many points. The thesis has {{ printed }}. *What to see:* in (a) a frequency that is left out would have no bar. Were
    all alike, the weakest one would have an even part of the margin; it has
    {{ value("circuits", cell="{{ cell }}", quantity="equal") | percent }} of it. From (b) to (c) the mean
    share of power goes from
    {{ value("circuits", "start", cell="{{ cell }}", quantity="peak") | percent }} to
    {{ value("circuits", cell="{{ cell }}", quantity="peak") | percent }}. The
    verdict is on three numbers:
    {{ said("fourier/figure-4-2c", holds="nearly all power lies at one frequency, this share of it",
            fails="power is not all at one frequency, but this share of it") }},
    and {{ said("fourier/frequencies-share-alike", holds="frequencies share the margin alike, the weakest with this share of an even part",
                fails="frequencies do not share the margin alike, the weakest has this share of an even part") }}.
    The thesis divides by the power at both signs of a frequency, by which a cosine would have 1/2; its
    figures, and these, add them up.
    """
    k, p = config[cell]["inputs"], config[cell]["modulus"]
    own = neurons[(neurons["cell"] == cell) & neurons["active"] & (neurons["vector"] <= k)]
    drawn = canvas(7.6, 2.7)
    counted, start, end = drawn.subplots(1, 3)
    found = own[own["moment"] == "end"]["frequency"].value_counts()
    at = np.arange(1, frequencies(p) + 1)
    counted.bar(at, found.reindex(at, fill_value=0), color=COLOURS["blue"])
    counted.axhline(found.sum() / len(at), color=COLOURS["ink"], linestyle="--", linewidth=0.8)
    counted.set(title="(a) strongest frequency", xlabel="frequency", ylabel="vectors")
    counted.locator_params(axis="x", integer=True)
    for ax, moment, words in ((start, "start", "(b) at the start"), (end, "end", "(c) trained")):
        ax.hist(own[own["moment"] == moment]["peak"], np.linspace(0, 1, 41), color=COLOURS["blue"])
        ax.axvline(expected_peak(p), color=COLOURS["ink"], linestyle="--", linewidth=0.8)
        ax.set(title=words, xlabel="largest share of power", ylabel="vectors", xlim=(0, 1.02))
    drawn.suptitle(task_of(config, cell), fontsize=10, fontweight="bold", x=0.01, ha="left")
    return drawn
