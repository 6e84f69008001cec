"""Teacher-student pre-training, stopped at capture; all trainings from equal kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from featlearn.core.claim_methods import Claims, claim
from featlearn.core.claims import CONTROL, DIFFERENCE_OF_SHARES, SHARE, THEOREM, needs
from featlearn.core.frames import pick
from featlearn.core.plots import PALETTE, canvas
from featlearn.core.publish import Config, figure
from featlearn.core.statistical import Look, interval, lines, share_interval
from featlearn.core.stats import per_replicate
from featlearn.mrp.labels import FRAMEWORK_COLOURS, SINGLE, Models

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DOTTED, DASHED = (1, 1.65), (3.7, 1.6)
MODELS = {
    "supervised": Look("supervised, as trained", PALETTE["supervised"]),
    "supervised_head": Look("supervised, new head", PALETTE["supervised, new head"], "P", DASHED),
    "half_masked": Look("teacher-student", PALETTE["teacher-student"], "s"),
    "mostly_masked": Look("teacher-student", PALETTE["teacher-student"], "D", DASHED),
    "mae": Look("MAE", FRAMEWORK_COLOURS["MAE"], "^"),
    "random": Look("random kernels", PALETTE["random features"], "v", DOTTED),
}
PRETRAINED = ("half_masked", "mostly_masked", "mae")


@figure()
def equal_start(starts: pd.DataFrame, config: Config) -> Figure:
    """From equal starts, does teacher-student pre-training help?

    *What to see:* from the smallest start teacher-student kernels {{ said("mrp/t15-equal-start-as-printed",
    holds="beat supervised training", fails="do not beat supervised training") }} and {{
    said("mrp/t15-equal-start-against-random", holds="beat the random kernels too", fails="do not beat the random
    kernels") }}.

    Left: single-view accuracy of a new head. Middle: share of feature kernels that hold several. Right: largest
    correlation at the last capture. To the right: size of the initial kernels; rows: kernels a class. Means with 95 %
    intervals.

    ---

    Size is the mean initial correlation of a feature's best kernel, in units of the threshold. Heads are trained to
    their optimum (supervised: also as trained); the grey control is that head on the random kernels. Numbers in
    sentences are differences in accuracy, with the fewest kernels. At small starts the supervised network loses
    features, and teacher-student kernels are mixed. These data have hardly any noise; a linear classifier solves
    them.
    """
    looks = dict(MODELS)
    for model, options in config["teacher_student"].items():
        words = rf"{looks[model].words}, $\theta={options['theta']}$"
        looks[model] = looks[model]._replace(words=words)
    pretrained = {model: looks[model] for model in PRETRAINED}
    counts = sorted(starts["kernels_per_class"].unique())
    drawn = canvas(8.2, 2.5 * len(counts) + 0.5)
    axes = drawn.subplots(len(counts), 3, sharex="col", squeeze=False)
    for row, kernels in zip(axes, counts, strict=True):
        own = pick(starts, kernels_per_class=kernels)
        start = pick(own, quantity="strength_over_varrho").groupby("sigma_0")["value"].mean()
        own = own.assign(start=own["sigma_0"].map(start))
        for ax, quantity, shown, errorbar in (
            (row[0], "accuracy_single_view", looks, share_interval),
            (row[1], "impure_share", pretrained, share_interval),
            (row[2], "largest", pretrained, interval),
        ):
            lines(ax, pick(own, quantity=quantity), "start", "model", looks=shown,
                  errorbar=errorbar)  # fmt: skip
        row[0].set(ylabel=f"{kernels} kernels a class", ylim=(0, 1.03))
        row[0].yaxis.label.set_fontweight("bold")
        row[1].set(ylim=(-0.03, 1.03))
        row[2].set(yscale="log")
    for ax, title in zip(
        axes[0],
        ("Single-view accuracy", "Share of impure winners", "Largest correlation"),
        strict=True,
    ):
        ax.set_title(title)
    for ax in axes[-1]:
        ax.set_xlabel(r"start, mean $\Lambda^{(0)}_{i,l}\,/\,\varrho$")
    drawn.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=3,
                 fontsize=8)  # fmt: skip
    return drawn


class EqualStart(Claims):
    paper, possible = "mrp", DIFFERENCE_OF_SHARES
    out_of_reach = needs(
        equal_start__data__classes=10,
        equal_start__replicates=10,
        equal_start__supervised__steps=200,
        equal_start__teacher_student__half_masked__max_steps=3000,
        equal_start__mae__max_steps=1500,
    )

    def lead(self, other):
        """Of teacher-student kernels of the smallest start, with the fewest kernels a class."""
        frame = self.starts
        fewest, smallest = frame["kernels_per_class"].min(), frame["sigma_0"].min()
        own, others = (
            per_replicate(frame, kernels_per_class=fewest, sigma_0=smallest, model=model, quantity=SINGLE)
            for model in ("half_masked", other)
        )  # fmt: skip
        return own - others

    @claim("Theorem 2 (teacher-student) against Lemma 1",
           "single-view accuracy, head on teacher-student kernels minus supervised as trained, paired", kind=THEOREM,
           low=0.0, high=1.0,
           changed="Until 2026-11-23 it said nothing of random kernels, which pass the band by more. An earlier version "
           "fine-tuned by 60 steps that did not fit the training data (0.61), and gave −0.34; the head was made to "
           "converge after that was seen, and the band widened to any advantage.",
           paper_says="“MRP enjoys superior test performance to that of end-to-end supervised learning on the "
           "downstream tasks”")  # fmt: skip
    def t15_equal_start_as_printed(self):
        """From the smallest start, teacher-student pre-training beats supervised training.

        An advantage is a difference above 0. Random kernels may have a larger one (`t15-equal-start-against-random`):
        alone this shows the loss of supervised training, not that anything was learned.
        """
        return self.lead("supervised")

    @claim("Control (ours) to Theorem 2 (teacher-student)",
           "single-view accuracy, head on teacher-student minus on random kernels, paired", kind=CONTROL,
           low=0.0, high=1.0)  # fmt: skip
    def t15_equal_start_against_random(self):
        """From the smallest start, a head on teacher-student kernels beats one on the kernels of the start.

        An advantage is a difference above 0. Mixed kernels have run away by the last capture, and these data can be
        solved without features.
        """
        return self.lead("random")


class TeacherStudent(Models):
    paper = "mrp"
    out_of_reach = needs(
        teacher_student__data__classes=10,
        teacher_student__replicates=10,
        teacher_student__pretraining__max_steps=600,
    )

    @claim("Theorem 1(b), (c), part 1 (teacher-student); Claim E.4(b)",
           "share of winning kernels that hold more than one feature, at full capture", kind=THEOREM,
           low=0.0, high=0.01, possible=SHARE,
           paper_says="“a convolution kernel in the encoder captures at most a feature”",
           failure="outside premises")  # fmt: skip
    def t8_purity_as_printed(self):
        """After teacher-student training a kernel that wins a feature holds no other one.

        The theorem says none; the band is that of the MAE claim. The proof drops the cross term, so a failure is
        expected; the runaway experiment shows the mechanism. A class has 40 kernels here, where the theorem allows
        about three.
        """
        return self.of("pretrained", "impure_share")
