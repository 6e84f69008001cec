"""How the transfer cases are drawn. Reads frames, imports no torch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from featlearn.core.plots import COLOURS, PALETTE, canvas
from featlearn.core.publish import Config, figure
from featlearn.core.statistical import Look, lines, rows, share_interval
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
    ones (3). Accuracy on fresh single-view samples (on multi-view ones all are near 1: the table): dots are
    replicates, a tick is their mean with its 95 % interval; the axis does not begin at zero. The rate of
    fine-tuning is chosen for each replicate on the others. All heads are new and trained to their optimum,
    but for the orange ones (supervised as trained). *What to see:* where all features were seen in pre-training, the frozen encoder
    is enough. At the chosen rate the fine-tuned encoder is right on
    {{ value("transfer", "mean", case="2b-more-features", recipe="finetuned", classes="new", quantity="accuracy_single_view") | percent }}
    of the single-view samples of new classes in case 2b. Random kernels (grey) are right on
    {{ value("transfer", "mean", case="2b-more-features", recipe="random", classes="new", quantity="accuracy_single_view") | percent }}:
    on data with so little noise they need no features. The free kernels do pick up new features when
    mask reconstruction continues on the unlabelled samples of the new task (teal; ours, not in the paper).
    That pre-training beats random kernels and training from scratch in case 2b
    {{ verdict("mrp/t19-case-2b-beats-opponents") }}; that the new classes are learned there
    {{ verdict("mrp/t19-case-2b-new-classes") }}; that they are once mask reconstruction continues
    {{ verdict("mrp/t19-continued-2b") }}.
    """
    shown = reported(accuracy)
    shown = shown[shown["quantity"] == "accuracy_single_view"]
    panels = [
        (name, case, classes)
        for name, case in config["cases"].items()
        for classes in (("old", "new") if case["new_classes"] else ("old",))
    ]
    looks = {name: Look(RECIPES[name], RECIPE_COLOURS[name]) for name in RECIPES}
    drawn = canvas(8.6, 0.5 + 2.2 * ((len(panels) + 2) // 3))
    axes = drawn.subplots((len(panels) + 2) // 3, 3, squeeze=False, sharex=True, sharey=True)
    for ax, (name, case, classes) in zip(axes.flat, panels, strict=False):
        own = shown[(shown["case"] == name) & (shown["classes"] == classes)]
        for place, (recipe, look) in enumerate(looks.items()):
            # a place a recipe, whether the case has it or not
            rows(ax, own[own["recipe"] == recipe], "recipe", looks={recipe: look}, first=place,
                 errorbar=share_interval)  # fmt: skip
        ax.set_title(f"{_words(name)}:\n{case[f'{classes}_classes']} {classes} classes", fontsize=9)
    for ax in axes.flat[len(panels) :]:
        ax.set_axis_off()
    axes[0, 0].set_ylim(len(looks) - 0.5, -0.5)
    words = [
        look.words.replace(", ", ",\n").replace(" continued ", "\ncontinued ")
        for look in looks.values()
    ]
    axes[0, 0].set_yticks(range(len(looks)), words)
    for ax in axes[-1]:
        ax.set_xlabel("single-view accuracy")
    return drawn


@figure()
def transfer_rates(accuracy: pd.DataFrame, config: Config) -> Figure:
    """Transfer: fine-tuning at other rates

    The fine-tuned encoders of the cases with new classes at every learning rate that was tried, with 95 %
    intervals over replicates; the axis does not begin at zero. *What to see:* where the lines of the
    single-view samples are level, the encoder needs no fine-tuning.
    That all old features are still captured at the large rate
    {{ verdict("mrp/t19-rate-keeps-features") }}.
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


def _sweep(ax: Axes, accuracy: pd.DataFrame, name: str) -> None:
    """Accuracies over the encoder's rate; level lines show training from scratch."""
    tuned = accuracy[(accuracy["case"] == name) & (accuracy["recipe"] == "finetuned")]
    rates = sorted(tuned["encoder_rate"].unique())
    lines(ax, tuned, "encoder_rate", "kind", looks=LINES, errorbar=share_interval, apart=1.1)
    ax.set(xscale="log", xlabel=r"learning rate of the encoder $\eta_1$")
    ax.set_xticks(rates, [f"{rate:g}" for rate in rates])
    ax.set_xticks([], minor=True)
