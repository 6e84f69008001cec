"""One comparison in full: accuracies of every network, and what each took."""

from __future__ import annotations

import pandas as pd

from featlearn.core.publish import Config, Table, table
from featlearn.core.stats import side_by_side, summary
from featlearn.mrp.images.arms import named
from featlearn.mrp.tables.images_comparison import HEADS

#: Quantities of the wide table, with their column heads.
SHOWN = {"training": "training", **HEADS}


@table()
def images_gain(gain: pd.DataFrame) -> Table:
    """What pre-training brings over every supervised opponent

    Accuracy on the labelled training pictures and on fresh ones: with all parts of the class, with one
    part alone, and with that part alone which the network recognises worse. Linear classifiers are
    solved to their optimum on standardised features, their penalty is chosen on a part of the labelled
    pictures. *Equal steps*: as many optimiser steps as the longest pre-training and fine-tuning together.
    """
    means = summary(named(gain), ["arm", "quantity"]).drop(columns="largest")
    return Table(means, side_by_side(means, ["arm"], "quantity", SHOWN))


@table()
def images_took(gain: pd.DataFrame, config: Config) -> Table:
    """What it took

    Labels, optimiser steps and pictures shown (an augmented one counts each time) for the accuracy on the
    worse part alone. A step without labels costs about as much as one with labels twice: the decoder
    comes on top of the encoder.
    """
    own = named(gain[gain["quantity"] == "worst_view"])
    cost = ["arm", "unlabelled_steps", "steps"]
    means = summary(own, cost).drop(columns="largest")
    batch = config["pretraining"]["simmim"]["training"]["batch_size"]
    few = min(
        config["gain"]["labels"], config["comparison"]["finetuning"]["training"]["batch_size"]
    )
    means["pictures"] = means["unlabelled_steps"] * batch + means["steps"] * few
    wide = side_by_side(means.assign(quantity="worst_view"), [*cost, "pictures"], "quantity", HEADS)
    words = {"unlabelled_steps": "steps without labels", "steps": "steps with labels",
             "pictures": "pictures shown"}  # fmt: skip
    return Table(means, wide.rename(columns=words))
