"""Tables 9.1, 9.2 and G.1: fourteen tasks by a stand-in, beside the printed averages."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd

from featlearn.core.evidence.paper_values import paper_table
from featlearn.core.run.exhibits import PaperValues, Table, table
from featlearn.gemfilter.words import ARMS, NETWORKS, TASKS

NOTE = ("Rows in italics are printed in the thesis. The hand-wired stand-in reads small generated texts of the "
        "same metrics, not the data of the thesis: only an order of methods can be read off it, not a quality. "
        "It looks up and copies, and can neither count (PCount) nor answer in two hops. ")  # fmt: skip


def _table(
    tasks: pd.DataFrame, by: list[str], name: Callable[..., str], printed: pd.DataFrame, note: str
) -> Table:
    """``name`` names a row from its values of ``by``; the network comes before."""
    by = ["network", *by]
    means = tasks.groupby([*by, "task"], sort=False)["value"].mean().reset_index()
    wide = means.pivot_table(index=by, columns="task", values="value", sort=False)
    columns = [task for task in TASKS if task in wide.columns]
    wide = wide[columns].assign(average=wide[columns].mean(axis=1)).reset_index()
    frame = wide.melt(by, [*columns, "average"], "task", "measured")
    frame["paper_value"] = float("nan")
    old = printed[["model", "arm", "task", "paper_value"]].rename(columns={"model": "network"})
    frame = pd.concat([frame, old], ignore_index=True)
    heads = {task: TASKS[task] for task in [*columns, "average"]}
    shown = wide.rename(columns=heads)
    shown.insert(0, "", [f"{NETWORKS.get(who, who)}, {name(*row)}"
                         for who, *row in wide[by].itertuples(index=False)])  # fmt: skip
    keys = ["model", "arm"]
    theirs = printed.pivot_table(index=keys, columns="task", values="paper_value", sort=False)
    theirs = theirs[list(heads)].rename(columns=heads).reset_index()
    theirs.insert(0, "", "*" + theirs["model"] + ", " + theirs["arm"] + "*")
    both = pd.concat([shown.drop(columns=by), theirs.drop(columns=keys)])
    both[list(heads.values())] = both[list(heads.values())].map(lambda value: f"{value:.1f}")
    prompts = tasks.groupby(["network", "task"])["replicate"].nunique().max()
    return Table(frame, both, f"{NOTE}{note} At most {prompts} prompts a task.")


@table("table-9-1", framed=False, label="Table 9.1")
@table("table-g-1", framed=True, label="Table G.1")
def methods(tasks: pd.DataFrame, paper_values: PaperValues, framed: bool, label: str) -> Table:
    """{{ label }}: tasks of LongBench's metrics, by method"""
    printed = "table-g-1" if framed else "table-9-1"
    own = tasks[(tasks["framed"] == framed) & tasks["chosen"]]
    note = ("As one message in the chat template; of the stand-in, with four tokens before the text."
            if framed else "Without a chat template.")  # fmt: skip
    return _table(own, ["arm", "kept"], lambda arm, kept: ARMS[arm] + (f"-{kept}" if kept else ""),
                  paper_table(paper_values, printed)[0], note)  # fmt: skip


@table("table-9-2")
def filter_layers(tasks: pd.DataFrame, paper_values: PaperValues) -> Table:
    """Table 9.2: tasks of LongBench's metrics, by filter layer"""
    own = tasks[tasks["swept"] & ~tasks["framed"]].sort_values(["network", "layer"], kind="stable")
    return _table(own, ["layer"], lambda layer: f"layer {layer}", paper_table(paper_values, "table-9-2")[0],
                  "Layers 3 to 5 of the stand-in find cues by construction.")  # fmt: skip
