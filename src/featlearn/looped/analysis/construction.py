"""The construction: errors, condition numbers, and the examples and loops of the task."""

from __future__ import annotations

import math
from itertools import cycle

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.figure import Figure

from featlearn.core.drawing.intervals import Look, history, interval
from featlearn.core.drawing.plots import COLOURS, PAGE, canvas
from featlearn.core.evidence.claim_methods import Claims, claim
from featlearn.core.evidence.claims import (
    CONTROL,
    OBSERVATION,
    POSITIVE,
    SHARE,
    THEOREM,
    first_of,
    needs,
)
from featlearn.core.evidence.frames import pick
from featlearn.core.evidence.paper_values import paper_table
from featlearn.core.evidence.stats import per_replicate
from featlearn.core.run.exhibits import Config, PaperValues, figure

#: Of the numbers of examples, from few to many.
COLOURED = [COLOURS[name] for name in ("red", "orange", "green", "blue", "purple", "sky")]
#: ln of the squared error that float64 cannot get below, for coordinates of order one.
FLOOR = 2 * np.log(2.0**-52)
#: From here on a difference is drawn as this one: without the mask some prompts diverge, to infinity.
DIVERGED = 100.0
#: What no rounding explains.
BROKEN = 1e-2
STEPS = {"1 / L": Look(r"$1/L$, reads the prompt", COLOURS["ink"], "D", (4, 2)),
         "1 / n": Look(r"$1/n$", COLOURS["blue"]),
         "edge": Look(r"$1/(\sqrt{n}+\sqrt{d})^2$", COLOURS["green"], "^")}  # fmt: skip
ONE_LOOP = {"1 / |y|^2": Look(r"step $1/|y|^2$", COLOURS["red"]),
            "1 / L": Look(r"step $1/L$", COLOURS["ink"], "s", (4, 2))}  # fmt: skip
ABLATIONS = {
    "construction": "the construction", "query sees itself": "query sees itself", "P = I": "P = I",
    "no mask": "no mask", "strictly causal": "causal mask, strict", "causal": "causal mask",
    "labels unseen": "Q without labels",
}  # fmt: skip


@figure()
def fig_8_1(
    curves: pd.DataFrame, prompts: pd.DataFrame, paper_values: PaperValues, config: Config
) -> Figure:
    r"""Figure 8.1: is the bound on the loops' error tight?

    *What to see:* {{ said("looped/tight-as-printed", holds="the bound is tight, slope over bound", fails="the bound is
    loose, slope over bound") }}; {{ said("looped/theorem-8-25", holds="the error keeps below it, share of the prompts",
    fails="the error does not always keep below it, share of the prompts") }}. Mean log of the squared error of $\theta$
    over that of the start (solid) and its bound (dashed), by number of examples $n$. Left: the bound as the thesis
    labels it. Right: that of Theorem 8.25, exact. Grey: rounding.

    ---

    Left is float64 with the bound $-T/(2\kappa)$, which Theorem 8.16 has of the prediction; right $-T/\kappa$. The legend has the mean $\kappa$ (printed).
    """
    printed = paper_table(paper_values, "condition-numbers")[0].set_index("examples")["paper_value"]
    drawn = canvas(8.2, 3.6)
    axes = drawn.subplots(1, 2)
    trials = curves["replicate"].nunique()
    for n, colour in zip(sorted(curves["examples"].unique()), cycle(COLOURED), strict=False):
        own = pick(curves, examples=n).groupby("loop")[["exact", "run", "bound"]].mean()
        kappa = pick(prompts[prompts["replicate"] < trials], examples=n)["kappa"]
        words = rf"$n$ = {n}, $\kappa$ = {kappa.mean():.2f}"
        if n in printed.index and config["dimension"] == PRINTED[0]:
            words += f" ({printed[n]:g})"
        for ax, column, share in zip(axes, ("run", "exact"), (0.5, 1), strict=True):
            ax.plot(own.index, own[column], color=colour, label=words)
            ax.plot(own.index, share * own["bound"], color=colour, linestyle="--", linewidth=1)
    axes[0].axhline(FLOOR, color=COLOURS["grey"], linewidth=3, alpha=0.4, zorder=0)
    axes[0].set_ylabel("ln of the normalised squared error")
    for ax, title in zip(axes, ("as printed", "exact"), strict=True):
        ax.set(title=title, xlabel="loops $T$")
    axes[1].plot([], [], color=COLOURS["grey"], linestyle="--", linewidth=1, label="bound")
    axes[1].legend(loc="lower left")
    return drawn


