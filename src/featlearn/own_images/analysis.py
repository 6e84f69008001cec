"""What pre-training brings on a user's own images: statistics, tables and figures."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import findfont, get_font

from featlearn.core.drawing.intervals import whiskers
from featlearn.core.drawing.plots import COLOURS, PALETTE, canvas
from featlearn.core.evidence.frames import pick
from featlearn.core.evidence.stats import (
    SPREAD_KIND,
    estimate,
    estimate_share,
    paired,
    per_replicate,
    side_by_side,
    summary,
)
from featlearn.core.run.exhibits import Table, figure, table
from featlearn.core.seeds import derive_seed
from featlearn.own_images.config import GIVEN, PRETRAINED, RANDOM

EVALUATIONS = ["fine-tuned", "linear probe", "nearest neighbours"]
METHODS = {"simmim": "SimMIM", "mae": "MAE", "data2vec": "data2vec", "given": "given weights"}
ACCURACY = "accuracy"
KEYS = ["data_set", "start", "method", "evaluation"]
KEYS += ["fraction", "labels", "quantity", "test_images"]
#: Draws of a bootstrap, and how many at a time.
DRAWS, AT_ONCE = 2000, 100
#: Letters of a name in a table (the Parquet file beside it has them all), in a figure, and below
#: all columns of a matrix together.
LETTERS, SHORT, BESIDE = 40, 18, 24
#: Colours of the starts; of weights that the config names in turn.
START_COLOURS = {RANDOM: PALETTE["supervised"], PRETRAINED: PALETTE["mask reconstruction"]}
GIVEN_COLOURS = [COLOURS["green"], COLOURS["purple"], COLOURS["red"], COLOURS["sky"]]
START_LABELS = {RANDOM: "no pre-training", PRETRAINED: "after pre-training"}
#: Up to so many replicates each of them is a point.
POINTS = 10
#: In place of a letter that the font has not.
UNSHOWN = "□"


def wilson(share: float, images: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a share, for other test images of the same kind.

    Replicates share their test images and do not narrow it; between whole numbers of images it is interpolated.
    """
    right = min(max(share * images, 0.0), float(images))
    below = min(int(right + 1e-9), images)
    part = max(right - below, 0.0)
    first, second = (estimate_share(np.arange(images) < count)
                     for count in (below, min(below + 1, images)))  # fmt: skip
    low = (1 - part) * first.low + part * second.low
    return low, (1 - part) * first.high + part * second.high


def difference(ours: np.ndarray, theirs: np.ndarray) -> tuple[float, float, float]:
    """Mean difference of two networks' accuracies, low and high of a 95 % bootstrap interval.

    Test images and replicates are drawn with replacement, the same for both. ``ours``, ``theirs``:
    1 where the network of a replicate is right on a test image, (R, N); replicates in pairs. With
    few replicates the interval is rather too narrow.
    """
    apart = ours.astype(np.int64) - theirs.astype(np.int64)
    replicates, images = apart.shape
    random = np.random.default_rng(derive_seed("own", "difference", replicates, images))
    sums = []
    for _ in range(0, DRAWS, AT_ONCE):
        # counts are whole numbers: the sums are exact, whatever their order
        by_image = random.multinomial(images, [1 / images] * images, AT_ONCE) @ apart.T
        by_replicate = random.multinomial(replicates, [1 / replicates] * replicates, AT_ONCE)
        sums.append((by_image * by_replicate).sum(1))
    low, high = np.quantile(np.concatenate(sums) / apart.size, (0.025, 0.975))
    return float(apart.sum() / apart.size), float(low), float(high)


def right_or_not(predictions: pd.DataFrame) -> np.ndarray:
    """1 where a test image (column) was given its class in a replicate (row), else 0: (R, N)."""
    wide = predictions.assign(right=predictions["label"] == predictions["said"]).pivot(  # noqa: PD010
        index="replicate", columns="image", values="right"
    )
    return wide.to_numpy(dtype=np.int64)


def method_name(start: str, method: str, evaluation: str = "fine-tuned") -> str:
    """How a row is called: what was trained on a random start with labels is from scratch."""
    if start == RANDOM:
        return "from scratch" if evaluation == "fine-tuned" else "random"
    return METHODS.get(method, method)


