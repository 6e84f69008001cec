"""The margin that training reaches, and what makes its circuits (Lemma 4.7, Theorem 4.9)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np
import pandas as pd

from featlearn.core.claims import (
    DIFFERENCE_OF_SHARES,
    OBSERVATION,
    POSITIVE,
    SHARE,
    THEOREM,
    Claim,
    difference,
    needs,
)
from featlearn.fourier.claims.circuits import last

Frames = Mapping[str, pd.DataFrame]


def _highest(frames: Frames) -> np.ndarray:
    """Of each replicate the largest margin with equal wrong classes, of any network and step."""
    own = frames["curves"]
    return own[own["quantity"] == "spread"].groupby("replicate")["value"].max().to_numpy()


def _weakest(frames: Frames) -> np.ndarray:
    """Of each replicate the least margin after the last step, the smallest of all penalties."""
    own = frames["curves"]
    own = own[(own["cell"] == "full") & (own["quantity"] == "least")]
    return own[own["step"] == own["step"].max()].groupby("replicate")["value"].min().to_numpy()


claim = partial(Claim, artefact="fourier/measurements/margins/curves.parquet")
full = needs(margins__full__modulus=11, margins__full__replicates=5,
             margins__full__training__steps=1000)  # fmt: skip
decayed = needs(margins__decay__modulus=23, margins__decay__replicates=3,
                margins__decay__training__steps=2000)  # fmt: skip
PILOTED = (
    "Strong decay has a share of its own, and bands are below what pilots on other streams gave: "
    ".94 and .59, .69 and .10."
)
CLAIMS = (
    claim("fourier/margin-reached", THEOREM, "Theorem 4.9, Lemma 4.7",
          "Training with a small penalty on the norm finds the maximum margin.",
          "least margin over gamma*, 3 inputs, all for training", 0.95, 1.0,
          "The maximum; what is left is the length's. A pilot of one network reached .98.",
          last("full", "least"), out_of_reach=full),
    claim("fourier/margin-never-above", THEOREM, "Theorem 4.9",
          "No network has a larger margin than gamma*, not even the mean one with equally "
          "weighted wrong classes, which is above the others.",
          "largest such margin over gamma* of any arm at any step", 0.9, 1 + 1e-5,
          "The bound, and single precision; near it, or it would not be tight.", _highest,
          possible=POSITIVE, out_of_reach=full),
    claim("fourier/margin-at-any-strength", OBSERVATION, "ours, behind Lemma 4.7",
          "The minimiser of the penalised loss has the maximum margin at every lambda, and not "
          "only in the limit.",
          "least margin over gamma*, 3 inputs, all for training, the smallest of all lambdas",
          0.95, 1.0, "Convexity of the cross-entropy; what is left is the length's.",
          _weakest, out_of_reach=full,
          changed="Stands in place of a claim that the margin rises as lambda falls, which pilots "
          "on other streams did not show and Lemma 4.7 does not say."),
    claim("fourier/one-frequency-a-neuron", THEOREM, "Theorem 4.9",
          "At the maximum margin each neuron has one frequency, in all of its vectors.",
          "share of the active neurons with more than .9 of the power of each vector at the "
          "same frequency, 3 inputs, all for training", 0.95, 1.0,
          "All; few of a random network, of whose vectors each has .4 somewhere.",
          last("full", "single"), possible=SHARE, out_of_reach=full),
    claim("fourier/penalty-not-decay", OBSERVATION, "section C.10.1, the comparison is ours",
          "The thesis' lambda makes circuits as a penalty on the norm, and none as a weight decay "
          "of the same number.", "share of the active neurons of one frequency, penalty minus "
          "weight decay, paired, 3 inputs, half of all for training", 0.3, 1.0,
          "Both readings of the thesis' lambda are possible; pilots gave .69 and .10.",
          difference(last("decay", "single"), last("decay", "single", "weak-decay")),
          possible=DIFFERENCE_OF_SHARES, out_of_reach=decayed, changed=PILOTED),
    claim("fourier/strong-decay-too", OBSERVATION, "ours",
          "Strong weight decay makes neurons of one frequency, too.",
          "share of the active neurons of one frequency, strong weight decay, 3 inputs, half of "
          "all for training", 0.9, 1.0, "Nine tenths, as a vector counts as pure; a pilot had all.",
          last("decay", "single", "strong-decay"), possible=SHARE, out_of_reach=decayed,
          changed=PILOTED),
)  # fmt: skip
