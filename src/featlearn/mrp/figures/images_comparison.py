"""Supervised training against pre-training without labels, drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from featlearn.core.plots import COLOURS, PAGE, PALETTE, canvas
from featlearn.core.publish import figure
from featlearn.core.statistical import Look, differences
from featlearn.core.stats import paired
from featlearn.mrp.tables.images_comparison import STARTS

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

START_COLOURS = {
    "random-cnn": PALETTE["supervised"],
    "simmim": PALETTE["mask reconstruction"],
    "random-vit": PALETTE["supervised"],
    "mae": PALETTE["MAE"],
    "data2vec": PALETTE["teacher-student"],
    "beit": PALETTE["token prediction"],
}
ENCODERS = {"cnn": "convolutional network", "vit": "vision transformer"}
PANELS = {
    "multi_view": "all parts shown",
    "single_view": "one part shown",
    "worst_view": "the worse part alone",
}


#: How a trained network and a linear head on frozen features are marked.
MARKERS = {"fine-tuned": "o", "linear probe": "s"}


@figure()
def images_comparison(comparison: pd.DataFrame) -> Figure:
    """Supervised training against pre-training without labels

    How much more accurate than supervised training of the same network, on fresh pictures: differences
    within a replicate, which shares parts, pictures and order of the labels, as means with 95 % intervals.
    Below each number of labelled pictures stands the accuracy of supervised training itself. From left to
    right: all parts of the class are shown; one part is shown and the others are faint; the part that the
    network recognises worse. Circles are networks trained with labels to the end, from the weights that a
    method without labels gave; squares are linear heads on frozen features, grey on those of a random
    start. All see the same labelled pictures for the same number of steps. *What to see:* differences
    of accuracies stand in brackets:
    {{ said("mrp/images-supervised-lottery",
            holds="supervised training with all labels errs more where one part is shown, which is the lottery on pictures",
            fails="supervised training with all labels errs hardly more where one part is shown, or does not fit its pictures: there is no lottery to mend") }}.
    The paper's claim is that the blue circles of the middle column lie above zero:
    {{ said("mrp/images-simmim-single-view-few-labels",
            holds="with few labels SimMIM gains there", fails="with few labels SimMIM gains nothing there") }};
    {{ said("mrp/images-simmim-single-view-all-labels",
            holds="with all labels SimMIM gains there", fails="with all labels SimMIM gains nothing there") }};
    {{ said("mrp/images-simmim-worse-part", holds="with all labels it gains on the worse part",
            fails="with all labels it gains nothing on the worse part") }}.
    """
    encoders = [kind for kind in ENCODERS if kind in set(comparison["encoder"])]
    drawn = canvas(8.2, 2.9 * len(encoders) + 0.4)
    axes = drawn.subplots(len(encoders), len(PANELS), squeeze=False, sharey="row")
    entries: dict[str, Artist] = {}
    for row, kind in zip(axes, encoders, strict=True):
        own = comparison[comparison["encoder"] == kind]
        for ax, quantity in zip(row, PANELS, strict=True):
            _gains(ax, own[own["quantity"] == quantity], f"random-{kind}")
        row[0].set_ylabel(f"{ENCODERS[kind]}\nmore accurate than supervised")
        handles, labels = row[0].get_legend_handles_labels()
        entries |= dict(zip(labels, handles, strict=True))
    for ax, title in zip(axes[0], PANELS.values(), strict=True):
        ax.set_title(title)
    for ax in axes[-1]:
        ax.set_xlabel("labelled training images\n(supervised accuracy)")
    drawn.legend(list(entries.values()), list(entries), loc="outside lower center", ncols=4,
                 title=f"{comparison['replicate'].nunique()} replicates")  # fmt: skip
    return drawn


def _gains(ax: Axes, frame: pd.DataFrame, reference: str) -> None:
    """Paired differences from supervised training, and its accuracy below the numbers of labels."""
    frame = frame.assign(arm=frame["start"] + "/" + frame["evaluation"])
    supervised = f"{reference}/fine-tuned"
    looks = {
        f"{start}/{way}": Look(
            f"{'random' if start == reference else STARTS[start]}"
            f"{', linear head' if way != 'fine-tuned' else ''}",
            PALETTE["random features"] if start == reference else START_COLOURS[start],
            marker,
        )
        for way, marker in MARKERS.items()
        for start in STARTS
        if f"{start}/{way}" != supervised
    }
    own = frame[frame["arm"].isin([supervised, *looks])]
    gains = paired(own, ["labels"], "arm", dict.fromkeys(looks, supervised))
    differences(ax, gains, "labels", "arm", looks=looks)
    levels = frame[frame["arm"] == supervised].groupby("labels")["value"].mean()
    ax.set_xticks(
        range(len(levels)), [f"{count}\n({level:.2f})" for count, level in levels.items()]
    )


@figure()
def images_pretraining(histories: pd.DataFrame) -> Figure:
    """Pre-training without labels: the loss

    Training loss over the epochs, one line a replicate, of each method on its own scale: SimMIM's mean
    absolute error of the masked pixels, MAE's squared error on normalised patches (dotted: what predicting
    each patch by its mean would cost), data2vec's smooth absolute error against its teacher (of one
    replicate where it is drawn and not compared). *What to see:* the first number in a panel tells how much of the fall lies in
    the first half of the epochs: near 100 % the loss stands still, and more of the same would bring little. The
    second one, for MAE, is the last loss in units of the dotted line: near 100 % little was learned beyond the
    means of patches. The others have no such line: what a mean would cost them was not measured.
    """
    methods = [start for start in STARTS if start in set(histories["method"])]
    drawn = canvas(min(PAGE, 2.7 * len(methods)), 2.7)
    axes = drawn.subplots(1, len(methods), squeeze=False)[0]
    for ax, method in zip(axes, methods, strict=True):
        own = histories[histories["method"] == method]
        for _, one in own.groupby("replicate"):
            ax.plot(one["epoch"], one["loss"], color=START_COLOURS[method], linewidth=1)
        if method == "mae":
            ax.axhline(1, color=COLOURS["ink"], linestyle=":", linewidth=1)
        ax.set(title=STARTS[method], xlabel="epochs without labels")
        ax.xaxis.get_major_locator().set_params(integer=True)
        ax.set_ylim(0, None)
        told = f"{100 * _first_half(own):.0f} % of the fall\nin the first half"
        if method == "mae":
            last = own[own["epoch"] == own["epoch"].max()]["loss"].mean()
            told += f"\n\nin the end {100 * last:.0f} % of\nwhat the mean costs"
        ax.text(0.97, 0.05, told, ha="right", transform=ax.transAxes, fontsize=8)
    axes[0].set_ylabel("training loss")
    return drawn


def _first_half(history: pd.DataFrame) -> float:
    """Share of the loss's fall, from its first record to its last, in the first half of the epochs."""
    mean = history.groupby("epoch")["loss"].mean()
    middle = mean[mean.index <= mean.index[-1] / 2]
    if middle.empty or mean.iloc[0] == mean.iloc[-1]:
        return 0.0
    return float((mean.iloc[0] - middle.iloc[-1]) / (mean.iloc[0] - mean.iloc[-1]))
