"""Tables of pictures: measured beside what the thesis prints of its own sets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from featlearn.core.publish import Config, Table, table
from featlearn.core.quoted import quoted_table
from featlearn.core.stats import plus_minus, summary

ARMS = {"probe": "LP", "finetuned": "FT", "ours": "Ours", "continued": "CR then LP"}


def _laid_out(found: pd.DataFrame, quoted: Mapping[str, Any], name: str) -> Table:
    """Test accuracies with columns ``row`` and ``column``, then the printed ones, in per cent."""
    means = summary(found[found["quantity"] == "test"], ["row", "column"])
    quoted_rows = quoted_table(quoted, name)[0][["row", "column", "paper_value"]]
    frame = pd.concat([means.assign(source="measured"), quoted_rows.assign(source="thesis")])
    cells = [
        f"{printed:.2f}" if source == "thesis" else plus_minus(100 * mean, 100 * half)
        for printed, source, mean, half in zip(
            frame["paper_value"], frame["source"], frame["mean"], frame["half_width"], strict=True
        )
    ]
    shown = []
    for source, own in frame.assign(cell=cells).groupby("source", sort=False):
        wide = own.pivot_table(
            index="row", columns="column", values="cell", aggfunc="first", sort=False
        )
        columns = [f"{number + 1}" for number in range(len(wide.columns))]
        head = pd.DataFrame([[source, *wide.columns]], columns=["", *columns])
        body = wide.set_axis(columns, axis=1).rename_axis(index="").reset_index()
        shown += [head, body]
    text = pd.concat(shown).fillna("").rename(columns={"": "row"})
    return Table(frame.reset_index(drop=True), text)


def _steps(config: Config) -> dict[str, str]:
    ladder = config["ladder"]
    return {f"rung-{n + 1}": ("+" if n else "") + own for n, own in enumerate(ladder)}


@table("table-7-1", only="all")
@table("table-f-5", only="")
def tuned(tuned: pd.DataFrame, quoted: Mapping[str, Any], config: Config, only: str) -> Table:
    """Probe, fine-tuning and fine-tuning with the contrastive loss along the ladder

    Test accuracy on the target in per cent, by what the encoder was pre-trained on. LP: a linear head
    solved to its optimum on frozen features; FT: encoder and head trained; Ours: with the contrastive
    loss beside. FT and Ours take the same steps and views. Below, what the thesis prints of CIFAR-10
    and a ResNet-18 (`paper_value`): other pictures and sizes, so that only directions compare.
    """
    own = tuned[tuned["arm"].isin(["probe", "finetuned", "ours"])]
    whole = own["labels"].max()
    steps = own["model"].map(_steps(config))
    arms = own["arm"].map(ARMS)
    if only:
        own = own.assign(row=arms, column=steps)[own["labels"] == whole]
        return _laid_out(own, quoted, "table-7-1")
    own = own.assign(row=steps + ", " + arms, column=own["labels"].astype(str) + " labels")
    return _laid_out(own, quoted, "table-f-5")


@table("table-f-2", target="first", name_of="table-f-2")
@table("table-f-3", target="other", name_of="table-f-3")
def specialists(
    values: pd.DataFrame, quoted: Mapping[str, Any], config: Config, target: str, name_of: str
) -> Table:
    """Specific, universal, and a tenth of the universal pre-training, by the number of labels

    Test accuracy of a linear head in per cent. Specific: pre-trained on the target's pictures alone;
    universal: on all sets; a tenth: on a random tenth of all, for as many epochs and so a tenth of the
    steps. Pixels and random encoder: heads on features that nothing was learned for. Below, what the
    thesis prints of ImageNet (`paper_value`).
    """
    own_set = config["ladder"][0] if target == "first" else config["other"]
    last = f"rung-{len(config['ladder'])}"
    specific = "rung-1" if target == "first" else "other"
    heads = {specific: "specific", last: "universal", "tenth": "a tenth"}
    first = next(iter(config["methods"]))
    own = values[(values["set"] == own_set) & values["method"].isin([first, "none"])]
    names = (
        own["model"]
        .map(heads)
        .fillna(own["arm"].map({"raw": "pixels", "random": "random encoder"}))
    )
    own = own.assign(row=own["labels"].astype(str) + " labels", column=names).dropna(
        subset="column"
    )
    return _laid_out(own, quoted, name_of)


@table("table-f-9")
def continued(tuned: pd.DataFrame, quoted: Mapping[str, Any], config: Config) -> Table:
    """The contrastive loss on the target, then a probe

    LP: as in Table 7.1. CR then LP: the encoder is first trained further, without labels, on the
    target's pictures alone. All labels; per cent. Below, what the thesis prints (`paper_value`).
    """
    own = tuned[tuned["arm"].isin(["probe", "continued"]) & (tuned["set"] == config["ladder"][0])]
    own = own[own["labels"] == own["labels"].max()]
    own = own.assign(row=own["arm"].map(ARMS), column=own["model"].map(_steps(config)))
    return _laid_out(own, quoted, "table-f-9")


@table("table-f-10", target="first", name_of="table-f-10")
@table("table-f-11", target="other", name_of="table-f-11")
def recovered(
    values: pd.DataFrame, tuned: pd.DataFrame, quoted: Mapping[str, Any], config: Config,
    target: str, name_of: str,
) -> Table:  # fmt: skip
    """Specific, universal, and universal with the contrastive loss on the target

    Test accuracy of a linear head in per cent, by the number of labels; per cent. Below, what the
    thesis prints of a thousand labels (`paper_value`).
    """
    own_set = config["ladder"][0] if target == "first" else config["other"]
    last = f"rung-{len(config['ladder'])}"
    specific = "rung-1" if target == "first" else "other"
    both = pd.concat([values, tuned[tuned["arm"] == "continued"]])
    first = next(iter(config["methods"]))
    both = both[(both["set"] == own_set) & (both["method"] == first)]
    heads = {(specific, "probe"): "specific", (last, "probe"): "universal",
             (last, "continued"): "universal, then CR"}  # fmt: skip
    names = [heads.get(key) for key in zip(both["model"], both["arm"], strict=True)]
    both = both.assign(row=both["labels"].astype(str) + " labels", column=names)
    return _laid_out(both.dropna(subset="column"), quoted, name_of)
