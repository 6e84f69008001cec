"""What the theory of chapter 7 says must hold."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from featlearn.core.claims import IDENTITY, POSITIVE, SHARE, THEOREM, Claim, needs

Frames = Mapping[str, pd.DataFrame]
FOLDER = "universality/measurements/theory"


def _even(frames: Frames) -> np.ndarray:
    """Largest distance from alpha = 1 and alpha_t = 1 / T, of all even mixtures of equal scales."""
    wide = frames["allocations"].pivot_table(index="case", columns="quantity", values="value")
    even = wide[wide.index.str.endswith(("one task", "even tasks"))]
    away = [(1 - even["shared"]).abs(), (even["least private"] - 1 / even["tasks"]).abs(),
            (even["most private"] - 1 / even["tasks"]).abs()]  # fmt: skip
    return np.array([np.max(away)])


def _encoded(frames: Frames) -> np.ndarray:
    """Share of norms at which the feature is encoded exactly if they exceed the threshold."""
    own = frames["thresholds"]
    return np.array([((own["value"] > 1e-6) == (own["ratio"] > 1)).mean()])


def _gap(frames: Frames, few: bool) -> np.ndarray:
    """Error after the most tasks over that after one, in pairs, at the fewest or most labels
    of at least as many as features are in doubt; the mean over replicates of its logarithm."""
    risks = frames["risks"]
    tasks = risks["tasks"].max()
    labels = sorted(risks["labels"].unique())
    m = labels[1] if few else labels[-1]
    wide = risks[risks["labels"] == m].pivot_table(
        index="replicate", columns="tasks", values="value"
    )
    return np.log(wide[tasks] / wide[1]).to_numpy()


def _updated(frames: Frames) -> np.ndarray:
    """Largest distance of a weight from Proposition F.9, by replicate."""
    own = frames["updates"]
    away = (own["value"] - own["predicted"]).abs()
    return away.groupby(own["replicate"]).max().to_numpy()


_ALGEBRA = "Kind, after a review of a published run: a theorem before, but it is algebra."
_PROBE = needs(theory__probe__replicates=20, theory__probe__labels=640, theory__probe__tasks=64)

CLAIMS = (
    Claim("universality/proposition-7-3", IDENTITY, "Proposition 7.3",
          "T equal tasks keep shared features at weight 1 and private ones at 1 / T.",
          "largest distance of the optimum of Lemma F.3 from that, over even mixtures", 0, 1e-4,
          "Exact for every convex decreasing loss; the solver's tolerance.",
          _even, f"{FOLDER}/allocations.parquet", possible=POSITIVE, statistic="exact",
          changed=_ALGEBRA),
    Claim("universality/theorem-7-2", IDENTITY, "ours, behind Theorem 7.2",
          "A feature is encoded exactly from the norm sqrt(log(1 / b - 3) / 2) on.",
          "share of norms at which it is encoded where they are above that, and only there", 1, 1,
          "Our closed form of the threshold, from a second-order expansion; norms a twentieth off.",
          _encoded, f"{FOLDER}/thresholds.parquet", possible=SHARE, statistic="exact",
          changed=f"{_ALGEBRA} The sentence is now what is compared."),
    Claim("universality/square-is-optimal", THEOREM, "Section F.1.1",
          "Four states on the unit circle end as a square, so that an XOR is among the optima.",
          "largest loss of the ends of random starts over that of the square", 1 - 1e-8, 1 + 1e-8,
          "All starts of a pilot on other streams ended there.",
          lambda frames: np.array([frames["square"]["loss"].max()
                                   / frames["square"]["expected"].iloc[0]]),
          f"{FOLDER}/square.parquet", possible=POSITIVE, statistic="exact"),
    Claim("universality/proposition-f-9", THEOREM, "Proposition F.9",
          "The target's contrastive loss gives its private features their weight back.",
          "largest distance of a feature's weight from the proposition, over distances gamma",
          0, 0.01, "Sampled: 2000 samples; pilots on other streams were off by .0002 to .0003.",
          _updated, f"{FOLDER}/updates.parquet", possible=POSITIVE),
    Claim("universality/few-labels", THEOREM, "Propositions 7.3 and 7.4",
          "With few noisy labels the universal representation costs the probe accuracy.",
          "log of the probe's error after the most tasks over that after one, second smallest "
          "number of labels", 0.2, np.inf,
          "From a simulation on other streams: 1.7 in the mean at 20 labels; far below.",
          lambda frames: _gap(frames, few=True), f"{FOLDER}/risks.parquet", out_of_reach=_PROBE),
    Claim("universality/many-labels", THEOREM, "Section 7.2.3",
          "With many noisy labels the universal representation costs the probe no accuracy.",
          "log of the probe's error after the most tasks over that after one, largest number of "
          "labels", -0.15, 0.15,
          "From a simulation on other streams: .06 at 640 labels, 16 times the features.",
          lambda frames: _gap(frames, few=False), f"{FOLDER}/risks.parquet", out_of_reach=_PROBE),
)  # fmt: skip
