"""Lemma B.9, Theorem B.65 and Proposition 3.23. Bands rest on the theory; pilots are named."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np
import pandas as pd

from featlearn.core.claims import CONTROL, THEOREM, Claim, needs

Frames = Mapping[str, pd.DataFrame]
FOLDER = "gradient_features/measurements/appendix"
#: A slope that no loss has, of a replicate that is above its bound.
BEYOND = 10.0


def _drift(frames: Frames) -> np.ndarray:
    return np.array([
        np.polyfit(np.log(own["steps"]), np.log(own["printed"]), 1)[0]
        for _, own in frames["drift"].groupby("replicate")
    ])  # fmt: skip


def _cone(frames: Frames) -> np.ndarray:
    """Slope over log d of log(loss over its bound), one neuron a kink; else :data:`BEYOND`."""
    own = frames["alternative"]
    own = own[own["copies"] == own["copies"].min()]
    return np.array([
        np.polyfit(np.log(one["dimension"]), np.log(one["value"] / one["bound"]), 1)[0]
        if (one["value"] <= one["bound"]).all() else BEYOND
        for _, one in own.groupby("replicate")
    ])  # fmt: skip


def _fixed(frames: Frames, more: float = 0) -> np.ndarray:
    """Certified loss of random features above the bound plus ``more``, where they are nearest."""
    own = frames["fixed"][frames["fixed"]["arm"] == "random"]
    return (own["certified"] - own["bound"] - more).groupby(own["replicate"]).min().to_numpy()


def _beyond(frames: Frames) -> np.ndarray:
    """Bound for fixed features less the test loss after one step, largest block, norm to 10."""
    own = frames["fixed"][frames["fixed"]["arm"] == "first step"]
    own = own[own["block"] == own["block"].max()]
    own = own[own["norm"] == own["norm"][own["norm"] <= 10].max()]
    return (own["bound"] - own["value"]).to_numpy()


CLAIMS = (
    Claim("gradient_features/drift-as-printed", THEOREM, "Lemma B.9, (B.61)",
          "Weights move along the steps by at most a constant times t eta B_x1 (|a| + eta B_x1 "
          "|w| + eta b).",
          "slope of log(drift over bound) over log T, at the same T eta B_x1", -np.inf, 0.1,
          "A bound with a constant may be loose, but its constant cannot grow. We expect 1: "
          "smaller steps follow the same flow, and the printed bound falls as 1 / T, as (B.81) "
          "drops the quadratic term. A pilot on other streams gave a factor of 8 from 30 to 300 "
          "steps.", _drift, f"{FOLDER}/drift.parquet", possible=(-np.inf, np.inf),
          out_of_reach=needs(appendix__replicates=3, appendix__drift__steps=300)),
    Claim("gradient_features/theorem-b65", THEOREM, "Lemma B.64, Theorem B.65",
          "The loss of directions within sqrt(k) / (d - k) of D in each entry is at most, and "
          "falls with the dimension as fast as, k^2 sqrt(d log d) / (d - k).",
          "slope over log d of the logarithm of hinge loss over printed bound, one neuron a kink; "
          f"{BEYOND:g} where a loss is above its bound", -np.inf, 0,
          "(B.536) with the numbers of Lemma B.64, whose constant is lost in print. The bound is "
          "above 1 at these dimensions, the loss of no network at all; whose slope is above 0, as "
          "the bound falls.",
          _cone, f"{FOLDER}/alternative.parquet", possible=(-np.inf, np.inf),
          changed="Stricter after a review of a published run: it asked for the loss to be below "
          "the bound, which it was by 6.5, and which a network that answers 0 passes.",
          out_of_reach=needs(appendix__replicates=3, appendix__alternative__test=1000)),
    Claim("gradient_features/proposition-3.23", THEOREM, "Proposition 3.23",
          "N features that are at most 1 lose at least 1/2 - sqrt(N) B / (2^k sqrt(2)) under a "
          "head of norm B, on the parity of k coordinates that suits them least.",
          "certified least loss of random features less the bound, where they are nearest", 0, 1,
          "Proved for the worst set of k coordinates; random features know none. The least loss on "
          "a sample is below that of the population.",
          _fixed, f"{FOLDER}/fixed.parquet", possible=(-np.inf, np.inf),
          changed="The sentence says on which parity, after a review of a published run.",
          out_of_reach=needs(appendix__replicates=3, appendix__fixed__samples__train=2000)),
    Claim("gradient_features/proposition-3.23-refutable", CONTROL, "ours, on Proposition 3.23",
          "A bound with 1 in place of 1/2 would be refuted: random features lose less.",
          "certified least loss of random features less that bound, where they are nearest", -1, 0,
          "What no features could be below shows nothing. With 1 the bound is that of no network "
          "at all less sqrt(N) B / (2^k sqrt(2)): .67 to .99 for the largest k.",
          partial(_fixed, more=0.5), f"{FOLDER}/fixed.parquet", possible=(-np.inf, np.inf),
          changed="Added after a published run, which had random features .22 above the bound "
          "and nothing that a wrong bound would fail.",
          out_of_reach=needs(appendix__replicates=3, appendix__fixed__samples__train=2000)),
    Claim("gradient_features/beyond-fixed-features", THEOREM, "Section 3.4.2, Theorem 3.22",
          "After one step features have a smaller loss on a parity than as many fixed ones of the "
          "same norm can have on every parity of that size.",
          "bound of Proposition 3.23 less the test loss after one step, largest k, B = 10",
          0.05, 0.5, "The first step turns every neuron to D, along which the parity is a "
          "function. A pilot on other streams, one replicate, gave .14.",
          _beyond, f"{FOLDER}/fixed.parquet", possible=(-np.inf, np.inf),
          changed="The sentence says of what the bound is, all parities of a size, after a review "
          "of a published run.",
          out_of_reach=needs(appendix__replicates=3, appendix__fixed__blocks=9)),
)  # fmt: skip
