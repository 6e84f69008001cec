"""Linear attention by rank: closed forms, trained networks and flipped labels."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from featlearn.core.drawing.intervals import Look, share_interval
from featlearn.core.drawing.plots import COLOURS, canvas
from featlearn.core.evidence.claim_methods import Claims, claim
from featlearn.core.evidence.claims import POSITIVE, SHARE, THEOREM, needs
from featlearn.core.evidence.frames import pick
from featlearn.core.evidence.stats import number
from featlearn.core.run.exhibits import Config, figure
from featlearn.icl.analysis import lines_and_points

COLOURED = ("blue", "green", "orange", "red", "purple", "sky")


@figure()
def rank_and_noise(curves: pd.DataFrame) -> Figure:
    r"""Label noise lowers the best rank

    *What to see:* the best rank (ring) moves left as the noise grows. Left: evaluation loss of the optimal rank-$r$
    model in closed form (Theorem 5.4.2), a line for each deviation $\sigma$ of label noise; task along all
    directions. Right: its three parts at the second deviation.
    """
    own = curves[curves["directions"] == curves["directions"].max()]
    drawn = canvas(7.8, 3.3)
    left, right = drawn.subplots(1, 2)
    sigmas = sorted(own["sigma"].unique())
    for place, sigma in enumerate(sigmas):
        part, colour = pick(own, sigma=sigma), COLOURS[COLOURED[place % len(COLOURED)]]
        left.plot(part["rank"], part["value"], color=colour, label=rf"$\sigma$ = {sigma:g}")
        best = part.nsmallest(1, "value").iloc[0]
        left.plot(best["rank"], best["value"], "o", color=colour, markerfacecolor="white")
    part = pick(own, sigma=sigmas[1])
    words = {"bias": "bias", "inputs": "noise of examples", "labels": "noise of labels"}
    right.stackplot(part["rank"], *(part[key] for key in words), labels=list(words.values()),
                    colors=[COLOURS[name] for name in ("grey", "sky", "orange")])  # fmt: skip
    left.set(xlabel="rank $r$", ylabel="evaluation loss", yscale="log")
    right.set(
        xlabel="rank $r$", ylabel="evaluation loss", title=rf"pieces at $\sigma$ = {sigmas[1]:g}"
    )
    left.legend()
    right.legend(loc="upper right")
    return drawn


@figure()
def trained_ranks(trained: pd.DataFrame) -> Figure:
    r"""Do trained networks reach the optimum of their rank?

    *What to see:* {{ said("icl/theorem-5-4-1", holds="training reaches the optimum, with an excess of at most",
    fails="training ends above the optimum, with an excess of") }}; {{ said("icl/trained-larger-loses", holds="the
    largest rank loses most, ratio to the smallest", fails="the largest rank does not clearly lose, ratio to the
    smallest") }} (second $\sigma$). Evaluation loss on a task along the first direction: dots are replicates, lines
    means with 95 % intervals; dashed is the closed form.

    ---

    Of this loss {{ said("icl/trained-larger-keeps-noise", holds="label noise adds more to the largest rank, ratio",
    fails="label noise does not add more to the largest rank, ratio") }}.
    """
    drawn = canvas(4.8, 3.3)
    ax = drawn.subplots()
    trained = pick(trained, directions=1)
    sigmas = sorted(trained["sigma"].unique())
    colours = {s: COLOURS[COLOURED[k % len(COLOURED)]] for k, s in enumerate(sigmas)}
    found = {s: Look(rf"$\sigma$ = {s:g}", colours[s]) for s in sigmas}
    lines_and_points(ax, trained, "rank", "sigma", looks=found, value="evaluation")
    for _, part in trained.groupby("sigma"):
        exact = part.groupby("rank")["predicted"].mean()
        (closed,) = ax.plot(exact.index, exact, "--", color=COLOURS["ink"], linewidth=1)
    closed.set_label("closed form")
    ax.set(xlabel="rank $r$", ylabel="evaluation loss", yscale="log")
    drawn.legend(*ax.get_legend_handles_labels(), loc="outside right center")
    return drawn


@figure()
def flipped_signs(flips: pd.DataFrame) -> Figure:
    """Does the theory explain flat accuracy under flipped labels?

    *What to see:* ranks change order as all labels are flipped; {{ said("icl/small-rank-keeps-as-printed", holds="the
    best is then right", fails="even the best is then right less often than by chance") }}. Linear attention on a task in the first two directions, labels as signs: dots are replicates, lines
    means with 95 % intervals; dashed is chance.
    """
    drawn = canvas(4.8, 3.3)
    ax = drawn.subplots()
    ranks = sorted(flips["rank"].unique())
    found = {r: Look(f"rank {r}", COLOURS[COLOURED[k % len(COLOURED)]])
             for k, r in enumerate(ranks)}  # fmt: skip
    lines_and_points(ax, flips, "share", "rank", looks=found, errorbar=share_interval)
    ax.axhline(0.5, color=COLOURS["grey"], linestyle="--", linewidth=1)
    ax.set(xlabel="share of flipped labels", ylabel="accuracy", ylim=(0, 1))
    ax.legend()
    return drawn


TRAINED = needs(regression__training__steps=6000, regression__replicates=5)
NOISE = needs(regression__training__steps=6000, regression__replicates=5, regression__sigmas=8)


def more_with_rank(icl: Config, added: bool = False) -> float:
    """Theorem 5.4.2: evaluation loss of the largest over that of the smallest rank.

    On a task along the first direction, at the second deviation of label noise; ``added``: what the
    label noise adds alone, which is the same ratio at any deviation.
    """
    own = icl["regression"]
    place, pretrained = np.arange(own["dimension"]), own["training"]["examples"]
    values = np.array(own["spectrum"] or own["largest"] * own["ratio"] ** place)
    kept = values * pretrained / ((pretrained + 1) * values + values.sum())

    def loss(rank: int) -> float:
        a, power = kept * (place < rank), values * (place < 1)
        labels = sorted(own["sigmas"])[1] ** 2 * (a**2).sum() / own["examples"]
        if added:
            return float(labels)
        inputs = (power * a**2).sum() + power.sum() * (a**2).sum()
        return float((power * (1 - a) ** 2).sum() + inputs / own["examples"] + labels)

    return loss(max(own["ranks"])) / loss(min(own["ranks"]))


class Regression(Claims):
    paper, kind, possible = "icl", THEOREM, POSITIVE

    @classmethod
    def made(cls, config):
        sigma = sorted(config["regression"]["sigmas"])[1]
        closed = {"closed": more_with_rank(config), "added": more_with_rank(config, added=True)}
        return (cls(config, sigma=sigma, **{key: number(one) for key, one in closed.items()}),)

    @claim("Theorem 5.4.1", "relative excess of the exact loss of trained networks over the optimum of their rank, "
           "largest over the ranks", id="theorem-5-4-1", low=0, high=0.005, out_of_reach=TRAINED,
           changed="6000 steps in place of 3000, after desk had .006 [0, .018], with a direction still to learn in "
           "one of five replicates of rank 8; band kept.",
           paper_says="“keeping only the most important feature directions”")  # fmt: skip
    def excess(self):
        """Pretraining at rank $r$ keeps the first $r$ eigenvectors.

        0 in the limit; pilots on other streams end at .001 at most, and a lost direction costs .03 and more.
        """
        own = self.trained
        return (own["value"] / own["optimum"] - 1).groupby(own["replicate"]).max()

    @claim("Theorem 5.4.2", "loss by the literal forward pass over the closed form, mean over ranks and noise",
           id="theorem-5-4-2", low=0.95, high=1.05, out_of_reach=needs(regression__prompts=10000),
           paper_says="“quantifies the evaluation loss at different model scales r which can explain the scale’s "
           "effect”")  # fmt: skip
    def evaluation(self):
        """The evaluation loss of the optimal rank-$r$ model is the closed form.

        1; squared errors of 10,000 prompts scatter by 2 %.
        """
        own = self.sampled
        return (own["value"] / own["predicted"]).groupby(own["replicate"]).mean()

    @claim("section 5.4, discussion", "evaluation loss of the largest over that of the smallest rank, task along the "
           "first direction, second deviation", out_of_reach=TRAINED,
           low=lambda icl: max(1.0, round(more_with_rank(icl) / 2, 1)), baselines="closed_form", paper_says="“a "
           "larger model will cover more useless features and keep more noise, and thus will have worse performance”")  # fmt: skip
    def trained_larger_loses(self):
        """Trained networks of larger rank lose more, to the noise of examples and of labels.

        Closed form {closed} at deviation {sigma}; half is left for the training, and more than 1 where that is less.
        Most of it is the noise of examples, so the ratio without label noise stands beside it.
        """
        loss = self.evaluations(1)
        return loss[loss.columns.max()] / loss[loss.columns.min()]

    def evaluations(self, place, directions=1):
        """Evaluation losses at a deviation, by its place; a column a rank."""
        sigma = sorted(self.trained["sigma"].unique())[place]
        own = pick(self.trained, sigma=sigma, directions=directions)
        return own.pivot_table(index="replicate", columns="rank", values="evaluation")

    @claim("section 5.4, discussion", "log2 of the rank with the least evaluation loss, largest label noise minus "
           "least, task along all directions", high=-1, possible=(-np.inf, np.inf), out_of_reach=NOISE,
           paper_says="“whether more signals are covered or more noise is kept when increasing the rank r”",
           changed="Of trained networks; before of a formula alone (best-rank-falls, -5).")  # fmt: skip
    def best_rank_falls(self):
        """The more label noise, the smaller is the best rank of trained networks.

        Half of the rank, the least step between the ranks of the config; the closed form has $-3$ at desk.
        """
        best = [self.evaluations(place, self.config["regression"]["dimension"]).idxmin(axis=1)
                for place in (-1, 0)]  # fmt: skip
        return np.log2(best[0].astype(float)) - np.log2(best[1].astype(float))

    @claim("section 5.4, discussion", "what label noise adds to the evaluation loss, largest over smallest rank, "
           "task along the first direction", out_of_reach=TRAINED,
           low=lambda icl: max(1.0, round(more_with_rank(icl, added=True) / 2, 1)), paper_says="“a larger model will "
           "cover more useless features and keep more noise, and thus will have worse performance”")  # fmt: skip
    def trained_larger_keeps_noise(self):
        """Label noise alone costs trained networks of larger rank more.

        Closed form {added} at any deviation; half is left for the training.
        """
        more = self.evaluations(1) - self.evaluations(0)
        return more[more.columns.max()] / more[more.columns.min()]

    def closed_form(self):
        """Of the optimum of each rank, without training; and of the trained with least label noise."""
        least = self.evaluations(0)
        return {"closed form of the optimum": more_with_rank(self.config), "no difference": 1.0,
                "least label noise": (least[least.columns.max()] / least[least.columns.min()]).mean()}  # fmt: skip

    @claim("section 5.6.1, on flipped labels", "accuracy with all labels flipped, the best rank", low=0.5, high=1,
           possible=SHARE, baselines="of_ranks", changed="Was rank 2 minus the largest, which failed; the smallest "
           "rank ties with the largest, so that the verdict hung on which rank is small.", failure="not reproduced",
           paper_says="“the performance of small models remains flat”")  # fmt: skip
    def small_rank_keeps_as_printed(self):
        """The theory explains why small models keep their accuracy when all labels are flipped.

        Chance. Expected to fail: answers are odd in the labels, so that all ranks invert, the best one most.
        """
        own = pick(self.flips, share=1)
        return own.pivot_table(index="replicate", columns="rank", values="value").max(axis=1)

    def of_ranks(self):
        """The others, and the best with no label flipped."""
        means = self.flips.groupby(["share", "rank"])["value"].mean()
        return {f"rank {rank}": value for rank, value in means[1].items()} | {
            "none": means[0].max()
        }