@figure()
def ablations(ablations: pd.DataFrame) -> Figure:
    r"""Which parts of the construction does gradient descent need?

    *What to see:* {{ said("looped/ablations", holds="each, by the least difference without one", fails="not each, by
    the least difference without one") }}. Largest difference between the layer's $\theta$ and that of gradient descent
    along the loops: boxes are quartiles over prompts. Causal masks are ours.
    """
    drawn = canvas(6.2, 3.2)
    ax = drawn.subplots()
    shown = ablations.assign(arm=ablations["arm"].map(ABLATIONS))
    # a difference of 0 has no logarithm, and one that has overflowed no place
    shown["deviation"] = shown["deviation"].clip(2.0**-54, DIVERGED)
    sns.boxplot(shown, x="deviation", y="arm", order=list(ABLATIONS.values()), ax=ax,
                color=COLOURS["sky"], fliersize=2, linewidth=0.8)  # fmt: skip
    ax.set(xscale="log", xlabel="largest difference to gradient descent", ylabel=None)
    return drawn


@figure()
def blind_steps(blind: pd.DataFrame) -> Figure:
    r"""Do steps that ignore the prompt need $\exp(T)$ examples?

    *What to see:* {{ said("looped/examples-not-exponential", holds="no: with step $1/n$ the error falls exponentially,
    log error a loop", fails="with step $1/n$ the error does not fall as fast as predicted, log error a loop") }}. Mean
    log distance to $\theta^*$ with 95 % intervals over prompts: the theorem's step, which reads the prompt, and two
    shared ones. Theorem 8.17 bounds such earlier work.
    """
    sizes = sorted(blind["examples"].unique())
    drawn = canvas(min(PAGE, 2.3 * len(sizes)), 3.2)
    axes = drawn.subplots(1, len(sizes), sharey=True, squeeze=False)[0]
    for ax, n in zip(axes, sizes, strict=True):
        for arm, look in STEPS.items():
            history(ax, pick(blind, examples=n, arm=arm), look.words, look.colour,
                    "--" if look.dash else "-", x="loop", errorbar=interval)  # fmt: skip
        ax.set(xlabel="loops", ylabel=None, title=f"$n$ = {n}")
    axes[0].set_ylabel(r"mean of ln $|\theta - \theta^*|$")
    drawn.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return drawn


@figure()
def one_loop(shortcut: pd.DataFrame) -> Figure:
    r"""Does solving the task need an estimate of $\theta^*$?

    *What to see:* with step $1/|y|^2$ one loop solves the task exactly (left); {{
    said("looped/task-needs-theta-as-printed", holds="its output also estimates $\\theta^*$, distance", fails="its
    output is no estimate of $\\theta^*$, distance") }} (right, most examples). Medians over prompts after one loop,
    bands between quartiles. Left: the task's error. Right: the distance of $q/\alpha$ to $\theta^*$.
    """
    drawn = canvas(7.6, 3.2)
    axes = drawn.subplots(1, 2)
    for ax, column in zip(axes, ("prediction", "parameter"), strict=True):
        groups = shortcut.groupby(["arm", "examples"])[column]
        low, median, high = (groups.quantile(at).clip(lower=2.0**-54) for at in (0.25, 0.5, 0.75))
        for arm, look in ONE_LOOP.items():
            ax.fill_between(low[arm].index, low[arm], high[arm], color=look.colour, alpha=0.15,
                            linewidth=0)  # fmt: skip
            ax.plot(median[arm].index, median[arm], color=look.colour, marker=look.marker,
                    markersize=5, label=look.words, linestyle="--" if look.dash else "-")  # fmt: skip
        ax.set(xscale="log", yscale="log", xlabel="examples $n$")
        ax.set_xticks(sorted(shortcut["examples"].unique()))
        ax.get_xaxis().set_major_formatter("{x:.0f}")
    axes[1].set_yticks([0.2, 0.5, 1, 2])
    axes[1].get_yaxis().set_major_formatter("{x:g}")
    for ax, words in zip(axes, ("error of the task", r"distance to $\theta^*$"), strict=True):
        ax.set_ylabel(words)
        ax.minorticks_off()
    axes[0].legend(loc="center right")
    return drawn


