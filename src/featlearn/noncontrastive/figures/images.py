"""Prediction heads on images: Figures 1 to 4, and ranks. Reads frames, imports no torch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd
import seaborn

from featlearn.core.plots import COLOURS, PALETTE, canvas
from featlearn.core.publish import Config, figure
from featlearn.core.statistical import Look, bars, interval, share_interval
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
            holds="without a head the pairs of the projection lie at minus or plus one: its many outputs are in effect one",
            fails="without a head the pairs of the projection do not all lie at minus or plus one") }};
    {{ said("noncontrastive/images-digits-collapse-milder-in-encoder", holds="the encoder is affected less",
            fails="the encoder is affected as much") }}. Mean absolute correlation in the projection: without a head
    {{ value("image-heads", data_set="digits", run="none-batch-self", what="projection correlation") | number }}, with it
    {{ value("image-heads", data_set="digits", run="identity-batch-self", what="projection correlation") | number }};
    in the encoder without a head
    {{ value("image-heads", data_set="digits", run="none-batch-self", what="encoder correlation") | number }}.
    The paper names no data set here; small digits stand in for photographs.
    """
    drawn, axes, rows = _rows(config, 8.2, 2.7, 2)
    for (name, _), row in rows:
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

    Accuracy of a linear probe on the frozen encoder, for each prediction head (colour), each output norm
    and each target (groups): means with 95 % intervals, a dot a replicate; the dotted line is the encoder
    before any training. Within a replicate all groups share images, initial weights and views. The paper's
    bars say that the identity-initialised head (violet) does as well as the random linear head (green) and
    the MLP (brown), and that all of them beat no head (grey). *What to see:* with batch normalisation
    and the network itself as target the identity head reaches
    {{ value("image-heads", data_set="digits", run="identity-batch-self", what="accuracy") | percent }}, no head
    {{ value("image-heads", data_set="digits", run="none-batch-self", what="accuracy") | percent }}, the untrained encoder
    {{ value("image-heads", data_set="digits", run="untrained", what="accuracy") | percent }}. The paper's bars are of CIFAR-10,
    CIFAR-100 and STL-10 with a ResNet-18; here a small network sees digits of 8 x 8 pixels for seconds, of
    which a linear classifier on the pixels reads nearly all: these accuracies saturate, and no claim is
    made of them. Ranks tell collapse.
    """
    drawn, axes, rows = _rows(config, 8.2, 2.9, 1)
    values = values[values["quantity"] == "accuracy"]
    for (name, settings), (ax,) in rows:
        own = values[values["data_set"] == name]
        _groups(ax, own, settings, "{} output,\ntarget: {}".format)
        start = own[own["run"] == UNTRAINED]["value"].mean()
        ax.axhline(start, color=COLOURS["ink"], linestyle=":", linewidth=1.1,
                   label="untrained encoder")  # fmt: skip
        ax.set(ylim=(0, 1.02), ylabel="linear-probe accuracy", title=set_name(name))
    _legend(drawn, axes[:, 0], 5)
    return drawn


def _groups(
    ax: Axes, values: pd.DataFrame, settings: Mapping[str, Any], words: Callable[[str, str], str]
) -> None:
    """The replicates of all cells, a group for each norm and target.

    ``words`` calls a group by what its norm and its target are called.
    """
    named = values["run"].str.split("-", n=1, expand=True).rename(columns={0: "head", 1: "group"})
    groups = [(norm, target) for norm in settings["norms"] for target in settings["targets"]]
    bars(
        ax, values.join(named), "group", "head",
        groups={"-".join(group): words(NORMS[group[0]], TARGETS[group[1]]) for group in groups},
        looks={head: Look(head, HEAD_COLOURS[head]) for head in settings["heads"]},
    )  # fmt: skip


def _legend(drawn: Figure, panels: Iterable[Axes], columns: int) -> None:
    """What any of the panels shows, heads in the order of the words for them."""
    found: dict[str, Any] = {}
    for ax in panels:
        handles, labels = ax.get_legend_handles_labels()
        found |= dict(zip(labels, handles, strict=True))
    shown = sorted(found, key=["untrained encoder", *HEADS].index)
    drawn.legend([found[name] for name in shown], [HEADS.get(name, name) for name in shown],
                 loc="outside lower center", ncols=columns)  # fmt: skip


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
            fails="here it does not fall", left="here it rises; the fall takes more steps than this run has") }}.
    A ratio well above 0 is an asymmetric head.
    """
    drawn, _, rows = _rows(config, 8.2, 2.7, 2)
    for (name, settings), row in rows:
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
    left="tells of the rise alone: the fall takes thousands of steps") }}. On the right the neurons come to
    correlate while the head grows.
    """
    drawn, _, rows = _rows(config, 8.2, 2.7, 2)
    for (name, settings), row in rows:
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

    Left: effective rank of the projection for each head, norm and target, the exponential of the entropy
    of the spectrum of its correlation matrix: 1 if all neurons say the same, the number of neurons if
    they say independent things; means with 95 % intervals, a dot a replicate. Right: the spectra themselves
    for batch normalisation with the network itself as target. *What to see:*
    {{ said("noncontrastive/images-digits-head-raises-rank", holds="the identity head keeps more dimensions than none",
            fails="the identity head keeps no more dimensions than none") }};
    {{ said("noncontrastive/images-digits-head-prevents-collapse",
            holds="it keeps half of those of the random start", fails="it keeps fewer than half of those of the random start") }}.
    The random start has a rank of
    {{ value("image-heads", data_set="digits", run="untrained", what="projection effective_rank") | number }}. Without a head it is
    {{ value("image-heads", data_set="digits", run="none-batch-self", what="projection effective_rank") | number }};
    with the identity-initialised head
    {{ value("image-heads", data_set="digits", run="identity-batch-self", what="projection effective_rank") | number }}.
    """
    drawn, axes, rows = _rows(config, 8.6, 2.9, 2)
    ranks = values[(values["quantity"] == "effective_rank") & (values["layer"] == "projection")]
    spectrum = spectrum[spectrum["layer"] == "projection"]
    for (name, settings), row in rows:
        # the panel is too narrow for the words of Figure 2
        _groups(row[0], ranks[ranks["data_set"] == name], settings,
              lambda norm, target: "\n".join((norm, *target.split())))  # fmt: skip
        row[0].set_ylabel("effective rank of the projection")
        row[0].set_title(set_name(name))
        own = spectrum[spectrum["data_set"] == name]
        shown = [cell for cell in cells(settings) if (cell.norm, cell.target) == ("batch", "self")]
        for cell in shown:
            mean = own[own["run"] == cell.name].groupby("number")["share"].mean()
            row[1].plot(mean.index, mean.clip(lower=1e-6), color=HEAD_COLOURS[cell.head])
        row[1].set(yscale="log", xlabel="eigenvalue, by size", ylim=(1e-6, 1.5))
        row[1].set_ylabel("share of the spectrum")
        row[1].set_title("batch norm, same network")
    _legend(drawn, axes[:, 0], 4)
    return drawn