def accuracy_table(evaluations: pd.DataFrame, predictions: pd.DataFrame) -> pd.DataFrame:
    """Every data set, start, evaluation and share of the labels.

    ``evaluations``, ``predictions``: of :class:`~featlearn.own_images.experiment.Evaluated`, with columns data_set,
    start, method, replicate. Returns columns of ``KEYS``; mean over replicates, low, high, replicates; gain, gain_low,
    gain_high: the difference from the random start, replicate by replicate and image by image. Intervals of accuracies
    are Wilson's over test images, of their gains a bootstrap over images and replicates; of other quantities
    t-intervals over replicates.
    """
    means = summary(evaluations, KEYS).drop(columns=["largest", "half_width"])
    rows = [{**row, **_intervals_of(row, evaluations, predictions)}
            for row in means.to_dict("records")]  # fmt: skip
    columns = [*means.columns, "gain", "gain_low", "gain_high"]
    found = _named(pd.DataFrame(rows).reindex(columns=columns), found_by="evaluation")
    return found.sort_values(
        ["data_set", "evaluation", "fraction"],
        key=lambda column: column.map(EVALUATIONS.index) if column.name == "evaluation" else column,
        ascending=[True, True, False],
        ignore_index=True,
    )


def _named(frame: pd.DataFrame, found_by: str | None = None) -> pd.DataFrame:
    columns = ["start", "method", *([found_by] if found_by else [])]
    names = [method_name(*row) for row in frame[columns].itertuples(index=False)]
    return frame.assign(method=names)


def _intervals_of(
    row: Mapping[Any, Any], evaluations: pd.DataFrame, predictions: pd.DataFrame
) -> dict[str, float]:
    """The interval of a row's mean, where it is not over replicates; its gain, and that's."""
    where = {key: row[key] for key in ("data_set", "evaluation", "fraction")}
    pair = () if row["start"] == RANDOM else (row["start"], RANDOM)
    made = {}
    if row["quantity"] == ACCURACY:
        made["low"], made["high"] = wilson(row["mean"], row["test_images"])
        right = [right_or_not(pick(predictions, **where, start=start)) for start in pair]
        gain = difference(*right) if pair else ()
    else:
        values = [per_replicate(evaluations, **where, start=start) for start in pair]
        seen = estimate(values[0] - values[1]) if pair else None
        gain = (seen.mean, seen.mean - seen.half_width, seen.mean + seen.half_width) if seen else ()
    return made | dict(zip(("gain", "gain_low", "gain_high"), gain, strict=False))


def _most_labels(predictions: pd.DataFrame) -> pd.DataFrame:
    most = predictions.groupby("data_set")["fraction"].transform("max")
    return predictions[(predictions["evaluation"] == "fine-tuned")
                       & (predictions["fraction"] == most)]  # fmt: skip


def cut(name: str, letters: int = LETTERS) -> str:
    """A name that leaves room beside it."""
    return name if len(name) <= letters else f"{name[: letters - 1]}…"


def _plain(name: str) -> str:
    """A name of a folder in a cell of a Markdown table."""
    shown = cut("".join(letter if letter.isprintable() else "?" for letter in name))
    return shown.replace("\\", "\\\\").replace("|", "\\|")


def interval(mean: float, low: float, high: float) -> str:
    """``0.64 (0.35 to 0.85)``; without brackets where there is no interval."""
    if math.isnan(low):
        return f"{mean:.3f}"
    return f"{mean:.2f} ({low:.2f} to {high:.2f})".replace("-", "−")


def _cells(frame: pd.DataFrame, *columns: str) -> list[str]:
    return [interval(*row) for row in frame[list(columns)].to_numpy(dtype=float).tolist()]


def _replicates(found: pd.DataFrame) -> str:
    """``5 replicates``; with the data sets that have another number: ``5 replicates (mae: 3)``."""
    of_each = found.groupby("data_set", sort=False)["replicates"].max()
    usual = int(of_each.mode().max())
    others = [f"{name}: {count}" for name, count in of_each.items() if count != usual]
    return f"{usual} replicate{'s' * (usual > 1)}" + f" ({', '.join(others)})" * bool(others)


def _wide(found: pd.DataFrame, index: Mapping[str, str], heads: Iterable[str]) -> pd.DataFrame:
    """Means with intervals, a column each head; columns of ``index`` (name -> name to show)."""
    long = found.assign(head=list(heads), cell=_cells(found, "mean", "low", "high"))
    wide = long.pivot_table(index=list(index), columns="head", values="cell", aggfunc="first")
    # a pivot over several columns keeps no order
    shown = long[list(index)].drop_duplicates()
    shown = shown.merge(wide[long["head"].unique()].reset_index(), on=list(index))
    return shown.fillna("-").rename(columns=dict(index)).rename_axis(columns=None)


