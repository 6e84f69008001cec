"""Drawings of needles in haystacks, which stand-ins and readers of essays share."""

from __future__ import annotations

import textwrap

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.figure import Figure

from featlearn.core.frames import pick
from featlearn.core.plots import COLOURS, FILLS, PAGE, canvas
from featlearn.core.statistical import FEW, LEAST, Look, lines, share_interval, within
from featlearn.core.stats import estimate
from featlearn.gemfilter.words import ARMS, NETWORKS


def _named(name: str, replicates: int) -> str:
    """A network and the number of its replicates: prompts, or trained networks."""
    unit = "network" if name == "trained" else "prompt"
    return f"{NETWORKS.get(name, name)}, {replicates} {unit}{'s' * (replicates > 1)}"


def pipeline(texts: pd.DataFrame, maps: pd.DataFrame) -> Figure:
    """One prompt, the tokens that the filter layer keeps, and the answer."""
    first = texts["network"].iloc[0]
    shown = pick(texts, network=first)
    text = pick(shown, arm="gemfilter", n=shown["n"].max()).iloc[0]
    own = pick(maps, network=first, method="gemfilter", layer=text["filter_layer"], n=text["n"])
    told = textwrap.fill(text["text"], 105)
    height = 0.6 + 0.14 * len(told.splitlines())
    drawn = canvas(8, 1.2 + height)
    top, below = drawn.subplots(2, 1, height_ratios=[0.8, height])
    top.vlines(own["place"], 0, 1, color=COLOURS["blue"], linewidth=1)
    top.plot((text["start"] + text["end"]) / 2, 1.25, "v", color=COLOURS["orange"], markersize=8)
    top.annotate("needle", (text["end"], 1.25), (7, 0), textcoords="offset points", va="center")
    top.set(xlim=(0, text["tokens"]), ylim=(0, 1.5), yticks=[], xlabel="place in the prompt",
            title=f"{text['tokens']} tokens, of which {len(own)} are kept by layer "
                  f"{text['filter_layer']}")  # fmt: skip
    top.grid(visible=False)
    below.axis("off")
    below.text(0, 0.98, told, family="monospace", fontsize=8, va="top", transform=below.transAxes)
    said = (f"{word}: {textwrap.shorten(text[of], 100)}"
            for word, of in (("generated", "answer"), ("wanted", "wanted")))  # fmt: skip
    below.text(0, 0, "\n".join(said), fontsize=9, transform=below.transAxes, weight="bold")
    return drawn


def last_rows(rows: pd.DataFrame) -> Figure:
    """Products of the last query with all keys, layer by layer."""
    names = list(dict.fromkeys(rows["network"]))
    drawn = canvas(8, 2.3 * len(names) + 0.4)
    for ax, name in zip(np.ravel(drawn.subplots(len(names), 1, squeeze=False)), names, strict=True):
        own = pick(rows, network=name)
        own = own[own["n"] == own["n"].min()]
        wide = own.pivot_table(index="layer", columns="place", values="value")
        wide = wide.div(wide.abs().max(axis=1), axis=0)
        sns.heatmap(wide, cmap="vlag", vmin=-1, vmax=1, ax=ax, xticklabels=20, rasterized=True,
                    cbar_kws={"label": "product"})  # fmt: skip
        for edge in (own["start"].iloc[0], own["end"].iloc[0]):
            ax.axvline(edge, color=COLOURS["orange"], linewidth=1.2)
        ax.set(xlabel="place in the prompt", ylabel="layer", title=NETWORKS.get(name, name))
        ax.tick_params(rotation=0)
    return drawn


