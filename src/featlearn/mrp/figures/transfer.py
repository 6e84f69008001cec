"""How the transfer cases are drawn. Reads frames, imports no torch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from featlearn.core.plots import COLOURS, canvas
from featlearn.core.publish import Config, figure
from featlearn.core.rows import per_replicate
from featlearn.core.stats import estimate
from featlearn.mrp.tables.transfer import RECIPES, reported

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

RECIPE_COLOURS = {
    "probe": COLOURS["sky"],
    "finetuned": COLOURS["blue"],
    "continued": COLOURS["green"],
    "supervised": COLOURS["orange"],
}
KINDS = {"accuracy_multi_view": "multi-view", "accuracy_single_view": "single-view"}
LINES = {
    ("old", "accuracy_single_view"): ("old classes, single-view", COLOURS["blue"], "-"),
    ("new", "accuracy_multi_view"): ("new classes, multi-view", COLOURS["red"], "--"),
    ("new", "accuracy_single_view"): ("new classes, single-view", COLOURS["red"], "-"),
}


@figure()
def transfer(accuracy: pd.DataFrame, config: Config) -> Figure:
    """Transfer: old classes, new classes

    The pre-trained encoder meets a new task: the same classes with single-view samples among the labels
    (case 1), some of them (2a), all of them and new ones (2b), some of them and new
    ones (3). Bars are means over replicates of the accuracy on fresh samples, lines 95 % t-intervals,
    dots replicates; the rate of fine-tuning is chosen for each replicate on the others. Below: the same
    networks at every rate tried. *What to see:* where all features were seen in pre-training a linear
    probe is enough. New classes are another matter: at a small rate fine-tuning leaves them unlearned
    ({{ value("transfer", "mean", case="2b-more-features", recipe="finetuned", classes="new", quantity="accuracy_single_view") | percent }}
    of the single-view samples of new classes in case 2b), and at a large one it learns them in part and
    ruins old classes: the head learns to call new what shows too little of the old features, and a
    single-view sample does. The encoder forgets nothing meanwhile. The free kernels do pick up new
    features when mask reconstruction continues on the unlabelled samples of the new task (green; ours,
    not in the paper), and then almost everything is right.
    """
    cases = config["cases"]
    shown = reported(accuracy)
    drawn = canvas(8.2, 2.6 + 2.0 * ((len(cases) + 1) // 2))
    groups_of = {
        name: [(c, k) for c in (("old", "new") if case["new_classes"] else ("old",)) for k in KINDS]
        for name, case in cases.items()
    }
    rows = (len(cases) + 1) // 2
    grid = drawn.add_gridspec(rows + 1, 2)
    for number, (name, groups) in enumerate(groups_of.items()):
        ax = drawn.add_subplot(grid[number // 2, number % 2])
        _bars(ax, shown, name, groups)
        ax.set_title(_title(name, cases[name]), fontsize=9)
        if number % 2 == 0:
            ax.set_ylabel("accuracy")
    handles: dict[str, Any] = {}
    for ax in drawn.axes:
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    swept = [name for name, case in cases.items() if case["new_classes"]]
    for number, name in enumerate(swept[:2]):
        ax = drawn.add_subplot(grid[rows, number])
        _sweep(ax, accuracy, name)
        ax.set_title(f"Case {_words(name)}: fine-tuning at other rates", fontsize=9)
        if number == 0:
            ax.set_ylabel("accuracy")
            drawn.legend(
                *ax.get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize=8
            )
    drawn.legend(handles.values(), handles.keys(), loc="outside upper center", ncols=2, fontsize=8)
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


def _bars(ax: Axes, shown: pd.DataFrame, name: str, groups: list[tuple[str, str]]) -> None:
    recipes = [r for r in RECIPES if ((shown["case"] == name) & (shown["recipe"] == r)).any()]
    width = 0.82 / len(recipes)
    for number, recipe in enumerate(recipes):
        label, colour = RECIPES[recipe], RECIPE_COLOURS[recipe]
        for place, (classes, quantity) in enumerate(groups):
            values = per_replicate(
                shown, case=name, recipe=recipe, classes=classes, quantity=quantity
            )
            x = place + (number - (len(recipes) - 1) / 2) * width
            seen = estimate(values)
            ax.bar(x, seen.mean, 0.92 * width, color=colour, label=label)
            if values.size > 1:
                ax.errorbar(x, seen.mean, seen.half_width, color=COLOURS["ink"], linewidth=1)
            spread = x + np.linspace(-0.3, 0.3, values.size) * width
            ax.scatter(spread, values, s=3, color=COLOURS["ink"], alpha=0.4, linewidths=0, zorder=3)
    labels = [f"{classes} classes\n{KINDS[quantity]}" for classes, quantity in groups]
    ax.set_xticks(range(len(groups)), labels, fontsize=8)
    ax.set_ylim(0, 1.05)
    ax.grid(axis="x", visible=False)


def _sweep(ax: Axes, accuracy: pd.DataFrame, name: str) -> None:
    """Accuracies over the encoder's rate; level lines show training from scratch."""
    tuned = accuracy[(accuracy["case"] == name) & (accuracy["recipe"] == "finetuned")]
    rates = sorted(tuned["encoder_rate"].unique())
    for (classes, quantity), (label, colour, dash) in LINES.items():
        chosen = tuned[(tuned["classes"] == classes) & (tuned["quantity"] == quantity)]
        seen = [
            estimate(chosen[chosen["encoder_rate"] == rate]["value"].to_numpy()) for rate in rates
        ]
        ax.errorbar(
            rates, [e.mean for e in seen], [e.half_width for e in seen], color=colour,
            linestyle=dash, marker="o", markersize=4, label=label,
        )  # fmt: skip
    ax.set(xscale="log", ylim=(0, 1.05), xlabel=r"learning rate of the encoder $\eta_1$")
    ax.set_xticks(rates, [f"{rate:g}" for rate in rates])
    ax.set_xticks([], minor=True)
