"""What the keep probability does: time to capture, share captured, fixed points."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from featlearn.core.plots import COLOURS, PALETTE, canvas
from featlearn.core.publish import Config, figure
from featlearn.core.statistical import Look, lines, share_interval
from featlearn.mrp.claims.keep_probability import ALONE

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Of the two kinds of pre-training that the theory treats. The green of MAE is that of a network on
#: pictures: here, without SimMIM beside it, it is mask reconstruction itself.
FRAMEWORK_COLOURS = {
    "teacher-student": PALETTE["teacher-student"],
    "MAE": PALETTE["mask reconstruction"],
}
FRAMEWORKS = {"teacher_student": ("teacher-student", -0.006), "mae": ("MAE", 0.006)}


@figure()
def theta_trade_off(trade_off: pd.DataFrame, config: Config) -> Figure:
    """What masking is for: the keep probability

    Left: steps of training until every feature is captured, over the probability theta that a patch
    is kept (small dots: replicates; triangles: not all replicates were done when the run was cut off).
    Right: the share of features captured in the end, means over replicates with 95 % intervals. *What to
    see:* teacher and student learn from the
    masks alone: the fewer patches are masked, the slower, and at theta = 1 nothing happens at all, as
    the paper says. The MAE framework is indifferent: the time to capture is the same at every theta,
    and without any mask all features are captured. There the paper's warning (no features as theta
    tends to 1) does not apply.
    That teacher and student slow down as theta tends to 1
    {{ verdict("mrp/t12-teacher-student-slows-down") }}; that the MAE framework then learns nothing
    {{ verdict("mrp/t12-mae-learns-nothing-as-printed") }}; that its time to capture does not depend on
    theta {{ verdict("mrp/t12-mae-time-without-theta") }}.
    """
    drawn = canvas(8.2, 3.6)
    left, right = drawn.subplots(1, 2)
    trained = trade_off[trade_off["theta"].isin(config["thetas"])]
    for framework, (label, shift) in FRAMEWORKS.items():
        colour = FRAMEWORK_COLOURS[label]
        own = trained[trained["framework"] == framework]
        times, complete = (
            own[own["quantity"] == name].set_index(["theta", "replicate"])["value"]
            for name in ("all_captured", "complete")
        )
        finished = times[complete == 1].reset_index()
        left.plot(finished["theta"] + shift, finished["value"], "o", markersize=3.2, alpha=0.4,
                  color=colour, markeredgewidth=0)  # fmt: skip
        everywhere = complete.groupby("theta").min() == 1
        mean = finished.groupby("theta")["value"].mean()[everywhere[everywhere].index]
        left.plot(mean.index + shift, mean, "o-", color=colour, markersize=6, label=label)
        cap = config[framework]["max_steps"]
        missed = sorted(set(config["thetas"]) - set(mean.index))
        if missed:
            left.plot(np.array(missed) + shift, np.full(len(missed), cap), "^", color=colour,
                      markersize=7, clip_on=False,
                      label=f"not in all replicates within {cap:,} steps")  # fmt: skip
        share = own[own["quantity"] == "captured"]
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


@figure()
def fixed_points(fixed_points: pd.DataFrame, config: Config) -> Figure:
    """Where MAE pre-training comes to rest

    Left: the correlation with each feature after MAE pre-training three times as long as the last
    capture took, over the keep probability. The line is the correlation at which the gradient, averaged
    over the strengths in the training data, vanishes; for a single strength z it is
    (c + sqrt(c^2 + 4 theta)) / 2 with c = (1 - 1/q) varrho / z. The dashed line is the
    paper's sqrt(theta), the limit of a small threshold. Right: relative distance from the line.
    *What to see:* a feature that one kernel holds lies on the line
    (to {{ value("theta-trade-off", framework="mae", theta=1.0, quantity="rest_error") | percent(3) }} at
    theta = 1); where several kernels share one, each holds less. The formula says how strong a
    pre-trained feature is: the less is masked, the stronger.
    That a feature that one kernel holds rests where the mean gradient vanishes
    {{ verdict("mrp/t10-fixed-point-network") }}.
    """
    rest, varrho = fixed_points, config["network"]["varrho"]
    drawn = canvas(8.2, 3.6)
    left, right = drawn.subplots(1, 2)
    alone = rest["second"] < ALONE * rest["strength"]
    groups = [
        (rest[~alone], COLOURS["grey"], "held by several kernels"),
        (rest[alone], FRAMEWORK_COLOURS["MAE"], "held by one kernel"),
    ]
    for own, colour, label in groups:
        shift = 0.006 if label.endswith("kernels") else -0.006
        left.plot(own["theta"] + shift, own["strength"], "o", markersize=3.4, alpha=0.5,
                  color=colour, markeredgewidth=0, label=label)  # fmt: skip
        off = (own["strength"] / own["formula"] - 1).abs().clip(lower=1e-6)
        right.plot(own["theta"] + shift, off, "o", markersize=3.4, alpha=0.5, color=colour,
                   markeredgewidth=0)  # fmt: skip
    formula = rest.groupby("theta")["formula"].mean()
    left.plot(formula.index, formula, color=COLOURS["ink"], linewidth=1.2,
              label="formula, averaged over the data")  # fmt: skip
    theta = np.linspace(rest["theta"].min(), 1, 100)
    left.plot(theta, np.sqrt(theta), "--", color=COLOURS["grey"],
              label=r"limit $\varrho\to0$: $\sqrt{\theta}$")  # fmt: skip
    left.set(title="Where a feature comes to rest", ylim=(0, 1.2))
    left.axhline(varrho, color=COLOURS["ink"], linewidth=0.8, linestyle=":")
    left.annotate(r"captured: $\varrho$", (1.0, varrho), ha="right", va="bottom", fontsize=8)
    left.set_ylabel(r"correlation $\Lambda_{i,l}$ after training")
    right.set(title="Distance from the formula", yscale="log")
    right.set_ylabel(r"$|\Lambda_{i,l}\,/\,\mathrm{formula}-1|$")
    for ax in (left, right):
        ax.set_xlabel(r"keep probability $\theta$ (mask ratio $1-\theta$)")
    drawn.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return drawn
