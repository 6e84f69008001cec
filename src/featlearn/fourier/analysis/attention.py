"""The maps of attention heads and their waves (Figures 4.3, C.5, C.6)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import seaborn as sns

from featlearn.core.claim_methods import Claims, claim
from featlearn.core.claims import (
    OBSERVATION,
    SHARE,
    THEOREM,
    OutOfReach,
    needs,
)
from featlearn.core.frames import pick
from featlearn.core.plots import PAGE, canvas
from featlearn.core.publish import Config, Table, figure, table
from featlearn.core.stats import SPREAD_KIND, side_by_side, summary
from featlearn.fourier.labels import task_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@figure("fig-4-3", cell="four", label="Figure 4.3", printed="4 numbers mod 31")
@figure("fig-c-5", cell="three", label="Figure C.5", printed="3 numbers mod 61")
@figure("fig-c-6", cell="five", label="Figure C.6", printed="5 numbers mod 17")
def attention_maps(
    maps: pd.DataFrame, heads: pd.DataFrame, config: Config, cell: str, label: str, printed: str
) -> Figure:
    r"""{{ label }}: are attention maps waves?

    *What to see:* stripes above, one or two points below. {{ said("fourier/attention-waves-{{ cell }}", holds="After
    training the strongest wave and its mirror image have most of the power", fails="After training the strongest wave
    and its mirror image have less than half of the power") }}; before, they have {{ value("attention", "start",
    cell="{{ cell }}", quantity="pair") | percent }}. Columns are random heads of one network with the heading's task
    (thesis: {{ printed }}). Above: $E^\top W^K W^Q E$ on the numbers, less the mean over keys. Below: power of each
    wave.
    """
    own = pick(maps, cell=cell)
    places = sorted(own["place"].unique())
    ends = pick(heads, cell=cell, moment="end", replicate=0)
    pair = ends.set_index("head")["pair"]
    darkest = pick(own, what="power")["value"].max()
    drawn = canvas(min(PAGE, 1.9 * len(places) + 0.3), 4.3)
    axes = drawn.subplots(2, len(places), squeeze=False)
    for place, (above, below) in zip(places, axes.T, strict=True):
        one = pick(own, place=place)
        grids = {what: part.pivot_table(index="key", columns="query", values="value")
                 for what, part in one.groupby("what")}  # fmt: skip
        most = np.abs(grids["map"].to_numpy()).max()
        sns.heatmap(grids["map"], ax=above, cmap="RdBu_r", vmin=-most, vmax=most, cbar=False,
                    square=True, xticklabels=False, yticklabels=False)  # fmt: skip
        above.set(title=f"{pair[one['head'].iloc[0]]:.0%}", xlabel="query", ylabel="key")
        power = _signed(grids["power"])
        sns.heatmap(power, ax=below, cmap="Blues", vmin=0, vmax=darkest, cbar=False,
                    linewidths=0.2, linecolor="#EEEEEE")  # fmt: skip
        below.invert_yaxis()
        below.set(xlabel="frequency, queries", ylabel="frequency, keys")
        marked = max(1, len(power) // 4)
        for values, side in ((power.columns, below.set_xticks), (power.index, below.set_yticks)):
            at = [place for place, value in enumerate(values) if value % marked == 0]
            side([place + 0.5 for place in at], [str(values[place]) for place in at], rotation=0)
    for ax in axes[:, 1:].flat:
        ax.set_ylabel("")
    drawn.suptitle(task_of(config, cell), fontsize=10, fontweight="bold", x=0.01, ha="left")
    return drawn


def _signed(power: pd.DataFrame) -> pd.DataFrame:
    """With the keys' frequencies from $-p/2$ to $p/2$."""
    p = len(power)
    return power.rename(index=lambda key: key - p if key > p // 2 else key).sort_index()


QUANTITIES = {
    "peak": "strongest wave",
    "pair": "with its mirror image",
    "same": "same frequency twice",
    "train": "training accuracy",
    "known": "test, permuted",
    "new": "test, new",
}


@table()
def attention(heads: pd.DataFrame, accuracies: pd.DataFrame, config: Config) -> Table:
    """Maps of the attention heads of Figures 4.3, C.5 and C.6"""
    own = heads.assign(same=(heads["key"] == heads["query"]).astype(float))
    keys = ["cell", "moment", "replicate"]
    of_maps = own.groupby(keys)[["peak", "pair", "same"]].mean().reset_index()
    of_maps = of_maps.melt(keys, var_name="quantity", value_name="value")
    last = accuracies["step"] == accuracies.groupby("cell")["step"].transform("max")
    ends = accuracies[last].rename(columns={"part": "quantity"}).assign(moment="end")
    both = pd.concat([of_maps, ends[[*keys, "quantity", "value"]]], ignore_index=True)
    found = summary(both, ["cell", "moment", "quantity"])
    starts = pick(found, moment="start").set_index(["cell", "quantity"])["mean"]
    means = pick(found, moment="end").drop(columns="moment")
    means = means.merge(starts.rename("start").reset_index(), on=["cell", "quantity"], how="left")
    named = found.assign(
        task=[task_of(config, cell) for cell in found["cell"]],
        when=found["moment"].map({"start": "at the start", "end": "after training"}),
    ).sort_values(["task", "when"], kind="stable", ascending=[True, False])
    shown = side_by_side(named, ["task", "when"], "quantity", QUANTITIES)
    return Table(
        means,
        shown,
        "Waves: share of the power of a map, mean over the heads; same frequency twice: share of the "
        "heads whose strongest wave has it along keys and along queries. Test inputs of which a "
        f"permutation was taught, and the rest. {int(means['replicates'].max())} replicates, after "
        f"the sign: {SPREAD_KIND}.",
    )


PRINTED = "Kind, after a run was published: an observation before, but the figure prints it."


def reach(cell: str, modulus: int) -> OutOfReach:
    """Least sizes of a cell."""
    sizes = {"modulus": modulus, "heads": 16, "steps": 1000, "replicates": 3}
    return needs(**{f"attention__{cell}__{key}": value for key, value in sizes.items()})


class Attention(Claims):
    """Of the heads of each replicate."""

    paper, kind = "fourier", OBSERVATION
    artefact = "fourier/measurements/attention/three-heads.parquet"
    out_of_reach = reach("three", 23)

    def mean(self, column, cell="three", moment="end"):
        heads = self.heads.assign(same=self.heads["key"] == self.heads["query"])
        return pick(heads, cell=cell, moment=moment).groupby("replicate")[column].mean()

    @claim("{figure}", "share of the power of a map in its strongest wave and the mirror image of "
           "that, mean over all heads", id="attention-waves-{cell}", low=0.5, high=1.0, kind=THEOREM,
           artefact="fourier/measurements/attention/{cell}-heads.parquet", possible=SHARE,
           changed=PRINTED, paper_says="“The left figure shows the final trained attention weights "
           "being an apparent 2-dim cosine shape.”", each=[
        {"cell": "three", "figure": "Figure C.5", "k": 3},
        {"cell": "four", "figure": "Figure 4.3", "k": 4, "out_of_reach": reach("four", 11)},
        {"cell": "five", "figure": "Figure C.6", "k": 5, "out_of_reach": reach("five", 7)},
    ], failure="not reproduced")  # fmt: skip
    def waves(self, cell):
        """The attention maps of a layer that adds {k} numbers are cosines over keys and queries.

        More than all other waves together; cosines of one frequency a side have 1. Pilots of one network had
        .56 to .73 for 3 numbers.
        """
        return self.mean("pair", cell)

    @claim("ours, beside section 4.1", "share of the heads whose strongest wave has the same "
           "frequency along both, 3 numbers", low=0.9, high=1.0, possible=SHARE,
           changed="Withdrawn, since its sentence named no number of inputs: the thesis writes of "
           "distinct frequencies with four. Now of three; band kept.")  # fmt: skip
    def attention_one_frequency(self):
        """With three numbers an attention map has the same frequency along keys and queries.

        By chance $2/(p - 1)$, with distinct frequencies 0; nine in ten leaves room for heads that have not
        learned. All, in pilots.
        """
        return self.mean("same")