@table("accuracy")
def accuracies(evaluations: pd.DataFrame, predictions: pd.DataFrame) -> Table:
    """Accuracy on test images, by start and share of the labels"""
    found = accuracy_table(evaluations, predictions)
    index = {"data_set": "data set", "test_images": "test images", "evaluation": "evaluation",
             "method": "encoder", "start": "start"}  # fmt: skip
    heads = found["fraction"].map(lambda share: f"{100 * share:g} % of the labels")
    words = " and ".join(dict.fromkeys(found["quantity"]))
    notes = f"{words[0].upper()}{words[1:]}, mean of {_replicates(found)}. "
    if set(found["quantity"]) == {ACCURACY}:
        notes += ("In brackets: 95 % interval for other images of the same kind, from the number of test "
                  "images (Wilson).")  # fmt: skip
    else:
        notes += "In brackets: 95 % interval over replicates, on the same test images."
    return Table(found, _wide(found, index, heads).drop(columns="start"), notes)


@table()
def gains(evaluations: pd.DataFrame, predictions: pd.DataFrame) -> Table:
    """What pre-training added

    Difference from the same network without pre-training, with the same labels and steps.
    """
    found = accuracy_table(evaluations, predictions)
    found = found[found["start"] != RANDOM].reset_index(drop=True)
    names = {"data_set": "data set", "evaluation": "evaluation", "method": "encoder",
             "labels": "labels"}  # fmt: skip
    shown = found[list(names)].rename(columns=names)
    return Table(
        found,
        shown.assign(difference=_cells(found, "gain", "gain_low", "gain_high")),
        "In brackets: 95 % interval. Of accuracies a bootstrap over test images and replicates; an "
        "interval that holds 0 shows no difference.",
    )


@table()
def classes(predictions: pd.DataFrame) -> Table:
    """Accuracy per class, fine-tuned with most labels"""
    rows = []
    by = ["data_set", "start", "method", "label"]
    for key, group in _most_labels(predictions).groupby(by, sort=False):
        right = right_or_not(group)
        images, mean = right.shape[1], float(right.mean())
        rows.append((*key, images, mean, *wilson(mean, images), len(right)))
    columns = ["data_set", "start", "method", "class"]
    columns += ["test_images", "mean", "low", "high", "replicates"]
    found = _named(pd.DataFrame(rows, columns=columns))
    index = {"data_set": "data set", "class": "class", "test_images": "test images"}
    shown = _wide(found, index, found["method"])
    return Table(
        found,
        shown.assign(**{"class": shown["class"].map(_plain)}),
        f"Mean of {_replicates(found)}; in brackets Wilson's 95 % interval over the test images of "
        "the class.",
    )


@table()
def pictures(summaries: pd.DataFrame) -> Table:
    """Pictures of each class, for training and for the test"""
    found = summaries[["data_set", "class", "role", "images", "repeated", "contradicted"]]
    wide = found.pivot_table(
        index=["data_set", "class"], columns="role", values="images", sort=False, fill_value=0
    ).reset_index()
    heads = {"data_set": "data set", "train": "training", "test": "test"}
    wide = wide.rename(columns=heads).rename_axis(columns=None)
    wide = wide.assign(**{"class": wide["class"].map(_plain)})
    whole = {"data set": "all", "class": "", **wide[["training", "test"]].sum().to_dict()}
    shown = pd.concat([wide, pd.DataFrame([whole])], ignore_index=True)
    return Table(found.reset_index(drop=True), shown.astype({"training": int, "test": int}), "")


@table()
def detection(detections: pd.DataFrame) -> Table:
    """Average precision of a detector, by start of its encoder

    *What to see:* the difference from the random start.

    Faster R-CNN on the test images; all but the encoder's training is the same in a replicate. AP50 and AP75 count a
    box as right from an overlap of 0.5 and 0.75 on, AP is the mean over ten such thresholds.
    """
    keys = ["data_set", "start", "method", "quantity"]
    means = _named(summary(detections, keys).drop(columns="largest"))
    others = {start: RANDOM for start in detections["start"].unique() if start != RANDOM}
    gained = paired(detections, ["data_set", "quantity"], "start", others)
    names = {"difference": "gain", "difference_half_width": "gain_half_width"}
    found = means.merge(gained.rename(columns=names), how="left",
                        on=["data_set", "quantity", "start"])  # fmt: skip
    shown = found.rename(columns={"data_set": "data set", "method": "encoder"})
    heads = {"ap50": "AP50", "ap75": "AP75", "ap": "AP"}
    return Table(found, side_by_side(shown, ["data set", "encoder"], "quantity", heads),
                 f"As COCO counts it, mean over classes; after the sign: {SPREAD_KIND}.")  # fmt: skip


