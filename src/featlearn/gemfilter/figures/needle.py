"""Needles in haystacks: heat maps, layers, and which tokens are selected."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import seaborn as sns

from featlearn.core.plots import COLOURS, PAGE, canvas
from featlearn.core.publish import figure
from featlearn.core.statistical import Look, lines, share_interval, within
from featlearn.gemfilter.words import ARMS, NETWORKS

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@figure("fig-9-1")
def pipeline(texts: pd.DataFrame, maps: pd.DataFrame) -> Figure:
    """Figure 9.1: a long prompt, what the filter layer keeps of it, and the answer

    The longest prompt with its needle in the middle, of the hand-wired network or of the first language model
    of the config: places that the filter layer keeps (blue; at most 100) on the whole prompt, with the needle
    (orange), and the kept tokens as text, the needle in brackets, bars for gaps. Of a stand-in K and v are
    keys and values and dots fillers; that an early layer of it points at the needle is built in by hand. *What
    to see:* the needle is kept, neighbours by the pooling, and what was generated from it. Over all depths the
    hand-wired network answers: {{ verdict("gemfilter/wired-finds") }}.
    """
    first = texts["network"].iloc[0]
    own, shown = (frame[frame["network"] == first] for frame in (maps, texts))
    text = shown[(shown["arm"] == "gemfilter") & (shown["n"] == shown["n"].max())].iloc[0]
    own = own[(own["method"] == "gemfilter") & (own["layer"] == text["filter_layer"])
              & (own["n"] == text["n"])]  # fmt: skip
    told = textwrap.fill(text["text"], 105)
    height = 0.6 + 0.14 * len(told.splitlines())
    drawn = canvas(8, 1.1 + height)
    top, below = drawn.subplots(2, 1, height_ratios=[0.7, height])
    top.vlines(own["place"], 0, 1, color=COLOURS["blue"], linewidth=1)
    top.axvspan(text["start"], text["end"], color=COLOURS["orange"], alpha=0.8)
    top.set(xlim=(0, text["tokens"]), yticks=[], xlabel="place in the prompt",
            title=f"{text['tokens']} tokens, of which {len(own)} are kept by layer {text['filter_layer']}")  # fmt: skip
    below.axis("off")
    below.text(0, 0.98, told, family="monospace", fontsize=8, va="top", transform=below.transAxes)
    said = (f"{word}: {textwrap.shorten(text[of], 100)}"
            for word, of in (("generated", "answer"), ("wanted", "wanted")))  # fmt: skip
    below.text(0, 0, "\n".join(said), fontsize=9, transform=below.transAxes, weight="bold")
    return drawn


@figure("fig-9-2")
def last_rows(rows: pd.DataFrame) -> Figure:
    """Figure 9.2: what the last token points at, layer by layer

    Products of the last query with all keys, summed over heads and divided by the largest of the layer, of
    the shortest prompt of a network; the vertical line is the needle. *What to see:* in the hand-wired network
    layers 3 to 5 point at the needle by construction. In a trained one, where it is shown, the row was learned.
    """
    names = list(dict.fromkeys(rows["network"]))
    drawn = canvas(8, 2.3 * len(names) + 0.4)
    for ax, name in zip(np.ravel(drawn.subplots(len(names), 1, squeeze=False)), names, strict=True):
        own = rows[rows["network"] == name]
        own = own[own["n"] == own["n"].min()]
        wide = own.pivot_table(index="layer", columns="place", values="value")
        wide = wide.div(wide.abs().max(axis=1), axis=0)
        sns.heatmap(wide, cmap="vlag", center=0, ax=ax, xticklabels=20, rasterized=True,
                    cbar_kws={"label": "product"})  # fmt: skip
        ax.axvline(own["start"].iloc[0], color=COLOURS["orange"], linewidth=1)
        ax.set(xlabel="place in the prompt", ylabel="layer", title=NETWORKS.get(name, name))
        ax.tick_params(rotation=0)
    return drawn


@figure(
    "fig-9-4",
    arms="full,snapkv,gemfilter,sinks",
    what="Figure 9.4: needles by all keys and values, SnapKV and GemFilter, and by a window",
    seen="The printed rule answers in the hand-wired network at its longest prompts: "
    '{{ verdict("gemfilter/wired-finds") }}. In the trained ones it comes up to all keys and values on their '
    'shortest prompts: {{ verdict("gemfilter/trained-literal-as-printed") }}.',
)
@figure(
    "fig-g-1",
    arms="next layer,safe next layer",
    what="Figure G.1: the next layer as the filter",
    seen="The weights of the hand-wired network search in the next layer, too, so that it does as well there. "
    "A trained stand-in has two layers, and no next one.",
)
@figure(
    "fig-g-2",
    arms="full,snapkv,gemfilter,safe",
    what="Figure G.2: needles by GemFilter as printed and by our safe variant",
    seen="In the trained networks, safe is as good as all keys and values on the shortest prompts: "
    '{{ verdict("gemfilter/trained-safe-comparable") }}; beyond the length of training it is better than these: '
    '{{ verdict("gemfilter/trained-beats-full") }}, and than SnapKV: '
    '{{ verdict("gemfilter/trained-beats-snapkv") }}.',
)
@figure(
    "fig-g-3",
    arms="gemfilter middle row,gemfilter largest row,safe middle row",
    what="Figure G.3: other rows than the last",
    seen="In the hand-wired network the needle is lost by the middle row: "
    '{{ verdict("gemfilter/wired-row") }}, and by the largest: {{ verdict("gemfilter/wired-largest-row") }}.',
)
@figure(
    "fig-g-4",
    arms="gemfilter,gemfilter one run,safe,safe one run",
    what="Figure G.4: two runs and one",
    seen="In the trained networks the second run is needed beyond the length of training: "
    '{{ verdict("gemfilter/trained-two-runs") }}. The hand-wired one searches without positions, so that '
    "one run is as good by construction.",
)
@figure(
    "short-prompts",
    arms="h2o,sinks,forced,safe no pooling",
    what="Needles by H2O, a window, forced tokens and no pooling",
    seen="Without pooling the hand-wired network keeps the match and not what stands behind it; the printed "
    'rule then is lost: {{ verdict("gemfilter/wired-pooling") }}.',
)
def heat_maps(scores: pd.DataFrame, arms: str, what: str, seen: str) -> Figure:
    """{{ what }}

    Share of the answer that is generated (its three tokens, or by the released scorer of words, whose largest
    value is 11/12), by length and depth of the needle, mean over prompts and networks; the title has the mean
    over all cells. Verdicts are on exact answers. {{ seen }} Rows are the language models that the config names, or
    else our stand-ins: in the
    hand-wired one, which layer finds the needle is built in, and full attention cannot fail at any length;
    what happens beyond the training's length (281 tokens) only the trained one shows. *Safe* is ours:
    attention in place of products, and BOS and the last two tokens are kept in any case; the plain rule may
    drop the question itself. *Window with sinks* keeps as many tokens, the first and the last ones, and shows
    which cells are free; who says values of the prompt at random has about .25 with a stand-in. Empty cells
    were not run (H2O needs all of the attention).
    """
    shown = arms.split(",")
    # of two layers none is the next one: a network without any of the arms has no row
    own = scores[scores["arm"].isin(shown)]
    names = list(dict.fromkeys((scores if own.empty else own)["network"]))
    drawn = canvas(min(PAGE, 2.5 * len(shown) + 0.6), 2.5 * len(names) + 0.3)
    grid = drawn.subplots(len(names), len(shown), squeeze=False)
    for row, name in zip(grid, names, strict=True):
        for place, (ax, arm) in enumerate(zip(row, shown, strict=True)):
            own = scores[(scores["network"] == name) & (scores["arm"] == arm)]
            if own.empty:
                ax.axis("off")
                ax.text(0.5, 0.5, "there is no\nsuch layer", ha="center", fontsize=9)
                continue
            wide = own.assign(depth=(100 * own["depth"]).round().astype(int)).pivot_table(
                index="depth", columns="n", values="value"
            )
            sns.heatmap(wide, vmin=0, vmax=1, cmap="RdYlGn", ax=ax, cbar=place == len(shown) - 1,
                        cbar_kws={"label": "share of the answer"})  # fmt: skip
            words = textwrap.fill(ARMS[arm], 22)
            ax.set_title(
                f"{words}\n{NETWORKS.get(name, name)}: {own['value'].mean():.2f}", fontsize=9
            )
            ax.set(xlabel="tokens n", ylabel="depth (%)" if place == 0 else None)
            ax.tick_params(axis="y", rotation=0)
            ax.tick_params(axis="x", rotation=45)
    return drawn


@figure("fig-9-5")
def layers(layers: pd.DataFrame) -> Figure:
    """Figure 9.5: distance between the needle and what each layer selects

    Above, tokens between the needle's key and the nearest selected token (0 is on it); below, the share of
    exact answers with that layer as the filter (Table 9.2 for needles). Means over depths (of language models
    the middle alone), with 95 % intervals over prompts (hand-wired) or networks (trained). *What to see:* the
    hand-wired network lies on the needle in its filter layer, {{ verdict("gemfilter/wired-distance") }}, and in all
    of 3 to 5, where its weights look for it; a late layer loses it, {{ verdict("gemfilter/wired-late-layer") }}. Of the
    trained one, of two layers, the second was learned to. Answers need the question, too, which the rule as printed
    may drop.
    """
    names = list(dict.fromkeys(layers["network"]))
    drawn = canvas(min(PAGE, 4 * len(names) + 0.4), 5)
    grid = drawn.subplots(2, len(names), squeeze=False, sharex="col")
    colours = ("blue", "orange", "green", "red", "purple")
    for column, name in enumerate(names):
        own = layers[(layers["network"] == name) & (layers["arm"] == "gemfilter")]
        looks = {n: Look(f"n = {n}", COLOURS[colours[place % 5]])
                 for place, n in enumerate(sorted(own["n"].unique()))}  # fmt: skip
        means = own.groupby(["n", "layer", "replicate"])[["distance", "exact"]].mean().reset_index()
        shown = {"distance": within(0), "exact": share_interval}
        for ax, (value, errorbar) in zip(grid[:, column], shown.items(), strict=True):
            lines(ax, means, "layer", "n", looks=looks, value=value, errorbar=errorbar)
            ax.set_xticks(sorted(own["layer"].unique()))
        grid[0, column].set(
            yscale="symlog", title=NETWORKS.get(name, name), ylabel="distance (tokens)"
        )
        grid[0, column].set_ylim(-0.5, 1.5 * grid[0, column].get_ylim()[1])
        grid[1, column].set(
            xlabel="filter layer", ylabel="share of exact answers", ylim=(-0.03, 1.03)
        )
        grid[1, column].legend(  # below the panels, where no line is
            loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=2
        )
    return drawn


@figure("fig-g-5", place=0, label="G.5")
@figure("fig-g-6", place=1, label="G.6")
@figure("fig-g-7", place=2, label="G.7")
def index_maps(maps: pd.DataFrame, place: int, label: str) -> Figure:
    """Figure {{ label }}: places that each layer selects under GemFilter, and each head under SnapKV

    One prompt a network, its needle (orange) in the middle, at most 100 tokens a set; the three figures of the
    thesis are three models, here three lengths. SnapKV has a row for each layer with the places of all its
    heads. *What to see:* GemFilter has one set a layer, which a reader can look at. In the hand-wired network
    layers 3 to 5 gather at the needle because they are written so; SnapKV's heads without a task keep what
    noise favours.
    """
    names = list(dict.fromkeys(maps["network"]))
    drawn = canvas(8, 2.4 * len(names) + 0.2)
    grid = drawn.subplots(len(names), 2, squeeze=False, sharey="row")
    for row, name in zip(grid, names, strict=True):
        own = maps[maps["network"] == name]
        lengths = sorted(own["n"].unique())
        own = own[own["n"] == lengths[min(place, len(lengths) - 1)]]
        for ax, method in zip(row, ("gemfilter", "snapkv"), strict=True):
            seen = own[own["method"] == method]
            ax.axvspan(own["start"].iloc[0], own["end"].iloc[0], color=COLOURS["orange"], alpha=0.5)
            ax.scatter(seen["place"], seen["layer"], s=5, color=COLOURS["blue"], linewidth=0)
            ax.set(xlabel="place in the prompt", xlim=(0, own["tokens"].iloc[0]),
                   title=f"{ARMS[method]}, {NETWORKS.get(name, name)}, n = {own['n'].iloc[0]}")  # fmt: skip
        row[0].set_ylabel("layer")
        row[0].set_yticks(sorted(own["layer"].unique()))
    return drawn
