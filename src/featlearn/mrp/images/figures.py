"""How the experiments on images are drawn. Reads frames, imports no torch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from featlearn.core.plots import COLOURS, canvas
from featlearn.mrp.images.tables import HEADS, STARTS, means, task_name

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, FigureBase

START_COLOURS = {
    "random-cnn": COLOURS["orange"],
    "simmim": COLOURS["blue"],
    "random-vit": COLOURS["orange"],
    "mae": COLOURS["green"],
    "data2vec": COLOURS["purple"],
    "beit": COLOURS["sky"],
}
ENCODERS = {"cnn": "convolutional network", "vit": "vision transformer"}
METHOD_COLOURS = {
    "from scratch": COLOURS["grey"],
    "supervised": COLOURS["orange"],
    "SimMIM": COLOURS["blue"],
}
PANELS = {
    "multi_view": "all parts shown",
    "single_view": "one part shown",
    "worst_view": "the worse part alone",
}


def comparison(frame: pd.DataFrame) -> Figure:
    """Accuracy by number of labels: columns are test sets, rows are encoders."""
    encoders = [kind for kind in ENCODERS if kind in set(frame["encoder"])]
    drawn = canvas(8.2, 2.9 * len(encoders) + 0.4)
    axes = drawn.subplots(len(encoders), len(PANELS), squeeze=False, sharey=True, sharex=True)
    entries: dict[str, Artist] = {}
    for row, kind in zip(axes, encoders, strict=True):
        own = frame[frame["encoder"] == kind]
        for ax, quantity in zip(row, PANELS, strict=True):
            _accuracies(ax, own[own["quantity"] == quantity])
        row[0].set_ylabel(f"{ENCODERS[kind]}\naccuracy on fresh images")
        handles, labels = row[0].get_legend_handles_labels()
        entries |= dict(zip(labels, handles, strict=True))
    for ax, title in zip(axes[0], PANELS.values(), strict=True):
        ax.set_title(title)
    for ax in axes[-1]:
        ax.set_xlabel("labelled training images")
    drawn.legend(list(entries.values()), list(entries), loc="outside lower center", ncols=4)
    return drawn


def _accuracies(ax: Axes, frame: pd.DataFrame) -> None:
    """Lines with 95 % intervals: fine-tuned solid, linear probe dashed."""
    for evaluation, style in (("fine-tuned", "-"), ("linear probe", ":")):
        for start, name in STARTS.items():
            own = frame[(frame["start"] == start) & (frame["evaluation"] == evaluation)]
            random_probe = start.startswith("random-") and evaluation != "fine-tuned"
            if own.empty:
                continue
            seen = means(own, ["labels", "quantity"]).sort_values("labels")
            label = name.partition(" (")[0]
            if random_probe:
                label = "random"
            ax.errorbar(
                seen["labels"],
                seen["mean"],
                yerr=seen["half_width"],
                color=COLOURS["grey"] if random_probe else START_COLOURS[start],
                linestyle=style,
                marker="o",
                markersize=3,
                capsize=2,
                label=f"{label}, probe" if evaluation == "linear probe" else label,
            )
    labels = sorted(frame["labels"].unique())
    ax.set_xscale("log")
    ax.set_xticks(labels, [str(count) for count in labels])
    ax.set_xticks([], minor=True)
    ax.set_ylim(0, 1.03)


def pretraining(histories: pd.DataFrame) -> Figure:
    """Loss of the pre-training, one line a replicate, one panel a method."""
    methods = [start for start in STARTS if start in set(histories["method"])]
    drawn = canvas(2.7 * len(methods), 2.7)
    axes = drawn.subplots(1, len(methods), squeeze=False)[0]
    for ax, method in zip(axes, methods, strict=True):
        own = histories[histories["method"] == method]
        for _, one in own.groupby("replicate"):
            ax.plot(one["epoch"], one["loss"], color=START_COLOURS[method], linewidth=1)
        ax.set(title=STARTS[method], xlabel="epochs without labels")
        ax.set_ylim(0, None)
    axes[0].set_ylabel("training loss")
    return drawn


#: Dials of the phase diagram in words.
DIALS = {
    "mask_size": "side of a mask cell (px)",
    "second_contrast": "contrast of the second part",
    "sparsity": "expected distractors",
    "background": "strength of the background",
    "noise": "noise of a pixel",
    "classes": "classes",
    "epochs": "epochs of pre-training",
    "part_size": "diameter of a part (px)",
    "rotation": "largest turn of a part (°)",
}


def phase_diagram(frame: pd.DataFrame) -> Figure:
    """Gain of pre-training in single-view accuracy, one panel a dial."""
    return phase_diagrams(frame, {"single_view": "single-view accuracy"})


def phase_diagrams(frame: pd.DataFrame, quantities: Mapping[str, str]) -> Figure:
    """Gain of pre-training over supervised training: a row a quantity, a column a dial."""
    dials = [dial for dial in DIALS if dial in set(frame["dial"])]
    shown = {name: words for name, words in quantities.items() if name in set(frame["quantity"])}
    heights = [
        1.3 + 0.45 * max(frame[frame["dial"] == dial]["position"].nunique() for dial in dials)
    ] * len(shown)
    drawn = canvas(2.8 * len(dials) + 0.6, max(2.9, sum(heights)))
    parts = drawn.subfigures(len(shown), 1, squeeze=False)[:, 0]
    for part, (name, words) in zip(parts, shown.items(), strict=True):
        _gain_row(part, frame[frame["quantity"] == name], dials, words)
    return drawn


def _gain_row(part: FigureBase, frame: pd.DataFrame, dials: Sequence[str], words: str) -> None:
    axes = part.subplots(1, len(dials), squeeze=False)[0]
    tables = {dial: _gains(frame[frame["dial"] == dial]) for dial in dials}
    most = max(float(np.abs(gain.to_numpy()).max()) for gain, _, _ in tables.values())
    for ax, dial in zip(axes, dials, strict=True):
        gain, supervised, pretrained = tables[dial]
        image = ax.imshow(gain, vmin=-most, vmax=most, cmap="RdBu", aspect="auto")
        for (row, column), value in np.ndenumerate(gain.to_numpy()):
            both = f"{supervised[row, column]:.2f}\n→ {pretrained[row, column]:.2f}"
            ink = "white" if abs(value) > 0.6 * most else COLOURS["ink"]
            ax.text(column, row, both, ha="center", va="center", color=ink, fontsize=8)
        ax.set_yticks(range(len(gain)), [f"{position:g}" for position in gain.index])
        ax.set_xticks(range(gain.shape[1]), [str(count) for count in gain.columns])
        ax.set(title=DIALS[dial], xlabel="labelled images")
        ax.tick_params(length=0)
        ax.grid(visible=False)
    bar = part.colorbar(image, ax=axes, pad=0.01)
    bar.set_label(f"gain: {words}", fontsize=8)


def _gains(frame: pd.DataFrame) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """Pre-trained less supervised, and both: a row a position, a column a number of labels."""
    both = {
        method: own.pivot_table(index="position", columns="labels", values="value")
        for method, own in frame.groupby("method")
    }
    supervised, pretrained = both["supervised"], both["SimMIM, fine-tuned"]
    return pretrained - supervised, supervised.to_numpy(), pretrained.to_numpy()


def transfer(new_classes: pd.DataFrame, detection: pd.DataFrame) -> Figure:
    """Accuracy on new classes (left) and average precision of a detector (right)."""
    sets = list(dict.fromkeys(new_classes["classes"]))
    drawn = canvas(8.2, 3.1)
    left, right = drawn.subplots(1, 2, width_ratios=[len(sets) * 2, 2], sharey=True)
    groups = [(one, quantity) for one in sets for quantity in ("multi_view", "single_view")]
    values = [
        new_classes[(new_classes["classes"] == one) & (new_classes["quantity"] == quantity)]
        for one, quantity in groups
    ]
    names = [
        f"{task_name(one)}\n{HEADS[quantity]}".replace(", ", ",\n") for one, quantity in groups
    ]
    _bars(left, values, names)
    left.set(title="Fine-tuned to other classes", ylabel="accuracy or average precision")
    precisions = [detection[detection["quantity"] == name] for name in ("ap50", "ap75")]
    _bars(right, precisions, ["AP50", "AP75"])
    right.set_title("Detection in scenes")
    handles, labels = left.get_legend_handles_labels()
    drawn.legend(handles, labels, loc="outside lower center", ncols=3, title="encoder before")
    return drawn


def _bars(ax: Axes, groups: Sequence[pd.DataFrame], names: Sequence[str]) -> None:
    """Grouped bars with intervals and a dot a replicate."""
    width = 0.8 / len(METHOD_COLOURS)
    for number, (method, colour) in enumerate(METHOD_COLOURS.items()):
        for place, group in enumerate(groups):
            own = group[group["method"] == method]["value"].to_numpy()
            x = place + (number - 1) * width
            seen = means(group[group["method"] == method], ["method", "quantity"]).iloc[0]
            ax.bar(x, seen["mean"], width * 0.92, color=colour, label=None if place else method)
            ax.errorbar(x, seen["mean"], seen["half_width"], color=COLOURS["ink"], capsize=2, lw=1)
            ax.plot(np.full(len(own), x), own, ".", color=COLOURS["ink"], markersize=3, alpha=0.6)
    ax.set_xticks(range(len(groups)), names, fontsize=7.5)
    ax.set_ylim(0, 1.05)
    ax.grid(axis="x", visible=False)