@cache
def _glyphs() -> frozenset[int]:
    """Letters that figures can show: those of the font that comes with Matplotlib."""
    return frozenset(get_font(findfont("DejaVu Sans")).get_charmap())


def short(name: str) -> str:
    """A name that fits, and that Matplotlib takes for no formula."""
    shown = "".join(letter if letter.isprintable() and ord(letter) in _glyphs() else UNSHOWN
                    for letter in name)  # fmt: skip
    return cut(shown, SHORT).replace("$", r"\$")


def _colours(starts: pd.Series[str]) -> dict[str, str]:
    given = [start for start in starts.unique() if start.startswith(GIVEN)]
    return START_COLOURS | dict(zip(given, GIVEN_COLOURS * len(given), strict=False))


def _legend(drawn: Figure, axes: Iterable[Axes]) -> None:
    entries: dict[str, Artist] = {}
    for ax in axes:
        handles, labels = ax.get_legend_handles_labels()
        entries |= dict(zip(labels, handles, strict=True))
    drawn.legend(list(entries.values()), list(entries), loc="outside lower center", ncols=4)


@figure()
def accuracy(evaluations: pd.DataFrame, predictions: pd.DataFrame) -> Figure:
    """Accuracy on test images

    *What to see:* whether pre-training (blue) is above none (orange), most of all with few labels; **lines that overlap
    widely show no difference**: the table of what pre-training added compares image by image.

    Points: replicates; bars: means; lines: 95 % intervals for other test images (for several labels an image, over
    replicates).
    """
    table = accuracy_table(evaluations, predictions)
    names, kinds = (list(dict.fromkeys(table[key])) for key in ("data_set", "evaluation"))
    drawn = canvas(8.2, 3.1 * len(names) + 0.4)
    axes = drawn.subplots(len(names), len(kinds), squeeze=False, sharey=True)
    for line, name in zip(axes, names, strict=True):
        one_set = pick(table, data_set=name)
        for ax, kind in zip(line, kinds, strict=True):
            rows = one_set[one_set["evaluation"] == kind]
            if rows.empty:
                ax.set_axis_off()
                continue
            _panel(ax, rows, pick(evaluations, data_set=name, evaluation=kind))
            ax.set_title(kind)
        first = one_set.iloc[0]
        line[0].set_ylabel(f"{first['quantity']} on {first['test_images']} test images")
        if len(names) > 1:
            line[0].set_title(f"{short(name)}: {kinds[0]}")
    _legend(drawn, axes.flat)
    return drawn


def _panel(ax: Axes, table: pd.DataFrame, values: pd.DataFrame) -> None:
    colours = _colours(table["start"])
    starts = list(dict.fromkeys(table["start"]))
    counts = sorted(table["labels"].unique())
    width = 0.8 / len(starts)
    for place, start in enumerate(starts):
        rows = table[table["start"] == start].sort_values("labels")
        at = np.array([counts.index(count) for count in rows["labels"]], dtype=float)
        at += (place - (len(starts) - 1) / 2) * width
        label = START_LABELS[RANDOM] if start == RANDOM else rows["method"].iloc[0]
        ax.bar(at, rows["mean"], 0.85 * width, color=colours[start], alpha=0.35, label=label)
        if rows["low"].notna().all():
            ends = [(rows["mean"] - rows["low"]).clip(0), (rows["high"] - rows["mean"]).clip(0)]
            whiskers(ax, at, rows["mean"], np.stack(ends), COLOURS["ink"], marker="")
        seen = values[values["start"] == start]
        if seen["replicate"].nunique() <= POINTS:
            for x, count in zip(at, rows["labels"], strict=True):
                points = np.sort(seen.loc[seen["labels"] == count, "value"].to_numpy())
                aside = (np.arange(len(points)) - (len(points) - 1) / 2) * 0.12 * width
                ax.plot(x + aside, points, "o", color=colours[start], markersize=4,
                        markeredgecolor="white", markeredgewidth=0.5)  # fmt: skip
    ax.set_xticks(range(len(counts)), [f"{count} labels" for count in counts])
    ax.set_ylim(0, 1.03)
    ax.grid(axis="x", visible=False)


