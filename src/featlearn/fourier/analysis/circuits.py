"""Circuits of trained networks: neurons and spectra (Figures 4.1, 4.2 and C.1 to C.4), and claims on three
inputs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from featlearn.core.claim_methods import Claims, claim
from featlearn.core.claims import (
    CONTROL,
    DIFFERENCE_OF_SHARES,
    OBSERVATION,
    POSITIVE,
    SHARE,
    THEOREM,
    needs,
)
from featlearn.core.frames import pick
from featlearn.core.plots import COLOURS, canvas
from featlearn.core.publish import Config, Table, figure, table
from featlearn.core.stats import SPREAD_KIND, side_by_side, summary
from featlearn.fourier.closed_forms import expected_peak, frequencies
from featlearn.fourier.config import INPUTS as CELLS
from featlearn.fourier.config import PURE
from featlearn.fourier.labels import QUANTITIES, last, task_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@figure("fig-4-1", cell="four", label="Figure 4.1", printed="4 numbers mod 47")
@figure("fig-c-1", cell="three", label="Figure C.1", printed="3 numbers mod 97")
@figure("fig-c-3", cell="five", label="Figure C.3", printed="5 numbers mod 23")
def neurons(weights: pd.DataFrame, config: Config, cell: str, label: str, printed: str) -> Figure:
    """{{ label }}: neurons of a trained network, and whether they are cosines

    *What to see:* {{ value("circuits", cell="{{ cell }}", quantity="single") | percent }} of active neurons have one
    frequency, which differs between neurons. With three numbers {{ said("fourier/phases-add-up", holds="phases add up
    as in Lemma 4.10, median in radians", fails="phases do not add up as in Lemma 4.10, median in radians") }}. Rows
    are random neurons that are not dead. Left: weights on the first input, with the Fourier series through them.
    Right: power at each frequency (dots: other vectors, black the output). The thesis has {{ printed }}.
    """
    own = pick(weights, cell=cell)
    places = sorted(own["place"].unique())
    drawn = canvas(6.4, 1.4 * len(places) + 0.7)
    axes = drawn.subplots(len(places), 2, squeeze=False, sharex="col", width_ratios=[1.5, 1])
    k, p = config[cell]["inputs"], config[cell]["modulus"]
    for (left, right), place in zip(axes, places, strict=True):
        vectors = (pick(own, place=place).sort_values(["vector", "a"])["value"]
                   .to_numpy().reshape(k + 1, p))  # fmt: skip
        _curve(left, vectors[0])
        _power(right, vectors)
    for ax, words in zip(axes[-1], ("a", "frequency"), strict=True):
        ax.set(xlabel=words)
        ax.locator_params(axis="x", integer=True)
    drawn.suptitle(task_of(config, cell), fontsize=10, fontweight="bold", x=0.01, ha="left")
    return drawn


def _curve(ax: Axes, weights: np.ndarray) -> None:
    """Weights on $Z_p$ and their trigonometric interpolation."""
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

    *What to see:* training raises the mean share of the strongest frequency from {{ value("circuits", "start",
    cell="{{ cell }}", quantity="peak") | percent }} to {{ value("circuits", cell="{{ cell }}", quantity="peak") |
    percent }}. With three numbers {{ said("fourier/figure-4-2c", holds="nearly all power lies there", fails="not
    nearly all power lies there") }}; {{ said("fourier/frequencies-share-alike", holds="frequencies share the margin,
    weakest", fails="frequencies do not share the margin, weakest") }}. Input vectors of active neurons (the thesis,
    with {{ printed }}, leaves none out): (a) strongest frequency, (b, c) its share before and after. Dashed: even
    counts, and white noise.
    """
    k, p = config[cell]["inputs"], config[cell]["modulus"]
    own = neurons[(neurons["cell"] == cell) & neurons["active"] & (neurons["vector"] <= k)]
    drawn = canvas(7.6, 2.7)
    counted, start, end = drawn.subplots(1, 3)
    found = pick(own, moment="end")["frequency"].value_counts()
    at = np.arange(1, frequencies(p) + 1)
    counted.bar(at, found.reindex(at, fill_value=0), color=COLOURS["blue"])
    counted.axhline(found.sum() / len(at), color=COLOURS["ink"], linestyle="--", linewidth=0.8)
    counted.set(title="(a) strongest frequency", xlabel="frequency", ylabel="vectors")
    counted.locator_params(axis="x", integer=True)
    for ax, moment, words in ((start, "start", "(b) at the start"), (end, "end", "(c) trained")):
        ax.hist(pick(own, moment=moment)["peak"], np.linspace(0, 1, 41), color=COLOURS["blue"])
        ax.axvline(expected_peak(p), color=COLOURS["ink"], linestyle="--", linewidth=0.8)
        ax.set(title=words, xlabel="largest share of power", ylabel="vectors", xlim=(0, 1.02))
    drawn.suptitle(task_of(config, cell), fontsize=10, fontweight="bold", x=0.01, ha="left")
    return drawn


NOTES = (
    r"Margins over $\gamma^*$, on the measured inputs. Of one frequency: share of the active "
    "neurons with more than nine tenths of the power of each vector at the same frequency; largest "
    "power: mean share of the input vectors; phases: median |sum of the inputs' - the output's| in "
    "radians; weakest frequency: its part of the margin times the number of frequencies, 1 at the "
    "maximum margin. "
)


@table()
def circuits(curves: pd.DataFrame, config: Config) -> Table:
    """Trained networks of Figures 4.1, 4.2 and C.1 to C.4"""
    found = ends(curves, ["cell"])
    found = found.sort_values("cell", key=lambda cells: cells.map(list(CELLS).index), kind="stable")
    starts = pick(curves, step=0).groupby(["cell", "quantity"])["value"].mean()
    means = found.merge(starts.rename("start").reset_index(), on=["cell", "quantity"])
    named = found.assign(
        task=[task_of(config, cell) for cell in found["cell"]],
        neurons=[config[cell]["arms"]["penalty"]["width"] for cell in found["cell"]],
    )
    shown = side_by_side(named, ["task", "neurons"], "quantity", QUANTITIES)
    return Table(means, shown, notes(found))


def ends(curves: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """Mean and interval of each quantity after the last step of a cell."""
    last = curves[curves["step"] == curves.groupby("cell")["step"].transform("max")]
    return summary(last, [*by, "quantity"])


def notes(means: pd.DataFrame) -> str:
    """The note below a table of networks."""
    return f"{NOTES}{int(means['replicates'].max())} replicates, after the sign: {SPREAD_KIND}."


RATE = (
    "A rate of .01, after a pilot on other streams in which at the thesis' .005 a quarter of the "
    "neurons had several frequencies after 3000 steps; band kept."
)


class Circuits(Claims):
    """After the last step, of three inputs."""

    paper, kind = "fourier", THEOREM
    artefact = "fourier/measurements/circuits/three-curves.parquet"
    out_of_reach = needs(circuits__three__modulus=43, circuits__three__replicates=3,
                         circuits__three__training__steps=3000)  # fmt: skip

    def last(self, quantity):
        return last(self.curves, quantity, cell="three", arm="penalty")

    @claim("house rule", "test accuracy, network minus the best of a linear classifier, random "
           "features and the majority, 3 inputs, half of all for training", low=0.8, high=1.0,
           kind=CONTROL, possible=DIFFERENCE_OF_SHARES)  # fmt: skip
    def learned_beyond_fixed_features(self):
        """The sum modulo $p$ of left-out inputs takes learned features.

        The thesis trains to the end; no head is expected above a few times chance, $1/p$.
        """
        heads = pick(self.heads, cell="three")
        return self.last("test") - heads.groupby("replicate")["value"].max().to_numpy()

    @claim("Figures 4.2 (c), C.2 (c); Theorem 4.9", "mean share of power at the strongest frequency, "
           "input vectors of the active neurons, 3 inputs, half of all for training",
           id="figure-4-2c", low=0.9, high=1.0, possible=SHARE, changed=RATE,
           paper_says="“the embeddings of the final trained network are one-sparse, i.e., maximum "
           "normalized power being almost 1 for all neurons”", failure="not reproduced")  # fmt: skip
    def peak(self):
        """After training nearly all power of a weight vector lies at one frequency.

        The figures show a peak at about 1; chance is a tenth to a fifth.
        """
        return self.last("peak")

    @claim("Lemma 4.10", "median distance of sum and output phase (radians), active neurons, 3 "
           "inputs, half of all for training", low=0.0, high=0.05, possible=POSITIVE, changed=RATE,
           paper_says=r"“are some phase offsets satisfying $\theta_{u_1}^* + \dots + \theta_{u_k}^* = "
           r"\theta_w^*$”")  # fmt: skip
    def phases_add_up(self):
        r"""The phases of a neuron's input vectors add up to that of its output vector.

        0 at the maximum; a random neuron has $\pi/2$.
        """
        return self.last("residual")

    @claim("ours, behind Theorem 4.9, Lemma C.20", "part of the weakest frequency times their "
           "number, 3 inputs", low=0.8, high=1.0, kind=OBSERVATION)  # fmt: skip
    def frequencies_share_alike(self):
        """Every frequency is used and has the same part of the margin.

        1 at the maximum margin; about 0 of a random network, whose parts have both signs. Half of the inputs
        leave some way.
        """
        return self.last("equal")