#: Ratios n / d from which kappa - 1 is looked at as a power of d / n.
WELL_CONDITIONED = 64
#: Features, fewest and most examples of Figure 8.1.
PRINTED = (4, 16, 128)
LONG = needs("construction", prompts=200, loops=200, examples=128)


def printed(looped: Config) -> str | None:
    """Figure 8.1 is of 4 features and of 16 to 128 examples."""
    own = looped["construction"]
    found = own["dimension"], min(own["examples"]), max(own["examples"])
    if found == PRINTED:
        return None
    wanted = "{} features and {} to {} examples"
    return f"{wanted.format(*found)}; printed: {wanted.format(*PRINTED)}."


def sixteen_fold(looped: Config) -> str | None:
    """Of the claim on steps that read no prompt."""
    own = looped["construction"]
    n, d = own["judged_examples"], own["dimension"]
    return None if n >= 16 * d else f"{n} examples of {d} features; the band is of n = 16 d."


def wide(frame: pd.DataFrame, column: str = "value", over: str = "examples") -> pd.DataFrame:
    """A row a replicate, a column a number of examples."""
    return frame.pivot_table(index="replicate", columns=over, values=column)


class OfPrompts(Claims):
    paper, kind = "looped", THEOREM
    out_of_reach = needs(construction__prompts=200)

    @claim("ours", "least deviation over all ablations of a prompt", kind=CONTROL, low=BROKEN,
           possible=POSITIVE, out_of_reach=None)  # fmt: skip
    def ablations(self):
        r"""Without its mask, $P$ or $Q$ the construction is not gradient descent.

        A hundredth of $|\theta^*|$, $10^{11}$ times the rounding.
        """
        frame = wide(self.frames["ablations"], "deviation", "arm")
        return frame.drop(columns="construction").min(axis=1)

    @claim("Theorem {number}", "share of prompts in which the transformer, run with $q = 0$ and steps $1/L$, keeps "
           "to the bound at each of the `verified_loops` and number of examples", id="theorem-{id}", low=0.98, high=1.0,
           possible=SHARE, statistic="share", each=[
        {"id": "8-16", "number": "8.16", "column": "prediction_holds",
         "error": r"error of a prompt's prediction is at most $|\alpha| \exp(-T/(2\kappa))$",
         "paper_says": r"“$|\langle \text{TF}(Z^{(0)}; Q, P), \theta^* \rangle - \alpha| \leq |\alpha| "
         r"\cdot \exp\left(-\frac{T}{2\kappa}\right)$”"},
        {"id": "8-25", "number": "8.25", "column": "parameter_holds",
         "error": r"squared error of $\theta$ is at most $\exp(-T/\kappa)$",
         "paper_says": r"“$\|\theta^* - \theta^{(T)}\|_2^2 \leq e^{-T/\kappa} R^2.$”"},
    ])  # fmt: skip
    def bound_kept(self, column):
        """The {error}.

        All; 200 of 200 leave .981 possible.
        """
        return wide(self.prompts, column).min(axis=1)

    @claim("section 8.4, after Theorem 8.16", r"slope of $\ln \|\theta - \theta^*\|^2$ over the second half of the "
           r"loops, exact, over $-1/\kappa$, mean over the numbers of examples", low=0.9, high=1.1, possible=POSITIVE,
           out_of_reach=LONG, paper_says="“providing a tight bound on the prediction error that decays exponentially "
           "with the number of iterations”", failure="one word too strong")  # fmt: skip
    def tight_as_printed(self):
        r"""The bound of Theorem 8.16 on the error is tight.

        Tight would be 1. Expected to fail: at step $1/L$ the exponent is $-2\ln(1 - 1/\kappa)$, more than
        twice as large for every $\kappa$.
        """
        ratio = self.prompts["slope"] / self.prompts["printed"]
        return wide(self.prompts.assign(value=ratio)).mean(axis=1)

    @claim("section 8.6", "(bound - exact ln error) over T, largest minus smallest n", high=0.0,
           out_of_reach=LONG, paper_says="“with the gap between empirical and theoretical "
           "performance narrowing as n increases”", failure="rate or constant")  # fmt: skip
    def gap_narrows_as_printed(self):
        r"""In logarithms, the gap between bound and error narrows as the number $n$ of examples grows.

        Narrowing is below 0. Expected to fail: $-1/\kappa - 2\ln(1 - 1/\kappa)$ falls with $\kappa$, which
        falls with $n$.
        """
        return self.widening("gap")

    @claim("section 8.6", "bound - squared error after ten loops, largest minus smallest n, trials of the figure",
           kind=OBSERVATION, high=0.0, out_of_reach=needs(construction__examples=128),
           paper_says="“with the gap between empirical and theoretical performance narrowing as n increases”")  # fmt: skip
    def gap_of_errors_narrows(self):
        """As a difference of errors, the gap between bound and error narrows as $n$ grows.

        Narrowing is below 0. Both errors vanish with $n$, so that their difference does.
        """
        own = pick(self.curves, loop=10)
        gap = wide(own.assign(value=np.exp(own["bound"]) - np.exp(own["exact"])))
        return gap[gap.columns.max()] - gap[gap.columns.min()]

    @claim("ours, behind section 8.6", r"$-T/(2\kappa) - \ln \|\theta - \theta^*\|^2$ of gradient "
           "descent in float64, over $T$, largest minus smallest $n$", kind=OBSERVATION, low=-0.3, high=-0.1,
           out_of_reach=first_of(LONG, printed), changed="The bound that the caption names, and a band from the floor "
           "of float64, after a look at desk.")  # fmt: skip
    def gap_narrows_in_floats(self):
        """In float64, with the bound that the caption of Figure 8.1 names, the gap narrows because rounding
        ends the error.

        Rounding is about $e^{-72}$, and the bound goes on. With both ends there it is $1/9.6 - 1/3.2 = -.21$,
        by the mean condition numbers.
        """
        return self.widening("run_gap")

    def widening(self, column):
        """A gap at the largest minus that at the smallest number of examples."""
        gap = wide(self.prompts, column)
        return gap[gap.columns.max()] - gap[gap.columns.min()]