def heat_maps(scores: pd.DataFrame, arms: str) -> Figure:
    """Scores by length and depth: a panel an arm of ``arms`` (with commas), a row a network."""
    shown = arms.split(",")
    # the last layer has no next one: a network without any of the arms has no row
    own = scores[scores["arm"].isin(shown)]
    names = list(dict.fromkeys((scores if own.empty else own)["network"]))
    drawn = canvas(min(PAGE, 2.5 * len(shown) + 0.6), 2.5 * len(names) + 0.3)
    grid = drawn.subplots(len(names), len(shown), squeeze=False)
    for row, name in zip(grid, names, strict=True):
        whole = pick(scores, network=name)
        count, lengths = whole["replicate"].nunique(), sorted(whole["n"].unique())
        for ax, arm in zip(row, shown, strict=True):
            own = whole[whole["arm"] == arm]
            own = own.assign(depth=(100 * own["depth"]).round().astype(int))
            wide = own.pivot_table(index="depth", columns="n", values="value")
            ax.grid(visible=False)
            ax.set_facecolor(FILLS["light"])
            if own.empty:
                ax.set(xticks=[], yticks=[], title=ARMS[arm])
                left = "there is no\nsuch layer" if "next" in arm else "not run"
                ax.text(0.5, 0.5, left, ha="center", va="center", transform=ax.transAxes)
                continue
            sns.heatmap(wide.reindex(columns=lengths), vmin=0, vmax=1, cmap="viridis", ax=ax,
                        cbar=False)  # fmt: skip
            for place, length in enumerate(lengths):
                if length not in wide:
                    ax.text(place + 0.5, len(wide) / 2, "not run", rotation=90, ha="center",
                            va="center", fontsize=8)  # fmt: skip
            mean = estimate(own.groupby("replicate")["value"].mean().to_numpy())
            told = mean.replicates >= LEAST and mean.half_width > 0
            about = f" ± {mean.half_width:.3f}" if told else ""
            ax.set_title(f"{ARMS[arm]}\n{mean.mean:.3f}{about}", fontsize=9)
            ax.set(xlabel="tokens n", ylabel=None)
            ax.tick_params(axis="y", rotation=0)
            ax.tick_params(axis="x", rotation=0 if len(lengths) <= 4 else 45)
        row[0].set_ylabel(f"{_named(name, count)}\ndepth (%)")
        for filled in [ax.collections[0] for ax in row if ax.collections][:1]:
            drawn.colorbar(filled, ax=list(row), pad=0.01, label="share of the answer")
    return drawn


def layers(layers: pd.DataFrame) -> Figure:
    """Distance of the needle and exact answers by filter layer."""
    names = list(dict.fromkeys(layers["network"]))
    drawn = canvas(min(PAGE, 4 * len(names) + 0.4), 5)
    grid = drawn.subplots(2, len(names), squeeze=False, sharex="col")
    colours = ("blue", "orange", "green", "red", "purple")
    for column, name in enumerate(names):
        own = pick(layers, network=name, arm="gemfilter")
        looks = {n: Look(f"n = {n}", COLOURS[colours[place % 5]])
                 for place, n in enumerate(sorted(own["n"].unique()))}  # fmt: skip
        means = own.groupby(["n", "layer", "replicate"])[["distance", "exact"]].mean().reset_index()
        count = means["replicate"].nunique()
        shown = (("distance", within(0)), ("exact", share_interval))
        for ax, (value, errorbar) in zip(grid[:, column], shown, strict=True):
            lines(ax, means, "layer", "n", looks=looks, value=value, errorbar=errorbar)
            ax.set_xticks(sorted(own["layer"].unique()))
            for n, look in looks.items() if count <= FEW else ():
                one = pick(means, n=n)
                ax.plot(one["layer"], one[value], "o", color=look.colour, markersize=3, alpha=0.5)
        grid[0, column].set(yscale="symlog", title=_named(name, count), ylabel="distance (tokens)")
        grid[0, column].set_ylim(-0.5, 1.5 * grid[0, column].get_ylim()[1])
        below = grid[1, column]
        below.set(xlabel="filter layer", ylabel="share of exact answers", ylim=(-0.03, 1.03))
        # below the panels, where no line is
        below.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=2)
    return drawn


def index_maps(maps: pd.DataFrame, place: int) -> Figure:
    """Selected places by layer, of the prompts at this place by length."""
    names = list(dict.fromkeys(maps["network"]))
    drawn = canvas(8, 2.4 * len(names) + 0.2)
    grid = drawn.subplots(len(names), 2, squeeze=False, sharey="row")
    for row, name in zip(grid, names, strict=True):
        own = pick(maps, network=name)
        lengths = sorted(own["n"].unique())
        own = own[own["n"] == lengths[min(place, len(lengths) - 1)]]
        for ax, method in zip(row, ("gemfilter", "snapkv"), strict=True):
            seen = pick(own, method=method)
            ax.axvspan(own["start"].iloc[0], own["end"].iloc[0], color=COLOURS["orange"], alpha=0.5)
            ax.scatter(seen["place"], seen["layer"], s=5, color=COLOURS["blue"], linewidth=0)
            ax.set(xlabel="place in the prompt", xlim=(0, own["tokens"].iloc[0]),
                   title=f"{ARMS[method]}, {NETWORKS.get(name, name)}, "
                         f"n = {own['n'].iloc[0]}")  # fmt: skip
        row[0].set_ylabel("layer")
        row[0].set_yticks(sorted(own["layer"].unique()))
    return drawn
