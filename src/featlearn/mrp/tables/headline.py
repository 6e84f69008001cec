"""Every model of the headline, on training data and on multi-view and single-view data."""

from __future__ import annotations

import pandas as pd

from featlearn.core.publish import Table, table
from featlearn.core.stats import side_by_side, summary

#: Models from what learns no features to what learns all, with the words that a reader sees.
LABELS = {
    "majority": "Most frequent class",
    "raw_linear": "Linear classifier on the summed patches",
    "random": "Random kernels + new head",
    "supervised": "Supervised, fixed blocks, as trained",
    "supervised_head": "Supervised, fixed blocks + new head",
    "supervised_all": "Supervised, head trained too, as trained",
    "supervised_all_head": "Supervised, head trained too + new head",
    "pretrained": "Mask reconstruction + new head",
    "finetuned": "Mask reconstruction, fine-tuned + new head",
}

#: Quantities of the wide table, with their column heads.
HEADS = {
    "train_accuracy": "training accuracy",
    "accuracy_multi_view": "multi-view accuracy",
    "accuracy_single_view": "single-view accuracy",
    "captured": "features captured",
    "impure_winners": "impure winners",
}

#: No such number.
ABSENT = "-"


def comparison(evaluation: pd.DataFrame) -> Table:
    """Mean and 95 % interval of every quantity, and for reading a row a model."""
    order = {model: place for place, model in enumerate(LABELS)}
    own = evaluation[evaluation["model"].isin(LABELS)]
    own = own.sort_values("model", key=lambda names: names.map(order), kind="stable")
    means = summary(own, ["model", "quantity"]).drop(columns="largest")
    means.insert(1, "label", means["model"].map(LABELS))
    wide = side_by_side(means, ["label"], "quantity", HEADS)
    return Table(means, wide.rename(columns={"label": "model"}))


@table()
def headline(evaluation: pd.DataFrame) -> Table:
    """Mask-reconstruction pre-training against what could do without it

    Data with feature noise in many patches, which a linear classifier does not solve; chance is one in
    the number of classes. A new head is a logistic regression on standardised features, trained to its
    optimum, its penalty chosen on validation data of the training distribution (multi-view). Features
    that a network *as trained* captured are counted in the kernels of their own class, others in all.
    """
    return comparison(evaluation)
