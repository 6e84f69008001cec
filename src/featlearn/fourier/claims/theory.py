"""The maximum margin and the neuron that has it (Theorem 4.9, Lemma 4.10)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np
import pandas as pd

from featlearn.core.claims import IDENTITY, OBSERVATION, POSITIVE, THEOREM, Claim, needs

Frames = Mapping[str, pd.DataFrame]
FOLDER = "fourier/measurements/theory"


def _odd(frames: Frames, construction: str) -> pd.DataFrame:
    frame = frames["constructions"]
    return frame[(frame["construction"] == construction) & (frame["p"] % 2 == 1)]


def _farthest(frames: Frames) -> np.ndarray:
    """The ratio to gamma* that is farthest from 1."""
    ratios = _odd(frames, "thesis")["value"].to_numpy()
    return ratios[[np.abs(ratios - 1).argmax()]]


def _fewer(frames: Frames) -> np.ndarray:
    """Largest number of neurons relative to the thesis' at which the grid has the whole margin."""
    sizes = ["k", "p"]
    grid, thesis = (_odd(frames, name).set_index(sizes) for name in ("grid", "thesis"))
    share = grid["neurons"] / thesis["neurons"]
    whole = (grid["value"] - 1).abs() < 1e-9
    return np.array([share.where(whole, np.inf)[grid.index.get_level_values("k") >= 3].max()])


def _ends(frames: Frames) -> np.ndarray:
    """Of each start, the smallest objective over gamma* of all sizes; 0 if not of one frequency."""
    ascent, neurons = frames["ascent"], frames["neurons"]
    last = ascent[ascent["step"] == ascent["step"].max()]
    ends = neurons[neurons["moment"] == "end"]
    keys = ["replicate", "k", "p"]
    both = last.merge(ends[[*keys, "single"]], on=keys, validate="one_to_one")
    reached = both["value"].where(both["single"], 0.0)
    return reached.groupby(both["replicate"]).min().to_numpy()


claim = partial(Claim, artefact=f"{FOLDER}/constructions.parquet", possible=POSITIVE)
CLAIMS = (
    claim("fourier/maximum-margin", IDENTITY, "Theorem 4.9, Lemma 4.11",
          "The construction of 2^(2k - 2) (p - 1) cosine neurons attains the normalised margin "
          "gamma* of the theorem.", "least margin of the construction over all inputs, over the "
          "formula for gamma*, at the odd p where that is farthest from 1", 1 - 1e-9, 1 + 1e-9,
          "Equality; sums in double precision are right to about 1e-13. That no network has more "
          "is the other half of the theorem: best-neuron and margin-never-above.",
          _farthest, statistic="exact",
          changed="Sentence and kind, after a review of a published run: it said that no network "
          "has a "
          "larger margin, which this does not compare, and an equality is no theorem tested."),
    claim("fourier/fewer-neurons", OBSERVATION, "ours, behind Theorem 4.9",
          "Fewer neurons than the thesis' suffice: from three inputs on a grid of three phases an "
          "input has the same margin with 3^k neurons a frequency instead of 2^(2k - 1).",
          "neurons of the grid over the thesis' where it has the whole margin, the largest share "
          "of all odd p and k >= 3", 0.0, 27 / 32,
          "3^k / 2^(2k - 1), largest at k = 3; infinite where the margin is not the same.",
          _fewer, statistic="exact"),
    claim("fourier/best-neuron", THEOREM, "Lemma 4.10; that no start ends elsewhere is ours",
          "The best neuron of norm 1 is one cosine in all its vectors; ascent from random starts "
          "ends there and never above.", "objective over gamma* that a start ends at, the least of "
          "all sizes; 0 if its vectors are not pure and of one frequency", 0.9999, 1 + 1e-9,
          "The maximum, and what a few hundred steps leave of the way.",
          _ends, artefact=f"{FOLDER}/ascent.parquet",
          out_of_reach=needs(theory__ascent__starts=50, theory__ascent__steps=200)),
)  # fmt: skip