class OfConditionNumbers(Claims):
    """Condition numbers of Gaussian prompts."""

    paper, kind, possible = "looped", THEOREM, POSITIVE
    out_of_reach = needs("construction__proportional", dimensions=256, ratios=1024, replicates=5,
                         draws=10)  # fmt: skip

    @claim("section 8.6", "largest distance of a printed mean from ours, in standard deviations of a mean of ten",
           low=0, high=2.5, artefact="looped/measurements/construction/kappas.parquet",
           out_of_reach=first_of(needs(construction__kappas__draws=1000), printed),
           paper_says=r"“The average κ values for the different sample sizes are $\{4.57, 3.13, 2.07, 1.62\}$”")  # fmt: skip
    def kappas_as_printed(self):
        """Mean condition numbers of ten trials are as printed for four numbers of examples.

        One in twenty for the largest of four; were they of $X$, it would be above ten.
        """
        printed = paper_table(self.paper_values, "condition-numbers")[0]
        both = self.kappas.merge(printed[["examples", "paper_value"]], on="examples")
        off = ((both["paper_value"] - both["mean"]) / both["deviation"]).abs()
        return wide(both.assign(value=off)).max(axis=1)

    @claim("section 8.4, n = O(d)", "mean over predicted condition number, largest d, mean over the "
           "ratios n / d", low=0.98, high=1.02, paper_says="“we only need $O(d)$ numbers of in-context "
           "examples to guarantee a constant κ”")  # fmt: skip
    def kappa_constant(self):
        r"""With $n$ a multiple of $d$, $\kappa$ tends to the square of $(1 + \sqrt{d/n})/(1 - \sqrt{d/n})$.

        Predicted with the edges' Tracy–Widom means at finite $d$. Two in a hundred: $d^{-2/3}$ is .025 at $d = 256$.
        """
        own = self.largest()
        return wide(own.assign(value=own["value"] / own["predicted"]), over="ratio").mean(axis=1)

    @claim("after Theorem 8.1", r"slope of $\ln(\kappa - 1)$ over $\ln(d/n)$, largest $d$, ratios from "
           f"{WELL_CONDITIONED}", low=0.5, high=0.62, paper_says=r"“$1 \leq \kappa \leq 1 + O(\epsilon)$ "
           r"when $n \geq \Omega(d/\epsilon^2)$”")  # fmt: skip
    def kappa_near_one(self):
        r"""$n$ of order $d/\epsilon^2$ gives $\kappa = 1 + O(\epsilon)$.

        One half in the limit; the limit law itself has .57 between ratios 64 and 1024.
        """
        own = self.largest()
        over = wide(own[own["ratio"] >= WELL_CONDITIONED], over="ratio") - 1
        share = -np.log(over.columns.to_numpy(dtype=float))
        return np.polyfit(share, np.log(over.to_numpy().T), 1)[0]

    def largest(self):
        return pick(self.dimensions, dimension=self.dimensions["dimension"].max())


