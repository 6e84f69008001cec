"""How far kernels align with the noise (check T14), for both kinds of pre-training.

Lemma F.6 (E.6 in the first version) is proved for teacher-student training; appendix H carries its
results over to MAE training. Bands were fixed before looking.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from featlearn.core.claims import POSITIVE, THEOREM, Claim, Measure, OutOfReach, needs
from featlearn.mrp.claims.clean import FEW_DIMENSIONS, few_dimensions, too_small

LEMMA = "Lemma F.6 (E.6 in the first version)"
TEACHER_STUDENT_REACH = needs(
    teacher_student__data__classes=10,
    teacher_student__replicates=10,
    teacher_student__pretraining__max_steps=600,
    teacher_student__supervised__steps=100,
    teacher_student__finetuning__steps=60,
)


def _noise(
    frames: Mapping[str, pd.DataFrame], patches: str, column: str, samples: str = "training"
) -> np.ndarray:
    frame = frames["noise"]
    chosen = frame[
        (frame["when"] == "after") & (frame["samples"] == samples) & (frame["patches"] == patches)
    ]
    return chosen.sort_values("replicate")[column].to_numpy()


def leading(pairs: np.ndarray) -> np.ndarray:
    """What the largest of so many standard Gaussian values is near, ``sqrt(2 ln pairs)``."""
    return np.sqrt(2 * np.log(np.maximum(2, pairs)))


def _largest_noise(patches: str, unit: str) -> Measure:
    """Largest alignment in units of ``unit`` (a constant column) times ``sqrt(2 ln pairs)``."""

    def measure(frames: Mapping[str, pd.DataFrame]) -> np.ndarray:
        scale = float(frames["scales"][unit].iloc[0])
        return (
            _noise(frames, patches, "largest") / leading(_noise(frames, patches, "pairs")) / scale
        )

    return measure


#: What a replicate without a winner counts: above every band here.
NO_WINNER = 10.0
#: Why kernels that do not train no longer pass.
MUST_WIN = (
    "That there must be winners is of a review: upper bounds were met by kernels that do not "
    "train. The numbers were known."
)


def _where_won(measure: Measure) -> Measure:
    """:data:`NO_WINNER` for a replicate in which no kernel won a feature."""
    return lambda frames: np.where(_noise(frames, "own", "pairs") > 0, measure(frames), NO_WINNER)


def _memory(frames: Mapping[str, pd.DataFrame]) -> np.ndarray:
    return _noise(frames, "own", "rms") / _noise(frames, "own", "rms", "fresh")


def scales(settings: Mapping[str, Any]) -> pd.DataFrame:
    """The units of Lemma F.6, one row: ``sigma_0`` and ``sigma_0 * gamma * k``.

    Parameters
    ----------
    settings
        The section of an experiment.
    """
    sigma_0 = settings["network"]["sigma_0"]
    gamma_k = settings["data"]["feature_noise"] * settings["data"]["classes"]
    return pd.DataFrame([{"sigma_0": sigma_0, "sigma_0_gamma_k": sigma_0 * gamma_k}])


def derived(config: Mapping[str, Any]) -> dict[str, pd.DataFrame]:
    """Frames that follow from the config."""
    return {"scales": scales(config["clean"])}


def _claims(
    ending: str,
    artefact: str,
    out_of_reach: OutOfReach,
    source: str,
    *,
    own: str,
    background: str,
    dimensions: OutOfReach,
    training: str,
    excused: str = "",
) -> tuple[Claim, ...]:
    def claim(name: str, **parts: Any) -> Claim:
        return Claim(
            f"mrp/t14-noise-{name}{ending}",
            THEOREM,
            possible=POSITIVE,
            artefact=artefact,
            source=source,
            **{"out_of_reach": out_of_reach, **parts},
        )

    won = f"; {NO_WINNER:g} where no kernel won a feature"

    return (
        claim(
            "own-patches",
            statement=f"On the patches of its feature a winner of {training} training is aligned "
            "with the noise by less than sigma_0.",
            quantity="max |<w_r, xi_p>| / (sigma_0 sqrt(2 ln pairs)) over winners and own patches"
            + won,
            low=0.0,
            high=0.5,
            reason=own,
            changed=MUST_WIN,
            measure=_where_won(_largest_noise("own", "sigma_0")),
        ),
        claim(
            "other-patches",
            statement=f"On patches of other features kernels of {training} training are aligned "
            "with the noise by the order of sigma_0 at most.",
            quantity="max |<w_r, xi_p>| / (sigma_0 sqrt(2 ln pairs)) over all other feature patches"
            + won,
            low=0.0,
            high=1.0,
            reason="O(sigma_0), with the constant at 1.",
            changed=MUST_WIN,
            measure=_where_won(_largest_noise("other", "sigma_0")),
        ),
        claim(
            "background",
            statement=f"On patches without a feature kernels of {training} training are aligned "
            "with the noise by the order of sigma_0 gamma k.",
            quantity="max |<w_r, xi_p>| / (sigma_0 gamma k sqrt(2 ln pairs)) over background "
            "patches" + won,
            low=0.0,
            high=3.0,
            reason=background,
            changed=MUST_WIN + excused,
            measure=_where_won(_largest_noise("background", "sigma_0_gamma_k")),
            out_of_reach=dimensions,
        ),
        claim(
            "not-memorised",
            statement=f"Winners of {training} training are not aligned with the noise of their "
            "training samples.",
            quantity="r.m.s. alignment on own patches, training noise over fresh noise",
            low=0.9,
            high=1.1,
            reason="The proof's alignment a step is of order eta / N: equal sizes are expected, up "
            "to the sampling error of a few thousand pairs.",
            measure=_memory,
        ),
    )


TEACHER_STUDENT = _claims(
    "",
    "mrp/measurements/teacher-student/noise.parquet",
    TEACHER_STUDENT_REACH,
    LEMMA,
    own="o(sigma_0): the initial kernels have |w| sigma_p / sigma_0 = 0.02; half of sigma_0 leaves "
    "room for kernels that grow fivefold and for the largest of many.",
    background="The initial kernels give 1; O(.) allows for kernels whose norm grows threefold.",
    dimensions=TEACHER_STUDENT_REACH,
    training="teacher-student",
)

CLAIMS = _claims(
    "-mae",
    "mrp/measurements/clean/noise.parquet",
    too_small,
    f"{LEMMA}, read for MAE (appendix H)",
    own="o(sigma_0): the initial kernels have |w| sigma_p / sigma_0 = 0.02. A winner ends near "
    "norm one, eight times its start at these sizes, which half of sigma_0 still leaves room for.",
    background="The initial kernels give 1, and the band is that of teacher-student training. A "
    "winner ends near norm one; in the theory the start has that norm already: sigma_0 sqrt(d) is "
    "large.",
    dimensions=few_dimensions,
    training="MAE",
    excused=f" {FEW_DIMENSIONS}",
)
