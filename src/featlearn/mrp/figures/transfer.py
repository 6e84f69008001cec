"""How the transfer cases are drawn. Reads frames, imports no torch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

from featlearn.core.plots import COLOURS, PALETTE, canvas
from featlearn.core.publish import Config, figure
from featlearn.core.statistical import Look, bars, lines
from featlearn.mrp.tables.transfer import RECIPES, reported

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

RECIPE_COLOURS = {
    "probe": PALETTE["mask reconstruction, frozen"],
    "finetuned": PALETTE["mask reconstruction"],
    "continued": PALETTE["mask reconstruction, continued"],
    "random": PALETTE["random features"],
    "supervised": PALETTE["supervised"],
    "supervised_head": PALETTE["supervised, new head"],
}
KINDS = {"accuracy_multi_view": "multi-view", "accuracy_single_view": "single-view"}
LINES = {
    "old accuracy_single_view": Look("old classes, single-view", COLOURS["blue"]),
    "new accuracy_multi_view": Look("new classes, multi-view", COLOURS["red"], dash=(3.7, 1.6)),
    "new accuracy_single_view": Look("new classes, single-view", COLOURS["red"]),
}


@figure()
def transfer(accuracy: pd.DataFrame, config: Config) -> Figure:
    """Transfer: old classes, new classes

    The pre-trained encoder meets a new task: the same classes with single-view samples among the labels
    (case 1), some of them (2a), all of them and new ones (2b), some of them and new
    ones (3). Means over replicates of the accuracy on fresh samples with 95 % intervals, dots are
    replicates; the rate of fine-tuning is chosen for each replicate on the others. All heads are new and trained to their optimum, but for the orange ones
    (supervised as trained). *What to see:* where all features were seen in pre-training, the frozen encoder
    is enough. At the chosen rate the fine-tuned encoder is right on
    {{ value("transfer", "mean", case="2b-more-features", recipe="finetuned", classes="new", quantity="accuracy_single_view") | percent }}
    of the single-view samples of new classes in case 2b. Random kernels (grey) are right on
    {{ value("transfer", "mean", case="2b-more-features", recipe="random", classes="new", quantity="accuracy_single_view") | percent }}:
    on data with so little noise they need no features. The free kernels do pick up new features when
    mask reconstruction continues on the unlabelled samples of the new task (teal; ours, not in the paper).
    """
    cases = config["cases"]
    accuracy = accuracy.assign(kind=accuracy["classes"] + " " + accuracy["quantity"])
    shown = reported(accuracy)
    drawn = canvas(8.2, 0.8 + 2.3 * ((len(cases) + 1) // 2))
    axes = drawn.subplots((len(cases) + 1) // 2, 2, squeeze=False, sharey=True)
    for ax, (name, case) in zip(axes.flat, cases.items(), strict=False):
        _bars(ax, shown[shown["case"] == name], ("old", "new") if case["new_classes"] else ("old",))
        ax.set_title(_title(name, case), fontsize=9)
    for ax in axes.flat[len(cases) :]:
        ax.set_axis_off()
    for row in axes:
        row[0].set_ylabel("accuracy")
    handles: dict[str, Any] = {}
    for ax in axes.flat:
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    drawn.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=2)
    return drawn


@figure()
def transfer_rates(accuracy: pd.DataFrame, config: Config) -> Figure:
    """Transfer: fine-tuning at other rates

    The fine-tuned encoders of the cases with new classes at every learning rate that was tried, with 95 %
    intervals over replicates. *What to see:* which rate is best on new classes, and what it costs on the old
    ones: where the lines of the single-view samples are level, the encoder needs no fine-tuning.
    """
    accuracy = accuracy.assign(kind=accuracy["classes"] + " " + accuracy["quantity"])
    swept = [name for name, case in config["cases"].items() if case["new_classes"]]
    drawn = canvas(8.2, 3.2)
    axes = drawn.subplots(1, len(swept), squeeze=False, sharey=True)[0]
    for ax, name in zip(axes, swept, strict=True):
        _sweep(ax, accuracy, name)
        ax.set_title(f"Case {_words(name)}")
    axes[0].set_ylabel("accuracy")
    drawn.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return drawn


def _words(name: str) -> str:
    """``2a-fewer-features`` reads ``2a, fewer features``."""
    number, _, words = name.partition("-")
    return f"{number}, {words.replace('-', ' ')}"


def _title(name: str, case: Mapping[str, Any]) -> str:
    parts = [f"{case['old_classes']} old"]
    if case["new_classes"]:
        parts.append(f"{case['new_classes']} new")
    return f"Case {_words(name)} ({' + '.join(parts)} classes)"


def _bars(ax: Axes, own: pd.DataFrame, classes: tuple[str, ...]) -> None:
    groups = {
        f"{which} {quantity}": f"{which} classes\n{words}"
        for which in classes
        for quantity, words in KINDS.items()
    }
    recipes = [recipe for recipe in RECIPES if (own["recipe"] == recipe).any()]
    looks = {recipe: Look(RECIPES[recipe], RECIPE_COLOURS[recipe]) for recipe in recipes}
    bars(ax, own, "kind", "recipe", groups=groups, looks=looks)
    ax.set_ylim(0, 1.05)
    ax.tick_params(axis="x", labelsize=8)


def _sweep(ax: Axes, accuracy: pd.DataFrame, name: str) -> None:
    """Accuracies over the encoder's rate; level lines show training from scratch."""
    tuned = accuracy[(accuracy["case"] == name) & (accuracy["recipe"] == "finetuned")]
    rates = sorted(tuned["encoder_rate"].unique())
    lines(ax, tuned, "encoder_rate", "kind", looks=LINES)
    ax.set(xscale="log", ylim=(0, 1.05), xlabel=r"learning rate of the encoder $\eta_1$")
    ax.set_xticks(rates, [f"{rate:g}" for rate in rates])
    ax.set_xticks([], minor=True)
