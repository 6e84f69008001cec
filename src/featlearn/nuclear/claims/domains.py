"""What the penalty does in unseen domains of this run's images."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np
import pandas as pd

from featlearn.core.claims import (
    CONTROL,
    DIFFERENCE_OF_SHARES,
    OBSERVATION,
    SHARE,
    Claim,
    needs,
)  # fmt: skip
from featlearn.nuclear.words import AVERAGE, averaged, gains, with_average

Frames = Mapping[str, pd.DataFrame]
FOLDER = "nuclear/measurements/domains"
ACCURACIES, SWEPT = f"{FOLDER}/accuracies.parquet", f"{FOLDER}/swept.parquet"
REACH = needs(domains__trials=3, domains__training__steps=150)


def _gain(frames: Frames, pair: str) -> np.ndarray:
    own = gains(frames["accuracies"])
    own = own[(own["pair"] == pair) & (own["domain"] == AVERAGE)]
    if own.empty:
        raise KeyError(f"{pair}: not among the arms of this run")
    return own.sort_values("replicate")["value"].to_numpy()


def _validation(frames: Frames) -> np.ndarray:
    own = frames["accuracies"].query("arm == 'ERM' and averaging == 'best'")
    return averaged(own, ["arm"], ["validation"])["validation"].to_numpy()


def _gap(frames: Frames) -> np.ndarray:
    own = with_average(frames["accuracies"]).query("algorithm == 'ERM' and domain == @AVERAGE")
    unseen = own.sort_values("replicate")["value"].to_numpy(dtype=np.float64)
    return np.asarray(_validation(frames) - unseen)


def _fall(frames: Frames, rank: str) -> np.ndarray:
    """Log of the rank at the largest weight over that without the penalty."""
    own = averaged(frames["swept"], ["weight"], [rank])
    wide = own.pivot_table(index="replicate", columns="weight", values=rank)
    return np.log((wide[wide.columns.max()] / wide[0.0]).to_numpy(dtype=np.float64))


def _gain_claim(pair: str, name: str) -> Claim:
    return Claim(
        f"nuclear/gain-{name}", OBSERVATION, "Table 6.1, Figure 6.4",
        f"At the printed weight and scaling the nuclear norm raises it in unseen domains: {pair}.",
        "gain over the same without it, mean over left-out domains", 0, 1,
        "The thesis prints a gain on every set; on other images its sign is all that carries over.",
        partial(_gain, pair=pair), ACCURACIES, possible=DIFFERENCE_OF_SHARES, out_of_reach=REACH,
    )  # fmt: skip


def _fall_claim(rank: str) -> Claim:
    return Claim(
        f"nuclear/rank-falls-{rank}", OBSERVATION, "Figure 6.5",
        f"The stable rank ({rank}) falls with the weight of the penalty.",
        "log of the stable rank at the largest weight over that without penalty", -20, 0,
        "The figure's direction.", partial(_fall, rank=rank), SWEPT, out_of_reach=REACH,
    )  # fmt: skip


CLAIMS = (
    Claim("nuclear/domains-are-learned", CONTROL, "section 6.3.2",
          "The training domains are learned.", "accuracy of ERM on held-out images of them", 0.8, 1,
          "Eight of ten: else nothing is generalised.", _validation, ACCURACIES, possible=SHARE,
          out_of_reach=REACH),
    Claim("nuclear/domains-differ", CONTROL, "section 6.3.2",
          "The left-out domain is harder.",
          "accuracy of ERM on held-out images minus there",
          0.05, 1, "Five points: else there is nothing to win.", _gap, ACCURACIES,
          possible=DIFFERENCE_OF_SHARES, out_of_reach=REACH),
    *(_gain_claim(pair, name) for pair, name in (("ERM-NU", "erm"), ("SWAD-NU", "swad"))),
    *(_fall_claim(rank) for rank in ("printed", "standard", "centred")),
)  # fmt: skip
