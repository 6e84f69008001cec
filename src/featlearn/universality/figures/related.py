"""What a pool of samples holds, and what its pre-training is worth to the target."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import seaborn as sns

from featlearn.core.plots import PAGE, canvas
from featlearn.core.publish import Config, figure
from featlearn.core.statistical import share_interval
from featlearn.universality.figures.ladders import NAMES, SHARES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Pools whose names say little above a panel.
WORDS = {"own": "with the labelled samples", "kinds": "as many other samples"}


@figure("fig-f-7", contains="stand-in", pools=("own",))
@figure("fig-f-6", contains="stand-in", pools=("related",))
@figure("fig-f-5", contains="stand-in", pools=("kinds",))
def pools(pooled: pd.DataFrame, config: Config, pools: tuple[str, ...]) -> Figure:
    """Target accuracy by what the pre-training's pool holds

    Ours, on vectors that stand in for pictures; probes on the target, a line a number of labels, 95 %
    intervals. *related*: beside other tasks the pool has so much of the samples of the target's task.
    *with the labelled samples*: it has those of the target. *as many other samples*: always as many of other tasks,
    few tasks or many. A panel a method and pool; differences of accuracies in brackets. Beside as many other samples
    (Figure F.5), with all labels,
    {{ said("universality/classes-at-fixed-samples", holds="the target falls with the number of tasks", fails="the target does not fall with the number of tasks") }};
    with 5 % of them and all related samples (Figure F.6)
    {{ said("universality/specific-wins-few", holds="a pre-training on the target alone is ahead of one on all tasks",
    fails="a pre-training on the target alone is not ahead of one on all tasks") }}.
    """
    methods = config["methods"]
    named = [pool for pool in dict.fromkeys(pooled["pool"]) if pool.startswith(pools)]
    cells = [(method, pool) for method in methods for pool in named]
    drawn = canvas(min(PAGE, 2.7 * len(cells) + 1.4), 3.2)
    own = pooled[pooled["task"] == 0]
    labels = sorted(own["labels"].unique())
    axes = drawn.subplots(1, len(cells), sharey=True, squeeze=False)[0]
    for ax, (method, pool) in zip(axes, cells, strict=True):
        part = own[(own["method"] == method) & (own["pool"] == pool)]
        sns.lineplot(
            part, x="place", y="value", hue="labels", hue_order=labels, errorbar=share_interval, marker="o",
            palette=SHARES[: len(labels)], err_style="bars", ax=ax,
        )  # fmt: skip
        places = sorted(part["place"].unique())
        ax.set(title=f"{NAMES[method]}: {WORDS.get(pool, pool)}", xscale="log", ylabel="target accuracy",
               xlabel="other tasks" if pool == "kinds" else "tasks of the pre-training")  # fmt: skip
        ax.set_xticks(places, [f"{place:g}" for place in places])
        ax.minorticks_off()
        if legend := ax.get_legend():
            legend.remove()
    drawn.legend(
        *axes[0].get_legend_handles_labels(),
        loc="outside right center",
        title=f"labels, n = {own['replicate'].nunique()}",
    )
    return drawn
