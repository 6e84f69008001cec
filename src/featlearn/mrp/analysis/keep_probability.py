"""The keep probability theta: teacher-student training needs masks, MAE does not."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from featlearn.core.drawing.intervals import Look, lines, share_interval
from featlearn.core.drawing.plots import canvas
from featlearn.core.evidence.claim_methods import Claims, claim
from featlearn.core.evidence.claims import POSITIVE, SHARE, THEOREM, needs
from featlearn.core.evidence.frames import pick
from featlearn.core.evidence.stats import per_replicate
from featlearn.core.run.exhibits import Config, figure
from featlearn.mrp.labels import FRAMEWORK_COLOURS

#: In words, and by how much a framework's marks stand aside.
FRAMEWORKS = {"teacher_student": ("teacher-student", -0.006), "mae": ("MAE", 0.006)}


@figure()
def theta_trade_off(trade_off: pd.DataFrame, config: Config) -> Figure:
    r"""What is masking for?

    *What to see:* {{ said("mrp/t12-teacher-student-slows-down", holds="teacher-student training slows down as more is
    kept", fails="teacher-student training hardly slows down as more is kept") }}; {{
    said("mrp/t12-mae-learns-nothing-as-printed", holds="MAE without masks learns nothing", fails="MAE learns without
    masks, too") }}.

    Left: steps until every feature is captured, by the probability $\theta$ that a patch is kept (dots: replicates;
    triangles: not all finished). Right: share of features captured, with 95 % intervals.
    """
    drawn = canvas(8.2, 3.6)
    left, right = drawn.subplots(1, 2)
    thetas = config["thetas"]
    for framework, (label, shift) in FRAMEWORKS.items():
        colour = FRAMEWORK_COLOURS[label]
        own = pick(trade_off, framework=framework, theta=thetas)
        times, complete = (pick(own, quantity=name).set_index(["theta", "replicate"])["value"]
                           for name in ("all_captured", "complete"))  # fmt: skip
        finished = times[complete == 1].reset_index()
        left.plot(finished["theta"] + shift, finished["value"], "o", markersize=3.2, alpha=0.4,
                  color=colour, markeredgewidth=0)  # fmt: skip
        mean = times.groupby("theta").mean()[complete.groupby("theta").min() == 1]
        left.plot(mean.index + shift, mean, "o-", color=colour, markersize=6, label=label)
        if missed := sorted({*thetas} - {*mean.index}):
            cap = config[framework]["max_steps"]
            left.plot(np.array(missed) + shift, np.full(len(missed), cap), "^", color=colour,
                      markersize=7, clip_on=False,
                      label=f"not in all replicates within {cap:,} steps")  # fmt: skip
        share = pick(own, quantity="captured")
        lines(right, share.assign(theta=share["theta"] + shift), "theta", "framework",
              looks={framework: Look(label, colour)}, errorbar=share_interval)  # fmt: skip
    left.set(title="Time until all features are captured", yscale="log")
    left.set_ylabel("steps of gradient descent")
    left.set_ylim(4, 4 * max(config[name]["max_steps"] for name in FRAMEWORKS))
    left.legend(loc="upper left")
    right.set(title="Features captured in the end", ylim=(-0.04, 1.08))
    right.set_ylabel("share of the 2k features")
    for ax in (left, right):
        ax.set_xlabel(r"keep probability $\theta$ (mask ratio $1-\theta$)")
    return drawn


class KeepProbability(Claims):
    paper, kind = "mrp", THEOREM
    out_of_reach = needs(keep_probability__replicates=10, keep_probability__teacher_student__max_steps=1000,
                         keep_probability__mae__max_steps=2000)  # fmt: skip

    def at(self, theta, framework, quantity):
        return per_replicate(self.trade_off, framework=framework, quantity=quantity, theta=theta)

    @claim(r"Paragraph on the role of $\theta$ (later version)",
           r"steps until all features are captured, $\theta = 0.8$ over 0.2, paired", low=10.0, possible=POSITIVE,
           paper_says="“When $\\theta \\to 1$, there is a trivial answer to make $L(H; X) \\to 0$.”")  # fmt: skip
    def t12_teacher_student_slows_down(self):
        r"""In the teacher-student framework learning slows down as the keep probability $\theta$ tends to 1.

        A run that was cut off counts with its length. The growth constant contains $\tau^q - 1$ with $\tau =
        1/\theta$: about 125 against 1 before the capture, less after it; pilots: 21 and 24.
        """
        slow, fast = (self.at(theta, "teacher_student", "all_captured") for theta in (0.8, 0.2))
        return slow / fast

    @claim(r"Paragraph on the role of $\theta$ (later version), which says so of MAE in words",
           "share of features captured by MAE pre-training at $\\theta = 1$", low=0.0, high=0.05, possible=SHARE,
           paper_says="“In both above cases, no semantic features will be learned.”", failure="not reproduced")  # fmt: skip
    def t12_mae_learns_nothing_as_printed(self):
        r"""Without masks ($\theta = 1$) MAE training learns no feature.

        None, but for an accident.
        """
        return self.at(1.0, "mae", "captured")