class OfTheTask(Claims):
    paper, possible = "looped", POSITIVE

    @classmethod
    def made(cls, config):
        own = config["construction"]
        return (cls(config, judged=own["judged_examples"], few=max(own["shortcut_examples"])),)

    @claim("ours, against Theorem 8.17", r"change of $\ln \|\theta - \theta^*\|$ a loop, n = {judged}, step "
           "1 / n, later half", kind=OBSERVATION, high=-0.5, possible=(-math.inf, math.inf),
           out_of_reach=first_of(needs(construction__prompts=200), sixteen_fold))  # fmt: skip
    def examples_not_exponential(self):
        """With a step that ignores the prompt and a fixed number of examples, the error falls exponentially
        with the loops.

        $n = 16 d$: the limit law has eigenvalues of $H/n$ up to 1.56, a factor of .56 a loop, which is -.57.
        """
        loops = wide(pick(self.blind, examples=self.words["judged"], arm="1 / n"), over="loop")
        last = int(loops.columns.max())
        return (loops[last] - loops[last // 2]) / (last - last // 2)

    @claim("section 8.3.2", r"distance to $\theta^*$ of the output of one loop with step $1/|y|^2$, n = {few}, over "
           r"$|\alpha|$", kind=THEOREM, low=0, high=BROKEN, paper_says=r"“Solving any one of them requires to "
           r"estimate the $\theta^*$”", failure="one word too strong")  # fmt: skip
    def task_needs_theta_as_printed(self):
        r"""Solving the task requires an estimate of $\theta^*$, so that it is as hard as linear regression.

        An estimate would be at rounding; a hundredth is generous. Expected to fail: the output is $X^\top y / |y|^2$.
        """
        few = self.words["few"]
        return per_replicate(self.shortcut, "parameter", arm="1 / |y|^2", examples=few)
