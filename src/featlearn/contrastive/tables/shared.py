"""What several tables share: rows in the order of the story, exact errors beside an arm."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from featlearn.core.stats import number

PROBE_HEADS = {"nmse": "NMSE", "accuracy": "accuracy"}
TRAIN_HEADS = {"train_nmse": "NMSE, training", "train_accuracy": "accuracy, training"}


def labelled(table: pd.DataFrame, column: str, words: Mapping[str, str]) -> pd.DataFrame:
    """Rows whose ``column`` is known, in the order of ``words``, with a column ``label``."""
    known = pd.concat([table[table[column] == name] for name in words], ignore_index=True)
    return known.assign(label=known[column].map(words))


def with_baselines(wide: pd.DataFrame, table: pd.DataFrame, stems: Sequence[str]) -> pd.DataFrame:
    """The table for reading, and beside each row the exact errors that linear and Bayes make.

    Parameters
    ----------
    table
        A summary over models called ``<stem>linear-exact`` and ``<stem>bayes-exact``.
    stems
        One a row of ``wide``.
    """
    nmse = table[table["quantity"] == "nmse"].set_index("model")["mean"]
    heads = {"linear": "NMSE, linear", "bayes": "NMSE, Bayes"}
    return wide.assign(
        **{
            head: [number(nmse[f"{stem}{name}-exact"]) for stem in stems]
            for name, head in heads.items()
        }
    )
