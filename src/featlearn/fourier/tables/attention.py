"""What the maps of attention heads are."""

from __future__ import annotations

import pandas as pd

from featlearn.core.publish import Config, Table, table
from featlearn.core.stats import SPREAD_KIND, side_by_side, summary
from featlearn.fourier.words import task_of

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
    starts = found[found["moment"] == "start"].set_index(["cell", "quantity"])["mean"]
    means = found[found["moment"] == "end"].drop(columns="moment")
    means = means.merge(starts.rename("start").reset_index(), on=["cell", "quantity"], how="left")
    rows = [
        found[found["moment"] == moment].assign(
            task=[task_of(config, cell) for cell in found[found["moment"] == moment]["cell"]],
            when="after training" if moment == "end" else "at the start",
        )
        for moment in ("start", "end")
    ]  # fmt: skip
    shown = side_by_side(
        pd.concat(rows).sort_values(["task", "when"], kind="stable", ascending=[True, False]),
        ["task", "when"], "quantity", QUANTITIES,
    )  # fmt: skip
    return Table(
        means,
        shown,
        "Waves: share of the power of a map, mean over the heads; same frequency twice: share of the "
        "heads whose strongest wave has it along keys and along queries. Test inputs of which a "
        f"permutation was taught, and the rest. {int(means['replicates'].max())} replicates, after "
        f"the sign: {SPREAD_KIND}.",
    )
