"""The initial draw: correlations, and the lottery sets that the theorems presuppose disjoint."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from featlearn.core.claims import (
    CONTROL,
    OBSERVATION,
    POSITIVE,
    SHARE,
    THEOREM,
    Claim,
    Measure,
    first_of,
    needs,
)
from featlearn.mrp.claims.common import by_replicate

LOTTERY = "mrp/measurements/initialisation/lottery.parquet"
#: Constant C_M of the sets.
NARROW = 0.25
#: Classes that the bands were derived for.
LEAST_CLASSES = 200


def _admitted(frame: pd.DataFrame) -> pd.DataFrame:
    """Only the number of kernels that the paper admits, m = ceil(sqrt k)."""
    least = frame.groupby("classes")["kernels_per_class"].transform("min")
    return frame[frame["kernels_per_class"] == least]


def _of(
    frame: pd.DataFrame, quantity: str, constant: float | None = None, classes: int | None = None
) -> pd.DataFrame:
    chosen = frame[frame["quantity"] == quantity]
    if constant is not None:
        chosen = chosen[chosen["constant"] == constant]
    if classes is not None:
        chosen = chosen[chosen["classes"] == classes]
    return chosen


def _extreme(quantity: str, how: str) -> Measure:
    return lambda frames: by_replicate(_of(_admitted(frames["lottery"]), quantity), how=how)


def _most(frame: pd.DataFrame) -> int:
    return int(frame["classes"].max())


def _size_growth(frames: Mapping[str, pd.DataFrame]) -> np.ndarray:
    frame = _admitted(frames["lottery"])
    few, many = frame["classes"].min(), _most(frame)
    sizes = [by_replicate(_of(frame, "set_size", NARROW, classes)) for classes in (few, many)]
    return sizes[1] / sizes[0]


def _shared(frames: Mapping[str, pd.DataFrame]) -> np.ndarray:
    frame = _admitted(frames["lottery"])
    return by_replicate(_of(frame, "shared_kernels", NARROW, _most(frame)))


def _shared_over_expected(frames: Mapping[str, pd.DataFrame]) -> np.ndarray:
    frame = _admitted(frames["lottery"])
    expected = by_replicate(_of(frame, "expected_shared_kernels", NARROW, _most(frame)))
    return _shared(frames) / expected


def _disjoint_with_many(frames: Mapping[str, pd.DataFrame]) -> np.ndarray:
    frame = frames["lottery"]
    sizes = sorted(frame["classes"].unique())
    own = frame[frame["classes"] == sizes[len(sizes) // 2]]
    many = own[own["kernels_per_class"] == own["kernels_per_class"].max()]
    return by_replicate(_of(many, "disjoint_sets", NARROW))


def _few_classes(config: Mapping[str, Any]) -> str | None:
    classes = max(size["classes"] for size in config["initialisation"]["sizes"])
    if classes >= LEAST_CLASSES:
        return None
    return f"{classes} classes; the band was derived for at least {LEAST_CLASSES}."


REACH = first_of(_few_classes, needs(initialisation__replicates=10))


def _claim(name: str, kind: str, **parts: Any) -> Claim:
    return Claim(f"mrp/{name}", kind, artefact=LOTTERY, out_of_reach=REACH, **parts)


CLAIMS: tuple[Claim, ...] = (
    _claim(
        "t5-initial-correlation",
        THEOREM,
        source="Lemma C.1 / B.1; Theorem 1(a), first half",
        statement="At the start Lambda_{i,l} is about sqrt(2 ln km) sigma_0.",
        quantity="Lambda_{i,l} over sigma_0 sqrt(2 ln km), m = ceil(sqrt k), mean over features "
        "and k",
        low=0.5,
        high=1.5,
        possible=POSITIVE,
        reason="The leading order of the largest of km Gaussians; the next one lowers it by "
        "ln(4 pi ln n) / (4 ln n), 0.2 to 0.1 for our n.",
        measure=_extreme("ratio_mean", "mean"),
    ),
    _claim(
        "t5-initial-correlation-lower",
        THEOREM,
        source="Lemma C.1 / B.1; Theorem 1(a), first half",
        statement="At the start the weakest feature is not far below sqrt(2 ln km) sigma_0.",
        quantity="smallest Lambda_{i,l} over sigma_0 sqrt(2 ln km), m = ceil(sqrt k), over all k",
        low=0.4,
        high=1.0,
        possible=POSITIVE,
        reason="The lemma says Omega~(sigma_0). The least of 20 maxima of 40 Gaussians, our "
        "smallest size, has its median at 0.52 of the leading order.",
        measure=_extreme("ratio_least", "min"),
    ),
    _claim(
        "t5-initial-correlation-upper",
        THEOREM,
        source="Lemma C.1 / B.1; Theorem 1(a), first half",
        statement="At the start no feature is far above sqrt(2 ln km) sigma_0.",
        quantity="largest Lambda_{i,l} over sigma_0 sqrt(2 ln km), m = ceil(sqrt k), over all k",
        low=1.0,
        high=1.5,
        possible=POSITIVE,
        reason="The lemma says O~(sigma_0). The largest of all 2k maxima is about "
        "sqrt(2 ln (2k km)), at most sqrt(5/3) = 1.29 times sqrt(2 ln km) for m = sqrt k.",
        measure=_extreme("ratio_largest", "max"),
    ),
    _claim(
        "t5-lottery-set-growth",
        THEOREM,
        source="Lemma C.1 / B.1",
        statement="Lottery sets hardly grow with the number of classes.",
        quantity="mean size of M_{i,l} (C_M = 0.25), largest over smallest k",
        low=0.8,
        high=2.0,
        possible=POSITIVE,
        reason="A threshold 1 - C_M / log k below the largest of n Gaussians lets in about "
        "exp(2 C_M ln(n) / ln(k)) kernels: constant where n is a power of k. Sets that were a "
        "fixed share of the kernels would grow 75-fold. (The bound of the lemma itself, log^5 k, "
        "is above the number of kernels at every k here, so is no claim.)",
        measure=_size_growth,
    ),
    _claim(
        "t5-disjoint-sets-as-assumed",
        THEOREM,
        source="Theorem 1(b), (c) with m <= sqrt k (premise)",
        statement="A kernel belongs to one lottery set at most.",
        quantity="kernels in more than one set (C_M = 0.25) at the largest k, m = ceil(sqrt k)",
        low=0.0,
        high=0.0,
        possible=POSITIVE,
        reason="What the theorem presupposes when it says that a kernel of M_{i,l} captures no "
        "other feature.",
        measure=_shared,
    ),
    _claim(
        "t5-shared-kernels-as-expected",
        CONTROL,
        source="Control (ours) to Theorem 1(b), (c)",
        statement="Sets overlap as often as independent ones do.",
        quantity="kernels in more than one set over the binomial expectation, at the largest k",
        low=0.85,
        high=1.15,
        possible=POSITIVE,
        reason="Correlations with orthonormal features are independent; about 70 shared kernels a "
        "replicate leave 4 % of noise in a mean of ten.",
        measure=_shared_over_expected,
    ),
    _claim(
        "t5-disjoint-with-many-kernels",
        OBSERVATION,
        source="Control (ours) to Theorem 1(b), (c)",
        statement="With many more kernels than sqrt k a class most sets are disjoint.",
        quantity="share of sets without a shared kernel (C_M = 0.25) at the middle k, largest m",
        low=0.9,
        high=1.0,
        possible=SHARE,
        reason="At k = 50, m = 250 the binomial expectation is a few shared kernels among 12,500.",
        measure=_disjoint_with_many,
    ),
)
