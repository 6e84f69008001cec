"""Needles in haystacks: heat maps, layers, and which tokens are selected."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import seaborn as sns

from featlearn.core.plots import COLOURS, FILLS, PAGE, canvas
from featlearn.core.publish import figure
from featlearn.core.statistical import FEW, LEAST, Look, lines, share_interval, within
from featlearn.core.stats import estimate
from featlearn.gemfilter.words import ARMS, NETWORKS

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def _named(name: str, replicates: int) -> str:
    """A network and how many replicates stand behind its numbers: prompts, or trained networks."""
    unit = "network" if name == "trained" else "prompt"
    return f"{NETWORKS.get(name, name)}, {replicates} {unit}{'s' * (replicates > 1)}"


@figure("fig-9-1")
def pipeline(texts: pd.DataFrame, maps: pd.DataFrame) -> Figure:
    """Figure 9.1: a long prompt, what the filter layer keeps of it, and the answer

    The longest prompt with its needle in the middle, of the hand-wired network or of the first language model
    of the config: places that the filter layer keeps (blue; at most 100) on the whole prompt, the needle's above
    them (orange), and the kept tokens as text, the needle in brackets, bars for gaps. Of a stand-in K and v are
    keys and values, Q asks for a key and dots are fillers; that an early layer of it points at the needle is
    built in by hand. *What to see:* whether blue lies below the orange, and what was generated from it; pooling
    keeps neighbours, too. This is one prompt; of all depths of this length:
    {{ said("gemfilter/wired-finds",
            holds="the hand-wired network answers exactly on most prompts, in a share of",
            fails="the hand-wired network answers exactly on too few prompts, in a share of") }}.
    """
    first = texts["network"].iloc[0]
    own, shown = (frame[frame["network"] == first] for frame in (maps, texts))
    text = shown[(shown["arm"] == "gemfilter") & (shown["n"] == shown["n"].max())].iloc[0]
    own = own[(own["method"] == "gemfilter") & (own["layer"] == text["filter_layer"])
              & (own["n"] == text["n"])]  # fmt: skip
    told = textwrap.fill(text["text"], 105)
    height = 0.6 + 0.14 * len(told.splitlines())
    drawn = canvas(8, 1.2 + height)
    top, below = drawn.subplots(2, 1, height_ratios=[0.8, height])
    top.vlines(own["place"], 0, 1, color=COLOURS["blue"], linewidth=1)
    top.plot((text["start"] + text["end"]) / 2, 1.25, "v", color=COLOURS["orange"], markersize=8)
    top.annotate("needle", (text["end"], 1.25), (7, 0), textcoords="offset points", va="center")
    top.set(xlim=(0, text["tokens"]), ylim=(0, 1.5), yticks=[], xlabel="place in the prompt",
            title=f"{text['tokens']} tokens, of which {len(own)} are kept by layer {text['filter_layer']}")  # fmt: skip
    top.grid(visible=False)
    below.axis("off")
    below.text(0, 0.98, told, family="monospace", fontsize=8, va="top", transform=below.transAxes)
    said = (f"{word}: {textwrap.shorten(text[of], 100)}"
            for word, of in (("generated", "answer"), ("wanted", "wanted")))  # fmt: skip
    below.text(0, 0, "\n".join(said), fontsize=9, transform=below.transAxes, weight="bold")
    return drawn


@figure("fig-9-2")
def last_rows(rows: pd.DataFrame) -> Figure:
    """Figure 9.2: what the last token points at, layer by layer

    Products of the last query with all keys, summed over heads and divided by the largest size in the layer, of
    one prompt of the shortest length of a network; the needle stands between the orange lines: its key, then
    its values. Place 0 is BOS, at which a head points that looks for nothing (a sink). *What to see:* in the
    hand-wired network all is by construction: one head favours BOS, one late tokens, and in layers 3 to 5 one
    points at what stands behind the needle's key. In a trained one, where it is shown, the row was learned.
    """
    names = list(dict.fromkeys(rows["network"]))
    drawn = canvas(8, 2.3 * len(names) + 0.4)
    for ax, name in zip(np.ravel(drawn.subplots(len(names), 1, squeeze=False)), names, strict=True):
        own = rows[rows["network"] == name]
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


@figure(
    "fig-9-4",
    arms="full,snapkv,gemfilter,sinks",
    what="Figure 9.4: needles by all keys and values, SnapKV and GemFilter, and by a window",
    seen='{{ said("gemfilter/wired-finds", holds="in the hand-wired network the printed rule answers most of '
    'the longest prompts, a share of", fails="in the hand-wired network the printed rule misses too many of '
    'the longest prompts; it answers a share of") }}; {{ said("gemfilter/trained-literal-as-printed", '
    'holds="in the trained ones it comes up to all keys and values on the shortest, with a share that '
    'differs by", fails="in the trained ones it falls behind all keys and values on the shortest, with a '
    'share that differs by") }}. *Window with sinks* keeps as many tokens, the first and the last ones, and '
    "shows which cells are free.",
)
@figure(
    "fig-g-1",
    arms="next layer,safe next layer",
    what="Figure G.1: the next layer as the filter",
    seen="the weights of the hand-wired network search in the next layer, too, so that it does as well there. "
    "A trained stand-in has two layers, and no next one.",
)
@figure(
    "fig-g-2",
    arms="full,snapkv,gemfilter,safe",
    what="Figure G.2: needles by GemFilter as printed and by our safe variant",
    seen='{{ said("gemfilter/trained-safe-comparable", holds="in the trained networks safe comes up to all '
    'keys and values on the shortest prompts, with a share that differs by", fails="in the trained networks '
    'safe does not come up to all keys and values on the shortest prompts, with a share that differs by") }}; '
    '{{ said("gemfilter/trained-beats-full", holds="beyond the length of training, where these answer less, '
    'it is ahead of them by a share of", fails="beyond the length of training it is not clearly ahead of '
    'them; the share differs by") }}; {{ said("gemfilter/trained-beats-snapkv", holds="there it is ahead of '
    'SnapKV by a share of", fails="there it is not clearly ahead of SnapKV; the share differs by") }}.',
)
@figure(
    "fig-g-3",
    arms="gemfilter middle row,gemfilter largest row,safe middle row",
    what="Figure G.3: other rows than the last",
    seen='{{ said("gemfilter/wired-row", holds="the hand-wired network loses the needle by the middle row and '
    'answers a share of", fails="the hand-wired network finds the needle by the middle row, too, and answers '
    'a share of") }}; {{ said("gemfilter/wired-largest-row", holds="it loses the needle by the largest row, '
    'too, and answers a share of", fails="it finds the needle by the largest row and answers a share of") }}.',
)
@figure(
    "fig-g-4",
    arms="gemfilter,gemfilter one run,safe,safe one run",
    what="Figure G.4: two runs and one",
    seen='{{ said("gemfilter/trained-two-runs", holds="beyond the length of training the second run of safe '
    'is needed by the trained networks: with it the share is larger by", fails="beyond the length of training '
    'the second run of safe is not needed by the trained networks: with it the share changes by") }}. The '
    "hand-wired network searches without positions, so that one run is as good by construction.",
)
@figure(
    "short-prompts",
    arms="h2o,forced,gemfilter no pooling,safe no pooling",
    what="Needles by H2O, forced tokens and no pooling",
    seen='{{ said("gemfilter/wired-pooling", holds="without pooling the printed rule loses the needle in the '
    "hand-wired network, as it keeps the match and not what stands behind it; of the longest prompts it "
    'answers a share of", fails="without pooling the printed rule still finds the needle in the hand-wired '
    'network; of the longest prompts it answers a share of") }}. *Ends kept* is the printed rule with '
    "BOS and the last two tokens kept in any case. H2O needs all of the attention, and is run on short prompts "
    "only.",
)
def heat_maps(scores: pd.DataFrame, arms: str, what: str, seen: str) -> Figure:
    """{{ what }}

    Share of the answer that is generated (its three tokens, or by the released scorer of words, whose largest
    value is 11/12), by length and depth of the needle. A cell is the mean of as many prompts or networks as
    stand at the left (a trained network's value is its own mean over prompts), the number above that of all
    cells, with its 95 % interval over these; cells that were not run are grey. Rows are the language models
    that the config names, or else our stand-ins: in the hand-wired one, which layer finds the needle is built
    in, and full attention cannot fail at any length; what happens beyond the length of training (281 tokens
    at desk) only the trained one shows. *Safe* is ours: attention in place of products, and BOS and the last
    two tokens are kept in any case; the plain rule may drop the question itself. Who says values of the prompt
    at random has about .25 with a stand-in. *What to see*, in shares of exact answers at one length, all
    depths: {{ seen }}
    """
    shown = arms.split(",")
    # of two layers none is the next one: a network without any of the arms has no row
    own = scores[scores["arm"].isin(shown)]
    names = list(dict.fromkeys((scores if own.empty else own)["network"]))
    drawn = canvas(min(PAGE, 2.5 * len(shown) + 0.6), 2.5 * len(names) + 0.3)
    grid = drawn.subplots(len(names), len(shown), squeeze=False)
    for row, name in zip(grid, names, strict=True):
        whole = scores[scores["network"] == name]
        count, lengths = whole["replicate"].nunique(), sorted(whole["n"].unique())
        for ax, arm in zip(row, shown, strict=True):
            own = whole[whole["arm"] == arm]
            wide = own.assign(depth=(100 * own["depth"]).round().astype(int)).pivot_table(
                index="depth", columns="n", values="value"
            )
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


@figure("fig-9-5")
def layers(layers: pd.DataFrame) -> Figure:
    """Figure 9.5: distance between the needle and what each layer selects

    Above, tokens between the needle's key and the nearest selected token (0 is on it); below, the share of
    exact answers with that layer as the filter (Table 9.2 for needles). Means over depths (of language models
    the middle alone), with 95 % intervals over as many prompts (hand-wired) or networks (trained) as the title
    says; of few, small points are these. *What to see:* {{ said("gemfilter/wired-distance", holds="the hand-wired
    network lies on the needle in its filter layer, at a distance in tokens of", fails="the hand-wired network does
    not lie on the needle in its filter layer, at a distance in tokens of") }} (its weights look for it in
    layers 3 to 5); {{ said("gemfilter/wired-late-layer", holds="a late layer loses it on the longest prompts and
    answers a share of", fails="a late layer does not lose it on the longest prompts and answers a
    share of") }}. Of the trained one, of two layers, both were learned. Answers need the question, too, which the
    rule as printed may drop.
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
        count, shown = (
            means["replicate"].nunique(),
            {"distance": within(0), "exact": share_interval},
        )
        for ax, (value, errorbar) in zip(grid[:, column], shown.items(), strict=True):
            lines(ax, means, "layer", "n", looks=looks, value=value, errorbar=errorbar)
            ax.set_xticks(sorted(own["layer"].unique()))
            for n, look in looks.items() if count <= FEW else ():
                one = means[means["n"] == n]
                ax.plot(one["layer"], one[value], "o", color=look.colour, markersize=3, alpha=0.5)
        grid[0, column].set(yscale="symlog", title=_named(name, count), ylabel="distance (tokens)")
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
