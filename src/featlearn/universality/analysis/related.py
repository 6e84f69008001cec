"""The pool of the pre-training, and its worth to the target."""

from __future__ import annotations

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.figure import Figure

from featlearn.core.drawing.intervals import share_interval
from featlearn.core.drawing.plots import PAGE, canvas
from featlearn.core.evidence.claim_methods import Claims, claim
from featlearn.core.evidence.claims import DIFFERENCE_OF_SHARES, THEOREM, needs
from featlearn.core.evidence.frames import pick
from featlearn.core.evidence.stats import per_replicate
from featlearn.core.run.exhibits import Config, PaperValues, Table, figure, table
from featlearn.universality.analysis import EPOCHS, NAMES, NOTHING, SHARES, stand_in
from featlearn.universality.printed import beside

#: Pools whose names say little above a panel.
WORDS = {"own": "with the labelled samples", "kinds": "as many other samples"}


@figure("fig-f-7", contains="stand-in", pools=("own",))
@figure("fig-f-6", contains="stand-in", pools=("related",))
@figure("fig-f-5", contains="stand-in", pools=("kinds",))
def pools(pooled: pd.DataFrame, config: Config, pools: tuple[str, ...]) -> Figure:
    """Which samples should a pre-training add for the target? ({{ name }})

    *What to see:* with equally many samples of more tasks {{ said("universality/classes-at-fixed-samples", holds="the
    target falls (F.5, all labels)", fails="the target does not fall (F.5, all labels)") }}; {{
    said("universality/specific-wins-few", holds="the target alone beats all tasks (F.6, 5 %)", fails="the target alone
    does not beat all tasks (F.6, 5 %)") }}. Probes on vectors, 95 % intervals, a line for each number of labels. Pools:
    *related* share of the target's samples, labelled samples, or as many other samples.
    """
    named = [pool for pool in dict.fromkeys(pooled["pool"]) if pool.startswith(pools)]
    cells = [(method, pool) for method in config["methods"] for pool in named]
    drawn = canvas(min(PAGE, 2.7 * len(cells) + 1.4), 3.2)
    own = pick(pooled, task=0)
    labels = sorted(own["labels"].unique())
    axes = drawn.subplots(1, len(cells), sharey=True, squeeze=False)[0]
    for ax, (method, pool) in zip(axes, cells, strict=True):
        part = pick(own, method=method, pool=pool)
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
    drawn.legend(*axes[0].get_legend_handles_labels(), loc="outside right center",
                 title=f"labels, n = {own['replicate'].nunique()}")  # fmt: skip
    return drawn


@table("table-f-2", contains="stand-in", which="table-f-2")
@table("table-f-3", contains="stand-in", which="table-f-3")
def specific_and_universal(
    pooled: pd.DataFrame, paper_values: PaperValues, config: Config, which: str
) -> Table:
    """A probe by number of labels, on three pre-trainings ({{ name }})

    On vectors: pools of the target's task (*specific*), of all tasks (*universal*), and a tenth of these samples;
    *all tasks*: one of each rung, all labels. Both tables have the same stand-in.
    """
    own = pick(pooled, method=config["methods"][0])
    most = own["place"].max()
    cells = {"specific": ("related 100 %", 1), "universal": ("related 100 %", most),
             "a tenth": ("tenth", most)}  # fmt: skip
    rows = []
    for word, (pool, place) in cells.items():
        part = pick(own, pool=pool, place=place).assign(column=word)
        target = pick(part, task=0)
        rows.append(target.assign(row="target, " + target["labels"].astype(str) + " labels"))
        every = part[part["labels"] == part["labels"].max()]
        every = every.groupby(["column", "replicate"], as_index=False)["value"].mean()
        rows.append(every.assign(row="all tasks, all labels"))
    return beside(paper_values, which, pd.concat(rows), index=["target"])


class Related(Claims):
    paper, kind, possible, changed = "universality", THEOREM, DIFFERENCE_OF_SHARES, NOTHING
    out_of_reach = stand_in(needs(related__steps=400, ladders__replicates=5, ladders__mixtures=8))

    def accuracy(self, pool, place, *, few):
        """On the target, after a pre-training on a pool."""
        own = pick(self.pooled, task=0)
        labels = sorted(own["labels"].unique())[1 if few else -1]
        return per_replicate(own, method="moco", pool=pool, place=place, labels=labels)

    @claim("Figure F.5", "accuracy with the most other tasks less that with the fewest, all labels", low=-1, high=0,
           paper_says="“the performance will drop on the downstream task”",
           failure="not reproduced")  # fmt: skip
    def classes_at_fixed_samples(self):
        """At a fixed number of samples the target accuracy falls with the number of tasks.

        The thesis; its linear theory has weights of $1/T$. Not piloted.
        """
        kinds = sorted(self.config["related"]["kinds"])
        most, fewest = (self.accuracy("kinds", place, few=False) for place in (kinds[-1], kinds[0]))
        return most - fewest

    @claim("Tables F.2 and F.3", "accuracy after the target alone less that after all, the better of as many steps "
           "and as many epochs, 5 % of the labels", low=0, high=1, changed=NOTHING + EPOCHS,
           paper_says="“can down-weight the features for a specific task resulting in worse prediction”")  # fmt: skip
    def specific_wins_few(self):
        """With few labels the specific representation beats the universal one.

        The thesis has 1.8 to 17 points at 500 and 1000 labels. Not piloted.
        """
        every = float(self.pooled["place"].max())
        alone, after = (self.accuracy("related 100 %", place, few=True) for place in (1, every))
        return alone - np.maximum(after, self.accuracy("grown", every, few=True))
