"""Sparse parities: the printed optima, smaller and lighter solutions, and finite prompts."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from featlearn.core.drawing.intervals import Look
from featlearn.core.drawing.plots import COLOURS, canvas
from featlearn.core.evidence.claim_methods import Claims, claim
from featlearn.core.evidence.claims import (
    DIFFERENCE_OF_SHARES,
    OBSERVATION,
    POSITIVE,
    SHARE,
    THEOREM,
    needs,
)
from featlearn.core.evidence.frames import pick
from featlearn.core.evidence.stats import per_replicate
from featlearn.core.run.exhibits import figure
from featlearn.icl.analysis import lines_and_points

ARMS = {"g1": Look("$g_1$, few heads", COLOURS["blue"]),
        "g2": Look("$g_2$, many heads", COLOURS["red"], "s")}  # fmt: skip


@figure()
def counter_examples(
    constructions: pd.DataFrame, trained: pd.DataFrame, norms: pd.DataFrame
) -> Figure:
    r"""Are the heads of Theorem 5.5.1 optimal?

    *What to see:* {{ said("icl/heads-needed-as-printed", holds="no fewer heads solve all tasks", fails="four heads
    solve all tasks, share of the printed number") }}; {{ said("icl/least-norm-as-printed", holds="none has less norm,
    ours over it", fails="six of ours have less norm, share of it") }}; {{ said("icl/full-matrices-lighter", holds="a
    search finds lighter full matrices, ratio", fails="a search finds no lighter full matrices, ratio") }}. Left: heads
    with zero loss on all tasks. Right: squared norm at margin 1, in units of $1/(16\gamma^2)$.
    """
    drawn = canvas(7.6, 3.5)
    left, right = drawn.subplots(1, 2)
    full = pick(constructions, arm="g2").drop_duplicates("high")
    four = pick(constructions, arm="four heads").drop_duplicates("high")
    less = pick(constructions, arm="less norm")
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
    r"""The noise of finite prompts, term by term (Theorem 5.5.2)

    *What to see:* {{ said("icl/theorem-5-5-2-remainder", holds="the remainder falls as printed, exponent", fails="the
    remainder does not fall as printed, exponent") }}; {{ said("icl/noise-at-most-as-printed", holds="few heads have at
    most the printed share of the noise of many, ratio", fails="few heads have more than the printed share of the noise
    of many, ratio") }}. Root mean square of the noise in the answer to an important task. Solid: all noise and its two
    sources. Dashed: the theorem's split. Grey falls as $1/\sqrt{M}$.

    ---

    The signal is $\pm 1$. Dots are replicates, lines means with 95 % intervals.
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


PROMPTS = needs(parity__judged_examples=256, parity__prompts=1000)


class Constructions(Claims):
    """Of networks that are written down, over all sizes; computed and not sampled."""

    paper, kind, statistic = "icl", THEOREM, "exact"

    def arm(self, name):
        return pick(self.constructions, arm=name).set_index(["low", "high"])

    @claim("Theorem 5.5.1, proof", "heads of a network that solves all tasks over that number, least "
           "over the sizes", low=1, possible=POSITIVE, paper_says="“the minimum number of neurons to "
           "cover all patterns in (I) and (II) is $2(v_2 + 1)$”", failure="rate or constant")  # fmt: skip
    def heads_needed_as_printed(self):
        r"""Zero hinge loss on all tasks needs $2(\nu_2 + 1)$ heads.

        Expected to fail: four heads solve all tasks at any size.
        """
        four = self.arm("four heads")
        solves = four["margin"] >= 1 - 1e-9
        share = (four["heads"] / self.arm("g2")["heads"])[solves]
        return np.array([share.min() if solves.any() else 1.0])

    @claim("Theorem 5.5.1", "loss of g1 on other tasks, minus that of four heads, largest over the "
           "sizes", low=0, high=0, paper_says="“let $g_1^*$ and $g_2^*$ denote the optimal solutions for "
           "$m = 2(v_1 + 1)$ and $m = 2(v_2 + 1)$”", failure="one word too strong")  # fmt: skip
    def g1_optimal_as_printed(self):
        r"""The printed $g_1$ minimises the loss among $2(\nu_1 + 1)$ heads.

        Its loss would be least. Expected to fail: four heads, and zeros, have loss 0.
        """
        return np.array([(self.arm("g1")["rare"] - self.arm("four heads")["rare"]).max()])

    @claim("Theorem 5.5.1", "norm of six heads of ours at four features over that of g2, both at "
           "margin 1", low=1, possible=POSITIVE, paper_says=r"“$g^* = \arg \min_g \lim_{\lambda "
           r"\rightarrow 0^+} \mathcal{L}^\lambda(g)$”", failure="one word too strong")  # fmt: skip
    def least_norm_as_printed(self):
        """The printed $g_2$ is the solution of least norm with its number of heads.

        Expected to fail: 40 against 48 by hand.
        """
        less, full = self.arm("less norm"), self.arm("g2")
        return np.array([(less["norm"] / less["margin"] ** 2 / full["norm"][less.index]).min()])

    @claim("Theorem 5.5.1, proof", "share of the other tasks that g1 leaves unsolved, least over the "
           "sizes; 0 if it fails an important one", low=0.01, high=1, possible=SHARE,
           paper_says="“the optimal solution will cover all patterns in (I) but not all in (II)”",
           changed="Was: it solves the important tasks only (g1-only-important-as-printed, failed at "
           ".444), which is not printed; the band is of what is.")  # fmt: skip
    def g1_not_all_others(self):
        r"""The printed $g_1$ solves all important tasks and not all of the others.

        One in a hundred: no size has so many others that one unsolved is less.
        """
        g1 = self.arm("g1")
        return np.array([g1["unsolved"].where(g1["important"] <= 1e-9, 0).min()])


class Prompts(Claims):
    """Of finite prompts, at the number of examples that the config judges, and of trainings."""

    paper, kind = "icl", THEOREM

    @classmethod
    def made(cls, config):
        return (cls(config, judged=config["parity"]["judged_examples"]),)

    def term(self, arm, term):
        own = pick(self.noise, arm=arm, term=term)
        return own.pivot_table(index="replicate", columns="examples", values="value")

    def accuracy(self, arm):
        return per_replicate(self.sampled, arm=arm, share=0, examples=self.words["judged"])

    @claim("Theorem 5.5.2", r"exponent of $\epsilon_2$, root mean square, in the examples, between the two "
           "largest numbers of them", id="theorem-5-5-2-remainder", low=-0.6, high=-0.4,
           out_of_reach=needs(parity__examples=1024, parity__prompts=1000),
           paper_says=r"“$\epsilon_j = O(\sqrt{\frac{\nu_j}{M}} \log \frac{1}{\delta})$”")  # fmt: skip
    def remainder(self):
        r"""The remainder of the answer of $g_2$ falls as $1/\sqrt{M}$.

        $-1/2$; an earlier table over $\nu$ has the right order.
        """
        own = self.term("g2", "remainder")
        low, high = sorted(own.columns)[-2:]
        return np.log(own[high] / own[low]) / np.log(high / low)

    @claim("Theorem 5.5.2, implications", "mean square of what noise adds to the answer, g1 over g2, over the "
           "printed ratio, {judged} examples", low=0, high=1, possible=POSITIVE,
           out_of_reach=needs(parity__prompts=1000, parity__replicates=5),
           paper_says="“the smaller model has a much smaller influence from noise than the larger model”",
           failure="rate or constant", changed="Was: equal within .8 to 1.25 (noise-ratio-as-printed, failed at "
           ".443), in the thesis' favour; the lower end is gone.")  # fmt: skip
    def noise_at_most_as_printed(self):
        r"""Noise influences few heads at most $(\nu_1 + 1)/(\nu_2 + 1)$ times as much as many.

        As printed, which is of the projected input; the answer is not linear in it.
        """
        one, two = (self.term(arm, "noise")[self.words["judged"]] ** 2 for arm in ("g1", "g2"))
        bits = self.noise.groupby("arm")["bits"].first()
        return one / two * (bits["g2"] + 1) / (bits["g1"] + 1)

    @claim("Theorem 5.5.2", "accuracy of g1 minus that of g2 at {judged} examples", low=0.02, high=1,
           possible=DIFFERENCE_OF_SHARES, out_of_reach=PROMPTS,
           paper_says="“smaller models are more robust to noise while larger ones are easily distracted”")  # fmt: skip
    def fewer_heads_fewer_examples(self):
        """On an important task with finite prompts the printed $g_1$ is right more often than $g_2$.

        A calculation at these sizes had .999 against .903.
        """
        return self.accuracy("g1") - self.accuracy("g2")

    @claim("section 5.5", "hinge loss on the others with 4 heads minus that with the most, where they are rarest",
           low=0.02, out_of_reach=needs(parity__training__steps=1500, parity__training__heads=16), changed="From "
           ".02, and 1500 steps at least, after pilots on other streams had about .1 from 4 to 16 heads.",
           paper_says="“larger models can learn more hidden features”")  # fmt: skip
    def more_heads_rare_tasks(self):
        """Trained networks with more heads serve the rare tasks better.

        Pilots on other streams: about .1 between 4 and 16 heads.
        """
        own = pick(self.trained, rare=self.trained["rare"].min())
        wide = own.pivot_table(index="replicate", columns="heads", values="others")
        return wide[4] - wide[wide.columns.max()]

    @claim("Theorem 5.5.1", "least norm found with full matrices over the least found with diagonal heads, as many "
           "heads, four features", high=1, possible=POSITIVE, kind=OBSERVATION,
           out_of_reach=needs(parity__norms__steps=2000, parity__norms__restarts=16),
           paper_says=r"“let $\mathbf{V}^{*,(i)}$ be diagonal matrix”", changed="Was a theorem, that the least are "
           "diagonal (diagonal-least-norm-as-printed, failed at .764): two upper bounds refute none.")  # fmt: skip
    def full_matrices_lighter(self):
        """A search from random starts finds full matrices of less norm than diagonal heads.

        Below 1; both are upper bounds, so that it is no proof. 1 where one of them finds no margin.
        """
        found = self.norms.pivot_table(index="replicate", columns="arm", values="value")
        return (found["full"] / found["diagonal"]).where(np.isfinite(found).all(axis=1), 1)
