"""Drawings that ladders of vectors, of pictures and of residual networks share. No torch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd
from matplotlib.transforms import offset_copy

from featlearn.core.frames import pick
from featlearn.core.plots import COLOURS, PAGE, PALETTE, canvas
from featlearn.core.statistical import FEW, Look, lines, share_interval
from featlearn.universality.words import OPPONENTS, RANDOM, RAW

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: What the config's methods are called.
NAMES = {"simclr": "SimCLR", "moco": "MoCo", "nnclr": "NNCLR", "simsiam": "SimSiam"}
#: From few labels to many: not a map of colours, whose light end is no line on white.
SHARES = [COLOURS[name] for name in ("ink", "purple", "blue", "green", "orange", "red")]
#: Of the claims, whatever other methods a config has.
ARM = "moco"
LOOKS = {"average": Look("average over the sets", COLOURS["red"]),
         "target": Look("target", COLOURS["blue"], "s"),
         RAW: Look("target, raw pixels", PALETTE["raw input"], "D"),
         RANDOM: Look("target, random features", PALETTE["random features"], "^")}  # fmt: skip


def dots(
    ax: Axes, frame: pd.DataFrame, x: str, hue: str, looks: Mapping[str, Look], apart: float = 1.0
) -> None:
    """A dot a replicate beside the whiskers of :func:`lines`, where replicates are few."""
    if frame["replicate"].nunique() > FEW:
        return
    beside = offset_copy(ax.transData, ax.get_figure(root=True), x=4, units="points")
    for place, (key, look) in enumerate(looks.items()):
        own = frame[frame[hue] == key]
        ax.plot(own[x] * apart ** (place - (len(looks) - 1) / 2), own["value"], ".", markersize=5,
                color=look.colour, alpha=0.6, markeredgewidth=0, transform=beside)  # fmt: skip


def climbed(pictures: pd.DataFrame, arm: str, rivals: Sequence[str]) -> pd.DataFrame:
    """``average``, ``target`` and, on the target, what learns nothing, by mixture and share."""
    own = pick(pictures, arm=arm)
    by = ["mixture", "percent", "replicate"]
    curves = [own.groupby(by, as_index=False)["value"].mean().assign(curve="average"),
              pick(own, task=0).assign(curve="target")]  # fmt: skip
    beside = pictures[pictures["arm"].isin(rivals) & (pictures["task"] == 0)]
    curves += [beside.assign(curve=beside["arm"], mixture=one) for one in own["mixture"].unique()]
    return pd.concat(curves, ignore_index=True)


def ladder(pictures: pd.DataFrame) -> Figure:
    """Average and target against the number of sets; a panel a share of the labels."""
    own = pick(pictures, arm=ARM)
    mixtures = sorted(own["mixture"].unique())
    shown = climbed(pictures, ARM, (RAW, RANDOM))
    shares = (5, 20, 100)
    drawn = canvas(min(PAGE, 2.6 * len(shares) + 0.6), 3.2)
    axes = drawn.subplots(1, len(shares), sharey=True)
    for ax, percent in zip(axes, shares, strict=True):
        part = pick(shown, percent=percent)
        lines(ax, part, "mixture", "curve", looks=LOOKS, errorbar=share_interval)
        dots(ax, part, "mixture", "curve", {key: LOOKS[key] for key in ("average", "target")})
        ax.set(title=f"{NAMES[ARM]}, {percent} % of the labels", xlabel="sets of the pre-training")
        ax.set_xticks(mixtures, [str(mixture) for mixture in mixtures])
    axes[0].set_ylabel(f"accuracy, n = {own['replicate'].nunique()}")
    drawn.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return drawn


BY = ["world", "arm", "mixture", "replicate"]


def class_weights(config: Mapping[str, Any]) -> pd.Series:
    """Weight of each rung's task in the thesis' average, which counts a set by its classes."""
    tasks = [mixture - 1 for mixture in config["mixtures"]]
    return pd.Series(config["class_weights"], index=tasks) / sum(config["class_weights"])


def curves(accuracies: pd.DataFrame, config: Mapping[str, Any], percent: float) -> pd.DataFrame:
    """Columns world, arm, mixture, replicate, curve, value, at a share of the labels.

    Curves are ``target``, ``average`` over a task of each rung, and ``weighted``, the average with
    weights as the thesis has them.
    """
    labels = round(config["samples"]["train"] * percent / 100)
    own = accuracies[accuracies["labels"] == labels]
    average = own.groupby(BY, sort=False, as_index=False)["value"].mean().assign(curve="average")
    share = own["task"].map(class_weights(config))
    weighted = own.assign(value=own["value"] * share).groupby(BY, sort=False, as_index=False)
    weighted = weighted["value"].sum().assign(curve="weighted")
    target = own.loc[own["task"] == 0, [*BY, "value"]].assign(curve="target")
    return pd.concat([average, weighted, target], ignore_index=True)


def changes(shown: pd.DataFrame) -> pd.DataFrame:
    """What all tasks change, by replicate: columns world, arm, quantity, replicate, value.

    Of ``shown``, which :func:`curves` gave: each curve after all tasks less that after the target,
    and the target after either less the best of what learns nothing (``lead after ...``).
    """
    trained = shown[shown["mixture"] > 0].rename(columns={"curve": "quantity"})
    keys = ["world", "arm", "quantity", "replicate"]
    every = trained.set_index([*keys, "mixture"])["value"].unstack()  # noqa: PD010
    first, last = every[1], every[every.columns.max()]
    rows = [(last - first).rename("value").reset_index()]
    nothing = shown[shown["arm"].isin(OPPONENTS) & (shown["curve"] == "target")]
    best = nothing.groupby(["world", "replicate"])["value"].max().rename("best").reset_index()
    for rung, word in ((first, "the target"), (last, "all tasks")):
        target = rung.xs("target", level="quantity").rename("value").reset_index()
        lead = target.merge(best, on=["world", "replicate"])
        lead["value"] -= lead.pop("best")
        rows.append(lead.assign(quantity=f"lead after {word}"))
    return pd.concat(rows, ignore_index=True)
