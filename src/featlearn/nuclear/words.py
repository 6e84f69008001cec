"""Pairs of algorithms, and means over the left-out domains."""

from __future__ import annotations

import pandas as pd

#: The same training averaged by SWAD, as it is called.
SWAD = {"ERM": "SWAD", "ERM-NU": "SWAD-NU", "CORAL": "SWAD-CORAL"}
#: What is compared, by name: with the penalty, and without.
PAIRS = {
    "ERM-NU": ("ERM-NU", "ERM"), "ERM-NU released": ("ERM-NU released", "ERM"),
    "Mixup-NU": ("Mixup-NU", "Mixup"), "SWAD-NU": ("SWAD-NU", "SWAD"),
}  # fmt: skip
#: Not drawn with the others: the printed weight and scaling, and against another norm.
FURTHER = {
    "ERM-NU printed": ("ERM-NU printed", "ERM"),
    "over Frobenius": ("ERM-NU", "ERM-Frobenius"),
}
#: What learns no features.
OPPONENTS = ("linear on pixels", "random features", "majority")
AVERAGE = "Avg"


def algorithms(accuracies: pd.DataFrame) -> pd.DataFrame:
    """Rows with the ``algorithm`` of the tables; averages that none of them prints are left out."""
    dense = accuracies["averaging"] == "swad"
    name = accuracies["arm"].where(~dense, accuracies["arm"].map(SWAD))
    return accuracies.assign(algorithm=name).dropna(subset=["algorithm"])


def averaged(frame: pd.DataFrame, by: list[str], values: list[str]) -> pd.DataFrame:
    """Mean over left-out domains, a row a replicate."""
    return frame.groupby([*by, "replicate"], sort=False)[values].mean().reset_index()


def with_average(frame: pd.DataFrame) -> pd.DataFrame:
    """Accuracy by algorithm, domain and replicate, the mean over domains as one more."""
    own = algorithms(frame)[["algorithm", "domain", "replicate", "value"]]
    mean = averaged(own, ["algorithm"], ["value"]).assign(domain=AVERAGE)
    return pd.concat([own, mean], ignore_index=True)


def gains(accuracies: pd.DataFrame) -> pd.DataFrame:
    """With the penalty minus without, by pair, domain and replicate."""
    own = with_average(accuracies)
    keys, found = ["domain", "replicate"], []
    for name, (first, second) in (PAIRS | FURTHER).items():
        both = own[own["algorithm"] == first].merge(
            own[own["algorithm"] == second], on=keys, suffixes=("", "_without")
        )
        found.append(both.assign(pair=name, value=both["value"] - both["value_without"]))
    return pd.concat(found, ignore_index=True)[["pair", *keys, "value"]]
