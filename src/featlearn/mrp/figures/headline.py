"""How the measurements of this paper are drawn. Reads frames, imports no torch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from matplotlib.colors import LinearSegmentedColormap

from featlearn.core.plots import COLOURS, FILLS, PALETTE, canvas
from featlearn.core.publish import Config, figure
from featlearn.core.statistical import Look, rows, share_interval
from featlearn.mrp.tables.headline import LABELS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MODEL_COLOURS = {
    "raw_linear": PALETTE["raw input"],
    "random": PALETTE["random features"],
    "supervised": PALETTE["supervised"],
    "supervised_head": PALETTE["supervised, new head"],
    "supervised_all_head": PALETTE["supervised, more"],
    "pretrained": PALETTE["mask reconstruction"],
    "finetuned": COLOURS["sky"],
}
ACCURACIES = {
    "accuracy_multi_view": "Multi-view images",
    "accuracy_single_view": "Single-view images",
}
#: Marks a feature that no kernel captured.
LOST = "x"
#: Of the feature of a class that ends stronger, and of the other one: no colours of models here.
VIEW_COLOURS = (COLOURS["ink"], COLOURS["red"])


@figure()
def headline(evaluation: pd.DataFrame, config: Config) -> Figure:
    """The headline: pre-training keeps what supervised training loses

    Left and middle: accuracy on fresh test images that show both features of their class (multi-view), and on
    images that show only one of them strongly (single-view), dotted is chance. Dots are replicates, a tick is
    their mean with its 95 % interval. All models start from the same kernels and see the same training
    images, all of them multi-view; every *new head* is trained to its optimum on standardised features.
    *Fixed blocks*: a class adds up the kernels of its own block, and only kernels are trained. Every patch
    carries some of every feature (feature noise), and there are many patches. Right: how many of the features
    some kernel captured; a new head leaves kernels as they are. *What to see:* the data need features: a linear classifier on the
    patches is right on {{ value("headline", "mean", model="raw_linear", quantity="accuracy_single_view") | percent }}
    of the single-view images. The supervised network is right on
    {{ value("headline", "mean", model="supervised", quantity="accuracy_single_view") | percent }} as it was trained and on
    {{ value("headline", "mean", model="supervised_head", quantity="accuracy_single_view") | percent }} with a new head: it lost
    part of the features. Mask reconstruction captured
    {{ value("headline", "mean", model="pretrained", quantity="captured") | percent }} of them, and a linear head on top is
    right on {{ value("headline", "mean", model="pretrained", quantity="accuracy_single_view") | percent }}; on the random
    kernels of the start the same head reaches
    {{ value("headline", "mean", model="random", quantity="accuracy_single_view") | percent }}.
    That mask reconstruction beats the best of its opponents on single-view data
    {{ verdict("mrp/headline-beats-best-opponent") }}; that a head on its kernels is right on nearly all
    of them {{ verdict("mrp/headline-single-view") }}.
    """
    looks = {model: Look(_folded(LABELS[model]), colour) for model, colour in MODEL_COLOURS.items()}
    drawn = canvas(8.6, 4.2)
    *panels, right = drawn.subplots(1, 3, sharey=True)
    for ax, (quantity, title) in zip(panels, ACCURACIES.items(), strict=True):
        own = evaluation[evaluation["quantity"] == quantity]
        rows(ax, own, "model", looks=looks, errorbar=share_interval)
        ax.axvline(
            1 / config["data"]["classes"], color=COLOURS["ink"], linewidth=0.8, linestyle=":"
        )
        ax.set(xlim=(0, 1.04), title=title, xlabel="share that is right")
    captured = evaluation[evaluation["quantity"] == "captured"]
    for place, (model, look) in enumerate(looks.items()):
        own = captured[captured["model"] == model]
        if own.empty:
            right.annotate("(no kernels)", (0.03, place), va="center", fontsize=8)
        else:
            rows(right, own, "model", looks={model: look}, first=place, errorbar=share_interval)
    right.set_ylim(len(looks) - 0.5, -0.5)
    right.set_yticks(range(len(looks)), [look.words for look in looks.values()])
    for ax in (panels[1], right):
        ax.tick_params(labelleft=False)
    right.axvline(0.5, color=COLOURS["ink"], linewidth=0.8, linestyle=":")
    right.annotate("one of two", (0.5, 0), ha="center", va="bottom", fontsize=8,
                   xytext=(0.43, 1.5), rotation=90)  # fmt: skip
    right.set(xlim=(0, 1.04), title="Features captured", xlabel="share of features")
    return drawn


def _folded(words: str) -> str:
    """On two lines, broken where it is long."""
    return words.replace(" + ", "\n+ ").replace(", fixed blocks", ",\nfixed blocks", 1).replace(
        ", head trained too", ",\nhead trained too", 1).replace("classifier on", "classifier\non")  # fmt: skip


@figure(replicates=4)
def captured_features(features: pd.DataFrame, config: Config, replicates: int) -> Figure:
    """Which features each model holds

    Every square is one feature of one class in one replicate; its colour is the largest correlation of
    a kernel with that feature. Blue is at or above the threshold of the activation (captured); a red x
    is a feature that was lost. *What to see:* a class of the supervised network with an x lost one of
    its two features, a different one in each replicate: a lottery of the initial kernels. Over all replicates
    (in brackets the share captured), {{ said("mrp/headline-supervised-captured", holds="the supervised network loses at least a tenth of the features",
            fails="the supervised network loses hardly a feature, or more than half of them") }};
    {{ said("mrp/headline-captured", holds="mask reconstruction captures nearly all",
            fails="mask reconstruction does not capture nearly all") }}.
    """
    varrho = config["network"]["varrho"]
    shown = sorted(features["replicate"].unique())[:replicates]
    models = {"supervised": "supervised", "pretrained": "mask rec."}
    top = max(features[features["model"] == model]["strength"].max() for model in models)
    drawn = canvas(8.2, 2.6)
    axes = drawn.subplots(len(models), len(shown), sharex=True, sharey=True, squeeze=False)
    colours = _lit_above(varrho / top)
    for row, (model, name) in enumerate(models.items()):
        for column, replicate in enumerate(shown):
            ax = axes[row, column]
            own = features[(features["model"] == model) & (features["replicate"] == replicate)]
            grid = own.pivot_table(index="view", columns="class", values="strength").to_numpy()
            image = ax.imshow(grid, vmin=0, vmax=top, cmap=colours, aspect="auto")
            for view, cls in zip(*np.nonzero(grid < varrho), strict=True):
                ax.text(cls, view, LOST, ha="center", va="center", fontsize=8, color=COLOURS["red"])
            ax.set_xticks(range(grid.shape[1]), range(1, grid.shape[1] + 1), fontsize=8)
            ax.set_yticks(range(grid.shape[0]), [f"feature {v + 1}" for v in range(len(grid))])
            ax.tick_params(length=0)
            ax.grid(visible=False)
            if row == 0:
                ax.set_title(f"replicate {replicate}", fontsize=9)
            if row == len(models) - 1:
                ax.set_xlabel("class")
        axes[row, 0].set_ylabel(name, fontweight="bold")
    bar = drawn.colorbar(image, ax=axes, shrink=0.9, pad=0.01)
    bar.set_label(r"correlation $\Lambda_{i,l}$")
    bar.ax.axhline(varrho, color=COLOURS["ink"], linewidth=1)
    return drawn


def _lit_above(threshold: float) -> LinearSegmentedColormap:
    """White to light grey below the threshold, blue above: captured features stand out."""
    stops = [(0.0, FILLS["white"]), (threshold, FILLS["light"]), (threshold, FILLS["captured"]),
             (1.0, FILLS["captured, strongest"])]  # fmt: skip
    return LinearSegmentedColormap.from_list("captured", stops)


@figure(replicate=0)
def feature_growth(
    supervised: pd.DataFrame, pretrained: pd.DataFrame, config: Config, replicate: int
) -> Figure:
    """How features grow during training

    One line a feature: the largest correlation of a kernel with it, over the steps of full-batch
    gradient descent, in the first replicate. The dashed line is the threshold of the activation; above
    it a feature counts as captured; both axes are logarithmic. *What to see:* under supervision, where the stronger feature of a
    class explains the labels early enough, its sibling stops growing. Mask reconstruction has no labels that a first
    feature could use up: every feature follows, one after the other.
    That the supervised network loses at least a tenth of the features, over all replicates,
    {{ verdict("mrp/headline-supervised-captured") }}; that mask reconstruction ends with every feature
    {{ verdict("mrp/headline-captured") }}.
    """
    varrho = config["network"]["varrho"]
    drawn = canvas(8.2, 3.2)
    axes = drawn.subplots(1, 2, sharey=True)
    panels = {"Supervised": supervised, "Mask reconstruction": pretrained}
    for ax, (title, history) in zip(axes, panels.items(), strict=True):
        own = history[history["replicate"] == replicate]
        weaker = _weaker_view(own)
        for _, line in own.groupby(["class", "view"]):
            second = weaker[line["class"].iloc[0]] == line["view"].iloc[0]
            ax.plot(
                line["step"] + 1,
                line["strength"],
                color=VIEW_COLOURS[1] if second else VIEW_COLOURS[0],
                linewidth=1,
                alpha=0.85,
                label="a class's feature that ends weaker"
                if second
                else "its feature that ends stronger",
            )
        ax.axhline(varrho, color=COLOURS["ink"], linewidth=0.9, linestyle="--")
        # a feature that is lost stays small: on a linear axis it is a line at the bottom
        ax.set(title=title, xscale="log", yscale="log")
        ax.set_xlabel("1 + step of gradient descent (full batch)")
    axes[0].set_ylabel(r"correlation $\Lambda_{i,l}$ with the feature")
    ticks = [0.03, 0.1, 0.3, 1, 3]
    axes[0].set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    axes[0].minorticks_off()
    axes[0].annotate(
        r"captured: $\Lambda\geq\varrho$", (0.02, varrho), xycoords=("axes fraction", "data"),
        ha="left", va="bottom", fontsize=8,
    )  # fmt: skip
    handles, labels = axes[0].get_legend_handles_labels()
    unique = dict(zip(labels, handles, strict=True))
    drawn.legend(unique.values(), unique.keys(), loc="outside lower center", ncols=2, fontsize=8)
    return drawn


def _weaker_view(history: pd.DataFrame) -> dict[int, int]:
    """For each class, which of its features is weakest at the end."""
    last = history[history["step"] == history["step"].max()]
    weakest = last.loc[last.groupby("class")["strength"].idxmin()]
    return dict(zip(weakest["class"], weakest["view"], strict=True))