@figure()
def learning(histories: pd.DataFrame) -> Figure:
    """Loss during training

    *What to see:* whether curves still fall at their end; then longer trainings (`epochs`, `steps`) may help. Near zero
    at the right means memorised labels and says nothing of test images.

    Mean loss of each epoch, a line a replicate: left without labels (its unit depends on the method), right with the
    most and the fewest labels.
    """
    sets = dict(list(histories.groupby("data_set", sort=False)))
    # the largest and the smallest number of labels of each set
    ends = {name: list(dict.fromkeys([rows["labels"].max(), rows["labels"].min()]))
            for name, rows in sets.items()}  # fmt: skip
    drawn = canvas(8.2, 2.6 * len(sets) + 0.3)
    across = 1 + max(map(len, ends.values()))
    axes = drawn.subplots(len(sets), across, squeeze=False)
    for line, (name, rows) in zip(axes, sets.items(), strict=True):
        for ax in line[1 + len(ends[name]) :]:
            ax.set_axis_off()
        _losses(line[0], rows[rows["start"].isna()].assign(start=PRETRAINED), "pre-training")
        for ax, count in zip(line[1:], ends[name], strict=False):
            _losses(ax, rows[rows["labels"] == count], f"training with {int(count)} labels")
        line[0].set_ylabel("loss" if len(sets) == 1 else f"{short(str(name))}: loss")
    _legend(drawn, axes[:1, 1])
    return drawn


def _losses(ax: Axes, rows: pd.DataFrame, title: str) -> None:
    if rows.empty:
        ax.set_axis_off()
        return
    colours = _colours(rows["start"])
    for (start, _), line in rows.groupby(["start", "replicate"], sort=False):
        # a last epoch that was not finished is a mean over few batches
        whole = line[(line["epoch"] % 1) < 1e-6]
        seen = line if whole.empty else whole
        label = START_LABELS.get(str(start), str(start).replace("-", " "))
        ax.plot(seen["epoch"], seen["loss"], color=colours[str(start)], linewidth=1, label=label)
    ax.set_title(title)
    ax.set_xlabel("epoch")
    ax.set_ylim(bottom=0)


@figure()
def confusion(predictions: pd.DataFrame) -> Figure:
    """Confusion matrix

    *What to see:* which classes are taken for one another, and whether pre-training changes that.

    Rows: class of the test images; columns: answer of the fine-tuned classifiers with most labels; mean number of
    images. Names without letters in the font are numbered in alphabetical order.
    """
    tuned = _most_labels(predictions)
    panels = list(tuned.groupby(["data_set", "start"], sort=False))
    sets = tuned["data_set"].nunique()
    across = min(2, max(len(panels) // sets, 1)) if tuned["label"].nunique() <= 12 else 1
    down = -(-len(panels) // across)
    drawn = canvas(8.2, down * min(8.2 / across, 4.2 if across == 2 else 7.5))
    axes = drawn.subplots(down, across, squeeze=False).ravel()
    for ax in axes[len(panels) :]:
        ax.set_axis_off()
    for ax, ((name, start), rows) in zip(axes, panels, strict=False):
        method = method_name(str(start), str(rows["method"].iloc[0]))
        _matrix(ax, rows, method if sets == 1 else f"{short(str(name))}: {method}")
    return drawn


def _matrix(ax: Axes, rows: pd.DataFrame, title: str) -> None:
    names = sorted({*rows["label"], *rows["said"]})
    counts = pd.crosstab(rows["label"], rows["said"]).reindex(index=names, columns=names,
                                                              fill_value=0)  # fmt: skip
    shown = counts.to_numpy() / rows["replicate"].nunique()
    shares = shown / np.maximum(shown.sum(1, keepdims=True), 1e-12)
    ax.imshow(shares, cmap="Blues", vmin=0, vmax=1)
    few = len(names) <= 12
    for (row, column), value in np.ndenumerate(shown) if few else ():
        ax.text(
            column, row, f"{value:.3g}" if value else "·", ha="center", va="center", fontsize=8.5,
            color="white" if shares[row, column] > 0.55 else COLOURS["ink"],
        )  # fmt: skip
    places = range(0, len(names), -(-len(names) // 40))
    words = [short(names[place]) for place in places]
    if any(UNSHOWN in word for word in words):
        words = [f"{place + 1}: {word}" for place, word in zip(places, words, strict=True)]
    upright = len(names) > 4 or sum(map(len, words)) > BESIDE
    ax.set_xticks(places, words, rotation=90 if upright else 0, fontsize=8.5 if few else 8)
    ax.set_yticks(places, words, fontsize=8.5 if few else 8)
    ax.grid(visible=False)
    ax.set_title(title)
    ax.set_xlabel("what the network says")
    ax.set_ylabel("class")
