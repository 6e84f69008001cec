"""What pre-training brings on images of a user's own, drawn."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from matplotlib.font_manager import findfont, get_font

from featlearn.core.plots import COLOURS, PALETTE, canvas
from featlearn.core.publish import figure
from featlearn.core.statistical import whiskers
from featlearn.mrp.images.real_config import GIVEN, PRETRAINED, RANDOM
from featlearn.own.tables.images import accuracy_table, method_name

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

START_COLOURS = {RANDOM: PALETTE["supervised"], PRETRAINED: PALETTE["mask reconstruction"]}
#: Of weights that the config names.
GIVEN_COLOURS = [COLOURS["green"], COLOURS["purple"], COLOURS["red"], COLOURS["sky"]]
#: Up to so many replicates each of them is a point.
POINTS = 10
#: Letters of a name in a figure.
LETTERS = 18
#: Letters that fit beside each other below a matrix.
BESIDE = 24
#: In place of a letter that the font has not.
UNSHOWN = "□"


@cache
def _glyphs() -> frozenset[int]:
    """Letters that figures can show: those of the font that comes with Matplotlib."""
    return frozenset(get_font(findfont("DejaVu Sans")).get_charmap())


def short(name: str) -> str:
    """A name that fits, and that Matplotlib takes for no formula."""
    shown = "".join(
        letter if letter.isprintable() and ord(letter) in _glyphs() else UNSHOWN for letter in name
    )
    shown = shown if len(shown) <= LETTERS else f"{shown[: LETTERS - 1]}…"
    return shown.replace("$", r"\$")


def _colours(starts: pd.Series[str]) -> dict[str, str]:
    given = [start for start in starts.unique() if start.startswith(GIVEN)]
    return START_COLOURS | dict(zip(given, GIVEN_COLOURS * len(given), strict=False))


@figure()
def accuracy(evaluations: pd.DataFrame, predictions: pd.DataFrame) -> Figure:
    """Accuracy on test images

    Side by side: the network without pre-training (orange) and with it (blue). A point is a replicate,
    the bar their mean; the line is the 95 % interval for other images of the same kind, by the number of
    test images (Wilson's; for several labels an image a t-interval over replicates). Replicates differ in
    initial weights and in which images keep their labels, and share their test images. *What to see:*
    whether blue lies above orange, most of all where labels are few. **Lines that overlap widely show no
    difference**: the table of what pre-training added compares image by image, and sees more.
    """
    table = accuracy_table(evaluations, predictions)
    names = list(dict.fromkeys(table["data_set"]))
    kinds = list(dict.fromkeys(table["evaluation"]))
    drawn = canvas(8.2, 3.1 * len(names) + 0.4)
    axes = drawn.subplots(len(names), len(kinds), squeeze=False, sharey=True)
    for row, name in zip(axes, names, strict=True):
        for ax, kind in zip(row, kinds, strict=True):
            where = (table["data_set"] == name) & (table["evaluation"] == kind)
            if not where.any():
                ax.set_axis_off()
                continue
            own = evaluations[
                (evaluations["data_set"] == name) & (evaluations["evaluation"] == kind)
            ]
            _panel(ax, table[where], own)
            ax.set_title(kind)
        first = table[table["data_set"] == name].iloc[0]
        row[0].set_ylabel(f"{first['quantity']} on {first['test_images']} test images")
        if len(names) > 1:
            row[0].set_title(f"{short(name)}: {kinds[0]}")
    entries: dict[str, Artist] = {}
    for ax in axes.flat:
        handles, labels = ax.get_legend_handles_labels()
        entries |= dict(zip(labels, handles, strict=True))
    drawn.legend(list(entries.values()), list(entries), loc="outside lower center", ncols=4)
    return drawn


def _panel(ax: Axes, table: pd.DataFrame, values: pd.DataFrame) -> None:
    colours = _colours(table["start"])
    starts = list(dict.fromkeys(table["start"]))
    counts = sorted(table["labels"].unique())
    width = 0.8 / len(starts)
    for place, start in enumerate(starts):
        own = table[table["start"] == start].sort_values("labels")
        at = np.array([counts.index(count) for count in own["labels"]], dtype=float)
        at += (place - (len(starts) - 1) / 2) * width
        name = method_name(start, own["method"].iloc[0], "fine-tuned")
        ax.bar(
            at,
            own["mean"],
            0.85 * width,
            color=colours[start],
            alpha=0.35,
            label="no pre-training" if start == RANDOM else own["method"].iloc[0] or name,
        )
        low, high = own["mean"] - own["low"], own["high"] - own["mean"]
        if own["low"].notna().all():
            ends = np.stack([low.clip(0), high.clip(0)])
            whiskers(ax, at, own["mean"], ends, COLOURS["ink"], marker="")
        seen = values[values["start"] == start]
        if seen["replicate"].nunique() <= POINTS:
            for x, count in zip(at, own["labels"], strict=True):
                points = np.sort(seen.loc[seen["labels"] == count, "value"].to_numpy())
                aside = (np.arange(len(points)) - (len(points) - 1) / 2) * 0.12 * width
                ax.plot(
                    x + aside, points, "o", color=colours[start], markersize=4,
                    markeredgecolor="white", markeredgewidth=0.5,
                )  # fmt: skip
    ax.set_xticks(range(len(counts)), [f"{count} labels" for count in counts])
    ax.set_ylim(0, 1.03)
    ax.grid(axis="x", visible=False)


@figure()
def learning(histories: pd.DataFrame) -> Figure:
    """Loss during training

    Mean loss of each whole epoch, a line a replicate. Left the training without labels, where there is one: what
    its loss counts depends on the method. Right the trainings with labels, on the most and on the fewest:
    cross-entropy on the augmented training images. *What to see:* whether the curves still fall at their
    end; then longer trainings (`epochs`, `steps`) may bring more. A loss near zero on the right says that
    the labelled images are learned by heart, and nothing about test images.
    """
    names = list(dict.fromkeys(histories["data_set"]))
    without = "start" not in histories
    tuned = histories[histories["start"].notna()] if not without else histories.iloc[:0]
    counts = {name: _ends(tuned, name) for name in names}
    across = 1 + max(1, *(len(one) for one in counts.values()))
    drawn = canvas(8.2, 2.6 * len(names) + 0.3)
    axes = drawn.subplots(len(names), across, squeeze=False)
    for row, name in zip(axes, names, strict=True):
        own = histories[histories["data_set"] == name]
        first = own if without else own[own["start"].isna()]
        _losses(row[0], first.assign(start=PRETRAINED), "pre-training")
        for ax, count in zip(row[1:], counts[name], strict=False):
            seen = own[(own["labels"] == count) & own["start"].notna()]
            _losses(ax, seen, f"training with {int(count)} labels")
        for ax in row[1 + len(counts[name]) :]:
            ax.set_axis_off()
        row[0].set_ylabel("loss" if len(names) == 1 else f"{short(name)}: loss")
    handles, labels = axes[0, 1].get_legend_handles_labels()
    entries = dict(zip(labels, handles, strict=True))
    drawn.legend(list(entries.values()), list(entries), loc="outside lower center", ncols=4)
    return drawn


def _ends(tuned: pd.DataFrame, name: str) -> list[float]:
    """The largest and the smallest number of labels of a data set."""
    counts = sorted(tuned.loc[tuned["data_set"] == name, "labels"].unique(), reverse=True)
    return counts if len(counts) < 2 else [counts[0], counts[-1]]


def _losses(ax: Axes, own: pd.DataFrame, title: str) -> None:
    if own.empty:
        ax.set_axis_off()
        return
    colours = _colours(own["start"])
    for (start, _), line in own.groupby(["start", "replicate"], sort=False):
        # a last epoch that was not finished is a mean over few batches
        whole = line[(line["epoch"] % 1) < 1e-6]
        seen = line if whole.empty else whole
        ax.plot(
            seen["epoch"],
            seen["loss"],
            color=colours[str(start)],
            linewidth=1,
            label="no pre-training"
            if start == RANDOM
            else "after pre-training"
            if start == PRETRAINED
            else str(start).replace("-", " "),
        )
    ax.set_title(title)
    ax.set_xlabel("epoch")
    ax.set_ylim(bottom=0)


@figure()
def confusion(predictions: pd.DataFrame) -> Figure:
    """Confusion matrix

    What the fine-tuned classifiers with most labels say (columns) of the test images of each class (rows):
    number of images, mean over replicates. Right answers lie on the diagonal. *What to see:* which classes
    are taken for one another, and whether pre-training changes that. Names whose letters the figure's font
    has not are numbered in the order of the alphabet, as sorted by their letters' codes.
    """
    most = predictions.groupby("data_set")["fraction"].transform("max")
    tuned = predictions[
        (predictions["evaluation"] == "fine-tuned") & (predictions["fraction"] == most)
    ]
    panels = list(tuned.groupby(["data_set", "start"], sort=False))
    sets = tuned["data_set"].nunique()
    across = min(2, max(len(panels) // sets, 1)) if tuned["label"].nunique() <= 12 else 1
    down = -(-len(panels) // across)
    side = 8.2 / across
    drawn = canvas(8.2, down * min(side, 4.2 if across == 2 else 7.5))
    axes = drawn.subplots(down, across, squeeze=False).ravel()
    for ax in axes[len(panels) :]:
        ax.set_axis_off()
    for ax, ((name, start), own) in zip(axes, panels, strict=False):
        method = method_name(str(start), str(own["method"].iloc[0]), "fine-tuned")
        _matrix(ax, own, method if sets == 1 else f"{short(str(name))}: {method}")
    return drawn


def _matrix(ax: Axes, own: pd.DataFrame, title: str) -> None:
    names = sorted({*own["label"], *own["said"]})
    counts = pd.crosstab(own["label"], own["said"]).reindex(
        index=names, columns=names, fill_value=0
    )
    shown = counts.to_numpy() / own["replicate"].nunique()
    whole = np.maximum(shown.sum(1, keepdims=True), 1e-12)
    ax.imshow(shown / whole, cmap="Blues", vmin=0, vmax=1)
    if len(names) <= 12:
        for row in range(len(names)):
            for column in range(len(names)):
                value = shown[row, column]
                dark = value / whole[row, 0] > 0.55
                ax.text(
                    column, row, f"{value:.3g}" if value else "·", ha="center", va="center",
                    fontsize=8.5, color="white" if dark else COLOURS["ink"],
                )  # fmt: skip
    every = -(-len(names) // 40)
    places = range(0, len(names), every)
    words = [short(names[place]) for place in places]
    if any(UNSHOWN in word for word in words):
        words = [f"{place + 1}: {word}" for place, word in zip(places, words, strict=True)]
    size = 8.5 if len(names) <= 12 else 8
    upright = len(names) > 4 or sum(map(len, words)) > BESIDE
    ax.set_xticks(places, words, rotation=90 if upright else 0, fontsize=size)
    ax.set_yticks(places, words, fontsize=size)
    ax.grid(visible=False)
    ax.set_title(title)
    ax.set_xlabel("what the network says")
    ax.set_ylabel("class")
