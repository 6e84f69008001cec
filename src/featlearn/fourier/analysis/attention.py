"""The maps of attention heads and their waves (Figures 4.3, C.5, C.6)."""

from __future__ import annotations

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.figure import Figure

from featlearn.core.drawing.plots import PAGE, canvas
from featlearn.core.evidence.claim_methods import Claims, claim, premise
from featlearn.core.evidence.claims import OBSERVATION, SHARE, THEOREM, OutOfReach, needs
from featlearn.core.evidence.frames import pick
from featlearn.core.evidence.stats import SPREAD_KIND, side_by_side, summary
from featlearn.core.run.exhibits import Config, Table, figure, table
from featlearn.fourier.analysis import task_of

#: Share of a map's power that is judged, by the number of inputs: one frequency of queries, or two.
WAVES = {"three": "pair", "four": "two", "five": "pair"}
WORDS = {"pair": "in its strongest wave and the mirror image of that",
         "two": "at its best key frequency with its two best query frequencies"}  # fmt: skip


@figure("fig-4-3", cell="four", label="Figure 4.3", printed="4 numbers mod 31")
@figure("fig-c-5", cell="three", label="Figure C.5", printed="3 numbers mod 61")
@figure("fig-c-6", cell="five", label="Figure C.6", printed="5 numbers mod 17")
def attention_maps(
    maps: pd.DataFrame, heads: pd.DataFrame, config: Config, cell: str, label: str, printed: str
) -> Figure:
    r"""{{ label }}: are attention maps waves?

    *What to see:* stripes above, few points below. {{ said("fourier/attention-waves-{{ cell }}", holds="After training
    few waves have most of the power", fails="After training few waves have less than half of the power") }}; of other
    orbits the layer answers {{ value("attention", cell="{{ cell }}", quantity="new") | percent }}. Columns are random
    heads, titles their share (thesis: {{ printed }}). Above: $E^\top W^K W^Q E$ on the numbers, less the mean over
    keys. Below: power.
    """
    own = pick(maps, cell=cell)
    places = sorted(own["place"].unique())
    ends = pick(heads, cell=cell, moment="end", replicate=0)
    share = ends.set_index("head")[WAVES[cell]]
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
        above.set(title=f"{share[one['head'].iloc[0]]:.0%}", xlabel="query", ylabel="key")
        # the keys' frequencies from -p/2 to p/2
        p = len(grids["power"])
        keys = [key - p if key > p // 2 else key for key in grids["power"].index]
        power = grids["power"].set_axis(keys).sort_index()
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


QUANTITIES = {
    "best": "one key frequency", "pair": "one query frequency", "two": "two query frequencies",
    "same": "same frequency twice", "rule": "two make the keys'", "train": "training accuracy",
    "known": "test, permuted", "new": "test, new",
}  # fmt: skip
OF_MAPS = ["best", "pair", "two", "same", "rule"]


@table()
def attention(heads: pd.DataFrame, accuracies: pd.DataFrame, config: Config) -> Table:
    """Maps of the attention heads of Figures 4.3, C.5 and C.6"""
    own = heads.assign(same=heads["key"] == heads["query"]).astype(dict.fromkeys(OF_MAPS, float))
    keys = ["cell", "moment", "replicate"]
    of_maps = own.groupby(keys)[OF_MAPS].mean().reset_index()
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
        means, shown,
        "Share of a map's power at its best key frequency; of its strongest wave and the mirror image; "
        "of that key frequency with its two best query frequencies: means over the heads. Shares of the "
        "heads: with the same frequency along keys and queries; whose two query frequencies add or "
        "subtract to the keys' (mod p). Test inputs of which a permutation was taught, and the "
        f"rest. {int(means['replicates'].max())} replicates, after the sign: {SPREAD_KIND}.",
    )  # fmt: skip


def reach(cell: str, modulus: int, steps: int) -> OutOfReach:
    """Least sizes of a cell."""
    return needs(f"attention__{cell}", modulus=modulus, heads=16, steps=steps, replicates=3)


class Attention(Claims):
    paper, kind = "fourier", OBSERVATION
    out_of_reach = reach("three", 23, 2500)

    def mean(self, column, cell, moment="end"):
        heads = self.heads.assign(same=self.heads["key"] == self.heads["query"])
        return pick(heads, cell=cell, moment=moment).groupby("replicate")[column].mean()

    @premise(">=")
    def answers(self):
        """every layer answers half of the inputs of orbits that it was not taught"""
        last = self.accuracies["step"] == self.accuracies.groupby("cell")["step"].transform("max")
        new = pick(self.accuracies[last], part="new").groupby("cell")["value"].min()
        return new.reindex(list(WAVES)).fillna(0).min(), 0.5

    @claim("{figure}", "share of the power of a map, mean over all heads, {words}",
           id="attention-waves-{cell}", low=0.5, high=1.0, kind=THEOREM, premises=("answers",),
           artefact="fourier/measurements/attention/{cell}-heads.parquet", possible=SHARE,
           changed="Layers that answer held-out orbits (weight decay 1, whole orbits left out), and for four numbers "
           "two query frequencies, after .32 with one; pilots on other streams had .63 and .91 at one key frequency; "
           "band kept.", paper_says="“The left figure shows the final trained attention weights being an apparent "
           "2-dim cosine shape.”", each=[
        {"cell": "three", "figure": "Figure C.5", "k": 3, "words": WORDS["pair"]},
        {"cell": "four", "figure": "Figure 4.3", "k": 4, "words": WORDS["two"],
         "out_of_reach": reach("four", 13, 3000)},
        {"cell": "five", "figure": "Figure C.6", "k": 5, "words": WORDS["pair"],
         "out_of_reach": reach("five", 11, 4000)},
    ], failure="not reproduced")  # fmt: skip
    def waves(self, cell):
        """The attention maps of a layer that adds {k} numbers are cosines over keys and queries.

        More than all other waves together; such cosines alone have 1.
        """
        return self.mean(WAVES[cell], cell)

    @claim("ours, behind section 4.1", "share of the heads {words}", id="attention-frequencies-{cell}",
           low=0.5, high=1.0, possible=SHARE, changed="Stands in place of attention-one-frequency, "
           "which held three numbers against a sentence on four (1.000, band from .9).",
           artefact="fourier/measurements/attention/{cell}-heads.parquet", each=[
        {"cell": "three", "column": "same", "words": "whose strongest wave has the same frequency along "
         "keys and queries, 3 numbers", "k": "One query factor makes", "low": 0.9},
        {"cell": "four", "column": "rule", "words": "whose two best query frequencies add or subtract to "
         "that of the keys (mod p), 4 numbers", "k": "Two query factors make", "out_of_reach": reach("four", 13, 3000)},
    ])  # fmt: skip
    def frequencies(self, cell, column):
        """{k} the frequency of the keys, as the softmax has it to first order.

        By chance less than a third of the heads; of three numbers nine in ten, of four half, where a factor
        is not pure.
        """
        return self.mean(column, cell)
