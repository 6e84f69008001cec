"""The toy problem of section 6.3.1: figures, and the claims on its printed accuracies."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from featlearn.core.drawing.intervals import LEAST
from featlearn.core.drawing.plots import COLOURS, canvas
from featlearn.core.evidence.claim_methods import Claims, claim
from featlearn.core.evidence.claims import DIFFERENCE_OF_SHARES, SHARE, THEOREM, needs
from featlearn.core.evidence.stats import estimate, per_replicate
from featlearn.core.run.exhibits import figure

PLACES = {"id": "training domains", "ood": "unseen domain"}


@figure(
    "fig-6-2",
    arm="erm",
    words="without a penalty",
    seen='{{ said("nuclear/figure-6-2", holds="trainings end at the printed .76 in the unseen domain", '
    'fails="trainings do not end at the printed .76 in the unseen domain") }}; $x_1$ alone separates the labels.',
)
@figure(
    "fig-6-3",
    arm="nuclear, head trained",
    words="with the nuclear norm",
    seen='{{ said("nuclear/toy-penalty-helps", holds="the penalty raises the accuracy in the unseen domain, difference", '
    'fails="the penalty does not raise the accuracy in the unseen domain, difference") }}; with a fixed head (not drawn) '
    '{{ said("nuclear/figure-6-3", holds="it ends at the printed .94", fails="it does not end at the printed .94") }}.',
)
def toy_lines(
    points: pd.DataFrame, trained: pd.DataFrame, arm: str, words: str, seen: str
) -> Figure:
    """The toy problem, trained {{ words }}, layer and head

    *What to see:* {{ seen }} Points of both labels, and decision lines at early steps (pale) and at the end (dark);
    titles: mean accuracy at the end, in closed form, 95 % interval over trainings.
    """
    drawn = canvas(7, 3.5)
    axes = drawn.subplots(1, 2, sharey=True)
    own = trained[trained["arm"] == arm]
    last = own["step"].max()
    for ax, (place, title) in zip(axes, PLACES.items(), strict=True):
        here = points[points["place"] == place]
        for label, name in ((1, "orange"), (-1, "sky")):
            at = here[here["label"] == label]
            ax.scatter(at["x"], at["y"], s=7, color=COLOURS[name], label=f"$y = {label:+d}$")
        for row in own.to_dict("records"):
            end = row["step"] == last
            # first x + second y = 0
            ax.axline((0, 0), (float(row["second"]), -float(row["first"])), linewidth=1.1 if end else 0.6,
                      color=COLOURS["ink" if end else "grey"], alpha=1 if end else 0.35)  # fmt: skip
        mean = estimate(own[own["step"] == last][place].to_numpy())
        about = f" ± {mean.half_width:.3f}" if mean.replicates >= LEAST else ""
        ticks = [-1, -0.5, 0, 0.5, 1]
        ax.set(title=f"{title}: {mean.mean:.3f}{about}", xlabel="$x_1$", xlim=(-1, 1), ylim=(-1, 1),
               xticks=ticks, yticks=ticks)  # fmt: skip
        ax.grid(visible=False)
    axes[0].set_ylabel("$x_2$")
    axes[0].plot([], [], color=COLOURS["ink"], label=f"end of training ({mean.replicates})")
    axes[0].plot([], [], color=COLOURS["grey"], linewidth=0.6, label="earlier steps")
    drawn.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return drawn


@figure("fig-6-1", contains="drawn")
def schematic() -> Figure:
    """The causes of an image, and the classifier that a low rank should pick

    Drawn, not measured. Left: the label $y$ causes the invariant features $z_c$, label and environment $e$ cause $z_e$,
    both make the image. Right: of classifiers that fit (line), the penalty prefers few features (dot).
    """
    drawn = canvas(7, 2.6)
    left, right = drawn.subplots(1, 2)
    places = {"y": (0, 1), "e": (0, 0), "$z_c$": (1, 1), "$z_e$": (1, 0), "x": (2, 0.5)}
    for start, end in (("y", "$z_c$"), ("y", "$z_e$"), ("e", "$z_e$"), ("$z_c$", "x"), ("$z_e$", "x")):  # fmt: skip
        left.annotate("", places[end], places[start],
                      arrowprops={"arrowstyle": "->", "shrinkA": 12, "shrinkB": 12})  # fmt: skip
    for word, place in places.items():
        left.text(*place, word, ha="center", va="center", fontsize=12)
    left.set(xlim=(-0.3, 2.3), ylim=(-0.3, 1.3), title="(a)")
    left.axis("off")
    right.plot([1, 0], [0, 1.4], color=COLOURS["blue"], label="fit the training domains")
    right.plot([1], [0], "o", color=COLOURS["red"], label="lowest rank", clip_on=False)
    right.set(title="(b)", xlabel="weight of $z_c$", ylabel="weight of $z_e$", xticks=[], yticks=[],
              xlim=(0, 1.4), ylim=(0, 1.5))  # fmt: skip
    right.legend()
    return drawn


class Toy(Claims):
    paper, kind, possible = "nuclear", THEOREM, SHARE
    out_of_reach = needs(toy__steps=3000, toy__replicates=10)

    def end(self, arm):
        return per_replicate(self.trained, "ood", arm=arm, step=self.trained["step"].max())

    @claim("Figure 6.2", "mean accuracy at the end, head trained", low=0.71, high=0.81,
           paper_says="“For OOD dataset, the model trained with ERM only achieves an accuracy of 0.76”",
           failure="printed number")  # fmt: skip
    def figure_6_2(self):
        """Descent without a penalty ends at an accuracy of .76 in the unseen domain.

        The printed number, give or take .05.
        """
        return self.end("erm")

    @claim("Figure 6.3", "mean accuracy at the end, head fixed", low=0.92, high=0.95,
           paper_says="“training with ERM-NU successfully mitigates the reliance on environmental features and "
           "significantly improves the OOD accuracy to 0.94”",
           changed="Reason, after a published run: it did not say that by the band of Figure 6.2 it would hold; "
           "band kept.", failure="printed number")  # fmt: skip
    def figure_6_3(self):
        """Descent with the nuclear norm ends at an accuracy of .94 in the unseen domain.

        The printed number, from .02 below to .01 above: the optimum has .96, and the band tells the two
        apart. With the .05 of Figure 6.2, .89 to .99, it would hold. A trained head, as in our figure, ends
        further off.
        """
        return self.end("nuclear")

    @claim("Figures 6.2 and 6.3", "accuracy at the end with the nuclear norm less that without a penalty, "
           "the larger of heads that are trained and fixed, same samples and starts", low=0, high=1, possible=DIFFERENCE_OF_SHARES,
           paper_says="“significantly improves the OOD accuracy to 0.94”",
           changed="Added after published runs with .9955 for a trained head and .9597 for a fixed one.",
           failure="not reproduced")  # fmt: skip
    def toy_penalty_helps(self):
        """In the toy problem the nuclear norm raises the accuracy in the unseen domain.

        The printed order, .94 over .76. Expected to fail: without a penalty the slope tends to 0, and the accuracy to
        1, while the penalty's optimum is tilted.
        """
        trained = self.end("nuclear, head trained") - self.end("erm")
        return np.maximum(trained, self.end("nuclear") - self.end("erm, head fixed"))
