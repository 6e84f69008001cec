"""Pictures: accuracies along the ladder, number of classes, maps of features. No torch in here."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from featlearn.core.plots import COLOURS, canvas
from featlearn.core.publish import Config, figure
from featlearn.core.statistical import Look, lines

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PALETTE = [COLOURS[name] for name in ("blue", "orange", "green", "red", "purple", "sky")]


@figure("pictures-ladder")
def ladder(values: pd.DataFrame, config: Config) -> Figure:
    """The target and the average along the ladder

    Test accuracy of linear heads, solved to their optimum, on frozen features by the number of sets in
    the pre-training, each trained for the same number of epochs. Left: the target with few and with
    all labels; right: the unweighted mean over all sets, all labels. The first method has all rungs,
    the others the first and the last. Dotted: the same encoder at its random start. 95 % intervals.
    """
    drawn = canvas(7.6, 3.2)
    axes = drawn.subplots(1, 3)
    test = values[(values["quantity"] == "test") & values["model"].str.startswith(("rung", "none"))]
    rung = test["model"].str.extract(r"rung-(\d+)")[0].astype(float)
    test = test.assign(rung=rung)
    target = test[test["set"] == config["ladder"][0]]
    whole = test[test["labels"] == test.groupby("set")["labels"].transform("max")]
    average = whole.groupby(["method", "arm", "rung", "replicate"], dropna=False)["value"].mean()
    few = sorted(target["labels"].unique())[min(2, target["labels"].nunique() - 1)]
    panels = (
        (target[target["labels"] == few], f"target, {few} labels"),
        (target[target["labels"] == target["labels"].max()], "target, all labels"),
        (average.reset_index(), "average of all sets"),
    )
    looks = {name: Look(name, PALETTE[n % 6]) for n, name in enumerate(config["methods"])}
    for ax, (frame, words) in zip(axes, panels, strict=True):
        lines(ax, frame.dropna(subset="rung"), "rung", "method", looks=looks)
        ax.axhline(
            frame.loc[frame["arm"] == "random", "value"].mean(), color=COLOURS["grey"], ls=":"
        )
        ax.set(title=words, xlabel="sets", xticks=range(1, len(config["ladder"]) + 1))
    axes[0].set(ylabel="test accuracy")
    handles, words = axes[0].get_legend_handles_labels()
    drawn.legend(handles, words, loc="outside lower center", ncols=4)
    return drawn


@figure("fig-f-5")
def classes(values: pd.DataFrame, config: Config) -> Figure:
    """Number of classes at a fixed number of pictures

    Pre-training on the target and as many pictures of 5 to 80 classes of drawn patterns, the same number of
    pictures whatever the number of classes. Test accuracy of a linear head on the target by its labels.
    95 % intervals. The thesis: CIFAR-10 and 200,000 pictures of 50 to 1000 classes of ImageNet32; its
    accuracy falls with the number of classes.
    """
    drawn = canvas(4.6, 3.2)
    ax = drawn.subplots()
    own = values[(values["quantity"] == "test") & values["model"].str.startswith("classes")]
    own = own.assign(classes=own["model"].str.extract(r"(\d+)")[0].astype(int))
    counts = sorted(own["labels"].unique())
    looks = {count: Look(f"{count} labels", PALETTE[n % 6]) for n, count in enumerate(counts)}
    lines(ax, own, "classes", "labels", looks=looks)
    ax.set(xscale="log", xlabel="classes beside the target", ylabel="test accuracy on the target")
    ax.set_xticks(config["classes"], [str(count) for count in config["classes"]], minor=False)
    ax.minorticks_off()
    handles, words = ax.get_legend_handles_labels()
    drawn.legend(handles, words, loc="outside right upper")
    return drawn


@figure("fig-f-8")
def maps(maps: pd.DataFrame) -> Figure:
    """Maps of the features of the target

    t-SNE of unit features of training pictures of the target, one replicate, pre-trained on all sets: as
    pre-trained (LP), fine-tuned (FT) and fine-tuned with the contrastive loss (Ours); colours are
    classes. What lies near or far in such a map is no measurement.
    """
    drawn = canvas(7.6, 2.8)
    words = {"probe": "LP", "finetuned": "FT", "ours": "Ours"}
    for ax, (arm, title) in zip(drawn.subplots(1, 3), words.items(), strict=True):
        own = maps[maps["arm"] == arm]
        ax.scatter(own["x"], own["y"], c=own["label"], cmap="tab10", s=7, linewidths=0)
        ax.set(title=title, xticks=[], yticks=[])
    return drawn
