"""Lemmas 6.1 and 6.2, Proposition 6.3 and the thresholds."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from featlearn.core.drawing.plots import COLOURS, canvas
from featlearn.core.evidence.claim_methods import Claims, claim, premise
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

LOOKS = {"l2": (r"ERM-$\ell_2$", "blue", "o"), "whitened": ("strong nuclear norm", "red", "s")}


@figure()
def threshold(sweep: pd.DataFrame) -> Figure:
    r"""Where does ERM-$\ell_2$ fail, and where the nuclear norm?

    *What to see:* {{ said("nuclear/threshold", holds="ERM-$\\ell_2$ falls through a half near 1, at",
    fails="ERM-$\\ell_2$ falls through a half elsewhere than 1, at") }}; {{ said("nuclear/proposition-6-3", holds="from
    the proposition's number on, 4, its accuracy is at most", fails="from the proposition's number on, 4, its accuracy
    still reaches") }}. Accuracy in the unseen domain over spurious features, in units of $r/(4\gamma^2)$: points are
    replicates, dashed a Gaussian approximation, no fit.

    ---

    Whitened weights, the limit of a strong nuclear norm, fall between the two.
    """
    drawn = canvas(5.6, 3.4)
    ax = drawn.subplots()
    for arm, (words, colour, marker) in LOOKS.items():
        own = sweep[sweep["arm"] == arm]
        ax.scatter(own["share"], own["value"], s=22, color=COLOURS[colour], marker=marker, alpha=0.7,
                   linewidths=0, label=words, zorder=3)  # fmt: skip
        expected = own.groupby("share")["predicted"].mean()
        ax.plot(expected.index, expected, "--", color=COLOURS[colour], linewidth=1.1)
    ax.plot([], [], "--", color=COLOURS["grey"], linewidth=1.1, label="Gaussian approximation")
    for place, words in ((1, r"$r / 4\gamma^2$"), (4, "Proposition 6.3")):
        ax.axvline(place, color=COLOURS["grey"], linewidth=0.8)
        ax.annotate(words, (place, 0.7), (-3 if place == 4 else 3, 0), fontsize=8, va="center",
                    textcoords="offset points", ha="right" if place == 4 else "left")  # fmt: skip
    ax.axhline(0.5, color=COLOURS["grey"], linewidth=0.8)
    ax.set(xlabel=r"$(d - r)\; /\; (r / 4\gamma^2)$", ylabel="accuracy, unseen domain",
           ylim=(-0.03, 1.03))  # fmt: skip
    ax.set_title(f"{sweep['replicate'].nunique()} replicates")
    drawn.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return drawn


TRAINED = needs(theory__featuriser__steps=1000, theory__featuriser__replicates=3)


class Theory(Claims):
    paper, kind = "nuclear", THEOREM

    @claim("Lemma 6.1", "replicates in which all sizes and weights have it", low=0.5, high=1, possible=SHARE,
           statistic="share", out_of_reach=needs(theory__replicates=5),
           paper_says=r"“$0 < \beta < \alpha < \frac{1}{\sqrt{r}}$, $\frac{\alpha}{\beta} < \frac{3}{4\gamma}$”")  # fmt: skip
    def lemma_6_1(self):
        r"""$0 < \beta < \alpha < r^{-1/2}$ and $\alpha/\beta < 3/(4\gamma)$ at the optimum of ERM-$\ell_2$.

        A theorem; five of five have a Wilson interval from .57.
        """
        f = self.optima
        good = (f["beta"] > 0) & (f["alpha"] > f["beta"]) & (f["alpha"] < f["r"] ** -0.5)
        good &= f["ratio"] < 0.75 / f["gamma"]
        return good.groupby(f["replicate"]).all().astype(float)

    @premise(">=")
    def strong_penalty(self):
        r"""$\lambda > \Omega(\sqrt{r} / \exp(\sqrt{r} / 5))$, constant as 1, by the largest weight"""
        root = np.sqrt(self.optima["r"])
        return self.optima["penalty"].max(), (root / np.exp(root / 5)).max()

    @claim("Proposition 6.3", "largest accuracy over sizes and weights", low=0, high=math.exp(-5), possible=SHARE,
           premises=("strong_penalty",),
           paper_says=r"“has OOD test accuracy at most $\exp\left(-\frac{r}{10}\right) \times 100\%$ (much worse than random guessing)”")  # fmt: skip
    def proposition_6_3(self):
        r"""ERM-$\ell_2$ is right in the unseen domain with probability at most $\exp(-r/10)$.

        $\exp(-r/10)$ at the smallest $r$, 50.
        """
        return self.optima.groupby("replicate")["ood"].max()

    @claim("Lemma 6.2", "replicates in which it holds only those, for all budgets", low=0.5, high=1, possible=SHARE,
           statistic="share", out_of_reach=needs(theory__replicates=5),
           paper_says=r"“for any $j \notin \mathcal{R}_{\text{rank}}$, $\mathbf{w}_j^* = 0$”")  # fmt: skip
    def lemma_6_2(self):
        r"""The best support of any budget up to $r$ holds invariant coordinates only.

        A theorem, with a small $\ell_2$ penalty; Wilson's interval of five of five.
        """
        return self.ranks.groupby("replicate")["value"].min()

    @claim("Proposition 6.3", "least accuracy in the unseen domain over all budgets", low=1, high=1,
           possible=SHARE, changed="Added after published runs that judged the half on l2 alone.",
           out_of_reach=needs(theory__rank__samples=1000),
           paper_says="“The optimal solution for the ERM-rank objective function on the ID tasks has 100% OOD test accuracy”", failure="not reproduced")  # fmt: skip
    def proposition_6_3_rank(self):
        """ERM-rank is right in all of the unseen domain.

        Invariant coordinates are positive: with those alone it never errs.
        """
        return self.ranks.groupby("replicate")["ood"].min()

    @premise(">=")
    def strong_bias(self):
        r"""$\gamma\sqrt{r} > 3$ (Section 6.4)"""
        of = self.config["theory"]
        return min(of[key]["gamma"] * of[key]["r"] ** 0.5 for key in ("sweep", "featuriser")), 3

    @claim("ours, behind Proposition 6.3", r"where its accuracy falls through a half, over $r/(4\gamma^2)$",
           kind=OBSERVATION, low=0.9, high=1.1, possible=POSITIVE,
           premises=("strong_bias",), changed="Sentence, after a published run: it said a quarter of what is printed, as if the printed "
           "number were said to be the least.")  # fmt: skip
    def threshold(self):
        r"""ERM-$\ell_2$ begins to fail at $d - r = r/(4\gamma^2)$, a quarter of the sufficient number of
        Proposition 6.3.

        The mean of the score changes sign at 1 if the ratio is $1/(2\gamma)$.
        """
        # the share at which the accuracy falls through a half, a line between two sizes
        own = pick(self.sweep, arm="l2").sort_values("share")
        return np.array([np.interp(-0.5, -one["value"].to_numpy(), one["share"].to_numpy())
                         for _, one in own.groupby("replicate")])  # fmt: skip

    @claim("ours, on eq. (6.3)", r"$\alpha/\beta$ at weight .2 over $6(1/3 - \gamma^2)/\gamma$", kind=OBSERVATION,
           low=0.85, high=1.1, possible=POSITIVE, out_of_reach=TRAINED)  # fmt: skip
    def penalty_whitens(self):
        """With a linear featuriser and a fixed head a strong nuclear norm whitens.

        A first calculation of 3000 steps gave .957; shorter ones are noisier.
        """
        of = self.penalised.assign(value=self.penalised["ratio"] / self.penalised["whitened"])
        return per_replicate(of, arm="nuclear", penalty=0.2)

    @claim("ours, on eq. (6.3)", r"accuracy in the unseen domain at weight .1, minus that of $\ell_2$ at .1",
           kind=OBSERVATION, low=0.5, high=1, possible=DIFFERENCE_OF_SHARES, premises=("strong_bias",),
           out_of_reach=TRAINED)  # fmt: skip
    def penalty_beats_l2_between(self):
        r"""Between the two thresholds of spurious features the nuclear norm is right and $\ell_2$ wrong.

        A first calculation gave .94.
        """
        nuclear, l2 = (
            per_replicate(self.penalised, "ood", arm=arm, penalty=0.1) for arm in ("nuclear", "l2")
        )
        return nuclear - l2
