"""The paper's comparison on pictures; bands as :mod:`featlearn.mrp.claims.pictures` has them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from featlearn.core.claims import CONTROL, OBSERVATION, SHARE, THEOREM, Claim, Measure
from featlearn.mrp.claims.pictures import (
    CHANGED,
    CLEAR,
    FITTED,
    GAIN,
    LONGER,
    less,
    reach,
    seen,
)

COMPARISON = "mrp/measurements/images/comparison.parquet"


def _accuracy(start: str, quantity: str, labels: str = "max", how: str = "fine-tuned") -> Measure:
    return seen("comparison", labels, start=start, quantity=quantity, evaluation=how)


def _lost(frames: Mapping[str, pd.DataFrame]) -> np.ndarray:
    """Accuracy that the supervised network loses on single views; 0 if it does not fit at all."""
    multi, single = (
        _accuracy("random-cnn", f"{view}_view")(frames) for view in ("multi", "single")
    )
    return np.where(multi >= FITTED, multi - single, 0.0)


def _better(name: str, start: str, reference: str, quantity: str, most: bool, words: str) -> Claim:
    both = (_accuracy(one, quantity, "max" if most else "min") for one in (start, reference))
    return Claim(
        f"mrp/images-{name}",
        THEOREM if most else OBSERVATION,
        source="Theorems 1 and 2 with Lemma 1, on pictures in place of patches"
        if most
        else "Sample efficiency: at few labels no lottery need be the cause",
        statement=words,
        quantity=f"gain in {quantity.replace('_', ' ')} accuracy, "
        f"{'most' if most else 'fewest'} labels, paired",
        reason="The paper claims a strict gain; five replicates resolve 0.02.",
        changed=f"{CHANGED} {LONGER}" if start == "mae" else CHANGED,
        measure=less(*both),
        artefact=COMPARISON,
        out_of_reach=reach(start),
        **GAIN,
    )


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "mrp/images-supervised-fits",
        CONTROL,
        source="Lemma 1 (Allen-Zhu & Li)",
        statement="Supervised training with all labels is right on multi-view pictures.",
        quantity="multi-view accuracy, supervised, most labels",
        low=FITTED,
        high=1.0,
        possible=SHARE,
        reason="The lottery is a statement about networks that fit the multi-view data.",
        changed=CHANGED,
        measure=_accuracy("random-cnn", "multi_view"),
        artefact=COMPARISON,
        out_of_reach=reach(),
    ),
    Claim(
        "mrp/images-supervised-lottery",
        THEOREM,
        source="Lemma 1 (Allen-Zhu & Li)",
        statement="Supervised training with all labels errs on pictures that show one part of "
        "their class only.",
        quantity="multi-view minus single-view accuracy, supervised, most labels, paired; 0 where "
        f"the multi-view accuracy is below {FITTED}",
        reason="The theory's limit is about one half; a network that uses every part would lose "
        "nothing.",
        changed="Was the single-view accuracy alone, at most 0.9, which a network that learns "
        f"nothing meets. {CHANGED}",
        measure=_lost,
        artefact=COMPARISON,
        out_of_reach=reach(),
        **{**GAIN, "low": 0.05},
    ),
    _better(
        "simmim-single-view-all-labels", "simmim", "random-cnn", "single_view", True,
        "With all labels, SimMIM and fine-tuning is better on single-view pictures than "
        "supervised training.",
    ),
    _better(
        "simmim-single-view-few-labels", "simmim", "random-cnn", "single_view", False,
        "With few labels, SimMIM and fine-tuning is better on single-view pictures than "
        "supervised training.",
    ),
    _better(
        "simmim-worse-part", "simmim", "random-cnn", "worst_view", True,
        "With all labels, SimMIM and fine-tuning is better than supervised training on pictures "
        "of the part that each recognises worse.",
    ),
    _better(
        "mae-single-view-few-labels", "mae", "random-vit", "single_view", False,
        "With few labels, MAE and fine-tuning is better on single-view pictures than supervised "
        "training of the same vision transformer.",
    ),
    Claim(
        "mrp/images-multi-view-not-worse",
        THEOREM,
        source="Theorems 1 and 2",
        statement="With all labels, SimMIM and fine-tuning is not worse on multi-view pictures "
        "than supervised training.",
        quantity="gain in multi-view accuracy, most labels, paired",
        reason="Both are to classify multi-view data; less than 0.02 is not resolved.",
        changed=CHANGED,
        measure=less(
            _accuracy("simmim", "multi_view"), _accuracy("random-cnn", "multi_view")
        ),
        artefact=COMPARISON,
        out_of_reach=reach("simmim"),
        **{**GAIN, "low": -CLEAR},
    ),
    Claim(
        "mrp/images-simmim-probe",
        CONTROL,
        source="Theorems 1 and 2, linear probing",
        statement="Frozen features of SimMIM tell classes apart better than those of the same "
        "network at its random start.",
        quantity="gain in multi-view accuracy of the linear probe, most labels, paired",
        reason="Features that were captured must help a linear head; random ones are the control.",
        measure=less(
            _accuracy("simmim", "multi_view", how="linear probe"),
            _accuracy("random-cnn", "multi_view", how="linear probe"),
        ),
        artefact=COMPARISON,
        out_of_reach=reach("simmim"),
        **GAIN,
    ),
)  # fmt: skip
