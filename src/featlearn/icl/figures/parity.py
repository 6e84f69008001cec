"""Sparse parities."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from featlearn.core.plots import COLOURS, canvas
from featlearn.core.publish import figure
from featlearn.core.statistical import Look, share_interval, within
from featlearn.icl.figures.points import lines_and_points

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ARMS = {
    "g1": Look("$g_1$, few heads", COLOURS["blue"]),
    "g2": Look("$g_2$, many heads", COLOURS["red"], "s"),
}


@figure()
def counter_examples(
    constructions: pd.DataFrame, trained: pd.DataFrame, norms: pd.DataFrame
) -> Figure:
    """What Theorem 5.5.1 calls optimal is not

    Left: heads that reach zero loss on all tasks, over the number of features: printed, and four by ours.
    Right: squared norm of the weights at a margin of 1 (in units of 1 / 16 gamma^2) over the number of heads, d
    the number of features: printed (dots), six heads written down by us (diamond), the least of trained
    networks that solve all tasks, with diagonal heads (triangles) and with full matrices (star). *What to see:*
    {{ said("icl/heads-needed-as-printed", holds="no fewer heads than printed solve all tasks",
            fails="four heads suffice at any size, at the largest this share of the printed number") }}. And
    {{ said("icl/least-norm-as-printed", holds="as many heads as printed need as much norm, ours over it",
            fails="as many heads as printed solve everything with less norm, our six with this share of it") }};
    {{ said("icl/diagonal-least-norm-as-printed", holds="those of least norm are diagonal, by this ratio of the full ones' norm to theirs",
            fails="those of least norm are not diagonal, and have this share of the norm of those that are") }}.
    """
    drawn = canvas(7.6, 3.5)
    left, right = drawn.subplots(1, 2)
    full = constructions[constructions["arm"] == "g2"].drop_duplicates("high")
    four = constructions[constructions["arm"] == "four heads"].drop_duplicates("high")
    less = constructions[constructions["arm"] == "less norm"]
    for own, words, colour in (
        (full, "printed ($g_2$)", "red"),
        (four, "four heads, ours", "blue"),
    ):
        own = own.sort_values("high")
        left.plot(2 ** own["high"], own["heads"], "o-", color=COLOURS[colour], label=words)
    right.plot(full["heads"], full["norm"], "o", color=COLOURS["red"], label="printed ($g_2$)")
    for high, heads, norm in full[["high", "heads", "norm"]].to_numpy():
        right.annotate(f"$d$ = {2 ** int(high)}", (heads, norm), (6, -3),
                       textcoords="offset points", fontsize=8)  # fmt: skip
    right.plot(less["heads"], less["norm"], "D", color=COLOURS["blue"], label="ours, $d$ = 4")
    solved = trained[trained["norm"] < float("inf")].groupby("heads")["norm"].min()
    if len(solved):
        d = 2 ** int(trained["high"].iloc[0])
        right.plot(solved.index, solved, "^", color=COLOURS["green"], label=f"trained, $d$ = {d}")
    found = norms[norms["value"] < float("inf")].sort_values("value")
    d = 2 ** int(norms["high"].iloc[0])
    for arm, marker, kind in (("diagonal", "v", ""), ("full", "*", ", full matrices")):
        least = found[found["arm"] == arm].head(1)
        right.plot(least["heads"], least["value"], marker, color=COLOURS["purple"],
                   label=f"trained{kind}, $d$ = {d}")  # fmt: skip
    left.set(xscale="log", xlabel="features $d$", ylabel="heads $m$", ylim=(0, None))
    left.set_xticks(sorted(2 ** full["high"]), [str(d) for d in sorted(2 ** full["high"])])
    left.minorticks_off()
    right.set(yscale="log", xlabel="heads $m$", ylabel="norm at margin 1")
    left.legend()
    right.set_xlim(right=right.get_xlim()[1] + 1)
    drawn.legend(*right.get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return drawn


#: Of the noise of finite prompts; see ``parity.noise_terms``.
TERMS = {
    "noise": Look("all noise", COLOURS["ink"]),
    "others": Look("other features", COLOURS["blue"], "s"),
    "task": Look("the task's own features", COLOURS["orange"], "^"),
    "projected": Look(r"$P(\Xi)$ of the theorem", COLOURS["sky"], "D", (4, 2)),
    "remainder": Look(r"$\epsilon$ of the theorem", COLOURS["red"], "v", (4, 2)),
}


@figure()
def noise_terms(noise: pd.DataFrame) -> Figure:
    """The noise of finite prompts, term by term (Theorem 5.5.2)

    Root mean square, a small dot a replicate and their mean with its 95 % interval, of what noise adds to the answer of the printed networks on an
    important task, whose signal is 1 or -1, over the examples of a prompt. Solid: all noise, that of features
    which are not the task's, and what the sampling of the task's own two adds to it. Dashed: the theorem's split
    of the same, noise Ξ projected to the span of the heads, and the remainder ε. Grey falls as 1 / √M.
    *What to see:*
    {{ said("icl/theorem-5-5-2-remainder", holds="the remainder falls as printed, with many heads with this exponent",
            fails="the remainder does not fall as printed, but with many heads with this exponent") }}. But it is of
    the order of the noise itself: the theorem puts fresh signs where the task's own features are, and ε takes them
    out again. The projection changes no answer, since heads lie in the span that is projected to: Ξ's line lies on
    that of all noise. And
    {{ said("icl/noise-ratio-as-printed", holds="few heads have the printed share of what noise adds to many, up to this factor",
            fails="few heads do not have the printed share of what noise adds to many, but this many times as much") }}.
    """
    drawn = canvas(7.6, 3.9)
    axes = drawn.subplots(1, 2, sharey=True)
    sizes = sorted(noise["examples"].unique())
    for ax, (arm, look) in zip(axes, ARMS.items(), strict=True):
        own = noise[(noise["arm"] == arm) & noise["term"].isin(list(TERMS))]
        lines_and_points(ax, own, "examples", "term", looks=TERMS)
        first = own[(own["term"] == "noise") & (own["examples"] == sizes[-1])]["value"].mean()
        ax.plot(sizes, [first * (sizes[-1] / size) ** 0.5 for size in sizes], color=COLOURS["grey"],
                linewidth=1, zorder=0)  # fmt: skip
        ax.set(xscale="log", yscale="log", xlabel="examples $M$", title=look.words)
        ax.set_xticks(sizes, [str(size) for size in sizes])
        ax.minorticks_off()
    axes[0].set_ylabel("root mean square")
    drawn.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return drawn


@figure()
def finite_prompts(sampled: pd.DataFrame) -> Figure:
    """The printed networks on finite prompts

    Accuracy on an important task, with 95 % intervals; left over the examples of a prompt, right over the share
    of flipped labels at the second largest number of examples. A small dot is a replicate. *What to see:*
    {{ said("icl/fewer-heads-fewer-examples", holds="fewer heads need fewer examples, and are ahead by this difference in accuracy",
            fails="fewer heads do not need fewer examples, by this difference in accuracy") }}.
    Heads come in pairs of either sign, so that the networks are even in their labels:
    {{ said("icl/even-in-labels", holds="flipping all of them changes nothing, in accuracy of many heads no more than this",
            fails="but flipping all of them changes the accuracy of many heads by this") }}.
    """
    drawn = canvas(7.6, 3.2)
    left, right = drawn.subplots(1, 2, sharey=True)
    lines_and_points(left, sampled[sampled["share"] == 0], "examples", "arm", looks=ARMS,
                     errorbar=share_interval)  # fmt: skip
    sizes = sorted(sampled["examples"].unique())
    chosen = sizes[-2] if len(sizes) > 1 else sizes[-1]
    lines_and_points(right, sampled[sampled["examples"] == chosen], "share", "arm", looks=ARMS,
                     errorbar=share_interval)  # fmt: skip
    left.set(xscale="log", xlabel="examples $M$", ylabel="accuracy", ylim=(0.4, 1.02))
    left.set_xticks(sizes, [str(size) for size in sizes])
    left.minorticks_off()
    right.set(xlabel="share of flipped labels", title=f"$M$ = {chosen}")
    left.legend()
    return drawn


@figure()
def trained_heads(trained: pd.DataFrame) -> Figure:
    """Trained networks by their number of heads

    After training on the exact population objective, a small dot a replicate, with 95 % intervals: hinge loss on important
    (solid) and other tasks (dashed), and accuracy on an important one at finite prompts, a colour a probability of
    the other tasks. *What to see:*
    {{ said("icl/more-heads-rare-tasks", holds="more heads serve the others better, where these are rarest by this difference in loss",
            fails="more heads do not serve the others better, where these are rarest by this difference in loss") }}.
    If noise alone decided, accuracy at finite prompts would fall with the heads.
    """
    drawn = canvas(7.6, 3.3)
    left, right = drawn.subplots(1, 2)
    rare = sorted(trained["rare"].unique())
    shades = [COLOURS[name] for name in ("blue", "orange", "green", "purple")]
    for column, dash, words in (("important", "", "important"), ("others", (4, 2), "others")):
        found = {p: Look(f"{words}, $p$ = {p:g}", shades[k % 4], "o", dash)
                 for k, p in enumerate(rare)}  # fmt: skip
        for p, look in found.items():
            lines_and_points(left, trained, "heads", "rare", looks={p: look}, value=column,
                             errorbar=within(0))  # fmt: skip
    found = {p: Look(f"$p$ = {p:g}", shades[k % 4]) for k, p in enumerate(rare)}
    lines_and_points(right, trained, "heads", "rare", looks=found, value="accuracy",
                     errorbar=share_interval)  # fmt: skip
    left.set(xlabel="heads $m$", ylabel="hinge loss", ylim=(-0.02, None))
    right.set(xlabel="heads $m$", ylabel="accuracy, finite prompts")
    left.legend(loc="center right", bbox_to_anchor=(1, 0.36), fontsize=8, handlelength=3.5)
    right.legend(loc="lower right")
    return drawn
