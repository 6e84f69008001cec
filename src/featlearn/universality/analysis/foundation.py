"""Probes and adapters on frozen encoders."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from featlearn.core.evidence.claim_methods import Claims, claim
from featlearn.core.evidence.claims import DIFFERENCE_OF_SHARES, THEOREM, first_of, needs, original
from featlearn.core.evidence.frames import pick
from featlearn.core.run.exhibits import Config, Table, table
from featlearn.universality.analysis import NOTHING
from featlearn.universality.encoders import ADAPTED, ALL, ENCODER, PROBED, named
from featlearn.universality.printed import OURS, beside
from featlearn.universality.words import FT, LP


def _learns_nothing(probed: pd.DataFrame, own: pd.DataFrame) -> pd.DataFrame:
    """Rows of ``probed`` for methods without learning, at the models and shares of ``own``."""
    return probed[probed["model"].isin(own["model"]) & (probed["features"] != ENCODER)
                  & probed["percent"].isin(own["percent"])]  # fmt: skip


@table("table-f-6", which="table-f-6", model="CLIP", place=0)
@table("table-f-7", which="table-f-7", model="MoCo v3", place=1)
@table("table-f-8", which="table-f-8", model="SimCSE", place=0)
def by_share(
    adapters: pd.DataFrame, probed: pd.DataFrame, paper_values: Mapping[str, Any], config: Config,
    which: str, model: str, place: int,
) -> Table:  # fmt: skip
    """Probe and adapters by share of the labels and augmented copies; in the thesis on {{ model }}

    Unless a config names encoders and data, networks on vectors stand in, pre-trained on all tasks (F.6, F.8) or on the
    first alone (F.7). Raw input, random features, random weights and chance learn nothing.

    ---

    ResNet-20 and -56, where named, have seen the hold-out of CIFAR-10. F.8 is text, tuned as a whole in the thesis.
    """
    text = which == "table-f-8"
    names = list(dict.fromkeys(adapters["model"]))
    kinds = {name: one["encoder"]["kind"] for name, one in config["models"].items()}
    fitting = [name for name in names if (kinds.get(name) == "text") == text] or names
    # without the table's encoder the one in this place, among texts or others
    shown = model if model in names else fitting[min(place, len(fitting) - 1)]
    own = adapters[adapters["model"] == shown]
    floors = _learns_nothing(probed, own).rename(columns={"features": "method"})
    both = pd.concat([own, floors])
    order = list(dict.fromkeys(own["target"]))
    both = both.sort_values("target", key=lambda own: own.map(order.index), kind="stable")
    rows = []
    keys = both[["model", "target", "method", "copies"]]
    for name, target, method, copies in keys.itertuples(index=False):
        adapter = method in (FT, OURS)
        printed = name == model and named(name, target) and not (text and adapter)
        words = [target if printed else f"{name}: {target}", method]
        # SimCSE's own rows tell no copies
        told = (adapter or method == LP) and not (text and printed)
        rows.append(", ".join([*words, f"{copies:g}"] if told else words))
    measured = both.assign(row=rows, column=both["percent"].astype(int).astype(str) + " %")
    index = ["target", "method"] if text else ["target", "method", "aug"]
    return beside(paper_values, which, measured, index=index, named=True)


@table("table-7-2")
def all_labels(
    adapters: pd.DataFrame, probed: pd.DataFrame, paper_values: Mapping[str, Any], config: Config
) -> Table:
    """Frozen encoders with all labels

    LP without augmentation; FT and Ours with ten augmented copies, or the config's number. On text (the last two
    columns) the thesis tunes the whole encoder; here it is an adapter, in a separate column. Rows below Ours learn
    nothing. ResNet-20 and -56, where named, were trained on the hold-out of CIFAR-10, too.
    """
    copies = config["copies"][min(1, len(config["copies"]) - 1)]
    whole = pick(adapters, percent=100)
    own = whole[(whole["method"] == LP) | (whole["copies"] == copies)]
    both = pd.concat([own, _learns_nothing(probed, own).rename(columns={"features": "method"})])
    columns = []
    for model, target, method in both[["model", "target", "method"]].itertuples(index=False):
        tuned = method in (FT, OURS)
        text = model == ADAPTED["table-f-8"][0] and tuned
        printed = named(model, target) and not text and (not tuned or copies == 10)
        columns.append(f"{model} {target}" if printed else f"{model}: {target}")
    measured = both.assign(row=both["method"], column=columns)
    return beside(paper_values, "table-7-2", measured, index=["method"], named=True)


@table("table-f-1", which="table-f-1")
@table("table-f-2", which="table-f-2")
@table("table-f-3", which="table-f-3")
@table("table-f-4", which="table-f-4")
@table("table-f-10", which="table-f-10")
@table("table-f-11", which="table-f-11")
def by_labels(probed: pd.DataFrame, paper_values: Mapping[str, Any], which: str) -> Table:
    """A probe on frozen encoders from files, by number of labels ({{ name }})

    Encoders and sets that a config names as the thesis does. Chance is the most frequent class.
    """
    printed = PROBED[which]
    own = pick(probed, model=list(printed.columns), target=[target for target, _ in printed.rows])
    numbers = own["labels"].where(own["percent"].isna(), ALL)
    own = own.assign(number=numbers)[own["percent"].isna() | (own["percent"] == 100)]
    wanted = {number for _, number in printed.rows}
    own = own[(own["number"] != ALL) | (ALL in wanted)]
    first = own.groupby("target")["model"].transform("first")
    own = own[(own["features"] == ENCODER) | (own["model"] == first)]
    rows = [printed.rows.get((target, number),
                             f"{target}, {'all' if number == ALL else number} labels")
            for target, number in zip(own["target"], own["number"], strict=True)]  # fmt: skip
    columns = [printed.columns[model] if features == ENCODER else features
               for model, features in zip(own["model"], own["features"], strict=True)]  # fmt: skip
    every = paper_values[printed.key]["rows"]
    lines = [row for row in every if row["target"] in printed.rows.values()]
    measured = own.assign(row=rows, column=columns)
    return beside(paper_values, printed.key, measured, index=["target"], rows=lines, named=True)


class Foundation(Claims):
    paper, kind, possible, changed = "universality", THEOREM, DIFFERENCE_OF_SHARES, NOTHING
    low, high = 0, 1
    out_of_reach = first_of(needs(foundation__steps=300, ladders__replicates=5, ladders__steps=400),
                            original("foundation__models"))  # fmt: skip

    def gain(self, first, second, percent=None):
        """Mean over encoders and targets, and over shares of the labels unless one is given."""
        copies = self.config["foundation"]["copies"]
        most = copies[min(1, len(copies) - 1)]
        cells = [
            pick(self.adapters, method=method, copies=1 if method == LP else most)
            .pivot_table(index="replicate", columns=["model", "target", "percent"], values="value")
            for method in (first, second)
        ]  # fmt: skip
        each = cells[0] - cells[1]
        if percent is not None:
            each = each.loc[:, each.columns.get_level_values("percent") == percent]
        return each.mean(axis=1)

    @claim("Table 7.2", "FT with ten copies less LP, mean over encoders and targets",
           failure="not reproduced")  # fmt: skip
    def adapter_beats_probe(self):
        """With all labels an adapter on a frozen encoder beats a probe.

        The thesis has .4 to 15 points. Not piloted.
        """
        return self.gain(FT, LP, 100)

    @claim("Tables 7.2, F.6, F.7",
           "Ours less FT with ten copies, mean over encoders and targets and shares of the labels",
           paper_says="“our method can consistently improve the downstream prediction performance”",
           failure="not reproduced")  # fmt: skip
    def adapter_with_contrast(self):
        """A contrastive loss at an adapter's output raises its accuracy.

        The thesis has .3 to 5 points. Not piloted.
        """
        return self.gain(OURS, FT)
