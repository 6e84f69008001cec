"""Figures 5.1 to 5.3 of models by size, and lines of means with a dot a replicate."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import cycle
from typing import Any

import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from featlearn.core.frames import pick
from featlearn.core.plots import COLOURS, FILLS, canvas
from featlearn.core.statistical import FEW, Look, lines, share_interval
from featlearn.core.stats import percent

#: Between the lines of two models, in shares of flipped labels.
ASIDE = 0.02
LOOKED = (("sky", "o"), ("green", "s"), ("orange", "^"), ("red", "D"), ("purple", "v"))


def lines_and_points(
    ax: Axes, frame: pd.DataFrame, x: str, hue: str, *, looks: Mapping[Any, Look],
    value: str = "value", aside: float = 0.0, **further: Any,
) -> None:  # fmt: skip
    """:func:`featlearn.core.statistical.lines`, and a dot a replicate where they are few.

    ``aside`` is the distance between neighbouring lines on a linear axis, in units of ``x``, so
    that their intervals stand beside each other.
    """
    places = {key: aside * (place - (len(looks) - 1) / 2) for place, key in enumerate(looks)}
    shown = frame[frame[hue].isin(list(looks))]
    shown = shown.assign(**{x: shown[x] + shown[hue].map(places)})
    lines(ax, shown, x, hue, looks=looks, value=value, **further)
    if shown["replicate"].nunique() <= FEW:
        ax.plot(shown[x], shown[value], "o", color=COLOURS["ink"], markersize=2.4, alpha=0.6,
                markeredgewidth=0, zorder=3)  # fmt: skip


def looks(frame: pd.DataFrame) -> dict[str, Look]:
    """Of the models, from small to large: a config does not keep an order."""
    names = list(dict.fromkeys(frame.sort_values("parameters", kind="stable")["model"]))
    return {name: Look(name, COLOURS[colour], marker)
            for name, (colour, marker) in zip(names, cycle(LOOKED), strict=False)}  # fmt: skip


def flipped(ax: Axes, frame: pd.DataFrame, named: Mapping[str, Look]) -> None:
    """Accuracies by share of noise: models, chance, and a Bayesian if the frame has it."""
    lines_and_points(ax, frame, "share", "model", looks=named, aside=ASIDE, errorbar=share_interval)
    if "bayes" in frame:
        mean = frame.groupby("share")["bayes"].mean()
        ax.plot(mean.index, mean, "x", color=COLOURS["ink"], markersize=7, label="Bayes")
    ax.axhline(0.5, color=COLOURS["grey"], linestyle="--", linewidth=1)
    ax.set(ylim=(-0.03, 1.03))


def of_family(frame: pd.DataFrame, family: str = "base") -> pd.DataFrame:
    """Models of a family; of a config that lacks it, those of the first one."""
    return pick(
        frame, family=family if (frame["family"] == family).any() else frame["family"].iloc[0]
    )


def accuracies_drawn(flips: pd.DataFrame, family: str) -> Figure:
    """Accuracies of a family's models by share of flipped labels, a panel a data set."""
    own = of_family(pick(flips, noise="labels"), family)
    sets = list(dict.fromkeys(own["data"]))
    mean = own.groupby(["model", "share", "replicate"], sort=False)["value"].mean().reset_index()
    panels = {name: pick(own, data=name) for name in sets}
    if len(sets) > 1:
        panels["Average"] = mean
    drawn = canvas(max(4.4, 2.6 * len(panels)), 3.2)
    axes = drawn.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    for ax, (name, part) in zip(axes, panels.items(), strict=True):
        flipped(ax, part, looks(own))
        ax.set(
            title="documents of words (ours)" if name == "words" else name,
            xlabel="share of flipped labels",
        )
    axes[0].set_ylabel("accuracy")
    axes[-1].legend()
    return drawn


def attention_drawn(attention: pd.DataFrame) -> Figure:
    """Attention of the smallest and the largest model to either sentence, by label."""
    own = of_family(attention)
    models = looks(own)
    shown = list(dict.fromkeys((next(iter(models)), list(models)[-1])))
    own = own[own["model"].isin(shown)]
    order = {(name, kind): f"{name},\n{kind}" for name in shown
             for kind in ("relevant", "irrelevant")}  # fmt: skip
    own = own.assign(
        group=[order[pair] for pair in zip(own["model"], own["sentence"], strict=True)]
    )
    drawn = canvas(7.6, 3.6)
    axes = drawn.subplots(1, 2, sharey=True)
    for ax, label in zip(axes, ("correct", "wrong"), strict=True):
        part = pick(own, label=label)
        ax.set_yscale("log")  # of its numbers seaborn then takes the quartiles
        sns.boxplot(part, x="group", y="value", hue="model", order=list(order.values()),
                    hue_order=shown, palette=[models[name].colour for name in shown], dodge=False,
                    width=0.6, fliersize=1.5, linewidth=0.8, legend=False, ax=ax)  # fmt: skip
        means = part.groupby(["group", "replicate"], sort=False)["value"].mean().reset_index()
        ax.plot(means["group"].map(list(order.values()).index), means["value"], "D", markersize=4,
                color=FILLS["white"], markeredgecolor=COLOURS["ink"])  # fmt: skip
        wide = means.pivot_table(index="replicate", columns="group", values="value")
        for place, name in enumerate(shown):
            relevant, irrelevant = (wide[order[name, kind]] for kind in ("relevant", "irrelevant"))
            share = (irrelevant / (relevant + irrelevant)).mean()
            ax.text(2 * place + 0.5, 1.0, f"irrelevant: {percent(share)}", ha="center", va="top",
                    fontsize=9, transform=ax.get_xaxis_transform())  # fmt: skip
        ax.set(title=f"{label} label", xlabel=None, ylabel="norm of attention",
               ylim=(None, 3 * own["value"].max()))  # fmt: skip
        ax.grid(axis="x", visible=False)
    return drawn
