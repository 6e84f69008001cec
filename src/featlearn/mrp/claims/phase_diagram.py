"""Where the supervised lottery is and where not (check T16); bands fixed before the run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from featlearn.core.claims import (
    DIFFERENCE_OF_SHARES,
    OBSERVATION,
    SHARE,
    THEOREM,
    Claim,
    Measure,
    needs,
)
from featlearn.core.stats import per_replicate
from featlearn.mrp.claims.common import by_replicate

Frames = Mapping[str, pd.DataFrame]
#: Which end of an axis of the grid.
End = Callable[[np.ndarray], Any]


def _corner(frame: pd.DataFrame, model: str, quantity: str, sigma: End, share: End) -> np.ndarray:
    return per_replicate(
        frame,
        model=model,
        quantity=quantity,
        sigma_0=sigma(frame["sigma_0"].to_numpy()),
        single_view_share=share(frame["single_view_share"].to_numpy()),
    )


def _supervised(sigma: End, share: End) -> Measure:
    return lambda frames: _corner(
        frames["supervised"], "supervised", "accuracy_single_view", sigma, share
    )


def _gain(sigma: End, share: End) -> Measure:
    """Paired: a replicate has the same draws in every cell."""
    here, lottery = _supervised(sigma, share), _supervised(np.min, np.min)
    return lambda frames: here(frames) - lottery(frames)


def _worst_cell(frames: Frames) -> np.ndarray:
    """The smallest share captured of the cells, replicate by replicate."""
    frame = frames["pretrained"]
    own = (frame["model"] == "pretrained") & (frame["quantity"] == "captured")
    return by_replicate(frame[own], how="min")


def _impure_share(sigma: End) -> Measure:
    def measure(frames: Frames) -> np.ndarray:
        impure, winners = (
            _corner(frames["pretrained"], "pretrained", quantity, sigma, np.min)
            for quantity in ("impure_winners", "winners")
        )
        return impure / np.maximum(winners, 1)

    return measure


def _claim(name: str, kind: str, model: str, **parts: Any) -> Claim:
    return Claim(
        f"mrp/t16-{name}",
        kind,
        artefact=f"mrp/measurements/phase_diagram/{model}.parquet",
        out_of_reach=needs(
            phase_diagram__data__classes=6,
            phase_diagram__replicates=10,
            phase_diagram__supervised__max_steps=1000,
            phase_diagram__pretraining__max_steps=4000,
        ),
        **parts,
    )


CLAIMS: tuple[Claim, ...] = (
    _claim(
        "phase-lottery",
        THEOREM,
        "supervised",
        source="Lemma 1 (Allen-Zhu & Li), finite form",
        statement="With small initial kernels and no single-view training data, supervised "
        "training errs on a large part of the single-view data.",
        quantity="single-view accuracy, supervised, smallest sigma_0, mu = 0",
        low=0.55,
        high=0.85,
        possible=SHARE,
        reason="One half in the limit; at 6 classes a third to a half of them keep both features: "
        "pilots with other streams gave 0.74-0.76.",
        measure=_supervised(np.min, np.min),
    ),
    _claim(
        "phase-initial-correlation",
        OBSERVATION,
        "supervised",
        source="Assumption 2 against Lemma 1",
        statement="The lottery needs Lambda_0 far below varrho: it fades as they come close.",
        quantity="single-view accuracy, supervised, mu = 0: largest minus smallest sigma_0, paired",
        low=0.1,
        high=0.45,
        possible=DIFFERENCE_OF_SHARES,
        reason="Features that begin near the threshold are captured before the labels are fitted. "
        "Pilots: 0.95 against 0.75.",
        measure=_gain(np.max, np.min),
    ),
    _claim(
        "phase-no-lottery-at-threshold",
        OBSERVATION,
        "supervised",
        source="Assumption 2 against Lemma 1",
        statement="With Lambda_0 about varrho there is no lottery, even without single-view data.",
        quantity="single-view accuracy, supervised, largest sigma_0, mu = 0",
        low=0.9,
        high=1.0,
        possible=SHARE,
        reason="Lost are only features with which no kernel of the class agrees at the start. "
        "Pilots: 0.95.",
        measure=_supervised(np.max, np.min),
    ),
    _claim(
        "phase-single-view-data",
        OBSERVATION,
        "supervised",
        source="Assumption 1 (mu = 1/poly(k)) against Lemma 1",
        statement="The lottery needs a training set with next to no single-view data.",
        quantity="single-view accuracy, supervised, smallest sigma_0: largest mu minus mu = 0, "
        "paired",
        low=0.1,
        high=0.45,
        possible=DIFFERENCE_OF_SHARES,
        reason="A single-view sample whose feature was lost keeps a loss that only that feature "
        "can lower. Pilots: 0.91-0.95 against 0.75.",
        measure=_gain(np.min, np.max),
    ),
    _claim(
        "phase-pretrained-captured",
        THEOREM,
        "pretrained",
        source="Theorem 1(a), part 2 (MAE)",
        statement="Mask reconstruction captures every feature in every cell.",
        quantity="share of features captured in the worst cell of a replicate",
        low=0.99,
        high=1.0,
        possible=SHARE,
        reason="The theorem says all; one miss among 10 x 12 in the worst cell would be 0.992. "
        "(The accuracy is no claim here: on these data a linear classifier of the summed raw "
        "patches is as good, which the figure shows.)",
        measure=_worst_cell,
    ),
    _claim(
        "phase-pure-below-threshold",
        THEOREM,
        "pretrained",
        source="Theorem 1(b), (c), part 2 (MAE)",
        statement="With small initial kernels no winner of mask reconstruction is impure.",
        quantity="impure winners / winners, smallest sigma_0, mu = 0",
        low=0.0,
        high=0.01,
        possible=SHARE,
        reason="The theorem says none.",
        measure=_impure_share(np.min),
    ),
    _claim(
        "phase-impure-at-threshold",
        OBSERVATION,
        "pretrained",
        source="Control (ours)",
        statement="Purity needs Lambda_0 far below varrho too: kernels that begin near the "
        "threshold of several features keep several, and the accuracy does not suffer.",
        quantity="impure winners / winners, largest sigma_0, mu = 0",
        low=0.1,
        high=0.6,
        possible=SHARE,
        reason="Pilots with other streams gave 9 of 29.",
        measure=_impure_share(np.max),
    ),
)
