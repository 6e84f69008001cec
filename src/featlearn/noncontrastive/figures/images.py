"""Prediction heads on images: Figures 1 to 4, and ranks. Reads frames, imports no torch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd
import seaborn
from matplotlib.ticker import MaxNLocator

from featlearn.core.plots import COLOURS, PALETTE, canvas
from featlearn.core.publish import Config, figure
from featlearn.core.statistical import Look, interval, rows, share_interval
from featlearn.noncontrastive.images.cells import LONG_CELL, UNTRAINED, cells, trajectory
from featlearn.noncontrastive.images.words import HEADS, LAYERS, NORMS, TARGETS, ordered, set_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

HEAD_COLOURS = {
    "none": PALETTE["no head"],
    "identity": PALETTE["identity head"],
    "linear": PALETTE["linear head"],
    "mlp": PALETTE["mlp head"],
}
#: The head's two norms: colour, line, label.
HEAD_NORMS = {
    "off_diagonal": (COLOURS["blue"], "-", r"off-diagonal, $\|E\|_F$"),
    "asymmetry": (COLOURS["red"], "--", r"asymmetry, $\|E - E^\top\|_F$"),
}
#: How pairs of neurons are drawn, without a head and with one.
PAIRS: dict[str, dict[str, Any]] = {
    "none-batch-self": {"color": PALETTE["no head"], "alpha": 0.75, "label": "no head"},
    LONG_CELL: {
        "color": PALETTE["identity head"], "histtype": "step", "linewidth": 1.6,
        "label": "identity-initialised head",
    },
}  # fmt: skip


def _rows(sets: Config, width: float, height: float, columns: int) -> tuple[Figure, Any, Any]:
    """A row of panels a data set: the figure, all panels, and (name, settings), row one by one."""
    drawn = canvas(width, height * len(sets) + 0.5)
    axes = drawn.subplots(len(sets), columns, squeeze=False)
    return drawn, axes, zip(ordered(sets).items(), axes, strict=True)


@figure()
def fig_1(histogram: pd.DataFrame, config: Config) -> Figure:
    """Figure 1: correlations of neurons, in the projection and in the encoder

    Correlations of all pairs of different neurons over fresh images, all replicates together: of the
    projection (a) and of the encoder (b). Grey: trained without a prediction head, the paper's figure;
    violet: trained with the identity-initialised head, for comparison. *What to see:*
    {{ said("noncontrastive/images-digits-collapse",
            holds="without a head the pairs of the projection lie at minus or plus one, so that its many outputs are in effect one, with a mean absolute correlation of",
            fails="without a head the pairs of the projection do not all lie at minus or plus one: their mean absolute correlation is") }};
    {{ said("noncontrastive/images-digits-collapse-milder-in-encoder", holds="in the encoder it is less, by",
            fails="in the encoder it is not clearly less: by") }}. Mean absolute correlation in the projection: without a head
    {{ value("image-heads", data_set="digits", run="none-batch-self", what="projection correlation") | number }}, with it
    {{ value("image-heads", data_set="digits", run="identity-batch-self", what="projection correlation") | number }};
    in the encoder without a head
    {{ value("image-heads", data_set="digits", run="none-batch-self", what="encoder correlation") | number }}.
    The paper names no data set here; small digits stand in for photographs.
    """
    drawn, axes, panels = _rows(config, 8.2, 2.7, 2)
    for (name, _), row in panels:
        for ax, layer, panel in zip(row, LAYERS, "ab", strict=True):
            for run, style in PAIRS.items():
                own = histogram[
                    (histogram["data_set"] == name)
                    & (histogram["run"] == run)
                    & (histogram["layer"] == layer)
                ]
                if own.empty:
                    continue
                pairs = own.groupby(["low", "high"])["pairs"].sum().reset_index()
                edges = [*pairs["low"], pairs["high"].iloc[-1]]
                share = 100 * pairs["pairs"] / max(pairs["pairs"].sum(), 1)
                ax.hist(pairs["low"] + 1e-6, bins=edges, weights=share, **style)
            ax.set_title(f"({panel}) neurons of the {LAYERS[layer]}")
            ax.set(xlabel="correlation of two neurons", xlim=(-1.02, 1.02))
        row[0].set_ylabel(f"{set_name(name)}\n% of pairs")
    axes[0][0].legend(loc="upper center")
    return drawn


@figure()
def fig_2(values: pd.DataFrame, config: Config) -> Figure:
    """Figure 2: heads, output norms and targets

    Accuracy of a linear probe on the frozen encoder, a row for each prediction head, with its output norm and
    target where there are several: a dot a replicate, a tick is their mean with its 95 % interval; dotted: the
    encoder before any training. Within a replicate all rows share images, initial weights and views. The paper's
    bars say that the identity-initialised head (violet) does as well as the random linear head (green) and
    the MLP (brown), and that all of them beat no head (grey). *What to see:* with batch normalisation
    and the network itself as target the identity head reaches
    {{ value("image-heads", data_set="digits", run="identity-batch-self", what="accuracy") | percent }}, no head
    {{ value("image-heads", data_set="digits", run="none-batch-self", what="accuracy") | percent }}, the untrained encoder
    {{ value("image-heads", data_set="digits", run="untrained", what="accuracy") | percent }}. The paper's bars are of CIFAR-10,
    CIFAR-100 and STL-10 with a ResNet-18; here a small network sees digits of 8 × 8 pixels for seconds, of
    which a linear classifier on the pixels reads nearly all: these accuracies saturate, and no claim is
    made of them. Ranks tell collapse.
    """
    drawn, _, panels = _rows(config, 7.0, _height(config), 1)
    values = values[values["quantity"] == "accuracy"]
    for (name, settings), (ax,) in panels:
        _cells(ax, values[values["data_set"] == name], settings)
        ax.set(xlabel="accuracy of the linear probe", title=set_name(name))
    return drawn


def _height(sets: Config) -> float:
    """Of a panel with a row a cell, in inches."""
    return 1.0 + 0.3 * max(len(cells(settings)) for settings in sets.values())


def _cells(ax: Axes, values: pd.DataFrame, settings: Mapping[str, Any]) -> None:
    """The replicates of all cells, a row each, and the random start as a dotted line."""
    shown = cells(settings)
    several = len({(cell.norm, cell.target) for cell in shown}) > 1
    looks = {
        cell.name: Look(
            HEADS[cell.head] + f", {NORMS[cell.norm]}, {TARGETS[cell.target]}" * several,
            HEAD_COLOURS[cell.head],
        )
        for cell in shown
    }
    rows(ax, values, "run", looks=looks)
    start = values[values["run"] == UNTRAINED]["value"].mean()
    ax.axvline(start, color=COLOURS["ink"], linestyle=":", linewidth=1.1)
    # on the side on which the cells are
    side, offset = ("right", -3) if start > values["value"].mean() else ("left", 3)
    ax.annotate("random start", (start, 0), (offset, 3), textcoords="offset points", ha=side,
                xycoords=("data", "axes fraction"), fontsize=8)  # fmt: skip


def _head(history: pd.DataFrame, name: str, settings: Mapping[str, Any]) -> pd.DataFrame:
    """History of the identity head of a data set, with the ratio of its two norms."""
    own = history[(history["data_set"] == name) & (history["run"] == trajectory(settings))]
    return own.assign(ratio=own["asymmetry"] / own["off_diagonal"])


@figure()
def fig_3(history: pd.DataFrame, config: Config) -> Figure:
    """Figure 3: the head in one training

    The identity-initialised head during one training: Frobenius norm of its off-diagonal part `E` and of
    `E - E^T` (a), and the second over the first (b). A ratio of 0 is a symmetric head, 1.41 one whose
    entries have no relation to each other. Each point is the mean over the steps since the one before.
    The paper sees the off-diagonal part rise and then fall, and the head stay asymmetric, on CIFAR-10 and
    CIFAR-100, over hundreds of epochs of a ResNet-18. *What to see:*
    {{ said("noncontrastive/images-digits-head-rises-and-falls", holds="here it rises and falls",
            fails="here it does not fall",
            left="here it rises, and the fall takes more steps than this run has: the last norm over the largest is") }}.
    A ratio well above 0 is an asymmetric head.
    """
    drawn, _, panels = _rows(config, 8.2, 2.7, 2)
    for (name, settings), row in panels:
        own = _head(history, name, settings)
        own = own[own["replicate"] == 0]
        for quantity, (colour, line, label) in HEAD_NORMS.items():
            row[0].plot(own["step"], own[quantity], line, color=colour, label=label)
        row[1].plot(own["step"], own["ratio"], color=COLOURS["purple"])
        row[1].axhline(2**0.5, color=COLOURS["grey"], linestyle=":", linewidth=1)
        row[1].annotate("entries without relation", (own["step"].iloc[-1], 2**0.5), (0, 3),
                        textcoords="offset points", ha="right", fontsize=8)  # fmt: skip
        row[0].set_title(f"(a) {set_name(name)}: size of the head")
        row[1].set_title("(b) asymmetry over off-diagonal")
        row[1].set_ylabel("ratio; 0 is symmetric")
        row[0].set_ylabel("Frobenius norm")
        row[0].legend(loc="best")
        for ax in row:
            ax.set(xlabel="step", ylim=(0, None))
    return drawn


@figure()
def fig_4(history: pd.DataFrame, config: Config) -> Figure:
    """Figure 4: the head in all replicates

    Left: the norms of Figure 3 as the mean of all replicates, with the band of its 95 % intervals. Right: mean
    absolute correlation of the projection's neurons within a batch, over the same steps. *What to see:* the
    last value over the largest one {{ said("noncontrastive/images-digits-head-rises-and-falls",
    holds="tells of rise and fall", fails="tells of no fall",
    left="tells of the rise alone, for the fall takes thousands of steps") }}. On the right, what the head does to
    the correlation of the neurons meanwhile.
    """
    drawn, _, panels = _rows(config, 8.2, 2.7, 2)
    for (name, settings), row in panels:
        own = _head(history, name, settings)
        panels = ((row[0], HEAD_NORMS), (row[1], {"correlation": (COLOURS["green"], "-", "")}))
        for ax, styles in panels:
            for quantity, (colour, line, label) in styles.items():
                seaborn.lineplot(own, x="step", y=quantity, color=colour, linestyle=line, ax=ax,
                                 label=label or None, errorbar=share_interval if ax is row[1] else interval)  # fmt: skip
            ax.set(xlabel="step", ylim=(0, None))
        row[0].set_title(f"{set_name(name)}: size of the head")
        row[0].set_ylabel("Frobenius norm")
        row[0].legend(loc="best")
        row[1].set_title("neurons of the projection, in a batch")
        row[1].set_ylabel("mean |correlation|")
        row[1].set_ylim(0, 1.02)
    return drawn


@figure()
def image_ranks(values: pd.DataFrame, spectrum: pd.DataFrame, config: Config) -> Figure:
    """Dimensional collapse in every cell of Figure 2

    Left: effective rank of the projection, a row for each head, with its norm and target where there are
    several. It is the exponential of the entropy of the spectrum of the correlation matrix: 1 if all neurons say
    the same, the number of neurons if they say independent things. A dot is a replicate, a tick their mean with
    its 95 % interval; dotted: the random start. Right: the spectra themselves, means over replicates,
    for batch normalisation with the network itself as target. *What to see:*
    {{ said("noncontrastive/images-digits-head-raises-rank", holds="the identity head keeps more dimensions than none, by a rank of",
            fails="the identity head does not keep clearly more dimensions than none: by a rank of") }};
    {{ said("noncontrastive/images-digits-head-prevents-collapse",
            holds="it keeps at least half of the rank of the random start, a share of", fails="it keeps less than half of the rank of the random start, a share of") }}.
    The random start has a rank of
    {{ value("image-heads", data_set="digits", run="untrained", what="projection effective_rank") | number }}. Without a head it is
    {{ value("image-heads", data_set="digits", run="none-batch-self", what="projection effective_rank") | number }};
    with the identity-initialised head
    {{ value("image-heads", data_set="digits", run="identity-batch-self", what="projection effective_rank") | number }}.
    """
    drawn, _, panels = _rows(config, 8.6, max(2.9, _height(config)), 2)
    ranks = values[(values["quantity"] == "effective_rank") & (values["layer"] == "projection")]
    spectrum = spectrum[spectrum["layer"] == "projection"]
    for (name, settings), (left, right) in panels:
        _cells(left, ranks[ranks["data_set"] == name], settings)
        left.set(xlabel="effective rank of the projection", title=set_name(name), xlim=(0.8, None))
        own = spectrum[spectrum["data_set"] == name]
        shown = [cell for cell in cells(settings) if (cell.norm, cell.target) == ("batch", "self")]
        for cell in shown:
            mean = own[own["run"] == cell.name].groupby("number")["share"].mean()
            right.plot(mean.index, mean.clip(lower=1e-6), color=HEAD_COLOURS[cell.head],
                       label=HEADS[cell.head])  # fmt: skip
        right.set(yscale="log", xlabel="eigenvalue, by size", ylim=(1e-6, 1.5))
        right.xaxis.set_major_locator(MaxNLocator(integer=True))
        right.set_ylabel("share of the spectrum")
        right.set_title("batch norm, same network")
        right.legend(loc="best")
    return drawn
